#include "attacks.h"

#include <initializer_list>

namespace goryu {
namespace {

// Directions for black as (files towards 9, ranks towards i); for white both signs turn.
struct Step {
    int files;
    int ranks;
};
using Steps = std::initializer_list<Step>;

constexpr Steps kPawnSteps{{0, -1}};
constexpr Steps kKnightSteps{{1, -2}, {-1, -2}};
constexpr Steps kSilverSteps{{0, -1}, {1, -1}, {-1, -1}, {1, 1}, {-1, 1}};
constexpr Steps kGoldSteps{{0, -1}, {1, -1}, {-1, -1}, {1, 0}, {-1, 0}, {0, 1}};
constexpr Steps kStraights{{0, -1}, {0, 1}, {1, 0}, {-1, 0}};
constexpr Steps kDiagonals{{1, -1}, {-1, -1}, {1, 1}, {-1, 1}};
constexpr Steps kFile{{0, -1}, {0, 1}};
constexpr Steps kRank{{1, 0}, {-1, 0}};
constexpr Steps kRisingDiagonal{{1, -1}, {-1, 1}};
constexpr Steps kFallingDiagonal{{-1, -1}, {1, 1}};
constexpr Steps kNoSteps{};

const Steps& steps_of(int kind) {
    switch (kind) {
    case kPawn: return kPawnSteps;
    case kKnight: return kKnightSteps;
    case kSilver: return kSilverSteps;
    case kGold:
    case kProPawn:
    case kProLance:
    case kProKnight:
    case kProSilver: return kGoldSteps;
    case kHorse: return kStraights;
    case kDragon: return kDiagonals;
    default: return kNoSteps;
    }
}

// The squares reached from s by up to `reach` steps in each of the directions on an empty board.
Bitboard walk(Square s, const Steps& steps, int reach, Color color = 0) {
    Bitboard reached;
    const int sign = color == 0 ? 1 : -1;
    for (const Step step : steps) {
        int file = file_of(s), rank = rank_of(s);
        for (int n = 0; n < reach; ++n) {
            file += sign * step.files;
            rank += sign * step.ranks;
            if (file < 0 || file > 8 || rank < 0 || rank > 8) break;
            reached |= square_bit(9 * file + rank);
        }
    }
    return reached;
}

std::uint16_t attacks_on_line(int place, int inner) {
    const int occupied = inner << 1;
    int attacks = 0;
    for (const int direction : {-1, 1}) {
        for (int at = place + direction; at >= 0 && at < 9; at += direction) {
            attacks |= 1 << at;
            if ((occupied >> at & 1) != 0) break;
        }
    }
    return static_cast<std::uint16_t>(attacks);
}

}  // namespace

const AttackTables tables;

AttackTables::AttackTables() noexcept {
    for (int place = 0; place < 9; ++place) {
        for (int inner = 0; inner < 128; ++inner) line9[place][inner] = attacks_on_line(place, inner);
    }
    for (Square s = 0; s < kSquares; ++s) {
        diagonals[s] = {walk(s, kRisingDiagonal, 8), walk(s, kFallingDiagonal, 8)};
        bishop_rays[s] = walk(s, kDiagonals, 8);
        rook_rays[s] = walk(s, kStraights, 8);
        for (const Color color : {0, 1}) {
            lance_rays[color][s] = walk(s, kPawnSteps, 8, color);
            for (int kind = 0; kind < 16; ++kind) {
                Bitboard& steps_from = steps[make_piece(color, kind)][s];
                steps_from = walk(s, steps_of(kind), 1, color);
                if (kind == kKing) steps_from = walk(s, kStraights, 1) | walk(s, kDiagonals, 1);
            }
        }
    }
    for (const Color color : {0, 1}) {
        step_zone[color] = {};
        for (int kind = kPawn; kind < kKinds; ++kind) {
            const auto& reach = steps[make_piece(color, kind)];
            for (Square from = 0; from < kSquares; ++from) {
                for_each(reach[from], [&](Square to) {
                    step_zone[color][to] |= square_bit(from);
                    for_each(steps[make_piece(color, kKing)][to],
                             [&](Square near) { step_zone[color][near] |= square_bit(from); });
                });
            }
        }
    }
    for (Square a = 0; a < kSquares; ++a) {
        between[a] = line[a] = {};
        for (const Steps& axis : {kFile, kRank, kRisingDiagonal, kFallingDiagonal}) {
            const Bitboard whole = walk(a, axis, 8) | square_bit(a);
            for (const Step step : axis) {
                for (int length = 1; length < 9; ++length) {
                    const Bitboard path = walk(a, {step}, length);
                    const Bitboard end = path.without(walk(a, {step}, length - 1));
                    if (end.none()) break;
                    line[a][end.first()] = whole;
                    between[a][end.first()] = path ^ end;
                }
            }
        }
    }
}

}  // namespace goryu
