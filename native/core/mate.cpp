#include "mate.h"

#include <algorithm>

#include "movegen.h"

namespace goryu {
namespace {

// Longer lines count as escapes.
constexpr int kMaxDepth = 200;

}  // namespace

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

MateVerdict MateSearch::solve(Game& game, std::int64_t nodes, Stopper* stopper) {
    budget_ = nodes;
    nodes_ = 0;
    stopper_ = stopper;
    line_.clear();
    children_.clear();
    attacker_ = game.turn();
    is_cut_ = false;
    forget();
    const Entry root = expand(game, kInfinite, kInfinite, true, 0);
    if (root.phi == 0 && find_line(game)) return MateVerdict::kMate;
    line_.clear();
    if (root.delta != 0) return MateVerdict::kUnknown;
    std::unordered_set<std::uint64_t> seen;
    return !is_cut_ || refutes(game, seen, 0) ? MateVerdict::kNoMate : MateVerdict::kUnknown;
}

// Searches below the game until its phi or delta reaches its limit or the budget is spent; returns them.
MateSearch::Entry MateSearch::expand(Game& game, std::int32_t phi_limit, std::int32_t delta_limit,
                                     bool is_attacker, int depth) {
    ++nodes_;
    const std::size_t first = children_.size();
    look_at_children(game, is_attacker, depth);
    Entry known;
    while (true) {
        std::size_t best = 0;
        std::int32_t second = 0;
        known = sum_up(first, is_attacker, best, second);
        if (known.phi >= phi_limit || known.delta >= delta_limit || nodes_ >= budget_) break;
        if (stopper_ != nullptr && stopper_->should_stop()) break;
        game.push(children_[best].move);
        const Entry entry = expand(game, delta_limit - known.delta + children_[best].entry.phi,
                                   std::min(phi_limit, second + 1), !is_attacker, depth + 1);
        children_[best].entry = entry;
        game.pop();
    }
    children_.resize(first);
    store(game.key(), known);
    if (is_attacker && known.delta == 0) store(game.position().position_key(), kLost);
    return known;
}

// The entry of a position from those of its children, the last ones from `first` on. best: the child that is
// cheapest to prove; second: the delta of the next one.
MateSearch::Entry MateSearch::sum_up(std::size_t first, bool is_attacker, std::size_t& best,
                                     std::int32_t& second) const noexcept {
    Entry sum{kInfinite, 0, 0};
    std::int32_t quickest = kInfinite, slowest = -1;  // Distances of the replies that lose, and of all.
    second = kInfinite;
    for (std::size_t i = first; i < children_.size(); ++i) {
        const Entry& known = children_[i].entry;
        sum.delta = std::min(sum.delta + known.phi, kInfinite);
        if (known.delta < sum.phi) {
            second = sum.phi;
            sum.phi = known.delta;
            best = i;
        } else if (known.delta < second) {
            second = known.delta;
        }
        if (known.delta == 0) quickest = std::min(quickest, known.distance);
        slowest = std::max(slowest, known.distance);
    }
    if (sum.phi == 0 && is_attacker) {
        sum.distance = 1 + quickest;
    } else if (sum.delta == 0 && !is_attacker) {
        sum.distance = 1 + slowest;
    }
    return sum;
}

void MateSearch::look_at_children(Game& game, bool is_attacker, int depth) {
    MoveList moves;
    if (is_attacker) {
        checking_moves(game.position(), moves);
    } else {
        legal_moves(game.position(), moves);
    }
    for (const Move move : moves) {
        game.push(move);
        const Entry entry = look(game, is_attacker, depth);
        game.pop();
        children_.push_back({move, entry});
        if (entry.delta == 0 && entry.distance == 0) break;  // The others change nothing any more.
    }
}

// What is known of the position after a move of the attacker, or of the defender.
MateSearch::Entry MateSearch::look(const Game& game, bool is_attacker, int depth) noexcept {
    if (depth + 1 >= kMaxDepth || game.recurs(attacker_, depth + 1)) {
        is_cut_ = true;
        return is_attacker ? kWon : kLost;  // The defender escapes.
    }
    if (const auto end = end_of(game, is_attacker)) return *end;
    return recall(game.key());
}

// The entry of a position that ends the game after a move of the attacker, or of the defender.
std::optional<MateSearch::Entry> MateSearch::end_of(const Game& game, bool is_attacker) noexcept {
    const Ending outcome = game.outcome();
    const int value = value_of(outcome);
    if (outcome == Ending::kNone || (value > 0 && !is_attacker)) return {};  // Who may declare may mate instead.
    if (is_attacker && value < 0 && game.position().in_check()) return kLost;  // The defender is mated.
    return is_attacker ? kWon : kLost;  // The defender escapes, or the attacker is at an end.
}

// Follows the proven line; false if a fourth occurrence contradicts it.
bool MateSearch::find_line(Game& game) {
    bool is_attacker = true, is_mate = false, is_sound = true;
    while (is_sound && !is_mate) {
        children_.clear();
        look_at_children(game, is_attacker, 0);  // A proof rests on no repetition.
        const Child* chosen = nullptr;
        Entry best{};
        for (const Child& child : children_) {
            const Entry& known = child.entry;
            if (is_attacker ? known.delta != 0 : known.phi != 0) {
                if (is_attacker) continue;
                is_sound = false;
                break;
            }
            const bool is_better = is_attacker ? known.distance < best.distance : known.distance > best.distance;
            if (chosen == nullptr || is_better) {
                chosen = &child;
                best = known;
            }
        }
        is_sound = is_sound && chosen != nullptr;
        if (is_sound) {
            line_.push_back(chosen->move);
            game.push(chosen->move);
            is_mate = is_attacker && best.distance == 0;
            is_attacker = !is_attacker;
        }
    }
    for (std::size_t i = 0; i < line_.size(); ++i) game.pop();
    return is_sound;
}

// Is it certain that the attacker cannot mate, whatever rests on a repetition? So it is if the defender can lead
// from check to check among refuted positions for ever.
bool MateSearch::refutes(Game& game, std::unordered_set<std::uint64_t>& seen, int depth) const {
    if (depth >= kMaxDepth) return false;
    seen.insert(game.position().position_key());
    MoveList checks;
    checking_moves(game.position(), checks);
    for (const Move check : checks) {
        game.push(check);
        const auto end = end_of(game, true);
        const bool escapes = end ? end->phi == 0 : evades(game, seen, depth + 1);
        game.pop();
        if (!escapes) return false;
    }
    return true;
}

// Tries one evasion that is known to do.
bool MateSearch::evades(Game& game, std::unordered_set<std::uint64_t>& seen, int depth) const {
    MoveList all_legal_moves;
    legal_moves(game.position(), all_legal_moves);
    for (const Move evasion : all_legal_moves) {
        game.push(evasion);
        const std::uint64_t position = game.position().position_key();
        const bool is_known = seen.contains(position) || game.recurs(attacker_, depth + 1) || end_of(game, false);
        const bool is_chosen = is_known || recall(position).delta == 0;
        const bool escapes = is_known || (is_chosen && refutes(game, seen, depth + 1));
        game.pop();
        if (is_chosen) return escapes;
    }
    return false;
}

void MateSearch::store(std::uint64_t key, const Entry& entry) {
    std::size_t i = find(key);
    if (slots_[i].stamp != stamp_) {
        if (2 * ++used_ > slots_.size()) {
            grow();
            i = find(key);
        }
        slots_[i].key = key;
        slots_[i].stamp = stamp_;
    }
    slots_[i].entry = entry;
}

void MateSearch::forget() {
    used_ = 0;
    if (++stamp_ == 0) {
        for (Slot& slot : slots_) slot.stamp = 0;
        stamp_ = 1;
    }
}

void MateSearch::grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
        if (slot.stamp == stamp_) slots_[find(slot.key)] = slot;
    }
}

MateSearch::Entry MateSearch::recall(std::uint64_t key) const noexcept {
    const Slot& slot = slots_[find(key)];
    return slot.stamp == stamp_ ? slot.entry : kUnseen;
}

std::size_t MateSearch::find(std::uint64_t key) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = key & mask;
    while (slots_[i].stamp == stamp_ && slots_[i].key != key) i = (i + 1) & mask;
    return i;
}

}  // namespace goryu
