"""AlphaZero's pseudocode: the published numbers, their factors, storage, actors and trainer."""

import math
import multiprocessing
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goryu.base.errors import InputError
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.tictactoe import TicTacToe
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.graph.puct import Puct
from goryu_lab.commands.training.learn import main
from goryu_lab.lessons import pseudocode
from goryu_lab.lessons.alphazero import Example
from goryu_lab.lessons.alphazero_config import PUBLISHED, puct_config
from goryu_lab.lessons.pseudocode import ActorError, Actors, NetworkStorage, Trainer
from goryu_lab.lessons.pseudocode_config import SMALL_GAMES, Factors, scaled
from goryu_lab.lessons.pseudocode_games import GAMES, encode

COMMAND = [sys.executable, "-m", "goryu", "learn", "pseudocode"]


def test_without_factors_the_run_is_the_published_one() -> None:
    config = scaled(Factors())
    assert config.alphazero == replace(PUBLISHED["chess"], untried="lost")
    assert (config.steps, config.checkpoint_interval) == (700_000, 1000)
    assert config.games_per_step * config.steps == pytest.approx(44e6)


def test_shogi_has_its_own_noise() -> None:
    assert scaled(Factors(), game="shogi").alphazero == replace(PUBLISHED["shogi"], untried="lost")


def test_each_factor_scales_its_number() -> None:
    config = scaled(Factors(playouts=0.1, steps=0.01, rate=0.5, games=2.0, window=1e-9), untried="reduced")
    assert config.alphazero.playouts == 80
    assert config.steps == 7000
    assert config.alphazero.learning_rates[1][0] == 1000
    assert config.alphazero.learning_rates[1][1] == pytest.approx(0.01)
    assert config.games_per_step == pytest.approx(2 * 44 / 0.7)
    assert config.alphazero.window == 1, "at least one game"
    assert config.alphazero.untried == "reduced"


def test_bad_factors_are_refused() -> None:
    for factor in (-1.0, 0.0, 2e6, math.inf, math.nan):
        with pytest.raises(InputError, match="steps: expected more than 0 and at most 1000000, received"):
            Factors(steps=factor)
    with pytest.raises(InputError, match="untried 'won'"):
        scaled(Factors(), untried="won")


def test_an_untried_move_is_a_loss_as_published_or_reduced() -> None:
    """Once a move has been visited, others are tried only if exploring outweighs the loss."""

    class Even:
        def evaluate(self, states: Sequence[Any]) -> list[Evaluation]:
            counts = [len(state.legal_moves()) for state in states]
            return [Evaluation([1 / n] * n, 0.0) for n in counts]

    tried = {}
    for untried in ("lost", "reduced"):
        config = scaled(replace(SMALL_GAMES["tictactoe"], exploration=0.1), untried)
        puct = Puct(Even(), puct_config(config.alphazero))
        puct.search(TicTacToe(), lambda stats: False, max_playouts=20)
        assert puct.root is not None
        tried[untried] = puct.root.tried
    assert tried["lost"] == 1 < tried["reduced"]


class StubLearner:
    """Learns nothing and counts its steps; its networks are those of a real file."""

    def __init__(self) -> None:
        self.steps, self.games = 0, [0]

    def export(self, path: Path) -> None:
        path.write_bytes(b"network")

    def train(
        self, games: Sequence[Sequence[Example[Any]]], config: Any, rng: Random, on_step: Any = None
    ) -> tuple[float, float]:
        self.steps += config.steps_per_cycle
        self.games.append(len(games))
        return 2.0, 1.0

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        self.steps = saved["steps"]


class StubActors:
    """Plays a game whenever one is wanted."""

    def __init__(self, storage: NetworkStorage) -> None:
        self.storage, self.played = storage, 0

    def get(self, *, waits: bool) -> tuple[int, list[Example[Any]]] | None:
        if not waits:
            return None
        self.played += 1
        return max(self.storage.steps(), default=0), [Example((1, 2), ((4, 1.0),), 1.0)] * 2  # type: ignore[arg-type]


def run_of_stubs(folder: Path) -> tuple[Trainer, StubLearner, StubActors]:
    storage, learner = NetworkStorage(folder, GAMES["tictactoe"]), StubLearner()
    config = replace(scaled(SMALL_GAMES["tictactoe"]), steps=95, checkpoint_interval=30, games_per_step=0.5)
    config = replace(config, alphazero=replace(config.alphazero, window=20))
    return Trainer(learner, storage, config, Random(1)), learner, StubActors(storage)  # type: ignore[arg-type]


def test_the_trainer_waits_for_its_share_of_games_and_stores_networks_by_step(tmp_path: Path) -> None:
    trainer, learner, actors = run_of_stubs(tmp_path)
    points = list(trainer.run(actors))
    assert [point.step for point in points] == [30, 60, 90, 95] == trainer.storage.steps()
    assert [point.games for point in points] == [15, 30, 45, 48]
    assert learner.steps == 95
    assert max(learner.games) == 20, "the window"
    assert points[-1].positions == 40
    assert (points[0].policy_loss, points[0].value_loss) == (2.0, 1.0)
    assert points[0].lag == 10.0, "the uniform network's games arrive at steps 0, 10 and 20"
    assert min(tmp_path.iterdir()).name == "00000030.onnx"


def test_a_run_resumes_after_its_last_checkpoint(tmp_path: Path) -> None:
    trainer, _, actors = run_of_stubs(tmp_path)
    next(trainer.run(actors))
    saved = trainer.state_dict()
    again, learner, actors = run_of_stubs(tmp_path)
    again.load_state_dict(saved)
    assert [point.step for point in again.run(actors)] == [60, 90, 95]
    assert (learner.steps, actors.played) == (95, 48 - 15)


def test_before_the_first_network_a_uniform_one_plays(tmp_path: Path) -> None:
    step, evaluator = NetworkStorage(tmp_path / "none", GAMES["tictactoe"]).newest()
    assert step == 0
    assert isinstance(evaluator, UniformEvaluator)


def test_actors_play_whole_games_in_their_own_processes(tmp_path: Path) -> None:
    config = scaled(replace(SMALL_GAMES["tictactoe"], playouts=0.01)).alphazero
    with Actors(1, "tictactoe", tmp_path, config, 1) as actors:
        for _ in range(3):
            game = actors.get(waits=True)
            assert game is not None
            step, examples = game
            assert step == 0
            assert 5 <= len(examples) <= 9
            assert examples[0].position == encode(TicTacToe()) == (0, 0)
            assert sum(p for _, p in examples[0].policy) == pytest.approx(1.0)
            assert abs(examples[0].value) in (0.0, 1.0)


def die_within_a_message(game: str, folder: Path, config: Any, seed: int, games: Connection) -> None:
    """An actor that sends a game, and a part of the next one."""
    games.send((0, [((1, 2), ((4, 1.0),), 1.0)]))
    os.write(games.fileno(), struct.pack("!i", 1000) + b"a message of 1000 bytes")
    os._exit(7)


@pytest.mark.skipif(sys.platform == "win32", reason="writes a part of a message as POSIX does")
def test_an_actor_that_dies_within_a_message_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pseudocode, "act", die_within_a_message)
    config = scaled(SMALL_GAMES["tictactoe"]).alphazero
    with Actors(1, "tictactoe", tmp_path, config, 1) as actors:
        assert actors.get(waits=True) is not None
        with pytest.raises(ActorError, match="an actor ended with status 7"):
            actors.get(waits=True)
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_a_short_run_trains_stores_measures_and_resumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    options = ["tictactoe", "--folder", str(tmp_path), "--steps", "0.0001", "--checkpoints", "0.03"]
    options += ["--playouts", "0.01", "--match-games", "2"]
    assert main(["pseudocode", *options]) == 0
    first = capsys.readouterr().out
    assert "step 30: " in first
    assert "step 70: " in first
    assert "puct:20 - alpha-beta" in first
    assert [path.name for path in sorted((tmp_path / "networks").iterdir())] == [
        "00000030.onnx", "00000060.onnx", "00000070.onnx"
    ]  # fmt: skip
    assert main(["pseudocode", *options]) == 0
    assert "resuming after step 70" in capsys.readouterr().out
    assert main(["pseudocode", *options, "--seed", "2"]) == 2
    assert "other options" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_signal_to_all_processes_ends_the_run_and_the_same_command_resumes(tmp_path: Path) -> None:
    """Training takes so long that the actors wait within a message. Games of reversi are long messages."""
    torch = pytest.importorskip("torch")
    command = [*COMMAND, "reversi", "--folder", str(tmp_path), "--actors", "2"]
    command += ["--playouts", "0.00125", "--checkpoints", "0.01", "--batch", "0.5", "--games", "0.001"]
    for number, resumed in ((signal.SIGTERM, ""), (signal.SIGINT, "resuming after step ")):
        running = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            before = stored(tmp_path)
            while stored(tmp_path) == before and running.poll() is None:
                time.sleep(0.1)
            time.sleep(2.0)
            os.killpg(running.pid, number)
            out, err = running.communicate(timeout=120)  # It ends when all who can write are gone.
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
        assert running.returncode == 130
        assert "the same command resumes" in err
        assert "Traceback" not in err
        assert resumed in out
        step = torch.load(tmp_path / "pseudocode.pt", weights_only=True)["trainer"]["step"]
        storage = NetworkStorage(tmp_path / "networks", GAMES["reversi"])
        assert step in storage.steps()
        assert storage.newest()[1].evaluate([GAMES["reversi"].new()])
    assert step > 10


def stored(folder: Path) -> int:
    """Returns when the state of a run was stored last, in ns; 0: never."""
    path = folder / "pseudocode.pt"
    return path.stat().st_mtime_ns if path.is_file() else 0


def test_networks_are_found_by_step(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from goryu.evaluators.board_network import BOARD_GAMES
    from goryu_lab.lessons.board_learner import BoardLearner

    game = GAMES["tictactoe"]
    storage, values = NetworkStorage(tmp_path, game), []
    for step in (50, 7):
        storage.save(step, BoardLearner(BOARD_GAMES["tictactoe"], 1, 8, seed=step))
    assert storage.steps() == [7, 50]
    newest, evaluator = storage.newest()
    evaluators: list[Evaluator] = [evaluator, storage.network(50), storage.network(7)]
    for found in evaluators:
        values.append(found.evaluate([TicTacToe()])[0].value)
    assert newest == 50
    assert values[0] == values[1] != values[2]
