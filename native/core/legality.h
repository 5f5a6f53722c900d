// Where pieces may legally go: what legal_moves, counting and the single-move test have in common.
#pragma once

#include "position.h"

namespace goryu {

constexpr std::array<Bitboard, 2> kZone{far_ranks(0, 0, 2), far_ranks(1, 0, 2)};
constexpr std::array<Bitboard, 2> kLastRank{far_ranks(0, 0, 0), far_ranks(1, 0, 0)};
constexpr std::array<Bitboard, 2> kLastTwoRanks{far_ranks(0, 0, 1), far_ranks(1, 0, 1)};

// By colour and kind: squares of the zone that a non-promoting move (or a drop) must not end on.
using KindSquares = std::array<std::array<Bitboard, kKinds>, 2>;

constexpr KindSquares make_dead_squares() noexcept {
    KindSquares dead{};
    for (const Color color : {0, 1}) {
        dead[color][kPawn] = dead[color][kLance] = kLastRank[color];
        dead[color][kKnight] = kLastTwoRanks[color];
    }
    return dead;
}
constexpr KindSquares make_pointless_squares() noexcept {
    KindSquares pointless = make_dead_squares();
    for (const Color color : {0, 1}) {
        pointless[color][kPawn] = pointless[color][kBishop] = pointless[color][kRook] = kAllSquares;
        pointless[color][kLance] = kLastTwoRanks[color];
    }
    return pointless;
}

// Where a piece that stays as it is could never move again.
inline constexpr KindSquares kDeadSquares = make_dead_squares();
// Where a piece that could promote gains nothing by staying as it is.
inline constexpr KindSquares kPointlessSquares = make_pointless_squares();

class Legality {
public:
    GORYU_INLINE explicit Legality(const Position& position) noexcept
        : position_(position), us_(position.turn()), king_(position.king(us_)),
          occupied_(position.occupied()), targets_(kAllSquares.without(position.of(us_))),
          drops_(kAllSquares.without(occupied_)) {
        const Bitboard checkers = position.checkers();
        if (checkers.none()) return;
        if (checkers.more_than_one()) {
            targets_ = drops_ = {};
        } else {
            drops_ = tables.between[king_][checkers.first()];
            targets_ = drops_ | checkers;
        }
    }

    // Where the king may go; there must be one.
    GORYU_INLINE Bitboard king_reach() const noexcept {
        const Bitboard steps = tables.steps[make_piece(us_, kKing)][king_].without(position_.of(us_));
        if (steps.none()) return steps;
        return steps.without(position_.attacked_near_king(us_, steps, occupied_));
    }

    // Where the piece of the side to move on s, not its king, may go.
    GORYU_INLINE Bitboard reach(Square s) const noexcept {
        const Bitboard to = attacks_of(position_.piece(s), s, occupied_) & targets_;
        return position_.pinned().has(s) ? to & tables.line[king_][s] : to;
    }

    // The pieces that may have somewhere to go; where there is a check, few can parry it.
    GORYU_INLINE Bitboard movers() const noexcept {
        const Bitboard kings = position_.of(us_, kKing);
        if (targets_.none()) return kings;
        if (!position_.in_check()) return position_.of(us_);
        if (targets_.count() > kFewTargets) return position_.of(us_);
        Bitboard found = kings;
        for_each(targets_, [&](Square to) { found |= position_.attackers(us_, to, occupied_); });
        return found;
    }

    // Where a kind may be dropped; uchifuzume is looked at only for pawns.
    GORYU_INLINE Bitboard drop_squares(int kind) const noexcept {
        if (kind == kPawn) return pawn_drop_squares();
        return drops_.without(kDeadSquares[us_][kind]);
    }

    Color us() const noexcept { return us_; }
    Square king() const noexcept { return king_; }
    Bitboard occupied() const noexcept { return occupied_; }
    // Where a piece that is neither pinned nor the king may end a move.
    Bitboard targets() const noexcept { return targets_; }
    // Where something may be dropped, as far as checks and occupation decide.
    Bitboard drops() const noexcept { return drops_; }

private:
    // Up to this many targets, looking back from them is faster than looking forward from all pieces.
    static constexpr int kFewTargets = 3;

    GORYU_INLINE Bitboard pawn_drop_squares() const noexcept {
        const Bitboard taken = kLastRank[us_] | whole_files(position_.of(us_, kPawn));  // Nifu (二歩).
        Bitboard squares = drops_.without(taken);
        const Square enemy_king = position_.king(us_ ^ 1);
        if (enemy_king == kNoSquare) return squares;
        const Bitboard head = tables.steps[make_piece(us_ ^ 1, kPawn)][enemy_king] & squares;
        if (head.any() && pawn_drop_mates(head.first())) squares ^= head;
        return squares;
    }

    // Would a pawn dropped on `head`, in front of the enemy king, mate? (Uchifuzume, 打ち歩詰め.)
    bool pawn_drop_mates(Square head) const noexcept;

    const Position& position_;
    Color us_;
    Square king_;
    Bitboard occupied_;
    Bitboard targets_;
    Bitboard drops_;
};

}  // namespace goryu
