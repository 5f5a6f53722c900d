"""The tables of the texts: what is read from lessons, and the file of the table."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goryu.base.errors import InputError
from goryu_lab.lessons.lesson_games import LessonGame, write_games
from goryu_lab.lessons.report import Measurement, TutorialReport
from paths import ROOT

text_tables: Any = pytest.importorskip("text_tables")


def write_lesson(folder: Path, points: float, margin: float) -> Path:
    """Writes a lesson in which the learner won the last of four games."""
    folder.mkdir()
    detail = f"8 wins, 0 draws, 2 losses, mean margin {margin:+.1f}"
    names = [f"without random moves, moving first - {opponent}" for opponent in ("greedy", "random")]
    measurements = [Measurement("points", name, points, 0.1, None, detail) for name in names]
    TutorialReport({**text_tables.AS_PUBLISHED}, measurements=measurements).write(folder / "report.json")
    games = [LessonGame(number, 4, "greedy", 0, 0.1, -1 if number < 4 else 1, ()) for number in range(1, 5)]
    write_games(folder / "games.jsonl", games)
    return folder


def test_the_error_of_several_lessons_is_that_of_their_mean(tmp_path: Path) -> None:
    folders = [write_lesson(tmp_path / "1", 0.6, 10.0), write_lesson(tmp_path / "2", 0.8, 20.0)]
    found = {one.name.partition(": ")[2]: one for one in text_tables.trainings(folders)}
    assert {name: one.theirs for name, one in found.items()} == text_tables.LESSON
    assert found["training games not lost"].value == 0.25
    points, discs = (found[f"{what} against random moves"] for what in ("points", "discs ahead"))
    assert [points.value, points.error, discs.value, discs.error] == pytest.approx([0.7, 0.1, 15.0, 5.0])
    alone = {one.name.partition(": ")[2]: one for one in text_tables.trainings(folders[:1])}
    assert alone["points against random moves"].error == 0.1
    assert alone["training games not lost"].error == pytest.approx(0.25)
    assert list(text_tables.trainings([])) == []


def test_a_folder_without_a_finished_lesson_is_named(tmp_path: Path) -> None:
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    (unfinished / "report.json").write_text(json.dumps({"measurements": []}), encoding="utf-8")
    for folder in (unfinished, tmp_path / "nowhere"):
        with pytest.raises(InputError, match=f"{re.escape(str(folder))}: expected a finished lesson"):
            list(text_tables.trainings([folder]))


def test_a_lesson_with_other_numbers_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = write_lesson(tmp_path / "1", 0.6, 10.0) / "report.json"
    report.write_text(report.read_text(encoding="utf-8").replace('"size": 8', '"size": 6'), encoding="utf-8")
    assert text_tables.main(["--lessons", str(tmp_path / "1")]) == 2
    assert "expected a lesson with --as-published" in capsys.readouterr().err


def test_the_tables_are_printed_and_written_in_both_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def two(games: int, lessons: Sequence[Path], _rng: Random) -> Iterator[Measurement]:
        yield Measurement(
            "points", "uct:100 moving first - random", 0.5, 0.05, 0.46, f"{games} wins, 0 losses"
        )
        yield Measurement("points", "greedy moving first - random", 0.7, 0.05)
        yield from text_tables.trainings(lessons)

    monkeypatch.setattr(text_tables, "SECTIONS", {"Reversi: enakai00's notebook": two})
    lesson = write_lesson(tmp_path / "1", 0.6, 10.0)
    path = tmp_path / "tables.md"
    assert text_tables.main(["--games", "7", "--lessons", str(lesson), "--markdown", str(path)]) == 0
    assert "0.46" in capsys.readouterr().out
    english = path.read_text(encoding="utf-8")
    assert english.startswith("## Reversi: enakai00's notebook\n")
    assert "| uct:100 moving first - random | 0.46 | 0.500 ± 0.050 | 7 wins, 0 losses |" in english
    assert "greedy moving first" not in english, "the text has no number"
    japanese = (tmp_path / "tables.ja.md").read_text(encoding="utf-8")
    assert "| uct:100 （先手） - random | 0.46 | 0.500 ± 0.050 | 7 勝, 0 敗 |" in japanese


@pytest.mark.parametrize(("words", "guide"), [({}, "tables.md"), (text_tables.JAPANESE, "tables.ja.md")])
def test_the_guide_shows_what_the_program_measures(words: dict[str, str], guide: str) -> None:
    text = (ROOT / "docs" / guide).read_text(encoding="utf-8")
    names = [f"trained as published: {name}" for name in text_tables.LESSON]
    shown = [*(f"\n## {title}\n" for title in text_tables.SECTIONS), *names]
    assert [each for each in shown if text_tables.translated(each, words) not in text] == []
