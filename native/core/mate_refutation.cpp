#include "mate_refutation.h"

#include "movegen.h"

namespace goryu {

MateEntry MateRefutation::certain_root() {
    while (root_.delta == 0 && !is_stopped_) {
        seen_.clear();
        if (refutes(0)) return root_;
    }
    return is_stopped_ ? kUnseen : root_;
}

// Does every check of the attacker lead to a known escape?
bool MateRefutation::refutes(int depth) {
    is_stopped_ = is_stopped_ || depth >= df_pn_.limit_ || df_pn_.is_stopped();
    if (is_stopped_) return false;
    seen_.insert(game_.position().position_key());
    MoveList checks;
    checking_moves(game_.position(), checks);
    for (const Move check : checks) {
        game_.push(check);
        const bool is_answered = escapes(depth + 1);
        game_.pop();
        if (is_answered) continue;
        if (is_mated_) learn_mate(depth);
        return false;
    }
    return true;
}

// Has the defender an evasion that leads to an escape?
bool MateRefutation::escapes(int depth) {
    if (const auto end = end_of(game_, true)) {
        is_mated_ = end->delta == 0;
        return !is_mated_;
    }
    Move evasion = known_evasion(depth);
    if (evasion == kNoMove) evasion = searched_evasion();
    if (evasion == kNoMove) return false;
    game_.push(evasion);
    const bool is_escape = is_settled(depth + 1) || refutes(depth + 1);
    game_.pop();
    return is_escape;
}

// The first evasion whose position is known to be refuted, or kNoMove.
Move MateRefutation::known_evasion(int depth) {
    MoveList evasions;
    legal_moves(game_.position(), evasions);
    for (const Move evasion : evasions) {
        game_.push(evasion);
        const bool is_known = is_settled(depth + 1) || (df_pn_.table_.get(game_.key()).phi != 0 &&
                                                        df_pn_.table_.get(game_.position().position_key()).delta == 0);
        game_.pop();
        if (is_known) return evasion;
    }
    return kNoMove;
}

// The evasion that a search from here finds, or kNoMove.
Move MateRefutation::searched_evasion() {
    const MateEntry entry = df_pn_.search(game_, false);
    is_mated_ = entry.delta == 0;
    for (const MateSearch::Child& child : df_pn_.children_) {
        if (child.entry.delta == 0) return child.move;
    }
    is_stopped_ = is_stopped_ || !is_mated_;
    return kNoMove;
}

// Is there nothing left to examine after an evasion?
bool MateRefutation::is_settled(int depth) const {
    return seen_.contains(game_.position().position_key()) || game_.recurs(df_pn_.attacker_, depth) ||
           end_of(game_, false);
}

// Stores that the position is a mate and not refuted.
void MateRefutation::learn_mate(int depth) {
    is_mated_ = false;
    const MateEntry entry = df_pn_.search(game_, true);
    df_pn_.table_.store(game_.position().position_key(), kUnseen, 0);
    is_stopped_ = is_stopped_ || entry.phi != 0;
    if (depth == 0) root_ = entry;
}

}  // namespace goryu
