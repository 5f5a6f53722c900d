"""Gumbel's root: sequential halving, the improved policy and its value."""

import itertools
from collections import Counter
from collections.abc import Sequence
from math import exp
from random import Random

import pytest

from boards import before_a_repetition
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.shogi import move_from_usi
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.search.evaluator import Evaluation
from goryu.search.gumbel import Gumbel, GumbelConfig, Node, round_sizes

WIN_AT_2 = (0, 3, 1, 4)


def test_sequential_halving_spends_exactly_its_budget_and_never_widens() -> None:
    for candidates, playouts in itertools.product(range(1, 18), range(1, 101)):
        rounds = round_sizes(candidates, playouts)
        assert sum(rounds) == playouts
        assert rounds == sorted(rounds, reverse=True)
        assert rounds[0] == min(candidates, playouts)


class Biased:
    """A fixed policy over the squares and a constant value."""

    def __init__(self, weights: Sequence[float]) -> None:
        self.weights = weights
        self.batches: list[int] = []

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        self.batches.append(len(states))
        evaluations = []
        for state in states:
            weights = [self.weights[move] for move in state.legal_moves()]
            evaluations.append(Evaluation([w / sum(weights) for w in weights], 0.0))
        return evaluations


def test_gumbel_root_draws_moves_with_the_policys_probabilities() -> None:
    # With one playout the move is the Gumbel-max of the priors: a draw from the policy itself.
    weights = (1, 2, 3, 4, 5, 6, 7, 8, 9)
    gumbel, rng = Gumbel(Biased(weights)), Random(6)
    counts = Counter(gumbel.search(TicTacToe(), 1, rng).move for _ in range(9000))
    for move in range(9):
        assert counts[Move(move)] / 9000 == pytest.approx(weights[move] / 45, abs=0.015)


def test_gumbel_visits_the_most_probable_moves_and_halves_them() -> None:
    evaluator = Biased((1, 2, 3, 4, 5, 6, 7, 8, 9))
    result = Gumbel(evaluator, GumbelConfig(max_considered=4)).search(TicTacToe(), 16)
    assert sum(result.visits) == 16
    assert sorted(result.visits) == [0, 0, 0, 0, 0, 2, 2, 6, 6]
    assert [move for move in result.moves if result.visits[move] > 0] == [5, 6, 7, 8]
    assert evaluator.batches == [1, *round_sizes(4, 16)]


def test_gumbel_improves_the_policy_towards_the_better_value() -> None:
    # All priors equal; taking the win must be learnt as almost certain, whatever was visited.
    result = Gumbel(UniformEvaluator()).search(TicTacToe(WIN_AT_2), 16, Random(1))
    assert result.move == 2
    assert sum(result.policy) == pytest.approx(1.0)
    assert result.policy[result.moves.index(Move(2))] > 0.99


def test_gumbel_policy_is_the_softmax_of_log_priors_and_scaled_values_and_gives_the_value() -> None:
    config = GumbelConfig(max_considered=3, c_visit=2.0, c_scale=0.5)
    result = Gumbel(Biased((1, 1, 1, 1, 1, 1, 1, 1, 1)), config).search(TicTacToe((0, 1, 3, 4)), 3)
    # X: 0 3, O: 1 4; square 6 wins, 2 5 7 8 have the value 0 for an evaluator that returns 0.
    assert result.moves == (2, 5, 6, 7, 8)
    assert result.visits == (1, 1, 1, 0, 0)
    mixed = (0.0 + 3 * (1 / 3)) / (1 + 3)
    values = (0.0, 0.0, 1.0, mixed, mixed)
    scores = [exp((2.0 + 1) * 0.5 * (value + 1) / 2) for value in values]
    assert result.policy == pytest.approx([score / sum(scores) for score in scores])
    assert result.value == pytest.approx(sum(p * v for p, v in zip(result.policy, values, strict=True)))
    assert result.value > mixed


def test_gumbel_mixes_the_values_of_the_visited_moves_by_their_priors() -> None:
    node = Node([Move(0), Move(1), Move(2)], Evaluation([0.5, 0.3, 0.2], 0.4))
    assert node.mixed_value() == 0.4
    node.visits, node.value_sums = [1, 3, 0], [0.8, -0.6, 0.0]
    seen = (0.5 * 0.8 + 0.3 * -0.2) / (0.5 + 0.3)
    assert node.mixed_value() == pytest.approx((0.4 + 4 * seen) / (1 + 4))


def test_gumbel_prefers_the_better_value_among_moves_visited_alike() -> None:
    evaluator = Biased((0.01, 0.01, 1, 0.01, 0.01, 2, 0.01, 0.01, 0.01))
    result = Gumbel(evaluator, GumbelConfig(max_considered=2)).search(TicTacToe(WIN_AT_2), 2)
    assert [move for move in result.moves if result.visits[result.moves.index(move)]] == [2, 5]
    assert result.move == 2


def test_gumbel_below_the_root_visits_the_move_that_lags_most_behind_the_policy() -> None:
    node = Node([Move(0), Move(1)], Evaluation([0.6, 0.4], 0.0))
    for _ in range(10):
        node.visits[node.select(GumbelConfig())] += 1
    assert node.visits == [6, 4]


def test_gumbel_evaluates_no_position_where_the_game_has_ended() -> None:
    class Watching(UniformEvaluator):
        def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
            assert all(state.outcome() is None and state.repetition() is None for state in states)
            return super().evaluate(states)

    board = before_a_repetition()
    result = Gumbel(Watching()).search(board, 60)
    assert result.visits[result.moves.index(move_from_usi("5b5a"))] > 0
