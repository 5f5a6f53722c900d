"""`tools/learn.py`: one command trains, measures and writes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from goryu.commands.training.learn import main
from goryu.evaluators.board_network import BOARD_GAMES, load
from goryu.games.tictactoe import TicTacToe

COMMAND = [sys.executable, "-m", "goryu", "learn"]


def run(*arguments: str) -> None:
    subprocess.run([*COMMAND, *arguments, "--threads", "1"], check=True, capture_output=True)


@pytest.mark.slow
def test_learning_tictactoe_writes_a_network_and_every_number(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("rich")
    found = tmp_path / "found.json"
    run("tictactoe", "--cycles", "1", "--match-games", "2", "--folder", str(tmp_path), "--json", str(found))
    document = json.loads(found.read_text(encoding="utf-8"))
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
    found = tmp_path / "found.json"
    options = ("--value-only", "--value-games", "60", "--match-games", "4", "--folder", str(tmp_path))
    run("reversi", *options, "--json", str(found))
    points = json.loads(found.read_text(encoding="utf-8"))["points"]
    assert "most discs after 2 plies, moving first - random" in points
    assert "value network ours, moving first - random" in points
    assert (tmp_path / "reversi-value.onnx").is_file()


@pytest.mark.slow
def test_the_exercises_measure_every_variant(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("rich")
    found = tmp_path / "found.json"
    options = ("--value-games", "30", "--match-games", "2", "--folder", str(tmp_path))
    run("exercises", *options, "--json", str(found))
    document = json.loads(found.read_text(encoding="utf-8"))
    for name in ("one opponent", "varied opponent", "mixture", "mixture with corners", "corner bonus"):
        assert f"{name} - random" in document["points"]
        assert f"{name}: a disc on a corner" in document["corners"]


@pytest.mark.slow
def test_shogi_learns_one_cycle_and_writes_a_network(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("rich")
    run("shogi", "--cycles", "1", "--match-games", "2", "--folder", str(tmp_path))
    assert (tmp_path / "shogi.onnx").is_file()
    assert "puct:20 - random" in (tmp_path / "report.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("tictactoe --value-only", "unrecognized arguments: --value-only"),
        ("shogi --value-games 5", "unrecognized arguments: --value-games 5"),
        ("exercises --cycles 5", "unrecognized arguments: --cycles 5"),
        ("reversi --seed 99999999999999999999", "expected at least 0 and at most 9223372036854775807"),
        ("reversi --json nowhere/found.json", "no such folder"),
        ("reversi --plot nowhere/found.png", "no such folder"),
        ("reversi --plot found.foo", "expected one of the endings "),
        ("reversi --json .", "a folder, expected a file"),
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


@pytest.mark.skipif(sys.platform == "win32", reason="signals and locks of files")
def test_a_killed_run_prints_how_to_resume_and_locks_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("rich")
    command = [*COMMAND, "reversi", "--match-games", "20", "--threads", "1"]
    command += ["--folder", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as first:
        try:
            assert first.stdout is not None
            assert "most discs after 1 plies" in first.stdout.readline()
            before = (tmp_path / "report.json").read_text(encoding="utf-8")
            assert main([*command[len(COMMAND) :], "--fresh"]) == 2
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
