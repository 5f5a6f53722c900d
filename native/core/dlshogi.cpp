#include "dlshogi.h"

#include <algorithm>
#include <cstring>

#include "declaration.h"
#include "legality.h"
#include "winograd_layers.h"

namespace goryu {
namespace {

constexpr int kPlanesPerSide = 31;
constexpr int kAttacks = 14;  // Where the attack planes and the attacker counts begin among a side's planes.
constexpr int kCounts = 28;

// The hands as planes, in their order: P L N S G B R; a ninth pawn is not seen.
struct HandPlanes {
    int kind;
    int cap;
};
constexpr std::array<HandPlanes, 7> kHandLayout{
    {{kPawn, 8}, {kLance, 4}, {kKnight, 4}, {kSilver, 4}, {kGold, 4}, {kBishop, 2}, {kRook, 2}}};
constexpr int kHandPlanesPerSide = 28;
constexpr int kCheckPlane = 56;

constexpr int kMenPlanes = 10;
constexpr int kPointPlanes = 20;
constexpr std::array<int, 2> kPointsNeeded{28, 27};

// Calls one(plane, square) for every one of the board planes.
template <class One>
GORYU_INLINE void board_ones(const Position& position, One one) noexcept {
    const Bitboard occupied = position.occupied();
    for (const Color side : {0, 1}) {
        const Color color = side ^ position.turn();
        const int first = kPlanesPerSide * side;
        Bitboard once, twice, thrice;
        for (int kind = kPawn; kind < kKinds; ++kind) {
            const int plane = first + kind - 1;
            Bitboard attacked;
            for_each(position.of(color, kind), [&](Square s) {
                one(plane, s);
                const Bitboard attacks = attacks_of(make_piece(color, kind), s, occupied);
                attacked |= attacks;
                thrice |= twice & attacks;
                twice |= once & attacks;
                once |= attacks;
            });
            for_each(attacked, [&](Square s) { one(plane + kAttacks, s); });
        }
        for_each(once, [&](Square s) { one(first + kCounts, s); });
        for_each(twice, [&](Square s) { one(first + kCounts + 1, s); });
        for_each(thrice, [&](Square s) { one(first + kCounts + 2, s); });
    }
}

// Calls one(plane) for every plane of the entering-king variant that is one. More than ten men, no man at
// all, or more points than needed set no plane of their group: so the networks were trained.
template <class One>
void nyugyoku_ones(const Position& position, int first, One one) noexcept {
    for (const Color side : {0, 1}) {
        const Color color = side ^ position.turn();
        const Bitboard men = (position.of(color) & kZone[color]).without(position.of_kind(kKing));
        if (position.of(color, kKing).intersects(kZone[color])) one(first);
        const int missing_men = kMenPlanes - men.count();
        if (missing_men >= 0 && missing_men < kMenPlanes) one(first + 1 + missing_men);
        const int points = points_of(position, men) + points_of(position.hand(color));
        const int missing_points = kPointsNeeded[color] - points;
        if (missing_points >= 0 && missing_points < kPointPlanes) one(first + 1 + kMenPlanes + missing_points);
        first += kPlanesPerSide;
    }
}

// Calls one(plane) for every plane of the second input that is one.
template <class One>
GORYU_INLINE void hand_ones(const Position& position, bool sees_nyugyoku, One one) noexcept {
    for (const Color side : {0, 1}) {
        const Hand hand = position.hand(side ^ position.turn());
        int first = kHandPlanesPerSide * side;
        for (const auto [kind, cap] : kHandLayout) {
            for (int n = 0; n < std::min(hand.count(kind), cap); ++n) one(first + n);
            first += cap;
        }
    }
    if (position.in_check()) one(kCheckPlane);
    if (sees_nyugyoku) nyugyoku_ones(position, kHandPlanes, one);
}

int channel_of(int files, int ranks) noexcept {
    // By the signs of (ranks towards i, files towards 9), from -1: the mover's directions.
    enum { kUp, kUpLeft, kUpRight, kLeft, kRight, kDown, kDownLeft, kDownRight, kKnightLeft, kKnightRight };
    constexpr std::array<std::array<int, 3>, 3> kDirections{
        {{kUpRight, kUp, kUpLeft}, {kRight, -1, kLeft}, {kDownRight, kDown, kDownLeft}}};
    if (ranks == -2 && files == 1) return kKnightLeft;
    if (ranks == -2 && files == -1) return kKnightRight;
    const auto sign = [](int x) { return (x > 0) - (x < 0); };
    return kDirections[sign(ranks) + 1][sign(files) + 1];
}

}  // namespace

template <class Row>
void write_dlshogi(const Position& position, bool sees_nyugyoku, Row& row) noexcept {
    const Square turned = position.turn() == 0 ? 0 : 80;
    board_ones(position, [&](int plane, Square s) { row.set(plane, turned == 0 ? s : turned - s); });
    hand_ones(position, sees_nyugyoku, [&](int plane) { row.fill(kBoardPlanes + plane, 1.0); });
}

template void write_dlshogi(const Position&, bool, PlaneRow<float>&) noexcept;
template void write_dlshogi(const Position&, bool, PlaneRow<Half>&) noexcept;
template void write_dlshogi(const Position&, bool, BitRow&) noexcept;

void fill_dlshogi(const Position& position, bool sees_nyugyoku, float* board, float* hands) {
    PlaneRow<float> row(board, hands, {kBoardPlanes, kHandPlanes + (sees_nyugyoku ? kNyugyokuPlanes : 0)});
    row.clear();
    write_dlshogi(position, sees_nyugyoku, row);
}

void fill_features(const Position& position, bool sees_nyugyoku, Features& features) noexcept {
    std::fill_n(features.counts, kSquares, std::uint8_t{0});
    const Square turned = position.turn() == 0 ? 0 : 80;
    board_ones(position, [&](int plane, Square s) {
        const Square seen = turned == 0 ? s : turned - s;
        features.planes[seen][features.counts[seen]++] = static_cast<std::uint8_t>(plane);
    });
    features.hand_count = 0;
    hand_ones(position, sees_nyugyoku,
              [&](int plane) { features.hands[features.hand_count++] = static_cast<std::uint8_t>(plane); });
}

int dlshogi_label(Move move, Color color) noexcept {
    constexpr int kPromotion = 10;
    constexpr int kDrop = 20;
    const auto seen = [color](Square s) { return color == 0 ? s : 80 - s; };
    const Square to = seen(to_of(move));
    if (is_drop(move)) return kSquares * (kDrop + dropped_kind(move) - 1) + to;
    const Square from = seen(from_of(move));
    const int channel = channel_of(file_of(to) - file_of(from), rank_of(to) - rank_of(from));
    return kSquares * (channel + (is_promotion(move) ? kPromotion : 0)) + to;
}

}  // namespace goryu
