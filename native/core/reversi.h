// Reversi on a board of 4, 6 or 8 squares a side: the core of goryu._native.Reversi.
//
// games/reversi.py in C++: two bitboards, the discs of the side to move and of the opponent.
// Offers what Game offers a search: legal_moves, push, pop, key, outcome.
#pragma once

#include <vector>

#include "move_list.h"

namespace goryu {

constexpr Move kPass = 64;

enum class ReversiEnding : std::uint8_t { kNone, kLoss, kDraw, kWin };

constexpr bool is_over(ReversiEnding ending) noexcept { return ending != ReversiEnding::kNone; }
// The result for the side to move in {-1, 0, +1}; 0 for kNone.
constexpr int value_of(ReversiEnding ending) noexcept {
    return ending == ReversiEnding::kWin ? 1 : ending == ReversiEnding::kLoss ? -1 : 0;
}

class ReversiGame {
public:
    // The start of a game; size is 4, 6 or 8.
    explicit ReversiGame(int size);

    int size() const noexcept { return size_; }
    std::uint64_t own() const noexcept { return now_.own; }
    std::uint64_t opponent() const noexcept { return now_.opponent; }
    int turn() const noexcept { return length() % 2; }
    int ply() const noexcept { return length(); }
    // Moves since the start of the game, passes included.
    int length() const noexcept { return static_cast<int>(past_.size()); }
    Move move(int i) const noexcept { return past_[i].move; }
    std::uint64_t key() const noexcept;
    // Discs of the side to move minus the opponent's.
    int disc_difference() const noexcept;

    void legal_moves(MoveList& moves) const noexcept;
    bool is_legal(Move move) const noexcept;
    void push(Move move) noexcept;
    Move pop() noexcept;
    ReversiEnding outcome() const noexcept;

private:
    struct Discs {
        std::uint64_t own;
        std::uint64_t opponent;
        std::uint64_t key;  // Of the discs, without the ply.
    };
    struct Past {
        Discs discs;
        Move move;
    };
    // How far a step along one of the four axes shifts a bitboard, and the squares that may lie strictly
    // between two discs of such a line.
    struct Axis {
        int shift;
        std::uint64_t between;
    };

    // The empty squares on which a disc of `own` would flip something.
    std::uint64_t targets(std::uint64_t own, std::uint64_t opponent) const noexcept;
    // The opponent's discs that a disc of the side to move on the square flips.
    std::uint64_t flips(int square) const noexcept;

    int size_;
    std::uint64_t full_;
    std::array<Axis, 4> axes_;
    Discs now_;
    std::vector<Past> past_;
};

}  // namespace goryu
