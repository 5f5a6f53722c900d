// Refutations that hold on every path; the C++ version of search/mates/mate_refutation.py, which explains them.
#pragma once

#include <unordered_set>

#include "mate.h"

namespace goryu {

class MateRefutation {
public:
    MateRefutation(MateSearch& df_pn, Game& game) : df_pn_(df_pn), game_(game) {}

    // The entry of the root on every path: lost, proven if the search had missed a mate, or unseen if it
    // was stopped before that was known.
    MateEntry certain_root();

private:
    bool refutes(int depth);
    bool escapes(int depth);
    Move known_evasion(int depth);
    Move searched_evasion();
    bool is_settled(int depth) const;
    void learn_mate(int depth);

    MateSearch& df_pn_;
    Game& game_;
    std::unordered_set<std::uint64_t> seen_;  // Positions with the attacker to move.
    MateEntry root_ = kLost;
    bool is_mated_ = false;  // Was a mate found that df-pn had missed?
    bool is_stopped_ = false;
};

}  // namespace goryu
