"""Shogi in the loop: its first network, its training, and the starts of its matches."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest

from goryu.base.errors import InputError
from goryu.base.files import held_folder
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.shogi import Board
from goryu.games.tictactoe import TicTacToe
from goryu.search.gumbel import GumbelConfig
from goryu_lab.loop.adapter import NETWORK
from goryu_lab.loop.config import ShogiLoopConfig
from goryu_lab.loop.pairs import pair_of_games
from goryu_lab.loop.shogi import RANDOM_PLIES, ShogiLoopGame, random_start
from goryu_lab.match.openings import Opening
from goryu_lab.records.game_records import GameWriter
from goryu_lab.records.json_lines import read_lines
from goryu_lab.self_play.batching import relayed
from goryu_lab.self_play.config import SelfPlayConfig
from goryu_lab.training.sources import Source

pytest.importorskip("torch")

CONFIG = ShogiLoopConfig(
    self_play=SelfPlayConfig(cheap_playouts=1, full_playouts=2, full_share=1.0, mate_nodes=0, max_plies=16),
    blocks=1,
    channels=8,
    steps=4,
    batch_size=4,
)


def play_game(game: ShogiLoopGame, folder: Path) -> Path:
    """Plays a game with the uniform policy, and returns its file."""
    steps = game.play(0, 0)
    states = next(steps)
    while True:
        try:
            states = steps.send(UniformEvaluator().evaluate(states))
        except StopIteration as finished:
            writer = GameWriter(folder / "0001.games")
            writer.write([finished.value])
            writer.close()
            return folder / "0001.games"


def test_a_game_may_end_before_its_first_evaluation() -> None:
    mate = Opening("4k4/9/4P4/9/9/9/9/9/4K4 b G 1")
    own = replace(CONFIG.self_play, mate_nodes=100, random_plies=(0, 0))
    game = ShogiLoopGame(replace(CONFIG, self_play=own, openings=(mate,)))
    with pytest.raises(StopIteration) as end:
        next(relayed(game.play(0, 0), len))
    assert end.value.value.ending == "mate found"


def train(game: ShogiLoopGame, folder: Path, previous: Path, games: Path) -> dict[str, float]:
    return game.train(1, folder, previous, [games], lambda step, loss: None)


def test_a_killed_training_continues(tmp_path: Path) -> None:
    game, first, second = ShogiLoopGame(CONFIG), tmp_path / "0000", tmp_path / "0001"
    games = play_game(game, tmp_path)
    game.initialise(first)
    losses = train(game, second, first, games)
    assert all(loss > 0.0 for loss in losses.values())
    log = (second / "train" / "log.jsonl").read_text()
    assert json.loads(log.splitlines()[-1])["step"] == CONFIG.steps
    learned = (second / NETWORK).read_bytes()
    assert learned != (first / NETWORK).read_bytes()
    (second / NETWORK).unlink()
    assert train(game, second, first, games) == losses
    assert (second / NETWORK).read_bytes() == learned  # Exported again from the checkpoint.
    assert (second / "train" / "log.jsonl").read_text() == log


def test_a_loop_can_start_from_an_exported_network(tmp_path: Path) -> None:
    ShogiLoopGame(CONFIG).initialise(tmp_path / "a")
    network = tmp_path / "a" / NETWORK
    game = ShogiLoopGame(replace(CONFIG, initial=network))
    game.initialise(tmp_path / "b")
    before, start = (NetworkEvaluator(path) for path in (network, tmp_path / "b" / NETWORK))
    ours, theirs = before.evaluate([Board()])[0], start.evaluate([Board()])[0]
    assert ours.policy == pytest.approx(theirs.policy, abs=1e-4)
    assert ours.value == pytest.approx(theirs.value, abs=1e-4)
    assert train(game, tmp_path / "c", tmp_path / "b", play_game(game, tmp_path))


def test_positions_of_other_sources_count(tmp_path: Path) -> None:
    game = ShogiLoopGame(replace(CONFIG, batch_size=20))
    games = play_game(game, tmp_path)
    game.initialise(tmp_path / "a")
    with pytest.raises(InputError, match="batch of 20"):
        train(game, tmp_path / "b", tmp_path / "a", games)
    more = ShogiLoopGame(replace(game.config, source=(Source(games, 600.0, repeat=4),)))
    assert train(more, tmp_path / "c", tmp_path / "a", games)


def test_a_loop_of_games_without_a_search_is_refused() -> None:
    """Games may be drawn from the policy alone, but a network cannot learn from its own policy."""
    for name in ("cheap_playouts", "full_playouts"):
        without = replace(CONFIG.self_play, **{name: 0})  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=f"{name}: expected more than 0"):
            replace(CONFIG, self_play=without)


@pytest.mark.parametrize(("words", "threads"), [("--cluster auto --processes 320", 0), ("--processes 2", 2)])
def test_on_a_cluster_the_training_has_all_cores_of_the_driver(words: str, threads: int) -> None:
    pytest.importorskip("rich")
    from goryu_lab.commands.training.selfplay import _shogi_config, make_parser

    args = make_parser().parse_args(["loop", "--folder", "none", *words.split()])
    assert _shogi_config(args).threads == threads


@pytest.mark.skipif(sys.platform == "win32", reason="there a folder is not held")
def test_a_folder_has_one_loop_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    from goryu_lab.commands.training.selfplay import main

    loop = ["loop", "--initial", "none.onnx", "--folder"]
    with held_folder(tmp_path):
        assert main([*loop, str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error == f"goryu selfplay: {tmp_path}: another program is using this folder\n"
    assert main([*loop, str(tmp_path / "new")]) == 2
    assert "none.onnx" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_match_begins_after_an_opening_and_random_moves() -> None:
    opening = Opening(moves=("7g7f", "3c3d"))
    starts = [random_start(opening, 320, Random(seed)) for seed in range(5)]
    assert {start.ply for start in starts} == {2 + RANDOM_PLIES}
    assert len({start.sfen() for start in starts}) == 5
    with pytest.raises(InputError, match="at most 6 plies undecided"):
        random_start(opening, 6, Random(1))


@pytest.mark.parametrize(
    "moves, points", [((0, 3, 1, 4), (1.0, 0.0)), ((0, 3, 1, 4, 8), (0.0, 1.0)), ((0, 4, 8), (0.5, 0.5))]
)
def test_a_pair_of_games_swaps_the_colours(moves: tuple[int, ...], points: tuple[float, float]) -> None:
    """In the first two positions the side to move wins at once, which is turn 0 and turn 1."""
    steps = pair_of_games(TicTacToe(moves=moves), 200, GumbelConfig(), 9)
    _, states = next(steps)
    found = None
    while found is None:
        try:
            _, states = steps.send(UniformEvaluator().evaluate(states))
        except StopIteration as finished:
            found = finished.value
    assert found == points


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_the_whole_command_runs_on_a_local_cluster(tmp_path: Path) -> None:
    """In a process of its own, which starts the cluster and ends it."""
    numbers = [
        "--cycles", "2", "--steps", "2", "--batch-size", "8", "--window-start", "20", "--match-limit", "2",
        "--match-playouts", "2", "--blocks", "1", "--channels", "8", "--cheap-playouts", "1",
        "--full-playouts", "2", "--full-share", "1", "--mate-nodes", "0", "--max-plies", "16",
        "--at-once", "2", "--processes", "2", "--cluster", "local",
    ]  # fmt: skip
    command = [sys.executable, "-m", "goryu", "selfplay", "loop", "--folder", str(tmp_path), *numbers]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    log = list(read_lines(tmp_path / "log.jsonl"))
    assert [entry["candidate"] for entry in log if entry["event"] == "trained"] == [1, 2]
