// A set of squares in two words: files 1 to 7 in `lo` (63 bits), files 8 and 9 in `hi` (18 bits).
//
// No file is split between the words, so whatever stays inside a file (pawn steps, files without a
// pawn) and whatever shifts all files alike works on both words independently.
#pragma once

#include <bit>

#include "types.h"

namespace goryu {

using Word = std::uint64_t;
constexpr int kLoSquares = 63;

GORYU_INLINE int popcount(Word word) noexcept {
#if defined(__GNUC__)
    return __builtin_popcountll(word);
#else
    return std::popcount(word);
#endif
}

struct Bitboard {
    Word lo = 0;
    Word hi = 0;

    constexpr bool operator==(const Bitboard&) const noexcept = default;
    constexpr Bitboard operator&(Bitboard b) const noexcept { return {lo & b.lo, hi & b.hi}; }
    constexpr Bitboard operator|(Bitboard b) const noexcept { return {lo | b.lo, hi | b.hi}; }
    constexpr Bitboard operator^(Bitboard b) const noexcept { return {lo ^ b.lo, hi ^ b.hi}; }
    constexpr Bitboard& operator&=(Bitboard b) noexcept { return *this = *this & b; }
    constexpr Bitboard& operator|=(Bitboard b) noexcept { return *this = *this | b; }
    constexpr Bitboard& operator^=(Bitboard b) noexcept { return *this = *this ^ b; }

    constexpr Bitboard without(Bitboard b) const noexcept { return {lo & ~b.lo, hi & ~b.hi}; }
    constexpr bool any() const noexcept { return (lo | hi) != 0; }
    constexpr bool none() const noexcept { return (lo | hi) == 0; }
    constexpr bool intersects(Bitboard b) const noexcept { return ((lo & b.lo) | (hi & b.hi)) != 0; }
    constexpr bool more_than_one() const noexcept {
        return lo != 0 ? ((lo & (lo - 1)) | hi) != 0 : (hi & (hi - 1)) != 0;
    }
    constexpr bool has(Square s) const noexcept {
        return ((s < kLoSquares ? lo >> s : hi >> (s - kLoSquares)) & 1) != 0;
    }
    GORYU_INLINE int count() const noexcept { return popcount(lo) + popcount(hi); }

    // The lowest square; the set must not be empty.
    constexpr Square first() const noexcept {
        return lo != 0 ? std::countr_zero(lo) : std::countr_zero(hi) + kLoSquares;
    }
    constexpr Square pop_first() noexcept {
        const Square s = first();
        if (lo != 0) {
            lo &= lo - 1;
        } else {
            hi &= hi - 1;
        }
        return s;
    }
};

constexpr Bitboard square_bit(Square s) noexcept {
    return s < kLoSquares ? Bitboard{Word{1} << s, 0} : Bitboard{0, Word{1} << (s - kLoSquares)};
}

// Calls action(square) for every square of the set in ascending order.
template <class Action>
GORYU_INLINE void for_each(Bitboard b, Action action) {
    for (Word word = b.lo; word != 0; word &= word - 1) {
        action(static_cast<Square>(std::countr_zero(word)));
    }
    for (Word word = b.hi; word != 0; word &= word - 1) {
        action(static_cast<Square>(std::countr_zero(word) + kLoSquares));
    }
}

// One bit in each file of a word: rank a of files 1 to 7.
constexpr Word kRankA = 0x0040201008040201ULL;
constexpr Word kRankAHi = 0x201;
constexpr Bitboard kAllSquares{(Word{1} << 63) - 1, (Word{1} << 18) - 1};

constexpr Bitboard rank_mask(int rank) noexcept { return {kRankA << rank, kRankAHi << rank}; }

// Ranks first..last counted from the far end of `color`, 0 being the rank where its pawns end.
constexpr Bitboard far_ranks(Color color, int first, int last) noexcept {
    Bitboard ranks;
    for (int rank = first; rank <= last; ++rank) {
        ranks |= rank_mask(color == 0 ? rank : 8 - rank);
    }
    return ranks;
}

// The squares one step ahead; no member may stand on the last rank.
GORYU_INLINE Bitboard forward(Color color, Bitboard b) noexcept {
    return color == 0 ? Bitboard{b.lo >> 1, b.hi >> 1} : Bitboard{b.lo << 1, b.hi << 1};
}

// All squares of the files on which the set has a member; at most one member a file.
constexpr Bitboard whole_files(Bitboard b) noexcept {
    // Adding 255 carries into a file's ninth bit exactly if the file is not empty.
    const Word lo = ((b.lo + 255 * kRankA) >> 8) & kRankA;
    const Word hi = ((b.hi + 255 * kRankAHi) >> 8) & kRankAHi;
    return {(lo << 9) - lo, (hi << 9) - hi};
}

}  // namespace goryu
