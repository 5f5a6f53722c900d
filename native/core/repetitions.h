// Playouts that ended on an edge by repetition (RepetitionStats in Python).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace goryu {

// Values for the side that moved.
struct RepetitionStats {
    std::uint32_t node = 0;
    std::uint32_t move = 0;    // Index of the move at the node.
    std::uint32_t visits = 0;  // 0: nothing is kept here.
    double value_sum = 0.0;
    double square_sum = 0.0;
};

// A hash table with linear probing.
class Repetitions {
public:
    // Counts more playouts on an edge.
    void add(std::uint32_t node, std::uint32_t move, double value, std::uint32_t count) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        RepetitionStats& slot = slots_[find(node, move)];
        if (slot.visits == 0) {
            slot.node = node;
            slot.move = move;
            ++size_;
        }
        slot.visits += count;
        slot.value_sum += count * value;
        slot.square_sum += count * (value * value);
    }

    // The entry of an edge that has one.
    const RepetitionStats& get(std::uint32_t node, std::uint32_t move) const noexcept { return slots_[find(node, move)]; }

    template <class Action>
    void for_each(Action action) const {
        for (const RepetitionStats& slot : slots_) {
            if (slot.visits != 0) action(slot);
        }
    }

    // Forgets the entries that the predicate does not keep.
    template <class Predicate>
    void keep_if(Predicate keeps) {
        if (size_ == 0) return;
        std::vector<RepetitionStats> old(slots_.size());
        old.swap(slots_);
        size_ = 0;
        for (const RepetitionStats& slot : old) {
            if (slot.visits == 0 || !keeps(slot)) continue;
            slots_[find(slot.node, slot.move)] = slot;
            ++size_;
        }
    }

    void clear() noexcept {
        if (size_ != 0) slots_.assign(slots_.size(), RepetitionStats{});
        size_ = 0;
    }

    std::size_t size() const noexcept { return size_; }

private:
    std::size_t find(std::uint32_t node, std::uint32_t move) const noexcept {
        std::size_t i = (node * 0x9E3779B97F4A7C15ULL + move * 0xBF58476D1CE4E5B9ULL) >> 20;
        const std::size_t mask = slots_.size() - 1;
        for (i &= mask; slots_[i].visits != 0 && !(slots_[i].node == node && slots_[i].move == move);) {
            i = (i + 1) & mask;
        }
        return i;
    }

    void grow() {
        std::vector<RepetitionStats> old(slots_.empty() ? 64 : 2 * slots_.size());
        old.swap(slots_);
        for (const RepetitionStats& slot : old) {
            if (slot.visits != 0) slots_[find(slot.node, slot.move)] = slot;
        }
    }

    std::vector<RepetitionStats> slots_;  // A power of two of them.
    std::size_t size_ = 0;
};

}  // namespace goryu
