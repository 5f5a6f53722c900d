#include "mate_table.h"

#include <algorithm>

namespace goryu {

void MateTable::clear(std::size_t capacity) {
    capacity_ = capacity;
    used_ = 0;
    if (++stamp_ == 0) {
        for (Slot& slot : slots_) slot.stamp = 0;
        stamp_ = 1;
    }
}

void MateTable::store(std::uint64_t key, const MateEntry& entry, std::int64_t size) {
    std::size_t i = find(key);
    std::int64_t total = size;
    if (is_used(i)) {
        total += slots_[i].size;
    } else {
        if (used_ >= capacity_ || 2 * (used_ + 1) > slots_.size()) {
            make_room();
            i = find(key);
        }
        ++used_;
    }
    slots_[i] = {key, entry.phi, entry.delta, static_cast<std::int32_t>(std::min<std::int64_t>(total, kInfinite)),
                 static_cast<std::int16_t>(entry.distance), stamp_};
}

void MateTable::make_room() {
    if (used_ >= capacity_) {
        delete_small();
    } else {
        grow();
    }
}

// Deletes the entries with the smallest subtrees: a third of them, and all the others of the same size.
void MateTable::delete_small() {
    std::vector<std::int32_t> sizes;
    sizes.reserve(used_);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (is_used(i)) sizes.push_back(slots_[i].size);
    }
    const auto third = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 3);
    std::nth_element(sizes.begin(), third, sizes.end());
    // Moving every entry to the first free slot for its key, from a free slot on, leaves no gap in a chain.
    const std::size_t mask = slots_.size() - 1;
    std::size_t start = 0;
    while (is_used(start)) ++start;
    used_ = 0;
    for (std::size_t n = 1; n < slots_.size(); ++n) {
        const std::size_t i = (start + n) & mask;
        if (!is_used(i)) continue;
        const Slot slot = slots_[i];
        slots_[i].stamp = static_cast<std::uint16_t>(stamp_ - 1);
        if (slot.size <= *third) continue;
        slots_[find(slot.key)] = slot;
        ++used_;
    }
}

void MateTable::grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
        if (slot.stamp == stamp_) slots_[find(slot.key)] = slot;
    }
}

}  // namespace goryu
