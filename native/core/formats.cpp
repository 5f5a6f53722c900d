#include "formats.h"

#include <cmath>
#include <cstdlib>

#include "declaration.h"
#include "dlshogi.h"
#include "legality.h"
#include "miniosl.h"

namespace goryu {
namespace {

using KindOrder = std::array<std::uint8_t, kKinds>;     // By kind, from kPawn: its place among the 14 of a side.
using SquareOrder = std::array<std::uint8_t, kSquares>;
using ChannelOrder = std::array<std::uint8_t, 27>;      // By dlshogi's channel.
using Caps = std::array<int, 7>;                        // P L N S G B R

constexpr std::array<int, 7> kHandKinds{kPawn, kLance, kKnight, kSilver, kGold, kBishop, kRook};

// The orders; see evaluators/formats/layouts.py.
//                                P  L  N  S  B  R  G  K +P +L +N  +S  +B  +R
constexpr KindOrder kOurKinds{0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
constexpr KindOrder kPythonShogiKinds{0, 0, 1, 2, 3, 5, 6, 4, 7, 8, 9, 10, 11, 12, 13};
constexpr KindOrder kNshogiKinds{0, 0, 1, 2, 3, 6, 7, 4, 5, 8, 9, 10, 11, 12, 13};

template <class Number>
constexpr SquareOrder order_squares(Number number) {
    SquareOrder order{};
    for (Square s = 0; s < kSquares; ++s) order[s] = static_cast<std::uint8_t>(number(s));
    return order;
}
constexpr SquareOrder kFileMajor = order_squares([](Square s) { return s; });
constexpr SquareOrder kFileMajorUpwards = order_squares([](Square s) { return 9 * file_of(s) + 8 - rank_of(s); });
constexpr SquareOrder kRowMajor = order_squares([](Square s) { return 9 * rank_of(s) + 8 - file_of(s); });

// Drops are in the order P L N S B R G in dlshogi's channels.
constexpr ChannelOrder kBookChannels{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,
                                     14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 25, 26, 24};
constexpr ChannelOrder kNshogiChannels{0,  7,  1,  6,  2,  4,  5,  3,  9,  8,  10, 17, 11, 16,
                                       12, 14, 15, 13, 19, 18, 20, 21, 22, 23, 24, 25, 26};

// Where a format has its planes of pieces and hands: PieceLayout in Python.
struct PieceLayout {
    const KindOrder& kinds;
    const SquareOrder& squares;
    std::array<int, 2> pieces;
    std::array<int, 2> hands;
    Caps caps;
};

// Writes the pieces as the side `us` sees them, from plane `first` on.
template <class Row>
void write_pieces(const Position& position, Color us, const PieceLayout& layout, int first, Row& row) noexcept {
    for (const Color side : {0, 1}) {
        for (int kind = kPawn; kind < kKinds; ++kind) {
            const int plane = first + layout.pieces[side] + layout.kinds[kind];
            for_each(position.of(side ^ us, kind),
                     [&](Square s) { row.set(plane, layout.squares[us == 0 ? s : kSquares - 1 - s]); });
        }
    }
}

// Writes the hands of the side to move and of the other.
template <class Row>
void write_hands(const Position& position, const PieceLayout& layout, Row& row) noexcept {
    for (const Color side : {0, 1}) {
        const Hand hand = position.hand(side ^ position.turn());
        int first = layout.hands[side];
        for (int place = 0; place < 7; ++place) {
            const int seen = std::min(hand.count(kHandKinds[place]), layout.caps[place]);
            for (int n = 0; n < seen; ++n) row.fill(first + n, 1.0);
            first += layout.caps[place];
        }
    }
}

int relabelled(int label, const ChannelOrder& channels, const SquareOrder& squares) noexcept {
    return kSquares * channels[label / kSquares] + squares[label % kSquares];
}

// Makes a format of a class that has write_planes(const Game&, Row&) for any row.
template <class Planes>
class FormatOf : public Format {
public:
    void write(const Game& game, PlaneRow<float>& row) const noexcept override { write_any(game, row); }
    void write(const Game& game, PlaneRow<Half>& row) const noexcept override { write_any(game, row); }
    void write(const Game& game, BitRow& row) const noexcept override { write_any(game, row); }

protected:
    using Format::Format;

private:
    template <class Row>
    void write_any(const Game& game, Row& row) const noexcept {
        row.clear();
        static_cast<const Planes*>(this)->write_planes(game, row);
    }
};

class DlshogiFormat final : public FormatOf<DlshogiFormat> {
public:
    explicit DlshogiFormat(bool sees_nyugyoku)
        : FormatOf({kBoardPlanes, kHandPlanes + (sees_nyugyoku ? kNyugyokuPlanes : 0)}, kDlshogiLabels),
          sees_nyugyoku_(sees_nyugyoku) {}

    template <class Row>
    void write_planes(const Game& game, Row& row) const noexcept {
        write_dlshogi(game.position(), sees_nyugyoku_, row);
    }
    int label(Move move, Color color) const noexcept override { return dlshogi_label(move, color); }

private:
    bool sees_nyugyoku_;
};

// python-dlshogi and python-dlshogi2: pieces and hands.
class BookFormat final : public FormatOf<BookFormat> {
public:
    explicit BookFormat(const PieceLayout& layout) : FormatOf({kPlanes, 0}, kDlshogiLabels), layout_(layout) {}

    template <class Row>
    void write_planes(const Game& game, Row& row) const noexcept {
        write_pieces(game.position(), game.turn(), layout_, 0, row);
        write_hands(game.position(), layout_, row);
    }
    int label(Move move, Color color) const noexcept override {
        return relabelled(dlshogi_label(move, color), kBookChannels, layout_.squares);
    }

private:
    static constexpr int kPlanes = 104;

    const PieceLayout& layout_;
};

constexpr Caps kBookCaps{18, 4, 4, 4, 4, 2, 2};
constexpr PieceLayout kPythonDlshogi{kPythonShogiKinds, kRowMajor, {0, 52}, {14, 66}, kBookCaps};
constexpr PieceLayout kPythonDlshogi2{kOurKinds, kFileMajor, {0, 14}, {28, 66}, kBookCaps};

class NshogiFormat final : public FormatOf<NshogiFormat> {
public:
    NshogiFormat(int planes, double draw_value)
        : FormatOf({planes, 0}, kDlshogiLabels), is_custom_(planes == kCustomPlanes), draw_value_(draw_value) {}

    template <class Row>
    void write_planes(const Game& game, Row& row) const noexcept {
        const Position& position = game.position();
        const Color us = game.turn();
        write_pieces(position, us, kLayout, 0, row);
        write_hands(position, kLayout, row);
        row.fill(kTurnPlanes + us, 1.0);
        int next = kTurnPlanes + 2;
        if (is_custom_) {
            if (position.in_check()) row.fill(next, 1.0);
            for (const Color side : {0, 1}) write_side(position, side, next + 1 + side, row);
            next += 3;
        }
        const double longest = game.rules().max_ply != 0 ? game.rules().max_ply : kDefaultMaxPly;
        row.fill(next, game.ply() / longest);
        row.fill(next + 1, 1 / longest);
        const double own_draw_value = us == 0 ? draw_value_ : -draw_value_;
        row.fill(next + 2, 0.5 * (1.0 + own_draw_value));
        row.fill(next + 3, 0.5 * (1.0 - own_draw_value));
    }
    int label(Move move, Color color) const noexcept override {
        return relabelled(dlshogi_label(move, color), kNshogiChannels, kFileMajorUpwards);
    }

private:
    static constexpr int kTurnPlanes = 80;
    static constexpr int kCustomPlanes = 93;
    static constexpr int kDefaultMaxPly = 320;
    static constexpr int kAllPoints = 54;
    static constexpr PieceLayout kLayout{kNshogiKinds, kFileMajorUpwards, {0, 14}, {28, 54}, {6, 4, 4, 4, 4, 2, 2}};

    // Writes the files without a pawn of the mover (side 0) or the opponent to `files`, and its points further on.
    template <class Row>
    static void write_side(const Position& position, Color side, int files, Row& row) noexcept {
        const Color color = side ^ position.turn();
        const Bitboard pawns = position.of(color, kPawn);
        for (int file = 0; file < 9; ++file) {
            const Bitboard squares = file_mask(position.turn() == 0 ? file : 8 - file);
            if (pawns.intersects(squares)) continue;
            for (int rank = 0; rank < 9; ++rank) row.set(files, 9 * file + rank);
        }
        const Bitboard men = position.of(color).without(position.of_kind(kKing));
        const int in_hand = points_of(position.hand(color));
        const double needed = 28 - color;
        row.fill(files + 6, (points_of(position, men & kZone[color]) + in_hand) / needed);
        row.fill(files + 8, static_cast<double>(points_of(position, men) + in_hand) / kAllPoints);
    }
    static Bitboard file_mask(int file) noexcept {
        Bitboard mask;
        for (int rank = 0; rank < 9; ++rank) mask |= square_bit(9 * file + rank);
        return mask;
    }

    bool is_custom_;
    double draw_value_;
};

class AobaZeroFormat final : public FormatOf<AobaZeroFormat> {
public:
    AobaZeroFormat() : FormatOf({kTurnPlane + 2, 0}, kLabels) {}

    template <class Row>
    void write_planes(const Game& game, Row& row) const noexcept {
        const Color us = game.turn();
        Position past = game.position();
        const int positions = std::min(kPositions, game.length() + 1);
        for (int step = 0; step < positions; ++step) {
            if (step != 0) past.undo_move(game.undo(step - 1));
            const int first = kPlanesPerPosition * step;
            write_pieces(past, us, kLayout, first, row);
            write_shares(past, us, first + kHands, row);
            const int occurrences = std::min(game.occurrences_before(step), kMostOccurrences);
            for (int n = 0; n < occurrences; ++n) row.fill(first + kOccurrences + n, 1.0);
        }
        if (us == 1) row.fill(kTurnPlane, 1.0);
        row.fill(kTurnPlane + 1, static_cast<double>(seen_moves(game.ply(), game.rules().max_ply)) / kMostMoves);
    }

    int label(Move move, Color color) const noexcept override {
        const int label = dlshogi_label(move, color);
        const int channel = label / kSquares;
        if (is_drop(move)) return kSquares * (kDrops + kBookChannels[channel] - kDrop) + kRowMajor[label % kSquares];
        const Square to = label % kSquares;
        const Square from = color == 0 ? from_of(move) : kSquares - 1 - from_of(move);
        const int distance = std::max(std::abs(file_of(to) - file_of(from)), std::abs(rank_of(to) - rank_of(from)));
        const int direction = channel % kPromotion;
        const int found = kDirections[direction] + (direction < 8 ? distance - 1 : 0);
        return kSquares * (found + (is_promotion(move) ? kPromotions : 0)) + kRowMajor[from];
    }

private:
    static constexpr int kPositions = 8;
    static constexpr int kHands = 28;
    static constexpr int kOccurrences = 42;
    static constexpr int kMostOccurrences = 3;
    static constexpr int kPlanesPerPosition = 45;
    static constexpr int kTurnPlane = kPositions * kPlanesPerPosition;
    static constexpr int kMostMoves = 512;
    static constexpr int kLongestGame = 513;
    static constexpr int kEndOfGame = 160;
    static constexpr int kLabels = 139 * kSquares;
    static constexpr int kPromotion = 10;  // dlshogi's channels.
    static constexpr int kDrop = 20;
    static constexpr int kPromotions = 66;
    static constexpr int kDrops = 132;
    static constexpr std::array<int, 10> kDirections{0, 8, 56, 16, 48, 32, 24, 40, 64, 65};
    static constexpr Caps kAllPieces{18, 4, 4, 4, 4, 2, 2};
    static constexpr PieceLayout kLayout{kPythonShogiKinds, kRowMajor, {0, 14}, {0, 0}, {}};

    template <class Row>
    static void write_shares(const Position& position, Color us, int plane, Row& row) noexcept {
        for (const Color side : {0, 1}) {
            const Hand hand = position.hand(side ^ us);
            for (int place = 0; place < 7; ++place, ++plane) {
                const int count = hand.count(kHandKinds[place]);
                if (count != 0) row.fill(plane, static_cast<double>(count) / kAllPieces[place]);
            }
        }
    }

    static int seen_moves(int ply, int max_ply) noexcept {
        if (max_ply > 0 && max_ply < kLongestGame) {
            const int length = std::min(kEndOfGame, max_ply);
            const int begin = max_ply - length;
            if (ply > begin) {
                const double share = 1.0 / (1.0 + std::exp(-5.0 * ((ply - begin) * 2.0 / length - 1.0)));
                ply = static_cast<int>(share * (kLongestGame - begin) + begin);
            }
        }
        return std::min(ply, kMostMoves);
    }
};

}  // namespace

std::unique_ptr<Format> make_format(std::string_view name, double draw_value) {
    if (name == "dlshogi 62+57") return std::make_unique<DlshogiFormat>(false);
    if (name == "dlshogi 62+119") return std::make_unique<DlshogiFormat>(true);
    if (name == "python-dlshogi 104") return std::make_unique<BookFormat>(kPythonDlshogi);
    if (name == "python-dlshogi2 104") return std::make_unique<BookFormat>(kPythonDlshogi2);
    if (name == "nshogi 86") return std::make_unique<NshogiFormat>(86, draw_value);
    if (name == "nshogi 93") return std::make_unique<NshogiFormat>(93, draw_value);
    if (name == "aobazero 362") return std::make_unique<AobaZeroFormat>();
    if (name == "miniosl 176") return std::make_unique<MinioslFormat>();
    return nullptr;
}

}  // namespace goryu
