// SFEN, the one-line text of a shogi position, read as strictly as games/shogi/sfen.py reads it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "position.h"

namespace goryu {

inline constexpr std::string_view kStartSfen = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

// By kind, how many a set has.
inline constexpr std::array<int, 8> kPieceTotals{0, 18, 4, 4, 4, 2, 2, 4};

// By colour and kind, how many pieces are in hand.
using HandCounts = std::array<std::array<int, 8>, 2>;

struct SfenPosition {
    Position position;
    int move_number;  // As received, 0 included; 1 if left out.
};

// Nothing if the text is malformed or breaks a rule of shogi; the Python parser says which.
// allow_missing_king: may the side to move lack its king?
std::optional<SfenPosition> parse_sfen(std::string_view text, bool allow_missing_king = false);

// Gives the hands and the side to move to a board on which the pieces stand. False if the position would break a rule
// of shogi; it is unfinished then.
bool complete(Position& position, const HandCounts& hands, Color turn, bool allow_missing_king) noexcept;

// The canonical SFEN: hands in the order R B G S N L P.
std::string to_sfen(const Position& position, int move_number);

}  // namespace goryu
