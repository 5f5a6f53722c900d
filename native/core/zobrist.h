// The Zobrist words of games/shogi/zobrist.py, which is their specification.
#pragma once

#include "types.h"

namespace goryu {

constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15ULL;

constexpr std::uint64_t splitmix64(std::uint64_t x) noexcept {
    x += kGoldenGamma;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ x >> 27) * 0x94D049BB133111EBULL;
    return x ^ x >> 31;
}

// Tells equal positions at different plies apart.
constexpr std::uint64_t ply_word(int ply) noexcept {
    constexpr std::uint64_t kPlySeed = 0x706C79;  // "ply" in ASCII
    return splitmix64(kPlySeed + static_cast<std::uint64_t>(ply));
}

struct ZobristWords {
    std::array<std::array<std::uint64_t, kSquares>, kPieceCodes> board{};         // [piece code][square]
    std::array<std::array<std::array<std::uint64_t, 19>, 8>, 2> hand{};          // [colour][kind][count]
    std::uint64_t side = 0;
};

constexpr ZobristWords make_zobrist_words() noexcept {
    std::uint64_t state = 0x676F727975;  // "goryu" in ASCII
    const auto next = [&state] {
        const std::uint64_t word = splitmix64(state);
        state += kGoldenGamma;
        return word;
    };
    ZobristWords words;
    for (const Color color : {0, 1}) {
        for (int kind = kPawn; kind < kKinds; ++kind) {
            for (auto& word : words.board[make_piece(color, kind)]) word = next();
        }
    }
    for (const Color color : {0, 1}) {
        for (const int kind : {kPawn, kLance, kKnight, kSilver, kGold, kBishop, kRook}) {
            for (int count = 1; count <= 18; ++count) words.hand[color][kind][count] = next();
        }
    }
    words.side = next();
    return words;
}

inline constexpr ZobristWords kZobrist = make_zobrist_words();

}  // namespace goryu
