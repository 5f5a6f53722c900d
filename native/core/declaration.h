// Entering king (入玉): games/shogi/declaration.py in C++.
#pragma once

#include "position.h"
#include "rules.h"

namespace goryu {

// Where black's and white's king must arrive under the try rule: 5a and 5i.
constexpr std::array<Square, 2> kTrySquare{36, 44};

// Points of men on the board, no king among them, and of a hand: 5 for a bishop or rook, 1 for any other.
int points_of(const Position& position, Bitboard men) noexcept;
int points_of(Hand hand) noexcept;

// May the side to move declare by points (or, under the try rule, win by its next king move)?
bool can_declare(const Position& position, EnteringKing rule) noexcept;

// The legal king move that wins under the try rule, or kNoMove.
Move try_move(const Position& position) noexcept;

// Does the king of the side that has just moved stand on its try square?
bool opponent_has_tried(const Position& position) noexcept;

}  // namespace goryu
