// What a piece attacks: tables for steps, kindergarten multiplication for slides.
//
// A slide along a line depends on the seven inner squares of the line. One multiplication gathers
// their occupancy from the board into an index, a table of nine-square lines (2.3 KB, it stays in the
// first-level cache) answers, and one multiplication spreads the answer over the line again:
//
//   file      the nine bits are adjacent: a shift gathers, a shift spreads;
//   diagonal  every file holds at most one bit, each on another rank: adding all files up gathers the
//             bits by rank, repeating the answer in every file and masking spreads it;
//   rank      one bit in nine: a multiplication by bits 8 apart packs them side by side and unpacks them.
//
// No instruction beyond the x86-64 baseline is needed, and no magic number is searched for.
// Source: G. Isenberg, "Kindergarten Bitboards", chessprogramming.org.
#pragma once

#include "bitboard.h"

namespace goryu {

struct AttackTables {
    AttackTables() noexcept;

    // [place on the line][occupancy of the inner seven squares] -> attacked squares of the nine.
    std::array<std::array<std::uint16_t, 128>, 9> line9;
    // The two diagonals through a square, without the square.
    std::array<std::array<Bitboard, 2>, kSquares> diagonals;
    // [piece code][square]: single steps and jumps. Slides are not in here: lance, bishop and rook have
    // nothing, horse and dragon their four steps.
    std::array<std::array<Bitboard, kSquares>, kPieceCodes> steps;
    // The squares that a slider would reach on an empty board: lance by colour, bishop, rook.
    std::array<std::array<Bitboard, kSquares>, 2> lance_rays;
    std::array<Bitboard, kSquares> bishop_rays;
    std::array<Bitboard, kSquares> rook_rays;
    // [colour][square]: from where a step or jump of that colour can reach the square or a neighbour of it.
    std::array<std::array<Bitboard, kSquares>, 2> step_zone;
    // The squares strictly between two squares; empty if no line joins them.
    std::array<std::array<Bitboard, kSquares>, kSquares> between;
    // The whole line through two squares, both included; empty if no line joins them.
    std::array<std::array<Bitboard, kSquares>, kSquares> line;
};

extern const AttackTables tables;

// Sums a bit of every file into file 7, or repeats nine bits in every file.
constexpr Word kEveryFile = kRankA;
// Packs rank bits (nine apart) side by side into bits 48..54, or unpacks them from bits 0..6.
constexpr Word kEveryEighth = 0x0001010101010101ULL;

GORYU_INLINE Bitboard file_attacks(Square s, Bitboard occupied) noexcept {
    const bool low = s < kLoSquares;
    const int shift = (low ? file_of(s) : file_of(s) - 7) * 9;
    const Word word = (low ? occupied.lo : occupied.hi) >> shift;
    const Word attacks = Word{tables.line9[rank_of(s)][word >> 1 & 127]} << shift;
    return low ? Bitboard{attacks, 0} : Bitboard{0, attacks};
}

GORYU_INLINE Bitboard rank_attacks(Square s, Bitboard occupied) noexcept {
    const int rank = rank_of(s);
    const Word lo = ((occupied.lo >> rank & kRankA) * kEveryEighth) >> 48 & 127;
    const Word hi = occupied.hi >> rank & 1;  // File 9 is an end of the line.
    const Word attacks = tables.line9[file_of(s)][lo >> 1 | hi << 6];
    return {(((attacks & 127) * kEveryEighth) & kRankA) << rank,
            ((attacks >> 7 & 1) | (attacks >> 8) << 9) << rank};
}

GORYU_INLINE Bitboard diagonal_attacks(Square s, Bitboard mask, Bitboard occupied) noexcept {
    const Bitboard on = occupied & mask;
    const Word ranks = (on.lo * kEveryFile) >> 54 | on.hi | on.hi >> 9;
    const Word attacks = tables.line9[rank_of(s)][ranks >> 1 & 127];
    return Bitboard{attacks * kEveryFile, attacks | attacks << 9} & mask;
}

GORYU_INLINE Bitboard lance_attacks(Color color, Square s, Bitboard occupied) noexcept {
    return file_attacks(s, occupied) & tables.lance_rays[color][s];
}
GORYU_INLINE Bitboard bishop_attacks(Square s, Bitboard occupied) noexcept {
    const auto& masks = tables.diagonals[s];
    return diagonal_attacks(s, masks[0], occupied) | diagonal_attacks(s, masks[1], occupied);
}
GORYU_INLINE Bitboard rook_attacks(Square s, Bitboard occupied) noexcept {
    return file_attacks(s, occupied) | rank_attacks(s, occupied);
}

// Everything the piece on s attacks, squares of its own side included.
GORYU_INLINE Bitboard attacks_of(Piece piece, Square s, Bitboard occupied) noexcept {
    const Bitboard steps = tables.steps[piece][s];
    switch (kind_of(piece)) {
    case kLance:
        return lance_attacks(color_of(piece), s, occupied);
    case kBishop:
    case kHorse:
        return steps | bishop_attacks(s, occupied);
    case kRook:
    case kDragon:
        return steps | rook_attacks(s, occupied);
    default:
        return steps;
    }
}

}  // namespace goryu
