"""Alpha-beta has the values of minimax with a small part of its nodes."""

import pytest

from goryu.search import alpha_beta, minimax
from solved_tictactoe import CountingTicTacToe, positions, solved


def test_alpha_beta_equals_minimax_everywhere() -> None:
    for state in positions():
        assert alpha_beta.alpha_beta(state) == solved()[state.own, state.opponent]


def test_alpha_beta_needs_a_small_part_of_the_nodes() -> None:
    CountingTicTacToe.pushes = 0
    alpha_beta.best_move(CountingTicTacToe())
    assert CountingTicTacToe.pushes < 549_946 // 20


@pytest.mark.parametrize("window", [(-1.0, 0.0), (-0.5, 0.5), (0.5, 1.0)])
def test_alpha_beta_outside_its_window_is_a_bound(window: tuple[float, float]) -> None:
    alpha, beta = window
    for state in positions(from_ply=4):
        found, true = alpha_beta.alpha_beta(state, alpha, beta), solved()[state.own, state.opponent]
        if found <= alpha:
            assert true <= found
        elif found >= beta:
            assert true >= found
        else:
            assert true == found


@pytest.mark.parametrize("choose", [minimax.best_move, alpha_beta.best_move], ids=["minimax", "alpha-beta"])
def test_the_chosen_move_keeps_the_value(choose) -> None:  # type: ignore[no-untyped-def]
    for state in positions(from_ply=4):
        value = solved()[state.own, state.opponent]
        state.push(choose(state))
        outcome = state.outcome()
        assert value == -(solved()[state.own, state.opponent] if outcome is None else outcome.value)
