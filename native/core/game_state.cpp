#include "game_state.h"

namespace goryu {

void ShogiState::legal_moves(std::vector<Move>& moves) {
    MoveList list;
    game_.legal_moves(list);
    moves.insert(moves.end(), list.begin(), list.end());
}

std::span<const Move> ShogiState::find_mate(int nodes, std::uint32_t) {
    if (mate_search_.solve(game_, {nodes}) != MateVerdict::kMate) return {};
    return mate_search_.line();
}

std::optional<double> ReversiState::outcome() {
    const ReversiEnding ending = game_.outcome();
    if (!is_over(ending)) return {};
    return value_of(ending);
}

void ReversiState::legal_moves(std::vector<Move>& moves) {
    MoveList list;
    game_.legal_moves(list);
    moves.insert(moves.end(), list.begin(), list.end());
}

template <class Element>
void PlaneLeafSink<Element>::add(std::size_t leaf) {
    const auto [first, second] = format_.planes();
    while (leaf >= rows_.size()) {
        const std::size_t row = rows_.size() * kSquares;
        rows_.emplace_back(first_ + row * first, second_ == nullptr ? nullptr : second_ + row * second,
                           format_.planes());
    }
    format_.write(game_, rows_[leaf]);
}

template class PlaneLeafSink<float>;
template class PlaneLeafSink<Half>;

}  // namespace goryu
