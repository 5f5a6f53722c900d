"""Every textbook search takes a win and blocks a threat."""

from collections.abc import Sequence
from random import Random

import pytest

from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.tictactoe import TicTacToe
from goryu.search import alpha_beta, depth_limited, flat_monte_carlo, minimax, uct
from goryu.search.gumbel import Gumbel

WIN_AT_2 = (0, 3, 1, 4)


BLOCK_AT_2 = (4, 0, 8, 1)


@pytest.mark.parametrize("moves", [WIN_AT_2, BLOCK_AT_2], ids=["win", "block"])
@pytest.mark.parametrize(
    "choose",
    [
        minimax.best_move,
        alpha_beta.best_move,
        lambda state: depth_limited.best_move(state, 2, lambda _: 0.0),
        lambda state: flat_monte_carlo.best_move(state, 50, Random(1)),
        lambda state: uct.best_move(state, 300, Random(1)),
        lambda state: Gumbel(UniformEvaluator()).search(state, 64).move,
    ],
    ids=["minimax", "alpha-beta", "depth-limited", "flat", "uct", "gumbel"],
)
def test_takes_the_win_and_blocks_the_threat(moves: Sequence[int], choose) -> None:  # type: ignore[no-untyped-def]
    state = TicTacToe(moves)
    assert choose(state) == 2
    assert state.move_stack == list(moves)
