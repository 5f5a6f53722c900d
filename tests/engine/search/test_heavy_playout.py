"""Heavy playouts take a win and block a loss; the rest is random."""

from random import Random

from goryu.games.tictactoe import TicTacToe, read_board
from goryu.search.heavy_playout import heavy_move, heavy_playout


def test_a_win_comes_before_a_block() -> None:
    for seed in range(10):
        assert heavy_move(read_board("XX./OO./..."), Random(seed)) == 2
        assert heavy_move(read_board("XX./.O./..."), Random(seed)) == 2
    lost = read_board("X.X/.O./X.O")  # X threatens 1 and 3.
    assert {heavy_move(lost, Random(seed)) for seed in range(30)} == {*lost.legal_moves()}


def test_the_result_is_that_of_the_side_to_move() -> None:
    state = TicTacToe([0, 3, 1, 4])
    assert heavy_playout(state, Random(1)) == 1.0
    assert state.ply == 4
