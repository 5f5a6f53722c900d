#include "packed_position.h"

#include <algorithm>

#include "sfen.h"

namespace goryu {
namespace {

constexpr int kBits = 8 * kPackedBytes;
constexpr int kFirstSquare = 15;  // Behind side to move and kings.
constexpr std::array<int, 7> kHandOrder{kPawn, kLance, kKnight, kSilver, kGold, kBishop, kRook};

}  // namespace

std::optional<Position> unpack(const std::uint8_t* data, const PieceCode& code) noexcept {
    std::array<std::uint8_t, kPackedBytes + 1> bytes{};  // One more, so that a window may begin at every bit.
    std::copy_n(data, kPackedBytes, bytes.begin());
    const auto window = [&](int at, unsigned mask) {
        return static_cast<unsigned>(bytes[at / 8] | bytes[at / 8 + 1] << 8) >> at % 8 & mask;
    };
    const int black_king = static_cast<int>(window(1, 0x7F)), white_king = static_cast<int>(window(8, 0x7F));
    if (std::max(black_king, white_king) >= kSquares || black_king == white_king) return std::nullopt;
    Position position = Position::empty();
    position.put(black_king, make_piece(0, kKing));
    position.put(white_king, make_piece(1, kKing));
    std::array<int, 8> totals{};
    int at = kFirstSquare;
    for (Square square = 0; square < kSquares; ++square) {
        if (square == black_king || square == white_king) continue;
        if (at >= kBits) return std::nullopt;
        const unsigned next = window(at, 0xFF);
        at += code.square_of_length[next];
        const Piece piece = code.square_of[next];
        if (piece == kEmpty) continue;
        position.put(square, piece);
        ++totals[demoted(kind_of(piece))];
    }
    HandCounts hands{};
    while (at < kBits) {
        const unsigned next = window(at, 0x7F);
        if (code.held_of_length[next] == 0) return std::nullopt;
        at += code.held_of_length[next];
        const int owner = code.held_of[next] / 8, kind = code.held_of[next] % 8;
        if (owner != kBox) ++hands[owner][kind];
        ++totals[kind];
    }
    if (at > kBits || totals != kPieceTotals) return std::nullopt;
    if (!complete(position, hands, bytes[0] & 1, false)) return std::nullopt;
    return position;
}

void pack(const Position& position, const PieceCode& code, std::uint8_t* data) noexcept {
    std::fill_n(data, kPackedBytes, std::uint8_t{0});
    int at = 0;
    const auto write = [&](unsigned bits, int length) {
        for (int i = 0; i < length; ++i, ++at) data[at / 8] |= static_cast<std::uint8_t>((bits >> i & 1) << at % 8);
    };
    write(static_cast<unsigned>(position.turn()), 1);
    for (const Color color : {0, 1}) write(static_cast<unsigned>(position.king(color)), 7);
    std::array<int, 8> missing = kPieceTotals;
    for (Square square = 0; square < kSquares; ++square) {
        const Piece piece = position.piece(square);
        if (kind_of(piece) == kKing) continue;
        write(code.square_bits[piece], code.square_length[piece]);
        if (piece != kEmpty) --missing[demoted(kind_of(piece))];
    }
    for (const int owner : {0, 1, kBox}) {
        for (const int kind : kHandOrder) {
            const int count = owner == kBox ? missing[kind] : position.hand(owner).count(kind);
            if (owner != kBox) missing[kind] -= count;
            for (int i = 0; i < count; ++i) write(code.held_bits[8 * owner + kind], code.held_length[8 * owner + kind]);
        }
    }
}

}  // namespace goryu
