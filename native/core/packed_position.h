// Packed positions, 256 bits each: games/shogi/packed_position.py and the lab's records/packed_position.py in C++. The
// codes of the pieces come from there.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "position.h"

namespace goryu {

constexpr int kPackedBytes = 32;
// In place of a colour: a piece that a handicap leaves out.
constexpr int kBox = 2;

// How pieces are written, the first bit lowest. A held piece is 8 * owner + kind; the owner is a colour or kBox.
struct PieceCode {
    std::array<std::uint8_t, kPieceCodes> square_bits{}, square_length{};  // By piece.
    std::array<std::uint8_t, 24> held_bits{}, held_length{};               // By held piece.
    std::array<std::uint8_t, 256> square_of{}, square_of_length{};         // By the next eight bits: a piece.
    // By the next seven bits: a held piece. The length is 0 if none is written so.
    std::array<std::uint8_t, 128> held_of{}, held_of_length{};
};

// Nothing if the bytes are no position with the pieces of one set, or break a rule of shogi.
std::optional<Position> unpack(const std::uint8_t* data, const PieceCode& code) noexcept;

// Writes a position with both kings into 32 bytes.
void pack(const Position& position, const PieceCode& code, std::uint8_t* data) noexcept;

}  // namespace goryu
