// A set of indices of the node pool, one bit each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace goryu {

class IndexSet {
public:
    // Empties the set and makes room for the indices below `end`.
    void clear(std::size_t end) { words_.assign(end / 64 + 1, 0); }
    void grow(std::size_t end) {
        if (end / 64 >= words_.size()) words_.resize(2 * (end / 64) + 1, 0);
    }

    bool has(std::uint32_t index) const noexcept { return (words_[index / 64] >> index % 64 & 1) != 0; }
    // Adds a index there is room for; false if it was there already.
    bool add(std::uint32_t index) noexcept {
        const std::uint64_t bit = std::uint64_t{1} << index % 64;
        const bool is_new = (words_[index / 64] & bit) == 0;
        words_[index / 64] |= bit;
        return is_new;
    }

    // Calls action(index) for every member in ascending order.
    template <class Action>
    void for_each(Action action) const {
        for (std::size_t i = 0; i < words_.size(); ++i) for_each_bit(i, words_[i], action);
    }

    // Calls action(index) for every member that is not in `other`, a subset of the same indices.
    template <class Action>
    void for_each_without(const IndexSet& other, Action action) const {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            for_each_bit(i, i < other.words_.size() ? words_[i] & ~other.words_[i] : words_[i], action);
        }
    }

    // The members in ascending order.
    std::vector<std::uint32_t> indices() const {
        std::vector<std::uint32_t> listed;
        for_each([&](std::uint32_t index) { listed.push_back(index); });
        return listed;
    }

private:
    template <class Action>
    static void for_each_bit(std::size_t i, std::uint64_t word, Action action) {
        for (; word != 0; word &= word - 1) action(static_cast<std::uint32_t>(64 * i + std::countr_zero(word)));
    }

    std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(1);
};

}  // namespace goryu
