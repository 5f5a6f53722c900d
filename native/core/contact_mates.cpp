#include "contact_mates.h"

#include "legality.h"

namespace goryu {
namespace {

struct Step {
    int files, ranks;  // Towards 9, towards i, as black sees them.
};

constexpr std::array<Step, 8> kDirections{{{1, -1}, {0, -1}, {-1, -1}, {1, 0}, {-1, 0}, {1, 1}, {0, 1}, {-1, 1}}};
constexpr std::array<Step, 2> kKnights{{{-1, -2}, {1, -2}}};
constexpr std::array<int, 7> kMovers{kPawn, kKnight, kSilver, kGold, kLance, kBishop, kRook};
constexpr std::array<int, 5> kDrops{kGold, kLance, kSilver, kBishop, kRook};

// The square from which a step of a side leads to the target, or kNoSquare.
constexpr Square origin_of(Square target, Color color, Step step) noexcept {
    const int sign = color == 0 ? 1 : -1;
    const int file = file_of(target) - sign * step.files, rank = rank_of(target) - sign * step.ranks;
    return file >= 0 && file < 9 && rank >= 0 && rank < 9 ? 9 * file + rank : kNoSquare;
}

// Calls action(square) in ascending order as the side sees the board, until it returns true; returns whether it did.
template <class Action>
bool any_of_side(Bitboard squares, Color color, Action action) {
    std::array<Square, kSquares> found;
    int count = 0;
    for_each(squares, [&](Square s) { found[count++] = s; });
    for (int i = 0; i < count; ++i) {
        if (action(found[color == 0 ? i : count - 1 - i])) return true;
    }
    return false;
}

class Search {
public:
    Search(const Position& position, Color attacker) noexcept
        : position_(position), attacker_(attacker), king_(position.king(attacker ^ 1)),
          own_king_(position.king(attacker)), occupied_(position.occupied()) {}

    ContactMove first() noexcept {
        if (king_ == kNoSquare) return {};
        if (moves_next_to_king() || knights() || drops_next_to_king()) return found_;
        return {};
    }

private:
    bool moves_next_to_king() noexcept {
        for (const Step direction : kDirections) {
            const Square to = origin_of(king_, attacker_, direction);
            if (to == kNoSquare || position_.of(attacker_).has(to)) continue;
            const Bitboard pieces = position_.attackers(attacker_, to, occupied_);
            if (pieces.none()) continue;
            for (const int kind : kMovers) {
                Bitboard movers = pieces & position_.of_kind(kind);
                if (kind != kGold) movers |= pieces & position_.of_kind(kind + kPromoted);
                if (any_of_side(movers, attacker_, [&](Square from) { return moves(from, to); })) return true;
            }
        }
        return false;
    }

    bool moves(Square from, Square to) noexcept {
        const int kind = kind_of(position_.piece(from));
        const Bitboard ends = square_bit(from) | square_bit(to);
        const bool is_promotion = can_promote(kind) && kZone[attacker_].intersects(ends);
        if (is_promotion && mates(from, to, kind + kPromoted)) return true;
        if (is_promotion && (kind == kPawn || kind == kBishop || kind == kRook)) return false;
        return mates(from, to, kind);
    }

    bool knights() noexcept {
        for (const Step step : kKnights) {
            const Square to = origin_of(king_, attacker_, step);
            if (to == kNoSquare || position_.of(attacker_).has(to)) continue;
            const Bitboard movers =
                tables.steps[make_piece(attacker_ ^ 1, kKnight)][to] & position_.of(attacker_, kKnight);
            if (any_of_side(movers, attacker_, [&](Square from) { return mates(from, to, kKnight); })) return true;
            if (position_.hand(attacker_).has(kKnight) && drops(to, kKnight)) return true;
        }
        return false;
    }

    bool drops_next_to_king() noexcept {
        for (const int kind : kDrops) {
            if (!position_.hand(attacker_).has(kind)) continue;
            for (const Step direction : kDirections) {
                const Square to = origin_of(king_, attacker_, direction);
                if (to != kNoSquare && drops(to, kind)) return true;
            }
        }
        return false;
    }

    bool drops(Square to, int kind) noexcept { return !occupied_.has(to) && mates(kNoSquare, to, kind); }

    // Is this move a legal mate?
    bool mates(Square from, Square to, int kind) noexcept {
        const Piece piece = make_piece(attacker_, kind);
        const Color defender = attacker_ ^ 1;
        const Bitboard at = square_bit(to);
        const Bitboard gone = from == kNoSquare ? Bitboard{} : square_bit(from);
        const Bitboard occupied = occupied_.without(gone) | at;
        if (!attacks_of(piece, to, occupied).has(king_)) return false;
        // The attacker's pieces other than the one that moves, which attack a square.
        const auto others = [&](Square s, Bitboard squares) {
            return position_.attackers(attacker_, s, squares).without(gone);
        };
        if (own_king_ != kNoSquare && position_.attackers(defender, own_king_, occupied).without(at).any()) return false;
        const Bitboard fled = occupied.without(square_bit(king_));
        const Bitboard reach = attacks_of(piece, to, fled);
        Bitboard flights = tables.steps[make_piece(defender, kKing)][king_].without(position_.of(defender).without(at));
        while (flights.any()) {
            const Square s = flights.pop_first();
            if (!reach.has(s) && others(s, fled).none()) return false;
        }
        Bitboard captures = position_.attackers(defender, to, occupied).without(square_bit(king_));
        while (captures.any()) {
            const Square s = captures.pop_first();
            if (others(king_, occupied.without(square_bit(s))).none()) return false;
        }
        found_ = {from, to, piece};
        return true;
    }

    const Position& position_;
    const Color attacker_;
    const Square king_;
    const Square own_king_;
    const Bitboard occupied_;
    ContactMove found_;
};

}  // namespace

ContactMove contact_mate(const Position& position, Color attacker) noexcept {
    return Search(position, attacker).first();
}

Bitboard checkers_of(const Position& position, Color color) noexcept {
    const Square king = position.king(color);
    return king == kNoSquare ? Bitboard{} : position.attackers(color ^ 1, king, position.occupied());
}

}  // namespace goryu
