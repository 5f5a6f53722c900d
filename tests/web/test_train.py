"""The view Train in a real browser: a day of problems from a reviewed game, and the day after."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from goryu.analysis.judgement import MoveClass
from goryu.analysis.move_judge import MoveJudge
from goryu.analysis.review import GameReview, PlyReview
from goryu.dojo.problems import ProblemKind, Problems, ProblemState
from goryu.dojo.reviews import Reviews
from goryu.dojo.settings import change_training_settings
from goryu.dojo.tsume.problem import Tsume
from goryu.kifu.reading import parse_record
from goryu.web.train import TrainView

expect = pytest.importorskip("playwright.sync_api").expect

RECORD = """\
開始日時：2026/11/22
先手：先手太郎
後手：後手花子
   1 ２六歩(27)
   2 ８四歩(83)
   3 ２五歩(26)
   4 ８五歩(84)
   5 ７八金(69)
   6 ３二金(41)
   7 ２四歩(25)
   8 同　歩(23)
   9 同　飛(28)
  10 ２三歩打
  11 ８四飛(24)
  12 同　飛(82)
  13 ９六歩(97)
  14 ８六歩(85)
  15 投了
"""
"""On move 11 black puts its rook where a rook takes it; on move 13 it lets white's rook come in."""

DAY = datetime(2026, 11, 26, 3, 0, tzinfo=UTC)


def ply_review(ply: int, move: str, loss: float, best: str, refutation: tuple[str, ...]) -> PlyReview:
    return PlyReview(
        ply, (ply - 1) % 2, move, 0.6, 0.6 - loss, loss, MoveClass.BLUNDER, best, (best,), refutation,
        0.1, 10, 3, None, None, True,
    )  # fmt: skip


class StoredReview(GameReview):
    """A review that needs no search: two mistakes of black."""

    def plies(self) -> Any:
        yield ply_review(11, "2d8d", 0.5, "2d2h", ("8b8d",))
        yield ply_review(13, "9g9f", 0.4, "8g8f", ("8e8f",))


def answers(*moves: tuple[str, float]) -> dict[str, Any]:
    best = moves[0][1]
    return {
        "answers": [
            {"move": move, "win_rate": rate, "line": [move], "accepted": best - rate < 0.05}
            for move, rate in moves
        ]
    }


@pytest.fixture
def prepared(server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A reviewed game with two sound problems, a list of two, and a clock that stands still."""
    dojo = server.dojo
    change_training_settings(dojo.database, {"is_checking": False, "kinds": ["mistake"], "amount": 2})
    record = parse_record(RECORD)
    game = dojo.games.add(record, "game.kif")
    dojo.games.set_me(["先手太郎"])
    Reviews(dojo.database).keep(game, StoredReview(record.start, record.moves, 100), "test")
    problems = Problems(dojo.database)
    assert problems.collect() == 2
    for content in (answers(("8g8f", 0.6), ("9g9f", 0.2)), answers(("2d2h", 0.6), ("2d8d", 0.1))):
        candidate = next(
            problem
            for row in dojo.database.rows("SELECT id FROM problems")
            if (problem := problems.get(row["id"])).state is ProblemState.CANDIDATE
            and problem.played == content["answers"][-1]["move"]
        )
        assert candidate.kind is ProblemKind.MISTAKE
        problems.decide(candidate.id, ProblemState.SOUND, 100, candidate.content | content)
    server.now = DAY
    monkeypatch.setattr(TrainView, "now", lambda view: server.now)

    def judge(self: MoveJudge, start: str, moves: Any, move: str, *_: Any) -> PlyReview:
        # 2d2f is as good as the rook's retreat that the list has; everything else gives a rook away.
        loss = 0.03 if move == "2d2f" else 0.45
        return ply_review(len(moves) + 1, move, loss, "2d2h", () if loss < 0.1 or not moves else ("8e8f",))

    monkeypatch.setattr(MoveJudge, "judge", judge)
    monkeypatch.setattr(MoveJudge, "prepare", lambda *_: None)
    tsume = Tsume("4k4/9/4P4/9/9/9/9/9/9 b G 1", 1, ("G*5b",), ("G*5b",), False, 0)
    monkeypatch.setattr("goryu.dojo.problems.starter_set", lambda: (tsume,))
    return server


def play(page: Any, source: tuple[int, int], target: tuple[int, int]) -> None:
    box = page.locator(".train sg-squares").bounding_box()
    for file, rank in (source, target):
        x = box["x"] + (9 - file + 0.5) * box["width"] / 9
        page.mouse.click(x, box["y"] + (rank - 0.5) * box["height"] / 9)


def test_a_mate_is_played_to_the_end_and_problems_of_shogihome_come_in_and_go_out(
    prepared: Any, open_page: Any, tmp_path: Path
) -> None:
    sfen = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
    problem = {"sfen": sfen, "candidates": [{"usi": "7g7f"}], "actualMove": {"usi": "9g9f"}}
    content = {"format": "shogihome-next-move", "version": 1, "problems": [problem, {"sfen": "x"}]}
    path = tmp_path / "june.json"
    path.write_text(json.dumps(content), encoding="utf-8")

    page = open_page("#train")
    page.locator(".lengths button").click()
    page.locator(".train .hand-bottom piece.gold").click()
    play(page, (5, 2), (5, 2))
    expect(page.locator(".train-result h2")).to_have_text("Mate in 1. Right!")

    page.locator("summary", has_text="Files").click()
    page.set_input_files(".train input[type=file]", path)
    expect(page.locator("#toasts .error")).to_contain_text("june.json, problem 2")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    written = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert {one["actualMove"]["usi"] for one in written["problems"]} == {"9g9f", "2d8d"}
    assert len(written["problems"]) == 3

    page.get_by_role("button", name="Imported").click()
    play(page, (7, 7), (7, 6))
    expect(page.locator(".train-result h2")).to_contain_text("P-7f is an answer of the file")
