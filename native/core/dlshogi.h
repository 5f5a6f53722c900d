// The planes and labels of the dlshogi format: evaluators/formats/dlshogi_planes.py and dlshogi.py in C++.
//
// Everything is seen by the side to move: if white moves, square s becomes 80 - s and the colours change places.
#pragma once

#include "position.h"

namespace goryu {

struct Features;

constexpr int kBoardPlanes = 62;
constexpr int kHandPlanes = 57;
constexpr int kNyugyokuPlanes = 62;  // Entering king (入玉): more planes of the second input, in one variant.
constexpr int kDlshogiLabels = 27 * kSquares;

// The planes of a row that may hold a one. Filling the row again clears only these.
class UsedPlanes {
public:
    // Of a row of which nothing is known.
    UsedPlanes() noexcept {
        board_.fill(true);
        hands_.fill(true);
    }

    void use_board(int plane) noexcept { board_[plane] = true; }
    void use_hands(int plane) noexcept { hands_[plane] = true; }
    // Fills the used planes of the row with zeros; now none is used.
    template <class Element>
    void clear(Element* board, Element* hands, int hand_planes) noexcept;

private:
    std::array<bool, kBoardPlanes> board_;
    std::array<bool, kHandPlanes + kNyugyokuPlanes> hands_;
};

// Fills board[62][81] and hands[57 or 119][81] with zeros and ones, floats or halves (half.h).
// used: kept from the row's last position.
template <class Element>
void fill_dlshogi(const Position& position, bool sees_nyugyoku, Element* board, Element* hands,
                  UsedPlanes& used) noexcept;
inline void fill_dlshogi(const Position& position, bool sees_nyugyoku, float* board, float* hands) noexcept {
    UsedPlanes unknown;
    fill_dlshogi(position, sees_nyugyoku, board, hands, unknown);
}

// The bytes of a position as bits: those of the first input and of the second, one for each of its planes.
constexpr int kPackedBoardBytes = (kBoardPlanes * kSquares + 7) / 8;
constexpr int packed_bytes(bool sees_nyugyoku) noexcept {
    return kPackedBoardBytes + (kHandPlanes + (sees_nyugyoku ? kNyugyokuPlanes : 0) + 7) / 8;
}
// Writes these bytes: evaluators/packed_input.py in C++.
void pack_dlshogi(const Position& position, bool sees_nyugyoku, std::uint8_t* row) noexcept;

// The same as lists of what is one; see winograd_layers.h.
void fill_features(const Position& position, bool sees_nyugyoku, Features& features) noexcept;

// The place of a legal move of a side in the policy vector, in [0, 2187).
int dlshogi_label(Move move, Color color) noexcept;

}  // namespace goryu
