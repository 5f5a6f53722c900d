// A set of 64-bit keys that is emptied at once and keeps its memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace goryu {

class KeySet {
public:
    // Empties the set and makes room for `room` keys.
    void clear(std::size_t room) {
        if (2 * room > slots_.size()) slots_.assign(std::bit_ceil(2 * room), {});
        if (++stamp_ == 0) {
            std::fill(slots_.begin(), slots_.end(), Slot{});
            stamp_ = 1;
        }
    }
    bool has(std::uint64_t key) const noexcept { return slots_[find(key)].stamp == stamp_; }
    void add(std::uint64_t key) noexcept { slots_[find(key)] = {key, stamp_}; }

private:
    // In use if its stamp is the set's.
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t stamp = 0;
    };

    std::size_t find(std::uint64_t key) const noexcept {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = (key * 0x9E3779B97F4A7C15ULL >> 32) & mask;
        while (slots_[i].stamp == stamp_ && slots_[i].key != key) i = (i + 1) & mask;
        return i;
    }

    std::vector<Slot> slots_ = std::vector<Slot>(2);
    std::uint32_t stamp_ = 1;
};

}  // namespace goryu
