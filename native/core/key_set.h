// A set of 64-bit keys that keeps its memory. Adding and removing take a few steps, whatever the size.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace goryu {

class KeySet {
public:
    bool has(std::uint64_t key) const noexcept { return slots_[find(key)].is_used; }

    // Makes room for one more key.
    void make_room() {
        if (2 * (size_ + 1) > slots_.size()) grow();
    }

    // Adds a key that the set does not have; there must be room for it.
    void add(std::uint64_t key) noexcept {
        slots_[find(key)] = {key, true};
        ++size_;
    }

    // Removes a key if the set has it. The keys behind it move up, so that no search ends at a gap.
    void remove(std::uint64_t key) noexcept {
        std::size_t gap = find(key);
        if (!slots_[gap].is_used) return;
        for (std::size_t i = next(gap); slots_[i].is_used; i = next(i)) {
            if (distance(first(slots_[i].key), i) < distance(gap, i)) continue;
            slots_[gap] = slots_[i];
            gap = i;
        }
        slots_[gap].is_used = false;
        --size_;
    }

private:
    struct Slot {
        std::uint64_t key = 0;
        bool is_used = false;
    };

    std::size_t mask() const noexcept { return slots_.size() - 1; }
    std::size_t first(std::uint64_t key) const noexcept { return (key * 0x9E3779B97F4A7C15ULL >> 32) & mask(); }
    std::size_t next(std::size_t i) const noexcept { return (i + 1) & mask(); }
    std::size_t distance(std::size_t from, std::size_t to) const noexcept { return (to - from) & mask(); }

    // The slot of a key, or the empty one where it belongs.
    std::size_t find(std::uint64_t key) const noexcept {
        std::size_t i = first(key);
        while (slots_[i].is_used && slots_[i].key != key) i = next(i);
        return i;
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.is_used) slots_[find(slot.key)] = slot;
        }
    }

    std::vector<Slot> slots_ = std::vector<Slot>(2);
    std::size_t size_ = 0;
};

}  // namespace goryu
