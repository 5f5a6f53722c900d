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
    forget();
    expand(game, kInfinite, kInfinite, true, 0);
    const Entry root = slots_[find(game.key())].entry;
    if (root.phi == 0 && find_line(game)) return MateVerdict::kMate;
    line_.clear();
    return root.delta == 0 ? MateVerdict::kNoMate : MateVerdict::kUnknown;
}

// Searches below the game until its phi or delta reaches its limit or the budget is spent.
void MateSearch::expand(Game& game, std::int32_t phi_limit, std::int32_t delta_limit, bool is_attacker, int depth) {
    ++nodes_;
    const std::size_t first = children_.size();
    look_at_children(game, is_attacker, depth);
    const std::size_t last = children_.size();
    while (true) {
        std::int32_t phi = kInfinite, second = kInfinite, delta = 0, distance = 0;
        std::int32_t quickest = kInfinite, slowest = -1;  // Distances of the replies that lose, and of all.
        std::size_t best = last;
        std::int32_t best_phi = 0;
        for (std::size_t i = first; i < last; ++i) {
            const Entry known = entry(children_[i]);
            delta = std::min(delta + known.phi, kInfinite);
            if (known.delta < phi) {
                second = phi;
                phi = known.delta;
                best = i;
                best_phi = known.phi;
            } else if (known.delta < second) {
                second = known.delta;
            }
            if (known.delta == 0) quickest = std::min(quickest, known.distance);
            slowest = std::max(slowest, known.distance);
        }
        if (phi == 0 && is_attacker) {
            distance = 1 + quickest;
        } else if (delta == 0 && !is_attacker) {
            distance = 1 + slowest;
        }
        store(game.key(), {phi, delta, distance});
        if (phi >= phi_limit || delta >= delta_limit || nodes_ >= budget_) break;
        if (stopper_ != nullptr && stopper_->should_stop()) break;
        game.push(children_[best].move);
        expand(game, delta_limit - delta + best_phi, std::min(phi_limit, second + 1), !is_attacker, depth + 1);
        game.pop();
    }
    children_.resize(first);
}

void MateSearch::look_at_children(Game& game, bool is_attacker, int depth) {
    MoveList moves;
    if (is_attacker) {
        checking_moves(game.position(), moves);
    } else {
        legal_moves(game.position(), moves);
    }
    for (const Move move : moves) children_.push_back(look(game, move, is_attacker, depth));
}

MateSearch::Child MateSearch::look(Game& game, Move move, bool is_attacker, int depth) const noexcept {
    game.push(move);
    Child child{game.key(), move, true, is_attacker ? kWon : kLost};
    if (depth + 1 < kMaxDepth && game.repetition() == Ending::kNone) {
        const Ending outcome = game.outcome();
        if (outcome == Ending::kNone) {
            child.is_fixed = false;
        } else if (is_attacker && value_of(outcome) < 0 && game.position().in_check()) {
            child.fixed = kLost;  // The defender is mated.
        }
    }
    game.pop();
    return child;
}

// Follows the proven line; false if this path's repetitions contradict it.
bool MateSearch::find_line(Game& game) {
    bool is_attacker = true, is_mate = false, is_sound = true;
    while (is_sound && !is_mate) {
        children_.clear();
        look_at_children(game, is_attacker, static_cast<int>(line_.size()));
        const Child* chosen = nullptr;
        Entry best{};
        for (const Child& child : children_) {
            const Entry known = entry(child);
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

MateSearch::Entry MateSearch::entry(const Child& child) const noexcept {
    if (child.is_fixed) return child.fixed;
    const Slot& slot = slots_[find(child.key)];
    return slot.stamp == stamp_ ? slot.entry : kUnseen;
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

std::size_t MateSearch::find(std::uint64_t key) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = key & mask;
    while (slots_[i].stamp == stamp_ && slots_[i].key != key) i = (i + 1) & mask;
    return i;
}

}  // namespace goryu
