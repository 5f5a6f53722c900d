// Mates in one by a piece next to the king or by a knight: evaluators/formats/contact_mates.py in C++.
#pragma once

#include "position.h"

namespace goryu {

struct ContactMove {
    Square origin = kNoSquare;  // kNoSquare for a drop, too.
    Square to = kNoSquare;      // kNoSquare if there is no move.
    Piece piece = kEmpty;       // After the move.

    explicit operator bool() const noexcept { return to != kNoSquare; }
};

// The first mate in one of a side whose opponent is not in check; it need not be its turn.
ContactMove contact_mate(const Position& position, Color attacker) noexcept;

// The pieces that give check to a side.
Bitboard checkers_of(const Position& position, Color color) noexcept;

}  // namespace goryu
