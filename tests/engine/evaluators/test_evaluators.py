"""The evaluators that need no library, and the softmax of those that do."""

import math
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boards import played
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.material import PIECE_VALUES, MaterialEvaluator, material
from goryu.evaluators.rollout import RolloutEvaluator
from goryu.evaluators.softmax import softmax
from goryu.games.reversi import Reversi
from goryu.games.shogi import Board
from goryu.games.splitmix import GOLDEN_GAMMA, splitmix64
from goryu.games.tictactoe import TicTacToe
from goryu.search.evaluator import Evaluator

logits = st.lists(st.floats(-1000.0, 1000.0), min_size=1, max_size=593)
temperatures = st.floats(0.05, 10.0)


@given(logits, temperatures)
def test_softmax_sums_to_one_and_keeps_the_order(values: list[float], temperature: float) -> None:
    policy = softmax(values, temperature)
    assert math.fsum(policy) == pytest.approx(1.0, abs=1e-12)
    assert all(0.0 <= p <= 1.0 for p in policy)
    order = sorted(range(len(values)), key=lambda i: values[i])
    assert all(policy[a] <= policy[b] for a, b in pairwise(order))


def test_softmax_does_not_depend_on_the_level_of_the_logits() -> None:
    assert softmax([-1003.0, -1000.0, -1001.5]) == softmax([-3.0, 0.0, -1.5])


def test_softmax_with_a_temperature_is_the_softmax_of_the_divided_logits() -> None:
    assert softmax([1.0, 3.0, -2.0], 2.0) == softmax([0.5, 1.5, -1.0])


def test_a_move_without_any_chance_gets_zero_and_not_an_error() -> None:
    assert softmax([0.0, -1e6]) == [1.0, 0.0]


def test_hashed_evaluations_follow_their_definition() -> None:
    board = Board()
    evaluation = HashedEvaluator().evaluate([board])[0]
    mask = (1 << 64) - 1
    weights = [
        ((splitmix64(board.key ^ ((move + 1) * GOLDEN_GAMMA & mask)) >> 11) + 1) / 2**53
        for move in board.legal_moves()
    ]
    total = 0.0
    for weight in weights:
        total += weight
    assert list(evaluation.policy) == [weight / total for weight in weights]
    assert evaluation.value == (splitmix64(board.key) >> 11) / 2**52 - 1.0


def test_material_counts_for_the_side_to_move() -> None:
    without_rook = "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL {} - 1"
    rook = PIECE_VALUES[6]
    assert material(Board(without_rook.format("b"))) == rook
    assert material(Board(without_rook.format("w"))) == -rook
    black, white = MaterialEvaluator().evaluate([Board(without_rook.format(turn)) for turn in "bw"])
    assert 0.0 < black.value < 1.0
    assert white.value == -black.value


def test_a_lead_of_fifteen_pawns_makes_the_odds_e_to_one() -> None:
    board = Board("lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1")  # White has no rook.
    value = MaterialEvaluator().evaluate([board])[0].value
    odds = (1.0 + value) / (1.0 - value)
    assert math.log(odds) == pytest.approx(PIECE_VALUES[6] / (15 * PIECE_VALUES[1]))


def test_a_captured_piece_counts_for_its_captor() -> None:
    board = played(Board(), "7g7f 3c3d 8h2b+")
    bishop, horse = PIECE_VALUES[5], PIECE_VALUES[13]
    assert material(board) == -(horse + bishop)  # one promoted on the board, one in hand; white has none left


def test_a_rollout_from_a_position_won_at_once_by_every_move_is_a_win() -> None:
    state = TicTacToe([0, 3, 1, 4, 8, 6, 7])  # 2 and 5 are left: both win
    values = [RolloutEvaluator(Random(seed), games=50).evaluate([state])[0].value for seed in range(3)]
    assert values == [1.0] * 3


@pytest.mark.parametrize(
    "evaluator", [HashedEvaluator(), RolloutEvaluator(Random(1), games=2)], ids=["hashed", "rollout"]
)
@pytest.mark.parametrize("game", [TicTacToe, Reversi])
def test_every_evaluator_gives_a_policy_over_the_legal_moves_and_a_value_in_range(
    evaluator: Evaluator, game: type[TicTacToe] | type[Reversi]
) -> None:
    rng = Random(7)
    states = []
    for plies in range(4):
        state = game()
        for _ in range(plies):
            state.push(rng.choice(state.legal_moves()))
        states.append(state)
    for state, evaluation in zip(states, evaluator.evaluate(states), strict=True):
        assert len(evaluation.policy) == len(state.legal_moves())
        assert math.fsum(evaluation.policy) == pytest.approx(1.0, abs=1e-12)
        assert -1.0 <= evaluation.value <= 1.0
