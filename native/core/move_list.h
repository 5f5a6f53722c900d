// A list of legal moves on the stack, for every game.
#pragma once

#include "types.h"

namespace goryu {

class MoveList {
public:
    MoveList() noexcept {}  // The moves are not zeroed: only the first size_ are ever read.
    const Move* begin() const noexcept { return moves_.data(); }
    const Move* end() const noexcept { return moves_.data() + size_; }
    int size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    Move operator[](int i) const noexcept { return moves_[i]; }
    void clear() noexcept { size_ = 0; }
    void add(Move move) noexcept { moves_[size_++] = move; }

private:
    std::array<Move, kMaxMoves> moves_;
    int size_ = 0;
};

}  // namespace goryu
