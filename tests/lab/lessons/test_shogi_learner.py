"""AlphaZero's loop on shogi: one tiny cycle, from self-play to a network that the engine can load."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from goryu.games.shogi import START_SFEN, move_from_usi
from goryu.implementation import Board
from goryu_lab.lessons.alphazero import AlphaZero, Example
from goryu_lab.lessons.alphazero_config import REVERSI

if TYPE_CHECKING:
    from goryu_lab.lessons.shogi_learner import ShogiLearner

TINY = replace(
    REVERSI,
    playouts=4,
    cycles=1,
    games_per_cycle=3,
    steps_per_cycle=2,
    batch=8,
    max_plies=10,
    sampling_plies=10,
)


@pytest.fixture
def learner() -> Iterator["ShogiLearner"]:
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    from goryu_lab.lessons.shogi_learner import ShogiLearner

    yield ShogiLearner(blocks=1, channels=8, seed=1)
    torch.set_num_threads(threads)


def test_one_cycle_exports_a_network_that_the_engine_loads(learner: "ShogiLearner", tmp_path: Path) -> None:
    from goryu.evaluators.network.network import NetworkEvaluator

    loop = AlphaZero(learner, TINY, Random(1))
    before = loop.champion.evaluate([Board()])[0]
    (cycle,) = loop.run()
    assert (cycle.games, cycle.positions) == (3, 30)
    assert cycle.policy_loss > 0.0
    assert learner.optimizer.count == 2
    for game in loop.games:
        board = Board()
        for example in game:
            assert example.position == board.sfen()
            assert [move for move, _ in example.policy] == board.legal_moves()
            assert example.value == 0.0  # Cut short after ten plies.
            board = Board(game[board.ply + 1].position) if board.ply + 1 < len(game) else board
    after = loop.champion.evaluate([Board()])[0]
    assert list(after.policy) != list(before.policy)
    learner.export(tmp_path / "shogi.onnx")
    loaded = NetworkEvaluator(tmp_path / "shogi.onnx", backend="cpu").evaluate([Board()])[0]
    assert loaded.policy == pytest.approx(after.policy, abs=1e-5)


def test_training_learns_the_move_and_the_result_that_it_is_shown(learner: "ShogiLearner") -> None:
    # The mirror image of a central pawn push is the push itself.
    push = move_from_usi("5g5f")
    game = [Example(START_SFEN, ((push, 1.0),), 1.0)]
    config = replace(TINY, steps_per_cycle=30)
    losses = [learner.train([game], config, Random(1)) for _ in range(2)]
    assert losses[1][0] < losses[0][0]
    assert losses[1][1] < losses[0][1]
    evaluation = learner.evaluator().evaluate([Board()])[0]
    assert max(zip(evaluation.policy, Board().legal_moves(), strict=True))[1] == push
    assert evaluation.value > 0.2


def test_a_reflected_position_is_the_position_seen_in_a_mirror() -> None:
    pytest.importorskip("torch")
    from goryu_lab.lessons.shogi_learner import batch_of

    class Fixed(Random):
        def __init__(self, number: float) -> None:
            self.number = number

        def random(self) -> float:
            return self.number

    def example(move: str, reply: str) -> Example[str]:
        board = Board("lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/9/LNSGKGSNL b R 1")
        board.push_usi(move)
        return Example(board.sfen(), ((move_from_usi(reply), 1.0),), 1.0)

    reflected = batch_of([example("7g7f", "2c2d")], Fixed(0.0))
    mirrored = batch_of([example("3g3f", "8c8d")], Fixed(0.9))
    for ours, theirs in zip(reflected, mirrored, strict=True):
        assert np.array_equal(ours, theirs)


def test_a_batch_has_policies_over_legal_moves_and_values_as_probabilities() -> None:
    pytest.importorskip("torch")
    from goryu_lab.lessons.shogi_learner import batch_of

    board = Board()
    board.push_usi("7g7f")  # White to move: labels are from the side to move.
    moves = board.legal_moves()
    policy = tuple((move, 1.0 / len(moves)) for move in moves)
    examples = [Example(board.sfen(), policy, value) for value in (1.0, 0.0, -1.0)]
    batch = batch_of(examples, Random(1))
    assert batch.legal.sum(axis=1).tolist() == [len(moves)] * 3
    assert batch.policy.sum(axis=1) == pytest.approx(np.ones(3))
    assert not batch.policy[~batch.legal].any()
    assert batch.value.tolist() == [1.0, 0.5, 0.0]
