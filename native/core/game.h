// A game of shogi in progress: a position, its past, and the rules it is played by.
//
// The core of goryu._native.Board and the state of a search: push and pop allocate nothing as long as
// the line stays within the room reserved.
#pragma once

#include <vector>

#include "move_list.h"
#include "position.h"
#include "rules.h"

namespace goryu {

// How many plies back a search looks for the first recurrence.
constexpr int kSearchWindow = 16;

// More moves than a game or a line of a search has, but for the longest; those allocate.
constexpr int kRoom = 512;

class Game {
public:
    // A game that begins here; ply: moves played before.
    Game(const Position& position, int ply, const Rules& rules);

    const Position& position() const noexcept { return position_; }
    const Rules& rules() const noexcept { return rules_; }
    void set_rules(const Rules& rules) noexcept { rules_ = rules; }
    Color turn() const noexcept { return position_.turn(); }
    int ply() const noexcept { return first_ply_ + length(); }
    // Moves since the game began here.
    int length() const noexcept { return static_cast<int>(frames_.size()) - 1; }
    // The i-th of them.
    Move move(int i) const noexcept { return frames_[i + 1].undo.move; }
    // What takes back the move that was played `back` plies before the last one.
    const Undo& undo(int back) const noexcept { return frames_[length() - back].undo; }
    // How often the position `back` plies ago had occurred before.
    int occurrences_before(int back) const noexcept;
    std::uint64_t key() const noexcept { return position_.key(ply()); }

    // Makes room for kRoom more moves without allocation; a copy has none.
    void reserve() { frames_.reserve(frames_.size() + kRoom); }
    // The legal moves that the rules want listed, in ascending order.
    void legal_moves(MoveList& moves) const noexcept;
    // Plays a legal move.
    void push(Move move) noexcept;
    // Takes the last move back and returns it; there must be one.
    Move pop() noexcept;

    // What the path to this position makes of it (Board.repetition in Python).
    Ending repetition() const noexcept;
    // Did the board occur up to `plies` plies ago, with as much or more in the attacker's hand?
    bool recurs(Color attacker, int plies) const noexcept;
    // How the game is over for the side to move (Board.outcome in Python).
    Ending outcome() const noexcept;

private:
    // One position as far as repetition asks, and how to leave it.
    struct Frame {
        std::uint64_t position_key;
        std::uint64_t board_key;
        std::array<Hand, 2> hands;
        std::array<std::int32_t, 2> streaks;  // Checks given by each side without a break, up to here.
        Undo undo;                            // Of the move that led here; nothing in the first frame.
    };

    // Counts positions of the game by the low bits of their key: a position that is not counted four times
    // here has not occurred four times.
    static constexpr int kCounters = 1024;
    std::uint32_t& counter(std::uint64_t position_key) noexcept { return counters_[position_key % kCounters]; }

    void add_frame(const std::array<std::int32_t, 2>& streaks, const Undo& undo) noexcept;
    Ending fourth_occurrence() const noexcept;
    Ending first_recurrence() const noexcept;
    // kPerpetualWin or kPerpetualLoss if one side gave check with each of its last distance / 2
    // moves, else `otherwise`.
    Ending perpetual(int distance, Ending otherwise) const noexcept;

    Position position_;
    Rules rules_;
    int first_ply_;
    std::vector<Frame> frames_;
    std::array<std::uint32_t, kCounters> counters_{};
};

}  // namespace goryu
