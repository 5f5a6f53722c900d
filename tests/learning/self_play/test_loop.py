"""The loop of self-play, training and match resumes after a kill at any step."""

import json
import os
import runpy
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest

from goryu.base.errors import InputError
from goryu.base.files import held_folder
from goryu.evaluators.material import MaterialEvaluator
from goryu.evaluators.network.named_networks import open_network
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.shogi import Board
from goryu.learning.records.game_records import read_games
from goryu.learning.self_play.config import LoopConfig, SelfPlayConfig
from goryu.learning.self_play.network_match import network_match, shogi_match
from goryu.learning.training.dataset import Source
from goryu.match.openings import Opening
from paths import ROOT

pytest.importorskip("torch")
pytest.importorskip("cshogi")

from goryu.learning.self_play.loop import run_loop

CONFIG = LoopConfig(
    self_play=SelfPlayConfig(cheap_playouts=1, full_playouts=2, full_share=1.0, mate_nodes=0, max_plies=16),
    openings=(Opening(), Opening(moves=("7g7f", "3c3d"))),
    blocks=1,
    channels=8,
    cycles=1,
    games=3,
    steps=4,
    batch_size=8,
    match_games=2,
    match_playouts=2,
)


def written(folder: Path) -> dict[Path, int]:
    return {path.relative_to(folder): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_a_killed_loop_does_only_the_missing_steps(tmp_path: Path) -> None:
    (first,) = run_loop(CONFIG, tmp_path)
    assert first.games == 3
    assert first.score is not None
    assert first.score.games == 2
    before = written(tmp_path)
    assert list(run_loop(CONFIG, tmp_path)) == [first]
    after = written(tmp_path)
    changed = {str(path) for path in before if after[path] != before[path]}
    assert changed <= {"cycle-001/self.games"}  # Opened and truncated after its last whole block.

    network = tmp_path / "cycle-001" / "network.onnx"
    learned = network.read_bytes()
    network.unlink()
    (tmp_path / "cycle-001" / "match.json").unlink()
    assert next(iter(run_loop(CONFIG, tmp_path))).losses == first.losses
    assert network.read_bytes() == learned  # Exported again from the checkpoint.

    two = list(run_loop(replace(CONFIG, cycles=2), tmp_path))
    assert [cycle.number for cycle in two] == [1, 2]
    assert (tmp_path / "cycle-002" / "network.onnx").exists()


def test_a_challenger_that_is_not_better_does_not_replace_the_champion(tmp_path: Path) -> None:
    (cycle,) = run_loop(replace(CONFIG, promotion=1.0), tmp_path)
    assert not cycle.is_promoted
    checkpoints = [tmp_path / f"cycle-00{i}" / "train" / "checkpoint.pt" for i in (0, 1)]
    assert all(path.exists() for path in checkpoints)
    list(run_loop(replace(CONFIG, promotion=1.0, cycles=2), tmp_path))
    log = (tmp_path / "cycle-002" / "train" / "log.jsonl").read_text()
    assert json.loads(log.splitlines()[-1])["step"] == CONFIG.steps


def test_the_weights_of_a_larger_network_are_refused(tmp_path: Path) -> None:
    list(run_loop(replace(CONFIG, match_games=0), tmp_path / "a"))
    initial = tmp_path / "a" / "cycle-001" / "train" / "checkpoint.pt"
    with pytest.raises(ValueError, match="expected at most 1 blocks of 4 channels, found 1 of 8"):
        list(run_loop(replace(CONFIG, channels=4, initial=initial), tmp_path / "b"))
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    "changes", [{"match_games": 1}, {"match_games": -2}, {"window": 0}, {"games": 0}, {"cycles": 0}]
)
def test_impossible_numbers_of_a_loop_are_refused(changes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expected"):
        replace(CONFIG, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["cheap_playouts", "full_playouts"])
def test_a_loop_without_a_search_is_refused(name: str) -> None:
    """Games may be drawn from the policy alone, but a network cannot learn from its own policy."""
    without = replace(CONFIG.self_play, **{name: 0})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"{name}: expected more than 0"):
        replace(CONFIG, self_play=without)


@pytest.mark.skipif(sys.platform == "win32", reason="there a folder is not held")
def test_a_folder_has_one_loop_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    tool = runpy.run_module("goryu.commands.training.selfplay")
    loop = ["loop", "--initial", "none.onnx", "--folder"]
    with held_folder(tmp_path):
        assert tool["main"]([*loop, str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error == f"goryu selfplay: {tmp_path}: another program is using this folder\n"
    assert tool["main"]([*loop, str(tmp_path / "new")]) == 2
    assert "none.onnx" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_loop_can_start_from_an_exported_network(tmp_path: Path) -> None:
    list(run_loop(replace(CONFIG, match_games=0), tmp_path / "a"))
    network = tmp_path / "a" / "cycle-001" / "network.onnx"
    (cycle,) = run_loop(replace(CONFIG, match_games=0, initial=network), tmp_path / "b")
    assert cycle.is_promoted
    before, start = (
        NetworkEvaluator(path) for path in (network, tmp_path / "b" / "cycle-000" / "network.onnx")
    )
    ours, theirs = before.evaluate([Board()])[0], start.evaluate([Board()])[0]
    assert ours.policy == pytest.approx(theirs.policy, abs=1e-4)
    assert ours.value == pytest.approx(theirs.value, abs=1e-4)


def test_the_match_knows_the_better_player() -> None:
    score = shogi_match(MaterialEvaluator(), UniformEvaluator(), CONFIG.openings, 4, 60, 320, Random(1))
    assert score.points >= 0.75


def test_a_match_has_the_same_score_however_many_processes_play_it() -> None:
    first, second = (ROOT / "models" / f"goryu-5x64{kind}.onnx" for kind in ("", "-int8"))
    networks = (open_network(first, batch_size=4), open_network(second, batch_size=4))
    alone = shogi_match(*networks, CONFIG.openings, 6, 8, 40, Random(1))
    assert network_match(first, second, CONFIG.openings, 6, 8, 40, Random(1), processes=2) == alone


def test_a_loop_with_too_few_positions_is_refused_before_it_plays(tmp_path: Path) -> None:
    few = replace(CONFIG, batch_size=1000)
    with pytest.raises(InputError, match="about 48 positions, expected at least one batch of 1000"):
        list(run_loop(few, tmp_path / "loop", lambda summary: pytest.fail("a game was played")))
    assert not (tmp_path / "loop").exists()


def test_positions_of_other_sources_count(tmp_path: Path) -> None:
    list(run_loop(replace(CONFIG, match_games=0), tmp_path / "a"))
    games = tmp_path / "a" / "cycle-001" / "self.games"
    positions = sum(score is not None for game in read_games(games) for score in game.evals)
    few = replace(CONFIG, match_games=0, batch_size=49)
    repeated = Source(games, 600.0, repeat=1 + 49 // positions)
    (cycle,) = run_loop(replace(few, source=(repeated,)), tmp_path / "b")
    assert cycle.is_promoted


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_the_whole_command_takes_turns_on_a_local_cluster_with_the_games_of_processes(
    tmp_path: Path,
) -> None:
    """In a process of its own, which starts the cluster and ends it."""
    numbers = [
        "--synchronous", "--cycles", "2", "--games", "4", "--steps", "2", "--batch-size", "8",
        "--match-games", "2", "--match-playouts", "2", "--blocks", "1", "--channels", "8",
        "--cheap-playouts", "1", "--full-playouts", "2", "--full-share", "1", "--mate-nodes", "0",
        "--max-plies", "16", "--at-once", "2", "--processes", "2",
    ]  # fmt: skip
    shared, alone = tmp_path / "shared", tmp_path / "alone"
    command = [sys.executable, "-m", "goryu", "selfplay", "loop", "--folder", str(shared), *numbers]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [*command, "--cluster", "local"], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    main = runpy.run_module("goryu.commands.training.selfplay")["main"]
    assert main(["loop", "--folder", str(alone), *numbers]) == 0
    cycles = [line for line in done.stdout.splitlines() if line.startswith("cycle ")]
    assert len(cycles) == 2
    found, expected = (
        sorted(read_games(folder / "cycle-001" / "self.games"), key=lambda game: game.number or 0)
        for folder in (shared, alone)
    )
    assert [game.number for game in found] == [0, 1, 2, 3]
    assert found == expected
    for name in ("network.onnx", "match.json", "self.games"):
        assert (shared / "cycle-002" / name).stat().st_size
