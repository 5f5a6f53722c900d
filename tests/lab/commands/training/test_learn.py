"""`tools/learn.py`: one command trains, measures and writes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from goryu.evaluators.board_network import BOARD_GAMES, load
from goryu.games.tictactoe import TicTacToe
from goryu_lab.commands.training.learn import main
from goryu_lab.lessons import experiments

COMMAND = [sys.executable, "-m", "goryu", "learn"]


@pytest.mark.slow
def test_learning_tictactoe_writes_a_network_and_every_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("rich")
    every_run = experiments.mean_correctness
    monkeypatch.setattr(experiments, "mean_correctness", lambda new, runs: every_run(new, min(runs, 3)))
    words = ["--cycles", "1", "--games-per-cycle", "40", "--match-games", "2", "--threads", "1"]
    words += ["--steps-per-cycle", "60", "--evaluation-games", "4"]
    assert main(["tictactoe", *words, "--folder", str(tmp_path)]) == 0
    document = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    correctness = document["correctness"]
    assert correctness["alpha-beta"] == correctness["minimax"] == 11
    assert 4 < correctness["flat-mc:10"] < correctness["uct:1000"] <= 11
    assert "puct:20" in correctness
    assert document["training"]["alphazero"]["seconds"] > 0
    # The first challenger need not be promoted; then it is the untrained network.
    load(tmp_path / "tictactoe.onnx", BOARD_GAMES["tictactoe"]).evaluate([TicTacToe()])


@pytest.mark.slow
def test_learning_reversi_writes_the_value_network(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("rich")
    words = ["--value-only", "--value-games", "12", "--match-games", "2", "--threads", "1"]
    assert main(["reversi", *words, "--folder", str(tmp_path)]) == 0
    points = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["points"]
    assert "most discs after 2 plies, moving first - random" in points
    assert "value network ours, moving first - random" in points
    assert (tmp_path / "reversi-value.onnx").is_file()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("tictactoe --value-only", "unrecognized arguments: --value-only"),
        ("reversi --seed 99999999999999999999", "expected at least 0 and at most 9223372036854775807"),
        ("reversi --plot nowhere/found.png", "no such folder"),
        ("reversi --plot found.foo", "expected one of the endings "),
        ("reversi --plot .", "a folder, expected a file"),
        ("reversi --match-games 1", "expected at least 2"),
    ],
)
def test_impossible_options_are_refused_before_the_training(
    arguments: str,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("rich")
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        raise SystemExit(main([*arguments.split(), "--folder", "run"]))
    assert expected in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals and locks of files")
def test_a_killed_run_prints_how_to_resume_and_locks_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("rich")
    command = [*COMMAND, "reversi", "--match-games", "100", "--threads", "1"]
    command += ["--folder", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as first:
        try:
            assert first.stdout is not None
            assert "most discs after 1 plies" in first.stdout.readline()
            before = (tmp_path / "report.json").read_text(encoding="utf-8")
            assert main(command[len(COMMAND) :]) == 2
            error = capsys.readouterr().err
            assert error == f"goryu learn: {tmp_path}: another program is using this folder\n"
            assert (tmp_path / "report.json").read_text(encoding="utf-8") == before
            first.terminate()
            _, error = first.communicate(timeout=60)
        finally:
            first.kill()
    assert first.returncode == 130
    assert error.startswith("goryu learn: interrupted; the same command resumes")
    assert len(error.splitlines()) == 1
