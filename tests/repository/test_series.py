"""tools/series.py: a series of games stops anywhere and goes on elsewhere."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from goryu_lab.benchmark.signature import bench_signature
from paths import ROOT

pytest.importorskip("rsshogi")

SCRIPTED = ROOT / "tests" / "helpers" / "engines" / "scripted.py"
OPENINGS = ("startpos moves 7g7f", "startpos moves 2g2f", "startpos moves 5g5f")


@pytest.fixture
def series(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools"), *sys.path])
    return importlib.import_module("series")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one series: an engine that resigns against one that moves."""
    (tmp_path / "openings.txt").write_text("\n".join(OPENINGS), encoding="utf-8")
    engines = [
        f"--engine{side} '{sys.executable} {SCRIPTED} {what}'" for side, what in ((1, "resign"), (2, "push"))
    ]
    words = [*engines, "--nodes 1", "--sprt 0 30", f"--openings {tmp_path / 'openings.txt'}"]
    (tmp_path / "who.toml").write_text(
        f'question = "Who wins?"\nmatch = """{" ".join(words)}"""\n'
        f'signature = "{bench_signature().digest}"\ndecide_by = 2027-01-31\n',
        encoding="utf-8",
    )
    return tmp_path


def play(series: ModuleType, folder: Path, *words: str) -> int:
    arguments = ["--folder", str(folder), "--out", str(folder / "games"), *words]
    status: int = series.main(arguments)
    return status


def pairs(folder: Path) -> list[list[str]]:
    return [line.split()[:3] for line in (folder / "who.pairs").read_text(encoding="utf-8").splitlines()]


def test_a_series_goes_on_after_its_last_pair(series: ModuleType, folder: Path) -> None:
    """Here as on another computer, which has the file of the pairs but not the games."""
    (folder / "who.pairs").write_text("0 1 1/2 f45a4dcf\n", encoding="utf-8")
    assert play(series, folder, "--minutes", "1") == 0
    assert pairs(folder) == [["0", "1", "1/2"], ["1", "0", "0"], ["2", "0", "0"]]
    assert play(series, folder, "--minutes", "1") == 2, "no opening is left"


def test_a_decided_series_is_not_played_on(
    series: ModuleType, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = "".join(f"{number} 0 {'1/2' if number % 2 else '0'} f45a4dcf\n" for number in range(30))
    (folder / "who.pairs").write_text(lost, encoding="utf-8")
    assert play(series, folder) == 0
    assert "decided, 60 games" in capsys.readouterr().out
    assert play(series, folder, "--minutes", "1") == 2
    assert len(pairs(folder)) == 30


def test_games_of_another_search_are_not_added(series: ModuleType, folder: Path) -> None:
    path = folder / "who.toml"
    path.write_text(
        path.read_text(encoding="utf-8").replace(bench_signature().digest, "0" * 16), encoding="utf-8"
    )
    assert play(series, folder, "--minutes", "1") == 2
    assert not (folder / "who.pairs").exists()


@pytest.mark.parametrize("line", ["1 0 0 f45a4dcf", "0 0 2 f45a4dcf", "0 0 0", "\x00"])
def test_a_damaged_line_is_named(
    series: ModuleType, folder: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "who.pairs").write_text(line + "\n", encoding="utf-8")
    assert play(series, folder) == 2
    assert "who.pairs:1: expected '0 POINTS POINTS COMMIT'" in capsys.readouterr().err


def test_the_series_of_the_checkout_can_be_read(series: ModuleType) -> None:
    for path in series.FOLDER.glob("*.toml"):
        assert series.read_series(path).name == path.stem
