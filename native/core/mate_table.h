// The table of a mate search, with small-tree garbage collection; the C++ version of search/mates/mate_table.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "game.h"

namespace goryu {

constexpr std::int32_t kInfinite = 1 << 28;

// Positions that a table holds unless the caller says otherwise: at most 12 MiB.
constexpr std::size_t kMateCapacity = 1 << 18;

// phi and delta of a position, for its side to move; distance: plies to mate, once proven.
struct MateEntry {
    std::int32_t phi;
    std::int32_t delta;
    std::int32_t distance;
};

constexpr MateEntry kUnseen{1, 1, 0};
// The side to move has reached its goal, or can no longer reach it.
constexpr MateEntry kWon{0, kInfinite, 0};
constexpr MateEntry kLost{kInfinite, 0, 0};

// The entry of a position that ends the game after a move of the attacker, or of the defender.
inline std::optional<MateEntry> end_of(const Game& game, bool is_attacker) noexcept {
    const Ending outcome = game.outcome();
    const int value = value_of(outcome);
    if (outcome == Ending::kNone) return {};
    if (value > 0 && !is_attacker) return {};  // The attacker may declare a win, but may mate instead.
    if (is_attacker && outcome == Ending::kCheckmate) return kLost;  // The defender is mated.
    return is_attacker ? kWon : kLost;  // The defender escapes, or the attacker wins in another way.
}

// Holds `capacity` entries at most, in 48 to 96 bytes each once it is full. Keeps its memory when cleared.
class MateTable {
public:
    // Deletes everything.
    void clear(std::size_t capacity);
    MateEntry get(std::uint64_t key) const noexcept {
        const Slot& slot = slots_[find(key)];
        return slot.stamp == stamp_ ? MateEntry{slot.phi, slot.delta, slot.distance} : kUnseen;
    }
    // size: positions that were expanded below this one since its entry was stored last.
    void store(std::uint64_t key, const MateEntry& entry, std::int64_t size);
    std::size_t size() const noexcept { return used_; }

private:
    // Open addressing; a slot is in use if its stamp is that of the table.
    struct Slot {
        std::uint64_t key;
        std::int32_t phi;
        std::int32_t delta;
        std::int32_t size;  // Positions expanded below, in all.
        std::int16_t distance;
        std::uint16_t stamp;
    };

    bool is_used(std::size_t i) const noexcept { return slots_[i].stamp == stamp_; }
    // The slot of the key, or a free one.
    std::size_t find(std::uint64_t key) const noexcept {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = key & mask;
        while (is_used(i) && slots_[i].key != key) i = (i + 1) & mask;
        return i;
    }
    void make_room();
    void delete_small();
    void grow();

    std::vector<Slot> slots_ = std::vector<Slot>(128);
    std::size_t used_ = 0;
    std::size_t capacity_ = kMateCapacity;
    std::uint16_t stamp_ = 1;
};

}  // namespace goryu
