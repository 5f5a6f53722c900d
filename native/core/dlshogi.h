// The planes and labels of the dlshogi format: evaluators/formats/dlshogi_planes.py and dlshogi.py in C++.
//
// Everything is seen by the side to move: if white moves, square s becomes 80 - s and the colours change places.
#pragma once

#include "plane_row.h"
#include "position.h"

namespace goryu {

struct Features;

constexpr int kBoardPlanes = 62;
constexpr int kHandPlanes = 57;
constexpr int kNyugyokuPlanes = 62;  // Entering king (入玉): more planes of the second input, in one variant.
constexpr int kDlshogiLabels = 27 * kSquares;

// Writes the ones of the 62 planes of the first input and the 57 or 119 of the second into a row of zeros.
// Row: PlaneRow of floats or halves, or BitRow.
template <class Row>
void write_dlshogi(const Position& position, bool sees_nyugyoku, Row& row) noexcept;

// Fills board[62][81] and hands[57 or 119][81] with zeros and ones.
void fill_dlshogi(const Position& position, bool sees_nyugyoku, float* board, float* hands);

// The same as lists of the planes that are one; see winograd_layers.h.
void fill_features(const Position& position, bool sees_nyugyoku, Features& features) noexcept;

// The place of a legal move of a side in the policy vector, in [0, 2187).
int dlshogi_label(Move move, Color color) noexcept;

}  // namespace goryu
