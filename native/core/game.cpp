#include "game.h"

#include <algorithm>

#include "declaration.h"
#include "movegen.h"

namespace goryu {

Game::Game(const Position& position, int ply, const Rules& rules)
    : position_(position), rules_(rules), first_ply_(ply) {
    reserve();
    add_frame({0, 0}, {});
}

void Game::add_frame(const std::array<std::int32_t, 2>& streaks, const Undo& undo) noexcept {
    frames_.push_back({position_.position_key(), position_.board_key(), {position_.hand(0), position_.hand(1)},
                       streaks, undo});
    ++counter(position_.position_key());
}

void Game::legal_moves(MoveList& moves) const noexcept {
    goryu::legal_moves(position_, moves, rules_.all_moves || position_.in_check());
}

void Game::push(Move move) noexcept {
    const Color us = position_.turn();
    Undo undo;
    position_.do_move(move, undo);
    auto streaks = frames_.back().streaks;
    streaks[us] = position_.in_check() ? streaks[us] + 1 : 0;
    add_frame(streaks, undo);
}

Move Game::pop() noexcept {
    const Undo& undo = frames_.back().undo;
    const Move move = undo.move;
    --counter(position_.position_key());
    position_.undo_move(undo);
    frames_.pop_back();
    return move;
}

Ending Game::perpetual(int distance, Ending otherwise) const noexcept {
    const auto& streaks = frames_.back().streaks;
    if (2 * streaks[turn()] >= distance) return Ending::kPerpetualLoss;
    if (2 * streaks[turn() ^ 1] >= distance) return Ending::kPerpetualWin;
    return otherwise;
}

Ending Game::fourth_occurrence() const noexcept {
    const std::uint64_t now = position_.position_key();
    if (counters_[now % kCounters] < 4) return Ending::kNone;
    int earlier = 0;
    for (int distance = 2; distance <= length(); distance += 2) {
        if (frames_[length() - distance].position_key != now) continue;
        if (++earlier == 3) return perpetual(distance, Ending::kFourfold);
    }
    return Ending::kNone;
}

Ending Game::first_recurrence() const noexcept {
    const Frame& now = frames_.back();
    const Color us = turn();
    for (int distance = 4; distance <= std::min(kSearchWindow, length()); distance += 2) {
        const Frame& then = frames_[length() - distance];
        if (then.board_key != now.board_key) continue;
        if (then.position_key == now.position_key) return perpetual(distance, Ending::kRepetition);
        if (now.hands[us].covers(then.hands[us])) return Ending::kSuperior;
        if (then.hands[us].covers(now.hands[us])) return Ending::kInferior;
    }
    return Ending::kNone;
}

int Game::occurrences_before(int back) const noexcept {
    const std::uint64_t key = frames_[length() - back].position_key;
    int count = 0;
    for (int i = length() - back - 2; i >= 0; i -= 2) count += frames_[i].position_key == key;
    return count;
}

bool Game::recurs(Color attacker, int plies) const noexcept {
    const Frame& now = frames_.back();
    for (int distance = 4; distance <= std::min(plies, length()); distance += 2) {
        const Frame& then = frames_[length() - distance];
        if (then.board_key == now.board_key && then.hands[attacker].covers(now.hands[attacker])) return true;
    }
    return false;
}

Ending Game::repetition() const noexcept {
    const Ending fourth = fourth_occurrence();
    if (fourth != Ending::kNone || !rules_.first_recurrence) return fourth;
    return first_recurrence();
}

Ending Game::outcome() const noexcept {
    if (!has_legal_move(position_)) return position_.in_check() ? Ending::kCheckmate : Ending::kNoLegalMove;
    if (can_declare(position_, rules_.entering_king)) return Ending::kDeclaration;
    if (rules_.entering_king == EnteringKing::kTry && opponent_has_tried(position_)) return Ending::kOpponentTried;
    const Ending fourth = fourth_occurrence();
    if (fourth != Ending::kNone) return fourth;
    return rules_.max_ply != 0 && ply() >= rules_.max_ply ? Ending::kMaxPly : Ending::kNone;
}

}  // namespace goryu
