"""The test of single moves: scripted variants and judges, and a real judge."""

import shutil
import sys
from math import exp
from pathlib import Path

import pytest

from goryu.games.shogi.pieces import danger
from goryu.implementation import Board
from goryu_lab.commands.move_test import main
from goryu_lab.match.single_moves import JudgedPosition, report
from goryu_lab.records.json_lines import read_lines
from paths import ROOT

pytest.importorskip("rsshogi")

SCRIPTED = f"{sys.executable} {ROOT / 'tests' / 'helpers' / 'engines' / 'scripted.py'}"
GAMES = "startpos moves 7g7f 3c3d 2g2f 8c8d\nstartpos moves 7g7f 3c3d 6g6f\n"
FAIRY = shutil.which("fairy-stockfish") or "/usr/games/fairy-stockfish"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "games.usi").write_text(GAMES, encoding="utf-8")
    return tmp_path


def run(folder: Path, engines: list[str], judge: str, *words: str) -> int:
    """Tests the four different positions of the games, in which a move was played."""
    variants = [word for engine in engines for word in ("--engine", engine)]
    return main(
        [str(folder / "games.usi"), *variants, "--judge", judge, "--nodes", "1", "--from-ply", "0",
         "--out", str(folder / "out"), *words]
    )  # fmt: skip


def test_only_different_moves_are_judged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The judge would die if it were asked."""
    same = [f"{SCRIPTED} push", f"{SCRIPTED} 1g1f"]
    assert run(folder, same, f"{SCRIPTED} crash") == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  all "))
    assert row.split() == ["all", "4", "0", "0", "0", "+0.00", "±", "0.00"]


def test_a_test_goes_on_and_sums_up(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Black's pawn push is legal, and White has 300 then; the other answers lose at once."""
    engines, judge = [f"{SCRIPTED} resign", f"{SCRIPTED} 1g1f"], f"{SCRIPTED} push 300"
    assert run(folder, engines, judge, "--positions", "1") == 0
    kept = (folder / "out" / "moves.jsonl").read_text(encoding="utf-8")
    assert len(kept.splitlines()) == 2
    with (folder / "out" / "moves.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"position": "half a li')
    assert run(folder, engines, judge) == 0
    assert (folder / "out" / "moves.jsonl").read_text(encoding="utf-8").startswith(kept)
    pushed = 1 / (1 + exp(300 / 600))
    rates = sorted((one.ply, one.rates) for one in judged(folder))
    assert rates == [(0, (0.0, pushed)), (1, (0.0, 0.0)), (2, (0.0, pushed)), (3, (0.0, 0.0))]
    capsys.readouterr()
    assert run(folder, engines, judge, "--nodes", "2") == 2
    assert "another move test (different: variants)" in capsys.readouterr().err
    with (folder / "out" / "moves.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"position": "whole"}\n')
    assert run(folder, engines, judge) == 2
    assert "expected judged positions" in capsys.readouterr().err


def test_the_danger_is_that_of_the_king_and_the_squares_beside_it() -> None:
    assert danger(Board().pieces, 0) == 0
    assert danger(Board("4k4/4G4/9/9/9/9/9/9/4K4 w - 1").pieces, 1) == 5


def test_the_report_has_phases_dangers_and_errors() -> None:
    tested = [
        JudgedPosition("a", 30, 0, ("1g1f", "2g2f"), (0.5, 0.7)),
        JudgedPosition("b", 90, 5, ("1g1f", "1g1f"), (0.0, 0.0)),
        JudgedPosition("c", 90, 1, ("1g1f", "2g2f"), (0.5, 0.4)),
    ]
    rows = {" ".join(line.split()[:-7]): line.split()[-7:] for line in report(["x", "y"], tested)[2:]}
    assert rows["all"] == ["3", "2", "1", "1", "+3.33", "±", "17.29"]
    assert rows["ply 80 to 119"] == ["2", "1", "0", "1", "-5.00", "±", "9.80"]
    assert rows["danger 0 to 1"][:4] == ["2", "2", "1", "1"]


@pytest.mark.parametrize(
    "words, error",
    [
        (["--variant", "Style"], "expected NAME=VALUE"),
        (["--judge-limits", "nodes=0"], "the judge (nodes=0) may do nothing"),
        ([], "expected a --variant"),
    ],
)
def test_a_test_that_compares_nothing_is_refused(
    folder: Path, words: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = run(folder, [f"{SCRIPTED} push"], f"{SCRIPTED} push 0", *words)
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status == 2
    assert error in capsys.readouterr().err
    assert not (folder / "out").exists()


@pytest.mark.skipif(not Path(FAIRY).exists(), reason="Fairy-Stockfish is not installed")
def test_a_real_judge_counts_a_lost_bishop(folder: Path) -> None:
    (folder / "games.usi").write_text("startpos moves 7g7f 3c3d 1g1f", encoding="utf-8")
    words = ["--judge-option", "UCI_Variant=shogi", "--judge-limits", "nodes=3000", "--from-ply", "2"]
    assert run(folder, [f"{SCRIPTED} 1g1f", f"{SCRIPTED} 8h3c+"], FAIRY, *words) == 0
    (position,) = judged(folder)
    assert position.rates[1] < 0.2 < 0.3 < position.rates[0] < 0.7


def judged(folder: Path) -> list[JudgedPosition]:
    """Returns the positions of a test, after its first line."""
    return [
        JudgedPosition.from_json(values) for values in list(read_lines(folder / "out" / "moves.jsonl"))[1:]
    ]
