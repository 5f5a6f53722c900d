// Mate search: the C++ version of search/mates/mate.py and search/mates/df_pn.py, which explain it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "game.h"
#include "mate_table.h"

namespace goryu {

// Longer lines count as escapes.
constexpr int kMaxMatePlies = 199;

enum class MateVerdict { kMate, kNoMate, kUnknown };

// nodes: positions to be expanded at most. shortening_nodes: further ones for a shorter mate, once one is found.
// capacity: entries of the table.
struct MateBudget {
    std::int64_t nodes;
    std::int64_t shortening_nodes = 0;
    std::size_t capacity = kMateCapacity;
};

// The first move that mates at once, or kNoMove.
Move mate_in_one(Game& game);

// df-pn. Keeps its memory from one search to the next.
class MateSearch {
public:
    // Called between expansions; may throw, which leaves the game as it is at that moment.
    class Stopper {
    public:
        virtual ~Stopper() = default;
        virtual bool should_stop() = 0;
    };

    // Searches a forced mate by the side to move. The game is as it was when the search returns.
    MateVerdict solve(Game& game, const MateBudget& budget, Stopper* stopper = nullptr);

    // Of the last search: the line if it found a mate, and the positions expanded.
    std::span<const Move> line() const noexcept { return line_; }
    std::int64_t nodes() const noexcept { return nodes_; }

private:
    friend class MateRefutation;

    // A move and the entry of the position after it. Keys contain the ply, so a search below one child changes
    // no entry of the others.
    struct Child {
        Move move;
        MateEntry entry;
    };

    MateEntry search(Game& game, bool is_attacker);
    MateEntry expand(Game& game, std::int32_t phi_limit, std::int32_t delta_limit, bool is_attacker, int depth);
    void list_children(Game& game, bool is_attacker, int depth);
    MateEntry child_entry(const Game& game, bool is_attacker, int depth) noexcept;
    MateEntry combine(std::size_t first, bool is_attacker, std::size_t& best, std::int32_t& second) const noexcept;
    bool find_line(Game& game, std::vector<Move>& line);
    const Child* proven_child(Game& game, bool is_attacker);
    bool mates(bool is_attacker) const noexcept;
    void shorten(Game& game, std::int64_t nodes);
    bool is_over();
    bool is_stopped() { return stopper_ != nullptr && stopper_->should_stop(); }

    Color attacker_ = 0;
    int root_ply_ = 0;
    int limit_ = kMaxMatePlies;  // Longer lines count as escapes.
    std::size_t capacity_ = kMateCapacity;
    std::int64_t budget_ = 0;
    std::int64_t nodes_ = 0;
    Stopper* stopper_ = nullptr;
    bool is_cut_ = false;  // Was a line given up for its repetition or its length?
    std::vector<Move> line_;
    std::vector<Child> children_;  // Of all positions on the path, the last one's at the end.
    MateTable table_;
};

}  // namespace goryu
