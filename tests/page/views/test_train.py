"""The view "Train" in a real browser and without one; test_page_story.py goes through a day."""

import json
from pathlib import Path
from typing import Any

import pytest

from goryu.analysis.judgement import MoveClass
from goryu.analysis.review import PlyReview
from goryu.base.errors import InputError
from goryu.games.shogi import START_SFEN
from goryu_page.dojo.move_judge import MoveJudge
from goryu_page.dojo.problems import NewProblem, ProblemKind, Problems, ProblemState
from goryu_page.dojo.settings import change_training_settings, training_settings
from goryu_page.session.session import Session
from goryu_page.tsume.problem import Tsume
from goryu_page.views.train import TrainView

expect = pytest.importorskip("playwright.sync_api").expect


IDEA = "2g2f 8c8d 2f2e 8d8e 6i7h 4a3b"


@pytest.fixture
def prepared(server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server with a sound problem of a game and a mate problem, whose judge calls every other move bad."""
    change_training_settings(server.dojo.database, {"is_checking": False})
    answer = {"move": "2g2f", "win_rate": 0.6, "line": IDEA.split(), "accepted": True}
    moves, content = ("7g7f", "3c3d"), {"answers": [answer], "source": {"names": ["甲", "乙"]}}
    mistake = NewProblem(ProblemKind.MISTAKE, START_SFEN, moves, content, "2h5h", state=ProblemState.SOUND)
    assert Problems(server.dojo.database).add([mistake]) == 1

    def judge(self: MoveJudge, start: str, moves: Any, move: str, *_: Any) -> PlyReview:
        return PlyReview(
            len(moves) + 1, len(moves) % 2, move, 0.6, 0.15, 0.45, MoveClass.BLUNDER, "8h2b+", ("8h2b+",), (),
            0.1, 10, 3, None, None, True,
        )  # fmt: skip

    monkeypatch.setattr(MoveJudge, "judge", judge)
    monkeypatch.setattr(MoveJudge, "prepare", lambda *_: None)
    tsume = Tsume("4k4/9/4P4/9/9/9/9/9/9 b G 1", 1, ("G*5b",), ("G*5b",), False, 0)
    monkeypatch.setattr("goryu_page.dojo.problems.starter_set", lambda: (tsume,))
    return server


def test_a_skipped_problem_comes_last_and_an_answer_is_still_shown_after_a_reload(
    prepared: Any, in_loop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    dojo, clock, judge = prepared.dojo, [100.0], MoveJudge.judge
    dojo.problems.add_starter_set()
    monkeypatch.setattr("goryu_page.views.train.monotonic", lambda: clock[0])

    def judge_slowly(*given: Any) -> Any:
        clock[0] += 50.0
        return judge(*given)

    monkeypatch.setattr(MoveJudge, "judge", judge_slowly)

    async def run() -> None:
        session = Session({"train": TrainView}, dojo)
        asks = session.views["train"].handlers()

        async def shown(**content: Any) -> Any:
            return await asks["train.next"]({"mode": "today", **content})

        first = await shown()
        second = await shown(skips=True)
        assert {first["kind"], second["kind"]} == {"mistake", "tsume"}
        for wanted in (first, second, first):  # Both are skipped, so they take turns.
            assert (await shown(skips=True))["id"] == wanted["id"]
        mistake = first if first["kind"] == "mistake" else await shown(skips=True)
        view: Any = session.views["train"]
        view._shown.began_s = 97.0
        dojo.games.set_me(["乙"])
        said = await asks["train.answer"]({"move": "2h5h"})
        assert (said["isRight"], said["played"]["isMine"]) == (False, False)
        assert [one.seconds for one in dojo.schedule.attempts(mistake["id"])] == [3.0]  # Without the judge's.
        again = asks["train.problem"]({})
        assert (again["id"], again["isAnswered"]) == (mistake["id"], True)
        assert again["reply"] == {"move": "2h5h", "answer": said}
        assert asks["train.problem"]({"isAgain": True})["reply"] is None
        dojo.games.set_me(["甲"])
        assert (await asks["train.solution"]({}))["played"]["isMine"]
        dojo.problems.add([NewProblem(ProblemKind.MISTAKE, START_SFEN, (), {}, "7g7f")])
        with pytest.raises(InputError, match="There is no problem"):  # It is no problem before its check.
            await asks["train.open"]({"problem": dojo.problems.next_candidate().id})
        assert (await asks["train.state"]({}))["day"]["done"] == 1
        await asks["train.next"]({"mode": "free", "kind": "tsume"})
        await asks["train.answer"]({"move": "G*5b"})
        assert "told" in asks["train.problem"]({})["reply"]
        assert (await asks["train.state"]({}))["day"]["done"] == 1
        assert (await asks["train.grade"]({"grade": "1k"}))["level"] == 7
        assert (await asks["train.state"]({}))["tsume"] == (3, 7)
        session.close()

    in_loop(run())


def test_the_idea_of_a_right_answer_is_three_moves_long(open_page: Any, prepared: Any, on_board: Any) -> None:
    page = open_page("#train")
    board = on_board(page, ".train .shogi")
    page.get_by_role("button", name="Begin").click()
    board.move("2g2f")
    solutions = page.locator(".train-result .line button")
    expect(solutions).to_have_count(1)  # The rest is to be found.
    page.get_by_role("button", name="Find what follows").click()
    expect(page.locator(".note-line")).to_contain_text("The opponent replies")
    page.get_by_role("button", name="Hint").click()
    expect(page.locator(".note-line")).to_contain_text("This piece moves")
    board.move("9g9f")  # The judge of this test calls every other move bad.
    expect(page.locator(".train-result")).to_contain_text("is wrong")
    page.get_by_role("button", name="Try again").click()
    board.move("2f2e")
    expect(page.locator(".train-result")).to_contain_text("Right, 2 of 3.")
    board.move("6i7h")
    expect(page.locator(".train-result")).to_contain_text("Right, that is the idea.")
    expect(solutions).to_have_count(6)
    page.reload()
    expect(page.get_by_role("heading", name="Answer")).to_be_visible()
    with prepared.dojo.database.transaction() as connection:
        attempts = connection.execute("SELECT move, is_right FROM attempts").fetchall()
    assert [tuple(row) for row in attempts] == [("2g2f", 1)]


def test_after_a_lost_connection_the_problem_on_the_board_is_that_of_the_server(
    open_page: Any, prepared: Any, on_board: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared.dojo.problems.add_starter_set()
    mate, mistake = (one.id for one in prepared.dojo.problems.sound())
    page = open_page(f"#train/{mistake}")
    page.get_by_role("button", name="Skip").click()
    page.wait_for_url(f"**/#train/{mate}")
    prepared.call(prepared.server.sessions.clear)
    prepared.drop_connections()
    for _ in range(600):
        page.wait_for_timeout(50)
        if any(session.views["train"]._shown for session in prepared.server.sessions.values()):
            break
    judge = TrainView._answer

    def judge_and_drop(*given: Any) -> Any:
        said = judge(*given)
        prepared.drop_connections()
        return said

    monkeypatch.setattr(TrainView, "_answer", judge_and_drop)
    on_board(page, ".train .shogi").move("G*5b")
    expect(page.get_by_role("heading", name="Answer")).to_be_visible()
    page.wait_for_url(f"**/#train/{mate}")
    page.problems[:] = [one for one in page.problems if "WebSocket" not in one]


def test_back_and_forward_lead_through_the_problems(open_page: Any, prepared: Any) -> None:
    prepared.dojo.problems.add_starter_set()
    mate, mistake = (one.id for one in prepared.dojo.problems.sound())
    page = open_page(f"#train/{mistake}")
    page.get_by_role("button", name="Skip").click()
    page.wait_for_url(f"**/#train/{mate}")
    task = page.locator(".train .task h2")
    for step in (page.go_back, page.go_forward, page.reload, page.go_back):
        step()
        wanted, text = (mistake, "What is better?") if step == page.go_back else (mate, "Mate in 1.")
        expect(task).to_contain_text(text)
        page.wait_for_url(f"**/#train/{wanted}")
        (session,) = prepared.server.sessions.values()
        assert session.views["train"]._shown.problem.id == wanted


TWO_KINDS_LESS = """async () => {
  const { request } = goryu.take("js/socket.js");
  for (const box of [...document.querySelectorAll(".train fieldset input")].slice(1, 3)) box.click();
  return (await request("train.change", { changes: {} })).settings.kinds;
}"""


def test_a_problem_is_removed_by_a_second_click_and_back_does_not_return_to_it(
    open_page: Any, prepared: Any
) -> None:
    prepared.dojo.problems.add_starter_set()
    page = open_page("#train/2")
    page.goto(page.url.replace("#train/2", "#train/1"))
    page.wait_for_url("**/#train/1")
    page.get_by_role("button", name="Solution").click()
    button = page.get_by_role("button", name="Never ask this again")
    button.click()
    expect(button).to_be_visible()  # After a while it asks no more.
    assert prepared.dojo.problems.get(1).state is ProblemState.SOUND
    button.evaluate("(button) => { button.click(); button.click(); }")
    page.wait_for_url("**/#train/2")
    assert prepared.dojo.problems.get(1).state is ProblemState.REMOVED
    page.go_back()
    page.wait_for_timeout(500)
    assert page.url.endswith("#train/2")
    expect(page.locator(".toast.error")).to_have_count(0)


def test_a_mate_is_played_to_the_end_and_problems_of_shogihome_come_in_and_go_out(
    open_page: Any, prepared: Any, on_board: Any, tmp_path: Path
) -> None:
    sfen = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
    problem = {"sfen": sfen, "candidates": [{"usi": "7g7f"}], "actualMove": {"usi": "9g9f"}}
    content = {"format": "shogihome-next-move", "version": 1, "problems": [problem, {"sfen": "x"}]}
    path = tmp_path / "june.json"
    path.write_text(json.dumps(content), encoding="utf-8")

    page = open_page("#train")
    board = on_board(page, ".train .shogi")
    page.locator(".lengths button").click()
    board.move("G*5b")
    expect(page.locator(".train-result h2")).to_have_text("Mate in 1. Right!")

    page.get_by_role("button", name="Three minutes of tsume").click()
    expect(page.get_by_role("button", name="Skip")).to_be_visible()  # The problem is there.
    for count in range(1, 3):
        board.move("G*5b")
        expect(page.locator(".storm")).to_contain_text(f"{count} solved")
        expect(page.locator(".train .note-line")).to_have_text("Right!")  # The next one is there.
    board.move("G*4b")
    expect(page.locator(".storm")).to_contain_text("2 solved · 1 missed")
    page.locator(".storm").get_by_role("button", name="Stop").click()
    assert prepared.dojo.database.rows("SELECT COUNT(*) FROM attempts")[0][0] == 1  # Of the first one.

    page.locator("summary", has_text="Files").click()
    page.set_input_files(".train input[type=file]", path)
    expect(page.locator("#toasts .error")).to_contain_text("june.json, problem 2")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    written = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert {one["actualMove"]["usi"] for one in written["problems"]} == {"9g9f", "2h5h"}
    assert len(written["problems"]) == 2

    page.get_by_role("button", name="Imported").click()
    board.move("7g7f")
    expect(page.locator(".train-result h2")).to_contain_text("P-7f is an answer of the file")

    kinds = training_settings(prepared.dojo.database).kinds
    assert page.evaluate(TWO_KINDS_LESS) == [*kinds[:1], *kinds[3:]]  # Both, though no reply came between.
