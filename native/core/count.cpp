// Counting legal moves without listing them: a population count of each set of targets.
#include "legality.h"
#include "movegen.h"

namespace goryu {
namespace {

// Legal moves of a piece of the kind that may go from s to the targets.
GORYU_INLINE int count_targets(Color us, int kind, Square from, Bitboard targets) noexcept {
    if (!can_promote(kind)) return targets.count();
    const Bitboard promoting = kZone[us].has(from) ? targets : targets & kZone[us];
    return targets.without(kDeadSquares[us][kind]).count() + promoting.count();
}

GORYU_INLINE int count_drops(const Position& position, const Legality& legality) noexcept {
    const Color us = legality.us();
    const Hand hand = position.hand(us);
    const Bitboard drops = legality.drops();
    if (hand.empty() || drops.none()) return 0;
    const int anywhere = hand.has(kSilver) + hand.has(kBishop) + hand.has(kRook) + hand.has(kGold);
    int count = anywhere != 0 ? anywhere * drops.count() : 0;
    if (hand.has(kKnight)) count += drops.without(kLastTwoRanks[us]).count();
    if (hand.has(kLance)) count += drops.without(kLastRank[us]).count();
    if (hand.has(kPawn)) count += legality.drop_squares(kPawn).count();
    return count;
}

GORYU_INLINE int count(const Position& position) noexcept {
    const Legality legality(position);
    const Color us = legality.us();
    int total = legality.king() != kNoSquare ? legality.king_reach().count() : 0;
    const Bitboard targets = legality.targets();
    if (targets.none()) return total;

    const Bitboard occupied = legality.occupied();
    const Bitboard free = position.of(us).without(position.pinned());
    const auto add = [&](int kind, auto attacks) {
        for_each(free & position.of_kind(kind),
                 [&](Square s) { total += count_targets(us, kind, s, attacks(s) & targets); });
    };
    const auto steps = [&](int kind) {
        return [table = &tables.steps[make_piece(us, kind)]](Square s) { return (*table)[s]; };
    };

    const Bitboard ahead = forward(us, free & position.of_kind(kPawn)) & targets;
    total += ahead.count() + (ahead & kZone[us]).without(kLastRank[us]).count();
    add(kLance, [&](Square s) { return lance_attacks(us, s, occupied); });
    add(kKnight, steps(kKnight));
    add(kSilver, steps(kSilver));
    add(kBishop, [&](Square s) { return bishop_attacks(s, occupied); });
    add(kRook, [&](Square s) { return rook_attacks(s, occupied); });
    const auto& gold = tables.steps[make_piece(us, kGold)];
    for_each(free & position.golds(), [&](Square s) { total += (gold[s] & targets).count(); });
    const auto& king = tables.steps[make_piece(us, kKing)];
    add(kHorse, [&](Square s) { return king[s] | bishop_attacks(s, occupied); });
    add(kDragon, [&](Square s) { return king[s] | rook_attacks(s, occupied); });

    for_each(position.pinned(), [&](Square s) {
        total += count_targets(us, kind_of(position.piece(s)), s, legality.reach(s));
    });
    return total + count_drops(position, legality);
}

#if defined(__x86_64__) && defined(__GNUC__)
// x86-64 has had a population count since 2008, but not in its baseline: asked for at run time.
[[gnu::target("popcnt")]] int count_popcnt(const Position& position) noexcept { return count(position); }
int count_baseline(const Position& position) noexcept { return count(position); }

const auto counter = __builtin_cpu_supports("popcnt") ? count_popcnt : count_baseline;
#else
constexpr auto counter = count;
#endif

}  // namespace

int count_legal_moves(const Position& position) noexcept { return counter(position); }

}  // namespace goryu
