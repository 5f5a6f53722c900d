"""The files of ShogiHome; the sample has the fields of its specification's."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import shogi

from goryu.base.errors import InputError
from goryu_page.dojo.database import Database
from goryu_page.dojo.next_move_file import read_next_moves, write_next_moves
from goryu_page.dojo.problems import Problems
from goryu_page.dojo.settings import TrainingSettings

SFEN = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"


def sample() -> dict[str, Any]:
    return {
        "format": "shogihome-next-move",
        "version": 1,
        "metadata": {"title": "2026年6月 対局分", "criteria": {"coefficientInSigmoid": 600}, "new": {}},
        "problems": [
            {
                "sfen": SFEN,
                "candidates": [
                    {"usi": "7g7f", "score": 850, "depth": 24, "pv": ["7g7f", "3c3d", "2g2f"]},
                    {"usi": "2g2f", "mate": -5, "accepted": False},
                    {"usi": "9g9f", "accepted": True},
                ],
                "actualMove": {"usi": "9g9f", "score": 120, "scoreSource": "research"},
                "source": {
                    "path": "/kifu/1.kif",
                    "ply": 67,
                    "blackPlayer": "先手太郎",
                    "whitePlayer": "後手次郎",
                },
            }
        ],
    }


def test_problems_are_read_and_written(tmp_path: Path) -> None:
    read = read_next_moves(json.dumps(sample()).encode(), "june.json")
    assert (read.title, read.faults) == ("2026年6月 対局分", ())
    problems = Problems(Database(tmp_path / "dojo.sqlite3"))
    assert problems.add(read.problems) == 1
    assert problems.add(read.problems) == 0
    (problem,) = problems.sound()
    answers = problem.content["answers"]
    assert [answer["accepted"] for answer in answers] == [True, False, True]
    assert [answer["win_rate"] for answer in answers] == [0.8048, 0.0, None]
    assert answers[0]["line"] == ["7g7f", "3c3d", "2g2f"]

    text = write_next_moves([problem], "again", "Goryu", TrainingSettings(), datetime.now(UTC))
    written = json.loads(text)
    assert not text.startswith("\ufeff")
    (again,) = written["problems"]
    assert again["sfen"] == SFEN
    assert again["source"] == {"ply": 67, "blackPlayer": "先手太郎", "whitePlayer": "後手次郎"}
    assert [one.get("score") for one in again["candidates"]] == [850, -30000, None]
    assert again["actualMove"] == {"usi": "9g9f", "scoreSource": "research"}
    assert read_next_moves(text, "again.json").problems[0].content["answers"] == answers


def test_scores_are_for_black_and_the_number_of_the_move_is_one(tmp_path: Path) -> None:
    """python-shogi says what the position is."""
    problems = Problems(Database(tmp_path / "dojo.sqlite3"))
    problems.add(read_next_moves(json.dumps(sample()), "june.json").problems)
    moves = ("7g7f",)
    (problem,) = problems.sound()
    answers = [
        {"move": "3c3d", "win_rate": 0.8, "accepted": True, "line": ["3c3d", "2g2f"]},
        {"move": "9c9d", "win_rate": 0.5, "accepted": False, "line": ["9c9d"]},
    ]
    white = replace(problem, start=SFEN, moves=moves, played="9c9d", content={"answers": answers})
    (written,) = json.loads(write_next_moves([white], "", "", TrainingSettings(), datetime.now(UTC)))[
        "problems"
    ]
    board = shogi.Board()
    board.push_usi("7g7f")
    assert written["sfen"].split()[:3] == board.sfen().split()[:3]
    assert written["sfen"].endswith(" 1")
    assert [one["score"] for one in written["candidates"]] == [-832, 0]


def test_a_file_of_something_else_is_refused() -> None:
    for text in (
        "{",
        "[]",
        '{"format": "x"}',
        '{"format": "shogihome-next-move", "version": 2, "problems": []}',
    ):
        with pytest.raises(InputError):
            read_next_moves(text, "x.json")


@pytest.mark.parametrize(
    ("field", "value"),
    [("sfen", "no position"), ("candidates", []), ("candidates", [{"usi": "1a1i"}]), ("actualMove", {})],
)
def test_a_faulty_problem_is_named_and_the_others_are_read(field: str, value: object) -> None:
    content = sample()
    content["problems"].insert(0, content["problems"][0] | {field: value})
    read = read_next_moves(json.dumps(content), "june.json")
    assert len(read.problems) == 1
    assert len(read.faults) == 1
    assert "june.json" in read.faults[0]
    assert "1" in read.faults[0]
