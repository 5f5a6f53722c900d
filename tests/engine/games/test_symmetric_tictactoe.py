"""Symmetry leaves out moves, never a result."""

import pytest

from goryu.games.symmetric_tictactoe import SymmetricTicTacToe, images
from goryu.games.tictactoe import TicTacToe
from goryu.search.alpha_beta import alpha_beta


def leaves(state: SymmetricTicTacToe) -> int:
    if state.outcome() is not None:
        return 1
    found = 0
    for move in state.legal_moves():
        state.push(move)
        found += leaves(state)
        state.pop()
    return found


def test_the_value_after_every_move_is_that_of_a_move_that_is_left() -> None:
    assert {len({*images(1 << square)}) for square in range(9)} == {1, 4}
    for moves in ([], [4], [0], [4, 0], [0, 8, 2]):
        whole, reduced = TicTacToe(moves), SymmetricTicTacToe(moves)
        assert {*reduced.legal_moves()} <= {*whole.legal_moves()}
        assert alpha_beta(reduced) == alpha_beta(whole)


@pytest.mark.slow
def test_there_are_26830_games_up_to_symmetry() -> None:
    assert leaves(SymmetricTicTacToe()) == 26_830
