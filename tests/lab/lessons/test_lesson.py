"""The lesson of the reversi tutorial with its numbers on the command line: games, checkpoints, resuming."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")
pytest.importorskip("rich")


from goryu.evaluators.board_network import BoardGame, encode, load  # noqa: E402
from goryu.games.reversi import Reversi  # noqa: E402
from goryu_lab.lessons.lesson import Lesson  # noqa: E402
from goryu_lab.lessons.lesson_games import read_games, replay  # noqa: E402
from goryu_lab.lessons.networks import ValueNet, forward_values  # noqa: E402
from goryu_lab.lessons.report import TutorialReport  # noqa: E402
from goryu_lab.lessons.run import ResumableRun  # noqa: E402
from goryu_lab.lessons.value_config import TUTORIAL, ValueLearnerConfig  # noqa: E402

SMALL = replace(TUTORIAL, size=4, games=12, games_together=3, batch=16, filters=4, hidden=8, epsilon_every=6)


def new_lesson(folder: Path, config: ValueLearnerConfig = SMALL) -> Lesson:
    torch.set_num_threads(1)
    folder.mkdir(exist_ok=True)
    run = ResumableRun(folder, TutorialReport({}), 1, lambda line: None, lambda task, done, total: None)
    return Lesson(run, config, ("greedy", "random"))


def learned(folder: Path, config: ValueLearnerConfig = SMALL) -> Lesson:
    lesson = new_lesson(folder, config)
    lesson.run(6, lambda games, loss: None)
    return lesson


@pytest.mark.parametrize("size", [4, 6, 8])
def test_a_value_network_fits_every_board_and_number_of_layers(size: int) -> None:
    for layers in range(1, size):
        net = ValueNet(4, 8, size, layers)
        assert len(forward_values(net, encode([(1, 2), (3, 4)], size))) == 2
        convolutions = [layer for layer in net.layers if isinstance(layer, torch.nn.Conv2d)]
        assert len(convolutions) == layers
        assert all(2 <= layer.kernel_size[0] <= 4 for layer in convolutions)
    with pytest.raises(ValueError, match=f"at most {size - 1}"):
        ValueNet(4, 8, size, size)


@pytest.mark.parametrize("size", [4, 6, 8])
def test_the_games_of_a_lesson_are_games_of_reversi(size: int, tmp_path: Path) -> None:
    lesson = learned(tmp_path, replace(SMALL, size=size, games=6, both_sides=True, depth=1))
    games = read_games(tmp_path / "games.jsonl")
    assert games == lesson.games
    assert [game.number for game in games] == [1, 2, 3, 4, 5, 6]
    assert [game.opponent for game in games] == ["greedy", "random"] * 3
    assert [game.learner for game in games] == [0, 1] * 3
    for game in games:
        state = Reversi(size)
        for name in game.moves:
            names = {state.move_name(move): move for move in state.legal_moves()}
            state.push(names[name])
        assert state.outcome() is not None
        lead = state.disc_difference() * (1 if state.turn == game.learner else -1)
        assert game.discs == lead
        boards = list(replay(game))
        assert len(boards) == len(game.moves) + 2
        assert boards[-2].endswith(str(state))


def test_every_checkpoint_is_a_network_with_the_values_of_the_learner(tmp_path: Path) -> None:
    lesson = learned(tmp_path)
    names = sorted(path.name for path in tmp_path.glob("*.onnx"))
    assert names == ["network-00006.onnx", "network-00012.onnx"]
    game = BoardGame("reversi4", 4, 65, lambda: Reversi(4))
    boards = encode([(0b11 << 5, 0b11 << 9), (1, 2)], 4)
    policy, values = load(tmp_path / names[-1], game).forward(boards)
    assert policy is None
    np.testing.assert_allclose(values, forward_values(lesson.learner.net, boards), atol=1e-6)


def test_an_interrupted_lesson_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole = learned(tmp_path / "whole")

    class StoppedError(Exception):
        pass

    def stop(games: object, loss: float) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        new_lesson(tmp_path / "parts").run(6, stop)
    rest = new_lesson(tmp_path / "parts")
    assert rest.learner.played == 6
    rest.run(6, lambda games, loss: None)
    assert rest.games == whole.games
    pairs = zip(rest.learner.net.parameters(), whole.learner.net.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_a_checkpoint_plays_a_game_without_random_moves(tmp_path: Path) -> None:
    learned(tmp_path)
    games = read_games(tmp_path / "checkpoint-games.jsonl")
    told = [(game.number, game.epsilon, game.opponent) for game in games]
    assert told == [(number, 0.0, "greedy") for number in (6, 12)]
    for game in games:
        assert list(replay(game))[-1].startswith(game.sign)
