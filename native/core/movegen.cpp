#include "movegen.h"

#include "legality.h"

namespace goryu {
namespace {

// In the order of their numbers in drops.
constexpr std::array<int, 7> kDropKinds{kPawn, kLance, kKnight, kSilver, kBishop, kRook, kGold};
// 18 pawns with one move each, 4 lances with 8, 4 knights with 2, 4 silvers with 5, 2 + 2 sliders with 16.
constexpr int kMaxPromotions = 18 + 32 + 8 + 20 + 64;

void add_all(int move_part, Bitboard targets, MoveList& moves) noexcept {
    for_each(targets, [&](Square to) { moves.add(static_cast<Move>(move_part | to)); });
}

// Where a move gives check to the enemy king.
class CheckSquares {
public:
    explicit CheckSquares(const Position& position) noexcept
        : king_(position.king(position.turn() ^ 1)),
          shields_(position.shields(position.turn() ^ 1, position.turn())) {
        if (king_ == kNoSquare) return;
        const Bitboard occupied = position.occupied();
        for (int kind = kPawn; kind < kKinds; ++kind) {
            if (kind != kKing) direct_[kind] = attacks_of(make_piece(position.turn() ^ 1, kind), king_, occupied);
        }
    }

    // Squares on which a piece of the kind gives check.
    Bitboard direct(int kind) const noexcept { return direct_[kind]; }
    // Squares on which the piece coming from s gives check, being of the kind there.
    Bitboard from(Square s, int kind) const noexcept {
        return shields_.has(s) ? direct_[kind] | kAllSquares.without(tables.line[king_][s]) : direct_[kind];
    }

private:
    Square king_;
    Bitboard shields_;
    std::array<Bitboard, kKinds> direct_{};
};

struct AnySquares {
    explicit AnySquares(const Position&) noexcept {}
    Bitboard direct(int) const noexcept { return kAllSquares; }
    Bitboard from(Square, int) const noexcept { return kAllSquares; }
};

// Non-promotions by origin, then drops by kind, then promotions by origin: that is ascending order.
template <class Wanted>
void generate(const Position& position, MoveList& moves, bool all_moves) noexcept {
    const Legality legality(position);
    const Wanted wanted(position);
    const Color us = legality.us();
    const auto& unwanted = (all_moves ? kDeadSquares : kPointlessSquares)[us];
    std::array<Move, kMaxPromotions> promotions;
    int promotion_count = 0;

    moves.clear();
    for_each(legality.movers(), [&](Square from) {
        const int kind = kind_of(position.piece(from));
        const int move_part = from << 7;
        if (kind == kKing) {
            add_all(move_part, legality.king_reach() & wanted.from(from, kKing), moves);
            return;
        }
        Bitboard targets = legality.reach(from);
        if (can_promote(kind)) {
            const Bitboard promoting = kZone[us].has(from) ? targets : targets & kZone[us];
            if (promoting.any()) {
                for_each(promoting & wanted.from(from, kind + kPromoted), [&](Square to) {
                    promotions[promotion_count++] = static_cast<Move>(kPromote | move_part | to);
                });
                targets = targets.without(promoting & unwanted[kind]);
            }
        }
        add_all(move_part, targets & wanted.from(from, kind), moves);
    });
    if (legality.drops().any() && !position.hand(us).empty()) {
        for (const int kind : kDropKinds) {
            if (!position.hand(us).has(kind)) continue;
            add_all((kDropFrom + kind) << 7, legality.drop_squares(kind) & wanted.direct(kind), moves);
        }
    }
    for (int i = 0; i < promotion_count; ++i) moves.add(promotions[i]);
}

}  // namespace

bool Legality::pawn_drop_mates(Square head) const noexcept {
    const Color them = us_ ^ 1;
    const Square enemy_king = position_.king(them);
    const Bitboard occupied = occupied_ | square_bit(head);
    Bitboard capturers = position_.attackers(them, head, occupied).without(square_bit(enemy_king));
    if (capturers.any()) {
        // A shield on the pawn's own line may capture it; the pawn itself shields no one.
        const Bitboard pinned = position_.shields(them, them).without(tables.line[enemy_king][head]);
        if (capturers.without(pinned).any()) return false;
    }
    const Bitboard steps = tables.steps[make_piece(them, kKing)][enemy_king].without(position_.of(them));
    return position_.attacked_near_king(them, steps, occupied) == steps;
}

void legal_moves(const Position& position, MoveList& moves, bool all_moves) noexcept {
    generate<AnySquares>(position, moves, all_moves);
}

void checking_moves(const Position& position, MoveList& moves) noexcept {
    if (position.king(position.turn() ^ 1) == kNoSquare) {
        moves.clear();
        return;
    }
    generate<CheckSquares>(position, moves, true);
}

bool has_legal_move(const Position& position) noexcept {
    const Legality legality(position);
    const Color us = legality.us();
    // Nearly every position is decided by a free pawn that can step.
    const Bitboard pawns = position.of(us, kPawn).without(position.pinned());
    if ((forward(us, pawns) & legality.targets()).any()) return true;
    if (legality.king() != kNoSquare && legality.king_reach().any()) return true;
    if (legality.targets().none()) return false;
    Bitboard others = legality.movers().without(position.of_kind(kKing));
    while (others.any()) {
        if (legality.reach(others.pop_first()).any()) return true;
    }
    for (const int kind : kDropKinds) {
        if (position.hand(us).has(kind) && legality.drop_squares(kind).any()) return true;
    }
    return false;
}

bool is_legal(const Position& position, Move move) noexcept {
    const Legality legality(position);
    const Color us = legality.us();
    const Square to = to_of(move);
    const int from = from_of(move);
    if (move >= 2 * kPromote || to >= kSquares || from > kDropFrom + kGold) return false;
    if (is_drop(move)) {
        const int kind = dropped_kind(move);
        return !is_promotion(move) && position.hand(us).has(kind) && legality.drop_squares(kind).has(to);
    }
    if (!position.of(us).has(from)) return false;
    const int kind = kind_of(position.piece(from));
    if (kind == kKing) return !is_promotion(move) && legality.king_reach().has(to);
    if (is_promotion(move)) {
        if (!can_promote(kind) || !(kZone[us].has(from) || kZone[us].has(to))) return false;
    } else if (kDeadSquares[us][kind].has(to)) {
        return false;
    }
    return legality.reach(from).has(to);
}

}  // namespace goryu
