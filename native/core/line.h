// The moves that a state is ahead of the root. Walks that follow each other share their first moves, which
// need not be taken back and played again.
#pragma once

#include <vector>

#include "state.h"

namespace goryu {

class Line {
public:
    // The state is at the root. Whoever uses the line takes it back to there.
    explicit Line(State& state) : state_(state) {}

    State& state() const noexcept { return state_; }

    // Plays the move that comes after the first `depth` moves, unless it is there already; returns whether it is
    // new. Moves after it may remain.
    bool play(std::size_t depth, Move move) {
        if (depth < moves_.size() && moves_[depth] == move) return false;
        take_back(depth);
        moves_.push_back(move);
        try {
            state_.push(move);
        } catch (...) {
            moves_.pop_back();
            throw;
        }
        return true;
    }

    // Takes back all but the first `depth` moves.
    void take_back(std::size_t depth) {
        for (; moves_.size() > depth; moves_.pop_back()) state_.pop();
    }

private:
    State& state_;
    std::vector<Move> moves_;
};

}  // namespace goryu
