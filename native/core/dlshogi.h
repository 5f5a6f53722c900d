// The planes and labels of the dlshogi format, the twin of evaluators/dlshogi_planes.py and dlshogi_format.py.
//
// Everything is seen by the side to move: if white moves, square s becomes 80 - s and the colours change places.
#pragma once

#include "position.h"

namespace goryu {

constexpr int kBoardPlanes = 62;
constexpr int kHandPlanes = 57;
constexpr int kNyugyokuPlanes = 62;  // Entering king (入玉): more planes of the second input, in one variant.
constexpr int kDlshogiLabels = 27 * kSquares;

// Bytes of a position as bits, eight values a byte, the lowest bit first. A plane of the second input is
// the same all over the board: one bit.
constexpr int kBoardBytes = (kBoardPlanes * kSquares + 7) / 8;
constexpr int hand_bytes(bool sees_nyugyoku) noexcept {
    return (kHandPlanes + (sees_nyugyoku ? kNyugyokuPlanes : 0) + 7) / 8;
}

// Fills board[62][81] and hands[57 or 119][81] with zeros and ones.
void fill_dlshogi(const Position& position, bool sees_nyugyoku, float* board, float* hands) noexcept;

// Fills board[kBoardBytes] and hands[hand_bytes(sees_nyugyoku)] with the same as bits.
void pack_dlshogi(const Position& position, bool sees_nyugyoku, std::uint8_t* board, std::uint8_t* hands) noexcept;

// The place of a legal move of a side in the policy vector, in [0, 2187).
int dlshogi_label(Move move, Color color) noexcept;

}  // namespace goryu
