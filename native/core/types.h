// The small vocabulary of shogi: colours, kinds, pieces, squares, hands and moves, all plain integers.
//
// The numbers are those of the Python package (games/shogi/pieces.py and move.py):
// squares are file-major, 1a = 0, 1b = 1, 9i = 80; a piece is its kind, plus 16 if it is white.
#pragma once

#include <array>
#include <cstdint>

#if defined(__GNUC__)
// Also lets a function compiled for a richer instruction set absorb these (see count.cpp).
#define GORYU_INLINE [[gnu::always_inline]] inline
// Asks the memory for what will be read soon; changes nothing.
#define GORYU_PREFETCH(address) __builtin_prefetch(address)
#else
#define GORYU_INLINE inline
#define GORYU_PREFETCH(address) static_cast<void>(address)
#endif

namespace goryu {

using Color = int;  // 0 black (moves first, towards rank a), 1 white
using Square = int;
using Move = std::uint16_t;

constexpr int kSquares = 81;
constexpr Square kNoSquare = 81;

// The order of Apery and cshogi. Kinds 1..6 promote, to kind + 8.
enum Kind : int {
    kEmpty, kPawn, kLance, kKnight, kSilver, kBishop, kRook, kGold, kKing,
    kProPawn, kProLance, kProKnight, kProSilver, kHorse, kDragon,
    kKinds
};
constexpr int kPromoted = 8;
constexpr int kPieceCodes = 32;

using Piece = std::uint8_t;
constexpr Piece make_piece(Color color, int kind) noexcept { return static_cast<Piece>(16 * color + kind); }
constexpr int kind_of(Piece piece) noexcept { return piece & 15; }
constexpr Color color_of(Piece piece) noexcept { return piece >> 4; }
constexpr bool can_promote(int kind) noexcept { return kind >= kPawn && kind <= kRook; }
// The kind that a piece has once it is captured.
constexpr int demoted(int kind) noexcept { return kind > kKing ? kind - kPromoted : kind; }

constexpr int file_of(Square square) noexcept { return square / 9; }
constexpr int rank_of(Square square) noexcept { return square % 9; }

// A move is `to | from << 7 | promote << 14`; a drop of kind k has from = 80 + k, so P L N S B R G count from 81.
constexpr Move kPromote = 1 << 14;
constexpr int kDropFrom = kSquares - 1;
constexpr Move kNoMove = 0;
constexpr Move make_move(Square from, Square to) noexcept { return static_cast<Move>(to | from << 7); }
constexpr Square to_of(Move move) noexcept { return move & 0x7F; }
constexpr int from_of(Move move) noexcept { return move >> 7 & 0x7F; }
constexpr bool is_drop(Move move) noexcept { return from_of(move) >= kSquares; }
constexpr bool is_promotion(Move move) noexcept { return (move & kPromote) != 0; }
constexpr int dropped_kind(Move move) noexcept { return from_of(move) - kDropFrom; }

// No position has more legal moves.
constexpr int kMaxMoves = 593;

// Seven counts in one word, each with a zero bit above it, so that two hands compare at once.
class Hand {
public:
    constexpr int count(int kind) const noexcept { return static_cast<int>(bits_ >> kShift[kind] & kMask[kind]); }
    constexpr bool has(int kind) const noexcept { return (bits_ >> kShift[kind] & kMask[kind]) != 0; }
    constexpr bool empty() const noexcept { return bits_ == 0; }
    constexpr void add(int kind, int n = 1) noexcept { bits_ += static_cast<std::uint32_t>(n) << kShift[kind]; }
    constexpr void remove(int kind) noexcept { bits_ -= 1U << kShift[kind]; }
    constexpr bool operator==(const Hand&) const noexcept = default;

    // Does this hand hold at least as many of every piece as the other?
    constexpr bool covers(Hand other) const noexcept {
        return (((bits_ | kGuards) - other.bits_) & kGuards) == kGuards;
    }

private:
    // By kind; the kinds that are never in hand have no bits.       P  L  N   S   B   R   G
    static constexpr std::array<std::uint8_t, 8> kShift{0, 0, 6, 10, 14, 18, 21, 24};
    static constexpr std::array<std::uint8_t, 8> kMask{0, 31, 7, 7, 7, 3, 3, 7};
    static constexpr std::uint32_t kGuards = 1U << 5 | 1U << 9 | 1U << 13 | 1U << 17 | 1U << 20 | 1U << 23 | 1U << 27;

    std::uint32_t bits_ = 0;
};

}  // namespace goryu
