"""The networks of the small games: their export, their symmetries, and what they learn."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

from goryu.evaluators.board_network import BOARD_GAMES, BoardNetwork, Planes, encode, load  # noqa: E402
from goryu.games.reversi import PASS, Reversi  # noqa: E402
from goryu.games.state import Move  # noqa: E402
from goryu.games.tictactoe import TicTacToe  # noqa: E402
from goryu.search.evaluator import Evaluation  # noqa: E402
from goryu_lab.lessons.alphazero import AlphaZero, Example  # noqa: E402
from goryu_lab.lessons.alphazero_config import TICTACTOE, TICTACTOE_PUBLISHED  # noqa: E402
from goryu_lab.lessons.board_learner import BoardLearner, minibatches  # noqa: E402
from goryu_lab.lessons.networks import BoardNet, ValueNet, export, forward_values, symmetric  # noqa: E402

torch.set_num_threads(1)  # On a busy machine the threads of a tiny network wait for each other.


def test_an_exported_network_computes_the_same_as_the_trained_one(tmp_path: Path) -> None:
    for game in BOARD_GAMES.values():
        net = BoardNet(game, 1, 8)
        path = tmp_path / f"{game.name}.onnx"
        export(net, game, path)
        states = [game.new()]
        exported = load(path, game).evaluate(states)[0]

        def forward(planes: Planes, net: BoardNet = net) -> tuple[Planes, Planes]:
            with torch.inference_mode():
                policy, values = net.eval()(torch.from_numpy(planes))
            return policy.numpy(), values.numpy()

        trained = BoardNetwork(game, forward).evaluate(states)[0]
        assert exported.policy == pytest.approx(trained.policy, abs=1e-5)
        assert exported.value == pytest.approx(trained.value, abs=1e-5)
        with pytest.raises(ValueError, match=f"made for '{game.name}', expected"):
            load(path, next(other for other in BOARD_GAMES.values() if other is not game))
    reversi, values = BOARD_GAMES["reversi"], ValueNet(4, 8)
    export(values, reversi, tmp_path / "values.onnx")
    state = Reversi(moves=[19])
    evaluation = load(tmp_path / "values.onnx", reversi).evaluate([state])[0]
    assert evaluation.policy == pytest.approx([1 / 3] * 3)
    planes = encode([(state.own, state.opponent)], 8)
    assert evaluation.value == pytest.approx(forward_values(values, planes)[0], abs=1e-5)


def test_a_full_disk_leaves_the_earlier_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(path: Path, content: bytes) -> None:
        with path.open("wb") as file:
            file.write(content[:1000])
        raise OSError("no space left on device")

    game, path = BOARD_GAMES["tictactoe"], tmp_path / "network.onnx"
    export(BoardNet(game, 1, 8), game, path)
    before = path.read_bytes()
    monkeypatch.setattr(Path, "write_bytes", no_space)
    with pytest.raises(OSError, match="no space"):
        export(BoardNet(game, 1, 8), game, path)
    assert path.read_bytes() == before


def test_the_eight_symmetries_turn_stones_and_policy_alike() -> None:
    learner = BoardLearner(BOARD_GAMES["reversi"], 1, 4, seed=1)
    square = 11
    planes = encode([(1 << square, 0)], 8)
    policy = np.zeros((1, 65), dtype=np.float32)
    policy[0, square], policy[0, PASS] = 0.75, 0.25
    seen = set()
    for turns in range(4):
        for is_mirrored in (False, True):
            board = symmetric(planes, turns, is_mirrored)[0, 0].reshape(64)
            turned = learner._symmetric_policies(policy, turns, is_mirrored)[0]
            assert turned[PASS] == 0.25
            assert turned[:64].argmax() == board.argmax()
            seen.add(int(board.argmax()))
    assert len(seen) == 8


def test_the_tutorials_network_divides_shares_by_the_sum_of_the_legal_moves() -> None:
    learner = BoardLearner(BOARD_GAMES["tictactoe"], 2, 4, seed=1, as_published=True)
    shares = torch.tensor([0.5, 0.3, -0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    with torch.no_grad():
        learner.net.policy.weight.zero_()
        learner.net.policy.bias.copy_(shares)
    (found,) = learner.evaluator().evaluate([TicTacToe([0, 8])])
    expected = [0.3, 0.0, 0.1, 0.1, 0.1, 0.1, 0.1]
    assert found.policy == pytest.approx([share / 0.8 for share in expected], abs=1e-4)


def test_a_training_as_in_the_tutorial_passes_over_all_positions_and_starts_adam_anew() -> None:
    config = replace(TICTACTOE_PUBLISHED, playouts=3, epochs=2, batch=4, games_per_cycle=2, cycles=2)
    batches = minibatches(6, config, Random(1))
    for _ in range(2):
        epoch = [next(batches), next(batches)]
        assert [len(batch) for batch in epoch] == [4, 2]
        assert sorted(epoch[0] + epoch[1]) == [0, 1, 2, 3, 4, 5]
    learner = BoardLearner(BOARD_GAMES["tictactoe"], 1, 4, seed=1, as_published=True)
    loop = AlphaZero(learner, replace(config, evaluation_games=2), Random(1))
    for cycle in loop.run():
        assert learner.optimizer.count == 2 * -(-cycle.positions // 4)
    groups = learner.optimizer.state_dict()["steps"]["optimizer"]["param_groups"]
    assert [group["weight_decay"] for group in groups] == [0.001, 0]
    assert {group["lr"] for group in groups} == {0.001}  # Two epochs do not reach the fiftieth.


def test_training_learns_its_positions() -> None:
    learner = BoardLearner(BOARD_GAMES["tictactoe"], 1, 16, seed=1)
    config = replace(TICTACTOE, steps_per_cycle=40, batch=16)
    corner = Example((0, 1 << 4), ((Move(0), 0.5), (Move(8), 0.5)), -1.0)
    first = learner.train([[corner]], config, Random(1))
    second = learner.train([[corner]], config, Random(1))
    assert second[0] < first[0]
    assert second[1] < first[1]
    evaluation: Evaluation = learner.evaluator().evaluate([TicTacToe([4])])[0]
    assert evaluation.value < -0.8
    # Eight legal moves; by symmetry every corner was shown, no edge ever.
    corners = [
        p for m, p in zip(TicTacToe([4]).legal_moves(), evaluation.policy, strict=True) if m in (0, 2, 6, 8)
    ]
    assert sum(corners) > 0.9
