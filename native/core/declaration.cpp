#include "declaration.h"

#include "legality.h"
#include "movegen.h"

namespace goryu {
namespace {

constexpr int kMenNeeded = 10;  // In the three far ranks, the king not counted.
constexpr int kAllPoints = 54;

Bitboard big_pieces(const Position& position) noexcept {
    return position.of_kind(kBishop) | position.of_kind(kRook) | position.of_kind(kHorse)
           | position.of_kind(kDragon);
}

int points_needed(const Position& position, EnteringKing rule) noexcept {
    const bool is24 = rule == EnteringKing::kPoints24 || rule == EnteringKing::kPoints24H;
    int needed = is24 ? 31 : 28 - position.turn();
    const bool handicap = rule == EnteringKing::kPoints24H || rule == EnteringKing::kPoints27H;
    if (handicap && position.turn() == 1) {
        const Bitboard men = position.occupied().without(position.of_kind(kKing));
        needed -= kAllPoints - points_of(position, men) - points_of(position.hand(0))
                  - points_of(position.hand(1));
    }
    return needed;
}

}  // namespace

int points_of(const Position& position, Bitboard men) noexcept {
    return men.count() + 4 * (men & big_pieces(position)).count();
}

int points_of(Hand hand) noexcept {
    int points = 5 * (hand.count(kBishop) + hand.count(kRook));
    for (const int kind : {kPawn, kLance, kKnight, kSilver, kGold}) points += hand.count(kind);
    return points;
}

bool can_declare(const Position& position, EnteringKing rule) noexcept {
    if (rule == EnteringKing::kNone) return false;
    if (rule == EnteringKing::kTry) return try_move(position) != kNoMove;
    const Color us = position.turn();
    const Square king = position.king(us);
    if (king == kNoSquare || position.in_check() || !kZone[us].has(king)) return false;
    const Bitboard men = (position.of(us) & kZone[us]).without(position.of_kind(kKing));
    if (men.count() < kMenNeeded) return false;
    return points_of(position, men) + points_of(position.hand(us)) >= points_needed(position, rule);
}

Move try_move(const Position& position) noexcept {
    const Square king = position.king(position.turn());
    const Square goal = kTrySquare[position.turn()];
    if (king == kNoSquare || king == goal) return kNoMove;
    const Move move = make_move(king, goal);
    return is_legal(position, move) ? move : kNoMove;
}

bool opponent_has_tried(const Position& position) noexcept {
    const Color opponent = position.turn() ^ 1;
    return position.king(opponent) == kTrySquare[opponent];
}

}  // namespace goryu
