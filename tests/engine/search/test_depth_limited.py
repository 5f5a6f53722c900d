"""Depth-limited alpha-beta against the full width, and epsilon-greedy moves."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from goryu.games.reversi import Reversi
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.search import depth_limited
from goryu.search.random_move import random_move


def disc_lead(state: State) -> float:
    assert isinstance(state, Reversi)
    return state.disc_difference() / 64


def full_width(state: State, depth: int, heuristic: depth_limited.Heuristic) -> float:
    outcome = state.outcome()
    if outcome is not None:
        return outcome.value
    if depth == 0:
        return heuristic(state)
    values = []
    for move in state.legal_moves():
        state.push(move)
        values.append(-full_width(state, depth - 1, heuristic))
        state.pop()
    return max(values)


def random_reversi(seed: int) -> Iterator[Reversi]:
    rng, state = Random(seed), Reversi(6)
    while state.outcome() is None:
        yield state
        state.push(random_move(state, rng))


def test_depth_limited_alpha_beta_equals_full_width() -> None:
    for state in random_reversi(1):
        for depth in (1, 2, 3):
            value = full_width(state, depth, disc_lead)
            assert depth_limited.search(state, depth, disc_lead)[0] == value
            move = depth_limited.best_move(state, depth, disc_lead)
            state.push(move)
            assert -full_width(state, depth - 1, disc_lead) == value
            state.pop()


def test_evaluating_the_leaves_together_chooses_the_same_move() -> None:
    for state in random_reversi(2):
        for depth in (1, 2):
            values = iter([disc_lead(leaf) for leaf in depth_limited.leaf_states(state, depth)])
            move, value = depth_limited.move_from_leaves(state, depth, values)
            assert next(values, None) is None
            assert move == depth_limited.best_move(state, depth, disc_lead)
            assert value == full_width(state, depth, disc_lead)


def test_epsilon_greedy_plays_randomly_with_probability_epsilon() -> None:
    rng, state = Random(1), TicTacToe()
    counts = Counter(depth_limited.epsilon_greedy(state, lambda _: Move(8), 0.45, rng) for _ in range(4000))
    assert set(counts) == set(range(9))
    assert counts[Move(8)] / 4000 == pytest.approx(0.55 + 0.45 / 9, abs=0.03)
