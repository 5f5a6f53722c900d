#include "game_state.h"

#include "half.h"

namespace goryu {

void ShogiState::legal_moves(std::vector<Move>& moves) {
    MoveList list;
    game_.legal_moves(list);
    moves.insert(moves.end(), list.begin(), list.end());
}

std::span<const Move> ShogiState::find_mate(int nodes) {
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
    const std::size_t hand_planes = kHandPlanes + (sees_nyugyoku_ ? kNyugyokuPlanes : 0);
    if (leaf >= used_.size()) used_.resize(leaf + 1);
    fill_dlshogi(game_.position(), sees_nyugyoku_, board_ + leaf * kBoardPlanes * kSquares,
                 hands_ + leaf * hand_planes * kSquares, used_[leaf]);
}

template class PlaneLeafSink<float>;
template class PlaneLeafSink<Half>;

}  // namespace goryu
