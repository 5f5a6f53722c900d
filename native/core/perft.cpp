#include "perft.h"

#include "movegen.h"

namespace goryu {

std::uint64_t perft(Position& position, int depth) noexcept {
    if (depth == 0) return 1;
    if (depth == 1) return static_cast<std::uint64_t>(count_legal_moves(position));
    MoveList moves;
    legal_moves(position, moves);
    std::uint64_t leaves = 0;
    for (const Move move : moves) {
        Undo undo;
        position.do_move(move, undo);
        leaves += perft(position, depth - 1);
        position.undo_move(undo);
    }
    return leaves;
}

}  // namespace goryu
