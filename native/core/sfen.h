// SFEN, the one-line text of a shogi position, read as strictly as games/shogi/sfen.py reads it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "position.h"

namespace goryu {

inline constexpr std::string_view kStartSfen = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

struct SfenPosition {
    Position position;
    int move_number;  // As received, 0 included; 1 if left out.
};

// Nothing if the text is malformed or breaks a rule of shogi; the Python parser says which.
// allow_missing_king: may the side to move lack its king?
std::optional<SfenPosition> parse_sfen(std::string_view text, bool allow_missing_king = false);

// The canonical SFEN: hands in the order R B G S N L P.
std::string to_sfen(const Position& position, int move_number);

}  // namespace goryu
