"""The tables of the texts: what is read from lessons, the session, and the file of the table."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("rich")

from goryu.__main__ import main
from goryu.base.errors import InputError
from goryu.learning.tutorials import text_tables
from goryu.learning.tutorials.report import Measurement, TutorialReport


def write_lesson(folder: Path, points: float, margin: float) -> Path:
    folder.mkdir()
    detail = f"8 wins, 0 draws, 2 losses, mean margin {margin:+.1f}"
    measurements = [Measurement("points", name, points, 0.1, None, detail) for name in text_tables.LESSON]
    TutorialReport({}, measurements=measurements).write(folder / "report.json")
    return folder


def test_the_error_of_lessons_is_that_of_the_trainings(tmp_path: Path) -> None:
    folders = [write_lesson(tmp_path / "1", 0.6, 10.0), write_lesson(tmp_path / "2", 0.8, 20.0)]
    found = list(text_tables.trainings(folders))
    assert [(one.theirs, one.detail) for one in found] == [
        (0.81, "2 trainings"), (17.2, "2 trainings"), (0.75, "2 trainings"), (20.8, "2 trainings")
    ]  # fmt: skip
    assert [found[0].value, found[0].error] == pytest.approx([0.7, 0.1])
    assert [found[1].value, found[1].error] == pytest.approx([15.0, 5.0])
    assert list(text_tables.trainings([])) == []


def test_a_folder_without_a_finished_lesson_is_named(tmp_path: Path) -> None:
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    (unfinished / "report.json").write_text(json.dumps({"measurements": []}), encoding="utf-8")
    for folder in (unfinished, tmp_path / "nowhere"):
        with pytest.raises(InputError, match=f"{folder}: expected a finished lesson"):
            list(text_tables.trainings([folder]))


def test_the_session_with_mcts_player_has_the_numbers_of_the_article() -> None:
    found = text_tables.session(100.0)
    assert set(text_tables.SESSIONS[100.0]) <= set(found)
    assert 0.03 < found["7g7f"] < 0.04, "a high temperature makes the 30 moves alike"
    assert 150 <= found["visits"] <= 300


def test_the_tables_are_printed_and_written_in_both_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def two(games: int, lessons: Sequence[Path], _rng: Random) -> Iterator[Measurement]:
        yield Measurement(
            "points", "uct:100 moving first - random", 0.5, 0.05, 0.46, f"{games} wins, 0 losses"
        )
        yield from text_tables.trainings(lessons)

    monkeypatch.setattr(text_tables, "SECTIONS", {"Reversi: enakai00's notebook": two})
    lesson = write_lesson(tmp_path / "1", 0.6, 10.0)
    path = tmp_path / "tables.md"
    assert main(["learn", "tables", "--games", "7", "--lessons", str(lesson), "--markdown", str(path)]) == 0
    assert "0.46" in capsys.readouterr().out
    english = path.read_text(encoding="utf-8")
    assert english.startswith("## Reversi: enakai00's notebook\n")
    assert "| uct:100 moving first - random | 0.46 | 0.500 ± 0.050 | 7 wins, 0 losses |" in english
    japanese = (tmp_path / "tables.ja.md").read_text(encoding="utf-8")
    assert "| uct:100 （先手） - random | 0.46 | 0.500 ± 0.050 | 7 勝, 0 敗 |" in japanese
