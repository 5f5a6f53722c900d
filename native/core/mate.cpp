#include "mate.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "mate_refutation.h"
#include "movegen.h"

namespace goryu {

Move mate_in_one(Game& game) {
    MoveList checks;
    checking_moves(game.position(), checks);
    for (const Move move : checks) {
        game.push(move);
        const bool is_mate = !has_legal_move(game.position());
        game.pop();
        if (is_mate) return move;
    }
    return kNoMove;
}

MateVerdict MateSearch::solve(Game& game, const MateBudget& budget, Stopper* stopper) {
    attacker_ = game.turn();
    root_ply_ = game.ply();
    limit_ = kMaxMatePlies;
    budget_ = budget.nodes;
    nodes_ = 0;
    stopper_ = stopper;
    is_cut_ = false;
    line_.clear();
    capacity_ = budget.capacity;
    table_.clear(capacity_);
    MateEntry root = search(game, true);
    if (root.delta == 0 && is_cut_) root = MateRefutation(*this, game).certain_root();
    if (root.phi == 0 && find_line(game, line_)) {
        shorten(game, budget.shortening_nodes);
        return MateVerdict::kMate;
    }
    return root.delta == 0 ? MateVerdict::kNoMate : MateVerdict::kUnknown;
}

// Searches the game's position until it is solved or the budget is spent, as if the path began here. Leaves the
// children listed.
MateEntry MateSearch::search(Game& game, bool is_attacker) {
    children_.clear();
    return expand(game, kInfinite, kInfinite, is_attacker, 0);
}

// Searches below the game until its phi or delta reaches its limit or the budget is spent; returns them.
MateEntry MateSearch::expand(Game& game, std::int32_t phi_limit, std::int32_t delta_limit, bool is_attacker,
                             int depth) {
    const std::int64_t before = nodes_++;
    const std::size_t first = children_.size();
    list_children(game, is_attacker, depth);
    MateEntry entry;
    while (true) {
        std::size_t best = 0;
        std::int32_t second = 0;
        entry = combine(first, is_attacker, best, second);
        if (entry.phi >= phi_limit || entry.delta >= delta_limit || is_over()) break;
        game.push(children_[best].move);
        const MateEntry child = expand(game, delta_limit - entry.delta + children_[best].entry.phi,
                                       std::min(phi_limit, second + 1), !is_attacker, depth + 1);
        children_[best].entry = child;
        game.pop();
    }
    if (depth > 0) children_.resize(first);
    table_.store(game.key(), entry, nodes_ - before);
    if (is_attacker && entry.delta == 0) table_.store(game.position().position_key(), kLost, nodes_ - before);
    return entry;
}

// The entry of a position from those of its children, the last ones from `first` on. best: the child that is
// cheapest to prove; second: the delta of the next one.
MateEntry MateSearch::combine(std::size_t first, bool is_attacker, std::size_t& best,
                              std::int32_t& second) const noexcept {
    MateEntry sum{kInfinite, 0, 0};
    std::int64_t delta = 0;
    std::int32_t quickest = kInfinite, slowest = -1;  // Distances of the replies that lose, and of all.
    second = kInfinite;
    for (std::size_t i = first; i < children_.size(); ++i) {
        const MateEntry& child = children_[i].entry;
        delta += child.phi;
        if (child.delta < sum.phi) {
            second = sum.phi;
            sum.phi = child.delta;
            best = i;
        } else if (child.delta < second) {
            second = child.delta;
        }
        if (child.delta == 0) quickest = std::min(quickest, child.distance);
        slowest = std::max(slowest, child.distance);
    }
    // Only a solved position is infinite; transpositions may be counted often enough to reach any number.
    sum.delta = sum.phi == 0 ? kInfinite : static_cast<std::int32_t>(std::min<std::int64_t>(delta, kInfinite - 1));
    if (sum.phi == 0 && is_attacker) {
        sum.distance = 1 + quickest;
    } else if (sum.delta == 0 && !is_attacker) {
        sum.distance = 1 + slowest;
    }
    return sum;
}

void MateSearch::list_children(Game& game, bool is_attacker, int depth) {
    MoveList moves;
    if (is_attacker) {
        checking_moves(game.position(), moves);
    } else {
        legal_moves(game.position(), moves);
    }
    for (const Move move : moves) {
        game.push(move);
        const MateEntry entry = child_entry(game, is_attacker, depth + 1);
        game.pop();
        children_.push_back({move, entry});
        if (entry.delta == 0 && entry.distance == 0) break;  // This move decides.
    }
}

// The entry of the position after a move of the attacker, or of the defender.
MateEntry MateSearch::child_entry(const Game& game, bool is_attacker, int depth) noexcept {
    const bool recurs = game.recurs(attacker_, depth);
    if (!recurs) {
        if (const auto end = end_of(game, is_attacker)) return *end;
    }
    const int remaining = root_ply_ + limit_ - game.ply();
    if (recurs || remaining <= 0) {
        is_cut_ = true;
        return is_attacker ? kWon : kLost;  // The defender escapes.
    }
    const MateEntry entry = table_.get(game.key());
    return entry.distance > remaining ? kUnseen : entry;
}

// Follows the proven line; false if the fourth occurrence of a position contradicts it.
bool MateSearch::find_line(Game& game, std::vector<Move>& line) {
    const std::int64_t budget = std::exchange(budget_, std::numeric_limits<std::int64_t>::max());
    line.clear();
    bool is_attacker = true, is_mate = false, is_sound = true;
    while (is_sound && !is_mate) {
        const Child* const child = proven_child(game, is_attacker);
        is_sound = child != nullptr;
        if (is_sound) {
            is_mate = is_attacker && child->entry.distance == 0;
            line.push_back(child->move);
            game.push(child->move);
            is_attacker = !is_attacker;
        }
    }
    for (std::size_t i = 0; i < line.size(); ++i) game.pop();
    budget_ = budget;
    if (!is_sound) line.clear();
    return is_sound;
}

// The attacker's quickest move of those that mate, or the defender's longest; nullptr if there is no mate.
const MateSearch::Child* MateSearch::proven_child(Game& game, bool is_attacker) {
    children_.clear();
    list_children(game, is_attacker, 0);  // A proof does not depend on a repetition.
    if (!mates(is_attacker)) search(game, is_attacker);  // The table has lost a part of the proof.
    if (!mates(is_attacker)) {                         // Its refutations belong to other paths.
        table_.clear(capacity_);
        search(game, is_attacker);
    }
    if (!mates(is_attacker)) return nullptr;
    const Child* chosen = nullptr;
    for (const Child& child : children_) {
        if (is_attacker && child.entry.delta != 0) continue;
        const std::int32_t distance = child.entry.distance;
        if (chosen == nullptr ||
            (is_attacker ? distance < chosen->entry.distance : distance > chosen->entry.distance)) {
            chosen = &child;
        }
    }
    return chosen;
}

// Does the attacker mate, from the position whose children are the only ones listed?
bool MateSearch::mates(bool is_attacker) const noexcept {
    const auto is_mated = [](const Child& child) { return child.entry.delta == 0; };
    const auto is_mating = [](const Child& child) { return child.entry.phi == 0; };
    return is_attacker ? std::ranges::any_of(children_, is_mated) : std::ranges::all_of(children_, is_mating);
}

// Searches for shorter mates than the line.
void MateSearch::shorten(Game& game, std::int64_t nodes) {
    budget_ = nodes_ + nodes;
    std::vector<Move> shorter;
    while (line_.size() > 1 && !is_over()) {
        limit_ = static_cast<int>(line_.size()) - 2;
        if (search(game, true).phi != 0 || !find_line(game, shorter)) break;
        line_.swap(shorter);
    }
}

bool MateSearch::is_over() { return nodes_ >= budget_ || is_stopped(); }

}  // namespace goryu
