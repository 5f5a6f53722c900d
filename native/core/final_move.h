// The move to play when the search ends: search/graph/final_move.py in C++.
#pragma once

#include <utility>

#include "selection.h"
#include "state.h"

namespace goryu {

// A move of the root, as RootMove (search/result.py) has it.
struct RootMove {
    int index;  // Among the moves of the root.
    Move move;
    double prior;
    std::uint32_t visits;
    double value;
    int mate;  // Signed plies to the proven end; 0: none.
    bool is_certain;
};

// The moves that are not masked, the best first. plays_by_bound: is final_move "lcb", and not "visits"?
std::vector<RootMove> root_moves(const NodeTable& table, NodeIndex root, const Mask& masked, bool plays_by_bound);

// The value of the root with these moves: its average, or that of a best move of a certain value.
double root_value(const NodeTable& table, NodeIndex root, const std::vector<RootMove>& moves) noexcept;

// Move i of the root and the expected moves after it. The state is the root's, and left as it was.
std::vector<Move> continuation(const NodeTable& table, NodeIndex root, int i, State& state);

// The index of the move that would be played now, and the playouts that another needs to be played instead; -1 both if
// no move has visits. Moves of a certain value are left out.
std::pair<int, std::int64_t> contest(const NodeTable& table, NodeIndex root, const Mask& masked, bool plays_by_bound);

}  // namespace goryu
