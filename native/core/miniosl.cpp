#include "miniosl.h"

#include <algorithm>
#include <cstdlib>

#include "contact_mates.h"
#include "dlshogi.h"
#include "legality.h"

namespace goryu {
namespace {

constexpr int kMoves = 7;
constexpr int kPlanesPerMove = 16;
constexpr int kEmptyPlane = 14, kOnesPlane = 15;
constexpr std::array<int, 2> kPiecePlanes{16, 0};  // Of our pieces and of theirs.
constexpr int kHands = 30, kLines = 44, kPawns = 58, kTurnPlane = 60, kCheckers = 61, kThreat = 62, kFirstMove = 64;
constexpr int kMostPawns = 4, kMostAttackers = 4;

//                                               P  L  N   S   B   R  G  K +P +L +N +S +B +R
constexpr std::array<int, kKinds> kKindPlanes{0, 8, 9, 10, 11, 12, 13, 7, 6, 0, 1, 2, 3, 4, 5};
constexpr std::array<int, 7> kHandKinds{kRook, kBishop, kGold, kSilver, kKnight, kLance, kPawn};
constexpr std::array<int, 7> kAllPieces{2, 2, 4, 4, 4, 4, 18};
// By dlshogi's channel.
constexpr std::array<int, 27> kChannels{8,  7,  9,  10, 11, 13, 12, 14, 15, 16, 18, 17, 19, 20,
                                        21, 23, 22, 24, 25, 26, 1,  2,  3,  4,  5,  6,  0};

constexpr Square row_major(Square s) noexcept { return 9 * rank_of(s) + file_of(s); }

// Where a side sees a square.
constexpr auto kPlaces = [] {
    std::array<Places, 2> places{};
    for (Square s = 0; s < kSquares; ++s) {
        places[0][s] = static_cast<std::uint8_t>(row_major(s));
        places[1][s] = static_cast<std::uint8_t>(row_major(kSquares - 1 - s));
    }
    return places;
}();

// Writes planes as one side sees the board.
template <class Row>
class Writer {
public:
    Writer(Row& row, Color us) noexcept : row_(row), us_(us) {}

    Color us() const noexcept { return us_; }
    void set(int plane, Square s) noexcept { row_.set(plane, kPlaces[us_][s]); }
    void set(int plane, Bitboard squares) noexcept { row_.set(plane, squares, kPlaces[us_]); }
    void fill(int plane, double x) noexcept { row_.fill(plane, x); }

    void position(const Position& position) noexcept {
        const Bitboard occupied = position.occupied();
        for (const Color side : {0, 1}) {
            const Color color = side ^ us_;
            for (int kind = kPawn; kind < kKinds; ++kind) {
                set(kPiecePlanes[side] + kKindPlanes[kind], position.of(color, kind));
            }
            const Hand hand = position.hand(color);
            for (int i = 0; i < 7; ++i) {
                const int count = hand.count(kHandKinds[i]);
                if (count != 0) fill(kHands + 7 * side + i, static_cast<double>(count) / kAllPieces[i]);
            }
            const int pawns = std::min(hand.count(kPawn), kMostPawns);
            if (pawns != 0) fill(kPawns + side, static_cast<double>(pawns) / kMostPawns);
            for_each(position.of(color, kLance),
                     [&](Square s) { lines(kLines + side, s, tables.lance_rays[color][s], occupied); });
            for_each(position.of(color, kBishop) | position.of(color, kHorse),
                     [&](Square s) { lines(kLines + 4 + side, s, tables.bishop_rays[s], occupied); });
            for_each(position.of(color, kRook) | position.of(color, kDragon),
                     [&](Square s) { lines(kLines + 8 + side, s, tables.rook_rays[s], occupied); });
            const Square king = position.king(color);
            if (king != kNoSquare) {
                set(kLines + 12 + side, bishop_attacks(king, occupied) | rook_attacks(king, occupied));
            }
        }
        set(kEmptyPlane, kAllSquares.without(occupied));
        fill(kOnesPlane, 1.0);
        if (us_ == 1) fill(kTurnPlane, 1.0);
        set(kCheckers, checkers_of(position, us_));
        threat(position, us_, kThreat);
    }

    // The planes of a move of `color`, from `first` on.
    void move(const Position& before, Move move, const Position& after, int first) noexcept {
        const Color color = before.turn();
        const Square to = to_of(move);
        const Square from = is_drop(move) ? kNoSquare : from_of(move);
        const Bitboard occupied = before.occupied();
        set(first, to);
        if (from != kNoSquare) way({from, to, kEmpty}, before, first + 1);
        if (before.piece(to) != kEmpty) attacks(before, before.piece(to), to, first + 2);
        if (before.king(color) != kNoSquare) set(first + 3, before.king(color));
        set(first + 4, checkers_of(before, color));
        threat(before, color, first + 5);
        Bitboard covering = square_bit(to);
        for (const Color side : {0, 1}) {
            set(first + 7 + side, before.of(side ^ us_));
            for (const Square s : {to, from}) {
                if (s != kNoSquare) covering |= before.attackers(side, s, occupied);
            }
        }
        recapture(after, to, first + 9);
        for (const Color side : {0, 1}) {
            set(first + 12 + side, covering & after.of(side ^ us_));
            attack_counts(after, side ^ us_, first + 14 + side);
        }
    }

private:
    // A slider's lines up to the first piece, and beyond it over empty squares, two planes further on.
    void lines(int plane, Square s, Bitboard rays, Bitboard occupied) noexcept {
        const auto seen = [&](Bitboard blockers) {
            return (file_attacks(s, blockers) | rank_attacks(s, blockers) | bishop_attacks(s, blockers)) & rays;
        };
        const Bitboard near = seen(occupied);
        set(plane, near);
        set(plane + 2, seen(occupied.without(near)).without(near).without(occupied));
    }

    // How many pieces of a color attack a square, as a share of kMostAttackers.
    void attack_counts(const Position& position, Color color, int plane) noexcept {
        const Bitboard occupied = position.occupied();
        std::array<Bitboard, kMostAttackers + 1> attacked{};  // [n]: by more than n pieces; the last stays empty.
        for (int kind = kPawn; kind < kKinds; ++kind) {
            for_each(position.of(color, kind), [&](Square s) {
                const Bitboard attacks = attacks_of(make_piece(color, kind), s, occupied);
                for (int n = kMostAttackers - 1; n > 0; --n) attacked[n] |= attacked[n - 1] & attacks;
                attacked[0] |= attacks;
            });
        }
        for (int n = 0; n < kMostAttackers; ++n) {
            const double share = static_cast<double>(n + 1) / kMostAttackers;
            row_.set(plane, attacked[n].without(attacked[n + 1]), kPlaces[us_], share);
        }
    }

    void threat(const Position& position, Color color, int plane) noexcept {
        if (checkers_of(position, color).any()) return;
        if (const ContactMove move = contact_mate(position, color ^ 1)) {
            way(move, position, plane);
            attacks(position, move.piece, move.to, plane + 1);
        }
    }

    void recapture(const Position& position, Square target, int plane) noexcept {
        const Color side = position.turn();
        const Bitboard pieces = position.attackers(side, target, position.occupied());
        if (pieces.none() || pieces.more_than_one()) return;
        const Square from = pieces.first();
        const int kind = kind_of(position.piece(from));
        const Bitboard ends = square_bit(from) | square_bit(target);
        const bool may_promote = can_promote(kind) && kZone[side].intersects(ends);
        if (!kDeadSquares[side][kind].has(target) && mates_after(position, make_move(from, target), plane)) return;
        if (may_promote) mates_after(position, static_cast<Move>(make_move(from, target) | kPromote), plane);
    }

    bool mates_after(const Position& position, Move capture, int plane) noexcept {
        const Color side = position.turn();
        const bool is_king = kind_of(position.piece(from_of(capture))) == kKing;
        Position after = position;
        Undo undo;
        after.do_move(capture, undo);
        if (after.in_check() || (checkers_of(after, side).any() && !is_king)) return false;
        const ContactMove mate = contact_mate(after, side ^ 1);
        if (!mate) return false;
        way({from_of(capture), to_of(capture), kEmpty}, position, plane);
        way(mate, after, plane + 1);
        attacks(after, mate.piece, mate.to, plane + 2);
        return true;
    }

    // The destination of a move, its origin and the squares between.
    void way(const ContactMove& move, const Position& position, int plane) noexcept {
        set(plane, move.to);
        if (move.origin == kNoSquare) return;
        set(plane, move.origin);
        if (kind_of(position.piece(move.origin)) != kKnight) set(plane, tables.between[move.origin][move.to]);
    }

    // What a piece would attack from a square; of sliders, squares of its own side are left out.
    void attacks(const Position& position, Piece piece, Square s, int plane) noexcept {
        const Bitboard steps = tables.steps[piece][s];
        const Bitboard slides = attacks_of(piece, s, position.occupied()).without(steps);
        set(plane, steps | slides.without(position.of(color_of(piece))));
    }

    Row& row_;
    Color us_;
};

template <class Row>
void write_planes(const Game& game, Row& row) noexcept {
    row.clear();
    Writer<Row> writer(row, game.turn());
    Position after = game.position();
    writer.position(after);
    const int moves = std::min(kMoves, game.length());
    for (int step = 0; step < moves; ++step) {
        const Undo& undo = game.undo(step);
        Position before = after;
        before.undo_move(undo);
        writer.move(before, undo.move, after, kFirstMove + kPlanesPerMove * step);
        after = before;
    }
}

}  // namespace

MinioslFormat::MinioslFormat() : Format({kMinioslPlanes, 0}, kDlshogiLabels) {}

void MinioslFormat::write(const Game& game, PlaneRow<float>& row) const noexcept { write_planes(game, row); }
void MinioslFormat::write(const Game& game, PlaneRow<Half>& row) const noexcept { write_planes(game, row); }
void MinioslFormat::write(const Game& game, BitRow& row) const noexcept { write_planes(game, row); }

int MinioslFormat::label(Move move, Color color) const noexcept {
    const int label = dlshogi_label(move, color);
    return kSquares * kChannels[label / kSquares] + row_major(label % kSquares);
}

}  // namespace goryu
