"""Minimax on tic-tac-toe: every node, and the values of both ways to write it."""

import pytest

from goryu.search import minimax
from solved_tictactoe import CountingTicTacToe, positions


@pytest.mark.slow
def test_minimax_visits_549946_nodes_of_tictactoe() -> None:
    CountingTicTacToe.pushes = 0
    assert minimax.negamax(CountingTicTacToe()) == 0.0
    assert 1 + CountingTicTacToe.pushes == 549_946


@pytest.mark.slow
def test_minimax_and_negamax_agree_everywhere() -> None:
    for state in positions(from_ply=3):
        value = minimax.minimax(state)
        assert minimax.negamax(state) == value == -minimax.minimax(state, is_maximising=False)
