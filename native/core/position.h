// A shogi position: pieces, hands, side to move; moves are played and taken back in place.
//
// Nothing here allocates, throws or remembers earlier positions (see game.h for that); a Position is
// trivially copyable, some 500 bytes.
#pragma once

#include "attacks.h"
#include "zobrist.h"

namespace goryu {

// What do_move forgets and undo_move needs.
struct Undo {
    Bitboard checkers;
    Bitboard pinned;
    std::uint64_t board_key;
    std::uint64_t position_key;
    Move move;
    Piece captured;
};

class Position {
public:
    // The start position of an even game.
    Position() noexcept;

    // An empty board for black to move; put() pieces and hands, then call finish().
    static Position empty() noexcept { return Position(Blank{}); }
    void put(Square s, Piece piece) noexcept;
    void put_in_hand(Color color, int kind, int count) noexcept;
    void finish(Color turn) noexcept;

    Color turn() const noexcept { return turn_; }
    Piece piece(Square s) const noexcept { return board_[s]; }
    Hand hand(Color color) const noexcept { return hands_[color]; }
    // kNoSquare if there is none (mate problems leave the attacker's king away).
    Square king(Color color) const noexcept { return kings_[color]; }
    Bitboard of(Color color) const noexcept { return colors_[color]; }
    Bitboard of_kind(int kind) const noexcept { return kinds_[kind]; }
    Bitboard of(Color color, int kind) const noexcept { return colors_[color] & kinds_[kind]; }
    Bitboard occupied() const noexcept { return colors_[0] | colors_[1]; }
    // Gold and all that move like it.
    Bitboard golds() const noexcept {
        return kinds_[kGold] | kinds_[kProPawn] | kinds_[kProLance] | kinds_[kProKnight] | kinds_[kProSilver];
    }

    // Pieces on the board only, without the side to move.
    std::uint64_t board_key() const noexcept { return board_key_; }
    // Board, hands and side to move, without the ply.
    std::uint64_t position_key() const noexcept { return position_key_; }
    std::uint64_t key(int ply) const noexcept { return position_key_ ^ ply_word(ply); }

    // The pieces that give check to the side to move.
    Bitboard checkers() const noexcept { return checkers_; }
    bool in_check() const noexcept { return checkers_.any(); }
    // The pieces of the side to move that may only move on the line to their king.
    Bitboard pinned() const noexcept { return pinned_; }

    // The pieces of `color` that attack the square, given that `occupied` is.
    Bitboard attackers(Color color, Square s, Bitboard occupied) const noexcept;
    // The lone pieces of `color` between the king of `king_color` and a slider of the other colour.
    Bitboard shields(Color king_color, Color color) const noexcept;
    // Those of the squares next to the king of `color` that the other side attacks, the king being lifted.
    Bitboard attacked_near_king(Color color, Bitboard squares, Bitboard occupied) const noexcept;

    // Is there something to move or drop, and room for it? What do_move needs to keep the board whole;
    // far less than being legal.
    bool can_move(Move move) const noexcept;

    // Plays a legal move. undo_move takes the last one back, with what its do_move left in `undo`.
    void do_move(Move move, Undo& undo) noexcept;
    void undo_move(const Undo& undo) noexcept;

private:
    struct Blank {};
    explicit Position(Blank) noexcept {}

    void toggle(Square s, Piece piece) noexcept {
        const Bitboard bit = square_bit(s);
        colors_[color_of(piece)] ^= bit;
        kinds_[kind_of(piece)] ^= bit;
    }
    void set_hand_count_key(Color color, int kind, int from, int to) noexcept {
        position_key_ ^= kZobrist.hand[color][kind][from] ^ kZobrist.hand[color][kind][to];
    }
    void find_checks() noexcept;
    Bitboard snipers(Color king_color, Square king) const noexcept;

    std::array<Bitboard, 2> colors_{};
    std::array<Bitboard, kKinds> kinds_{};
    Bitboard checkers_;
    Bitboard pinned_;
    std::uint64_t board_key_ = 0;
    std::uint64_t position_key_ = 0;
    std::array<Hand, 2> hands_{};
    Color turn_ = 0;
    std::array<std::uint8_t, 2> kings_{kNoSquare, kNoSquare};
    std::array<Piece, kSquares> board_{};
};

}  // namespace goryu
