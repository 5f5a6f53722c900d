// Mate search: twin of search/mate.py, which explains it.
#pragma once

#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "game.h"

namespace goryu {

enum class MateVerdict { kMate, kNoMate, kUnknown };

// The first move that mates at once, or kNoMove.
Move mate_in_one(Game& game);

// df-pn. Keeps its memory from one search to the next.
class MateSearch {
public:
    // Asked between expansions whether to give up; may throw, which leaves the game as it is at that moment.
    class Stopper {
    public:
        virtual ~Stopper() = default;
        virtual bool should_stop() = 0;
    };

    // Searches a forced mate by the side to move, expanding at most `nodes` positions. The game is as it
    // was when the search returns.
    MateVerdict solve(Game& game, std::int64_t nodes, Stopper* stopper = nullptr);

    // Of the last search: the line if it found a mate, and the positions expanded.
    std::span<const Move> line() const noexcept { return line_; }
    std::int64_t nodes() const noexcept { return nodes_; }

private:
    // phi and delta of a position, from its side to move; distance: plies to mate, once proven.
    struct Entry {
        std::int32_t phi;
        std::int32_t delta;
        std::int32_t distance;
    };
    static constexpr std::int32_t kInfinite = 1 << 28;
    static constexpr Entry kUnseen{1, 1, 0};
    static constexpr Entry kWon{0, kInfinite, 0};
    static constexpr Entry kLost{kInfinite, 0, 0};

    // A move and what is known of the position after it. Keys carry the ply, so that a search below one
    // child changes nothing that is known of the others.
    struct Child {
        Move move;
        Entry entry;
    };

    // The table: open addressing; a slot is in use if its stamp is that of this search.
    struct Slot {
        std::uint64_t key;
        Entry entry;
        std::uint32_t stamp;
    };

    Entry expand(Game& game, std::int32_t phi_limit, std::int32_t delta_limit, bool is_attacker, int depth);
    void look_at_children(Game& game, bool is_attacker, int depth);
    Entry look(const Game& game, bool is_attacker, int depth) noexcept;
    static std::optional<Entry> end_of(const Game& game, bool is_attacker) noexcept;
    Entry sum_up(std::size_t first, bool is_attacker, std::size_t& best, std::int32_t& second) const noexcept;
    void store(std::uint64_t key, const Entry& entry);
    bool find_line(Game& game);
    bool refutes(Game& game, std::unordered_set<std::uint64_t>& seen, int depth) const;
    bool evades(Game& game, std::unordered_set<std::uint64_t>& seen, int depth) const;

    void forget();
    void grow();
    Entry recall(std::uint64_t key) const noexcept;
    std::size_t find(std::uint64_t key) const noexcept;

    Color attacker_ = 0;
    std::int64_t budget_ = 0;
    std::int64_t nodes_ = 0;
    Stopper* stopper_ = nullptr;
    std::vector<Move> line_;
    std::vector<Child> children_;  // Of all positions on the path, the last one's at the end.
    bool is_cut_ = false;          // Was a line given up for its repetition or its length?
    std::vector<Slot> slots_ = std::vector<Slot>(128);
    std::size_t used_ = 0;
    std::uint32_t stamp_ = 0;
};

}  // namespace goryu
