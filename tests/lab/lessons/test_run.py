"""Interrupted runs of `goryu learn` resume."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from goryu.evaluators.board_network import BOARD_GAMES, load  # noqa: E402
from goryu.games.tictactoe import TicTacToe  # noqa: E402
from goryu.players.agents.agents import make_agent  # noqa: E402
from goryu_lab.lessons import run as run_module  # noqa: E402
from goryu_lab.lessons.alphazero import SELF_PLAY, TRAINING  # noqa: E402
from goryu_lab.lessons.alphazero_config import TICTACTOE  # noqa: E402
from goryu_lab.lessons.board_learner import BoardLearner  # noqa: E402
from goryu_lab.lessons.lesson_games import read_games, replay  # noqa: E402
from goryu_lab.lessons.report import Measurement, ReportError, TutorialReport  # noqa: E402
from goryu_lab.lessons.run import (  # noqa: E402
    ResumableRun,
    TrainingClock,
    train_alphazero,
    train_value_network,
)
from goryu_lab.lessons.value_config import ValueLearnerConfig  # noqa: E402
from goryu_lab.lessons.value_learner import ValueLearner  # noqa: E402

torch.set_num_threads(1)
NewRun = Callable[[], ResumableRun]

OPTIONS = {"game": "tictactoe", "seed": 1}
FOUND = Measurement("points", "a - b", 0.5, 0.1, 0.4, "1 wins, 0 draws, 1 losses")


def test_a_run_resumes_only_with_the_same_options(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    TutorialReport(OPTIONS).write(path)
    with pytest.raises(ReportError, match="other options"):
        TutorialReport.read(path, {**OPTIONS, "seed": 2})
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(ReportError, match="expected the report of an earlier run"):
        TutorialReport.read(path, OPTIONS)


def train_values(run: ResumableRun, *, keeps_best: bool = False, **numbers: Any) -> None:
    config = ValueLearnerConfig(games_together=1, depth=1, updates=1, batch=8, **numbers)
    train_value_network(
        run, "values", config, lambda rng: [make_agent("random", rng=rng)], match_games=2,
        keeps_best=keeps_best,
    )  # fmt: skip


@pytest.fixture
def new_run(tmp_path: Path) -> NewRun:
    def new() -> ResumableRun:
        report = TutorialReport.read(tmp_path / "report.json", OPTIONS)
        return ResumableRun(tmp_path, report, 1, lambda line: None, lambda what, done, of: None)

    return new


def test_a_stage_is_measured_once_and_with_the_same_random_numbers(new_run: NewRun) -> None:
    draws: list[float] = []

    def measurements(rng: Random) -> Iterator[Measurement]:
        draws.append(rng.random())
        yield FOUND

    for _ in range(2):
        new_run().measure("basics", measurements)
    new_run().measure("more", measurements)
    assert draws == [Random(1).random()] * 2
    assert new_run().report.measurements == [FOUND, FOUND]


def test_an_interrupted_stage_is_measured_again(new_run: NewRun) -> None:
    def interrupted(_rng: Random) -> Iterator[Measurement]:
        yield FOUND
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        new_run().measure("basics", interrupted)
    assert new_run().report == TutorialReport(OPTIONS)


def test_a_state_with_many_games_is_read_again(new_run: NewRun) -> None:
    games = [[((2**63, 5), ((None, 0.1), (3, 0.9)), -1.0)] * 10] * 2000
    new_run().save_state("alphazero", {"loop": {"games": games, "played": 3}}, TrainingClock())
    restored: list[dict[str, Any]] = []
    new_run().load("alphazero", restored.append)
    assert restored[0]["loop"] == {"games": games, "played": 3}


def test_alphazero_resumes_within_a_cycle_with_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "SAVE_EVERY_S", 0.0)
    config = replace(
        TICTACTOE, playouts=2, cycles=2, games_per_cycle=3, steps_per_cycle=2, evaluation_games=2
    )

    def train(folder: Path, stop_at: tuple[str, int] | None = None) -> tuple[list[tuple[str, int]], bytes]:
        seen: list[tuple[str, int]] = []

        def progress(task: str, done: int, _total: int) -> None:
            seen.append((task, done))
            if (task, done) == stop_at:
                raise KeyboardInterrupt

        folder.mkdir(exist_ok=True)
        report = TutorialReport.read(folder / "report.json", OPTIONS)
        run = run_module.ResumableRun(folder, report, 1, lambda line: None, progress)
        learner = BoardLearner(BOARD_GAMES["tictactoe"], 1, 4, seed=1)
        path = folder / "net.onnx"
        train_alphazero(run, learner, config, lambda: learner.export(path), lambda _: (0.5, ""), size=3)
        return seen, path.read_bytes()

    whole, network = train(tmp_path / "whole")
    assert [done for task, done in whole if task == SELF_PLAY] == [0, 1, 2, 3, 4, 5, 6]
    assert [done for task, done in whole if task == TRAINING] == [1, 2, 1, 2]
    for i, stop in enumerate([(SELF_PLAY, 2), (TRAINING, 1), (SELF_PLAY, 5)]):
        folder = tmp_path / str(i)
        with pytest.raises(KeyboardInterrupt):
            train(folder, stop)
        rest, again = train(folder)
        assert rest[0] == (SELF_PLAY, 3 if stop[0] == TRAINING else stop[1])
        assert again == network
        games = read_games(folder / "games.jsonl")
        assert games == read_games(tmp_path / "whole" / "games.jsonl")
        assert [game.number for game in games] == [1, 2, 3, 4, 5, 6]
        assert all("wins" in text or "draw" in text for *_, text in map(replay, games))


def test_the_exported_network_is_the_champion_even_if_no_challenger_wins(
    new_run: NewRun, tmp_path: Path
) -> None:
    config = replace(TICTACTOE, playouts=2, cycles=1, games_per_cycle=2, steps_per_cycle=2, promotion=1.0)
    learner, path = BoardLearner(BOARD_GAMES["tictactoe"], 1, 4, seed=1), tmp_path / "net.onnx"
    path.write_text("an earlier run's")
    champion = train_alphazero(new_run(), learner, config, lambda: learner.export(path), lambda _: (0.5, ""))
    (found,) = load(path, BOARD_GAMES["tictactoe"]).evaluate([TicTacToe()])
    assert found == champion.evaluate([TicTacToe()])[0]


def test_the_value_learner_goes_on_after_the_last_match(new_run: NewRun) -> None:
    def interrupt(_what: str, done: int, _of: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    run = new_run()
    run.progress = interrupt
    with pytest.raises(KeyboardInterrupt):
        train_values(run, games=4)
    saved = new_run().load("values", lambda saved: None)
    assert saved is not None
    assert saved["learner"]["played"] == 2
    train_values(new_run(), games=4)
    assert [games for games, *_ in new_run().report.strength] == [1, 2, 3, 4]


@pytest.mark.parametrize("content", [b"junk", b""])
def test_a_damaged_state_of_a_training_is_named(content: bytes, new_run: NewRun, tmp_path: Path) -> None:
    (tmp_path / "values.pt").write_bytes(content)
    with pytest.raises(ReportError, match=r"values.pt: expected the state of an earlier training"):
        new_run().load("values", lambda saved: None)


@pytest.mark.parametrize(
    "full", ["goryu_lab.lessons.run.atomic_save", "goryu_lab.lessons.report.atomic_write"]
)
def test_a_full_disk_takes_no_point_from_the_curve_and_adds_none(
    full: str, new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_arguments: object) -> None:
        raise OSError("no space left on device")

    def progress(what: str, done: int, of: int) -> None:
        if done == 2:
            monkeypatch.setattr(full, no_space)

    run = new_run()
    run.progress = progress
    with pytest.raises(OSError, match="no space"):
        train_values(run, games=3)
    monkeypatch.undo()
    train_values(new_run(), games=3)
    assert [games for games, *_ in new_run().report.strength] == [1, 2, 3]


def test_the_state_of_another_training_is_named(new_run: NewRun) -> None:
    train_values(new_run(), games=1, filters=2)
    with pytest.raises(ReportError, match=r"values.pt: expected the state of an earlier training"):
        train_values(new_run(), games=1, filters=4)


def test_the_best_value_network_is_restored_at_the_end_if_requested(
    new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[int] = []
    monkeypatch.setattr(ValueLearner, "restore_best", lambda learner: played.append(learner.played))
    train_values(new_run(), games=2)
    assert played == []
    train_values(new_run(), games=2, keeps_best=True)
    assert played == [2]
