// The choices within the rules (Rules and EnteringKingRule of games/shogi/rules.py), and how a game ends.
#pragma once

#include "types.h"

namespace goryu {

enum class EnteringKing { kNone, kPoints24, kPoints24H, kPoints27, kPoints27H, kTry };

struct Rules {
    EnteringKing entering_king = EnteringKing::kPoints27;
    int max_ply = 0;  // 0: no limit
    bool all_moves = true;
    bool first_recurrence = true;
};

// Why a game, or a playout, ends; each kind has one value for the side to move.
enum class Ending : std::uint8_t {
    kNone,
    kCheckmate, kNoLegalMove, kDeclaration, kOpponentTried, kFourfold, kMaxPly,
    kRepetition, kPerpetualWin, kPerpetualLoss, kSuperior, kInferior,
};

constexpr bool is_over(Ending ending) noexcept { return ending != Ending::kNone; }

// The result for the side to move in {-1, 0, +1}; 0 for kNone.
constexpr int value_of(Ending ending) noexcept {
    switch (ending) {
    case Ending::kDeclaration:
    case Ending::kPerpetualWin:
    case Ending::kSuperior:
        return 1;
    case Ending::kCheckmate:
    case Ending::kNoLegalMove:
    case Ending::kOpponentTried:
    case Ending::kPerpetualLoss:
    case Ending::kInferior:
        return -1;
    default:
        return 0;
    }
}

}  // namespace goryu
