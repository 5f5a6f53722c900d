// Legal moves, generated directly: checkers, pins and the squares safe for the king are known first,
// so that no move has to be tried. Every list comes out in ascending order of the move integers.
#pragma once

#include "move_list.h"
#include "position.h"

namespace goryu {

// All legal moves. all_moves: the pointless non-promotions too (see Rules.all_moves in Python).
void legal_moves(const Position& position, MoveList& moves, bool all_moves = true) noexcept;

// Those of all legal moves that give check.
void checking_moves(const Position& position, MoveList& moves) noexcept;

// legal_moves(..., true).size(), without making the list.
int count_legal_moves(const Position& position) noexcept;

bool has_legal_move(const Position& position) noexcept;

// Is the move among legal_moves(..., true)? Any 16-bit number may be asked about.
bool is_legal(const Position& position, Move move) noexcept;

}  // namespace goryu
