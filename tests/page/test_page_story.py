"""The way of a user through the dojo in a browser: from a folder of games to the next day, and a phone."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from goryu.analysis.description import board_after
from goryu.games.shogi import START_SFEN, move_to_usi
from goryu.kifu.record import Ending, GameRecord, Ply
from goryu.kifu.writing import to_csa, to_kif
from goryu_page.dojo.dojo import JudgePlayouts
from goryu_page.dojo.move_judge import loses
from goryu_page.dojo.problems import Problem, ProblemKind
from goryu_page.dojo.timing import Timing
from goryu_page.lan.lan import Lan
from paths import ROOT
from sample_games import ROOK_HANGS
from web_client import ADDRESS, can_listen

expect = pytest.importorskip("playwright.sync_api").expect

ME = "私"
HER = "花子"
DAY = datetime(2026, 11, 26, 3, 0, tzinfo=UTC)
PLAYOUTS = 100

BLUNDERS = {
    0: "9:3c2d-2e2d 11:3c2d-2e2d 13:3c2d-2e2d 15:3c2d-2e2d 17:3c2d-2e2d 19:3c2d-2e2d 21:3c2d-2e2d",
    1: "15:3c2d-2e2d 17:3c2d-2e2d 19:3c1e-1f1e 21:3c1e-1f1e",
    2: "8:8h3c-2a3c",
    6: "8:8h3c-2a3c",
    7: "10:8h3c-2a3c 12:2h2e-2d2e",
    8: "11:3c1e-1f1e 13:3c1e-1f1e 15:3c1e-1f1e 17:3c1e-1f1e",
    9: "11:3c2d-2e2d 13:3c1e-1f1e 15:3c1e-1f1e",
    10: "8:7g3c-2a3c 18:2h2e-2d2e",
}
"""By the line of a file of games: after so many of its moves, a bishop or a rook is given away and taken."""

RETREAT = "2d2h"
"""The rook back at home, and not where a rook takes it."""


def write_games(folder: Path) -> int:
    """Writes 30 games, as KIF in CP932 and as CSA in turn; returns in how many of them I play."""
    text = (ROOT / "docs" / "pictures" / "games.usi").read_text(encoding="utf-8")
    lines = [line.partition(" moves ")[2].split() for line in text.splitlines()]
    games = list[tuple[str, list[str]]]()
    for line, mistakes in BLUNDERS.items():
        for mistake in mistakes.split():
            plies, _, last = mistake.partition(":")
            games.append((ME, [*lines[line][: int(plies)], *last.split("-")]))
    mine = len(games)
    games += [("丙", lines[line][:14]) for line in (3, 4, 5, 10, 11)]
    games.append(("丙", lines[2][:16]))
    folder.mkdir(parents=True)
    for number, (name, moves) in enumerate(games):
        loser = len(moves) % 2  # The side to move, who has given a piece away, resigns.
        names = (name, f"相手{number}") if loser == 0 else (f"相手{number}", name)
        date = f"2025/{1 + number % 10:02}/{1 + number % 28:02}"
        record = GameRecord(
            plies=tuple(map(Ply, moves)), names=names, ending=Ending.RESIGNATION, winner=1 - loser,
            headers={"開始日時": date},
        )  # fmt: skip
        data = to_csa(record).encode() if number % 3 == 2 else to_kif(record).encode("cp932")
        (folder / f"game{number}.{'csa' if number % 3 == 2 else 'kif'}").write_bytes(data)
    assert len(games) == 30
    return mine


@pytest.fixture
def server(tmp_path: Path, running_server: Any, own_files: None) -> Iterator[Any]:
    """A server with `--lan`, a clock that stands still, and background work that rests for a moment only."""
    if not can_listen():
        pytest.skip(f"this system has no {ADDRESS}")
    timing = Timing(now=lambda: running.now, rest_s=0.05, look_s=0.05, least_reply_s=0.0)
    playouts = JudgePlayouts(move=PLAYOUTS, answer=PLAYOUTS)
    running = running_server(
        tmp_path / "dojo.sqlite3", lan=Lan(ADDRESS), timing=timing, playouts=playouts
    ).start()
    running.now = DAY
    yield running
    running.stop()


class Story:
    """The page, and what the steps of the story share."""

    def __init__(self, page: Any, server: Any, on_board: Any, folder: Path) -> None:
        self.page, self.server, self._on_board, self._folder = page, server, on_board, folder
        self._shots = 0

    def go(self, address: str) -> None:
        self.page.goto(self.page.url.partition("#")[0] + address)

    def photograph(self, name: str, page: Any = None) -> None:
        """Takes a picture in both languages, for people who look at it."""
        page = page or self.page
        self._shots += 1
        for _ in range(2):
            language = page.evaluate("document.documentElement.lang")
            page.screenshot(path=self._folder / f"{self._shots:02}-{name}.{language}.png")
            page.click("#language")

    def shown(self) -> Problem:
        """Returns the problem on the board."""
        (shown,) = (one.views["train"]._shown for one in self.server.server.sessions.values())
        problem: Problem = shown.problem
        return problem

    def answer(self, problem: Problem, move: str) -> None:
        """Plays a move on the board of a problem."""
        board = board_after(problem.start, problem.moves)
        legal = set(map(move_to_usi, board.all_legal_moves()))
        has_choice = {move.rstrip("+"), move.rstrip("+") + "+"} <= legal
        self._on_board(self.page, ".train .shogi").move(move, ("sente", "gote")[board.turn], has_choice)

    def as_good(self, problem: Problem) -> str:
        """Returns a right move that the check has not listed."""
        board = board_after(problem.start, problem.moves)
        listed = {one["move"] for one in problem.content["answers"]}
        for move in map(move_to_usi, board.all_legal_moves()):
            if move not in listed:
                review = self.server.dojo.judge.judge(problem.start, problem.moves, move, PLAYOUTS)
                if not loses(review, 0.2, PLAYOUTS):
                    return move
        raise AssertionError("only the listed moves are right")


@pytest.mark.slow
def test_a_folder_of_games_becomes_problems_that_are_solved_and_come_back(
    open_page: Any, server: Any, on_board: Any, tmp_path: Path, drop: Any
) -> None:
    page = open_page("#train")
    story = Story(page, server, on_board, tmp_path)
    settings_of_the_checks(page)
    games_are_dropped_and_reviewed(story, tmp_path / "games", drop)
    wrong, right = a_day_of_ten_problems(story)
    the_next_day(story, wrong, right)
    two_orders_of_moves_meet(story)
    a_blunder_is_taken_back(story, on_board)
    a_lost_game_becomes_a_problem(story, on_board)
    a_phone_pairs_and_plays(story, open_page, on_board)


def settings_of_the_checks(page: Any) -> None:
    page.get_by_text("Settings", exact=True).click()
    for kind in ("Unpunished mistakes", "Mates allowed", "Only moves", "Tsume (mates)"):
        box = page.locator("fieldset").get_by_label(kind)
        box.uncheck()
        expect(box).not_to_be_checked()
    for label, value in (
        ("Playouts of a check", str(PLAYOUTS)),
        ("A move is wrong if it loses so many percent", "25"),
        ("At most so many right answers", "10"),
    ):
        page.get_by_label(label).fill(value)
        page.keyboard.press("Tab")
        expect(page.get_by_label(label)).to_have_value(value)


def games_are_dropped_and_reviewed(story: Story, folder: Path, drop: Any) -> None:
    page = story.page
    mine = write_games(folder)
    story.go("#games")
    page.get_by_label("Playouts for each position").select_option(str(PLAYOUTS))
    expect(page.locator(".games .notice:visible")).to_contain_text("No games yet")  # The list comes here.
    drop(page, folder)
    expect(page.locator(".game-list tbody tr")).to_have_count(30, timeout=120_000)
    page.get_by_label(f"{ME} ({mine})").check()
    expect(page.locator(".games .side")).to_contain_text("All games are reviewed", timeout=300_000)
    expect(page.locator("td.of-accuracy .pair")).to_have_count(30)
    page.get_by_label("I played").select_option("black")
    expect(page.locator(".game-list tbody tr")).to_have_count(6)
    page.get_by_role("button", name="Clear the filters").click()
    story.photograph("games")
    story.go("#games/progress")
    expect(page.locator(".game-progress .dot")).to_have_count(10)
    story.photograph("progress")


def a_day_of_ten_problems(story: Story) -> tuple[int, set[int]]:
    """Solves the list of the day; returns the problem that was wrong at first, and the others."""
    page, dojo = story.page, story.server.dojo
    story.go("#train")
    expect(page.locator(".train .day .primary")).to_be_visible(timeout=300_000)  # Of the new state.
    expect(page.locator(".train .day")).not_to_contain_text("waiting", timeout=300_000)
    page.get_by_role("button", name="Begin").click()
    right, wrong = set[int](), 0
    result = page.locator(".train-result")
    for number in range(10):
        expect(page.locator(".day")).to_contain_text(f"{number} of 10 done")
        expect(page.locator(".task")).to_contain_text(ME)
        problem = story.shown()
        assert problem.kind is ProblemKind.MISTAKE
        best = problem.content["answers"][0]["move"]
        if number == 2:
            wrong = problem.id
            story.answer(problem, problem.played)
            expect(result.locator("h2")).to_contain_text("wrong")
            expect(page.locator(".train .arrows .arrow")).to_have_count(1)
            result.locator(".line-move").first.click()
            expect(result.locator(".line-move").first).to_have_attribute("aria-current", "true")
            story.photograph("wrong")
            page.get_by_role("button", name="Try again").click()
            page.get_by_role("button", name="Hint").click()
            expect(page.locator(".note-line")).to_contain_text("This piece moves")
        else:
            right.add(problem.id)
        story.answer(problem, story.as_good(problem) if number == 4 else best)
        expect(result.locator("h2")).to_contain_text("right")
        expect(result).to_contain_text("You played")
        if number == 4:
            story.photograph("as-good")
        page.get_by_role("button", name="Next").click()
        if number < 9:
            expect(result).to_be_hidden()  # The next problem is there.
    expect(page.locator(".day")).to_contain_text("Done for today.")
    expect(page.locator(".day")).to_contain_text("9 of 10")
    story.photograph("done")
    assert len(right) == 9
    assert dojo.schedule.day(DAY).is_over
    return wrong, right


def the_next_day(story: Story, wrong: int, right: set[int]) -> None:
    """The problem that was wrong comes first, and those that were right do not come."""
    page, server = story.page, story.server
    server.now = DAY + timedelta(days=1)
    page.reload()
    page.get_by_role("button", name="Begin").click()
    expect(page.locator(".day")).to_contain_text("0 of 10 done")  # Also before the problem is there.
    expect(page.locator(".task")).to_contain_text(ME)
    assert story.shown().id == wrong
    listed = server.dojo.schedule.day(server.now).problems
    assert (len(listed), listed.count(wrong), right & {*listed}) == (10, 1, set())
    page.get_by_role("button", name="Solution").click()
    expect(page.locator(".train-result")).to_contain_text("which was wrong")
    page.get_by_role("button", name="Open the game").click()
    current = page.locator(".review .game-move[aria-current]")
    expect(current).to_contain_text(str(len(story.shown().moves) + 1))
    story.photograph("review")


def two_orders_of_moves_meet(story: Story) -> None:
    """14 games begin with P-7f, P-3d, P-2f, and 3 with P-2f, P-3d, P-7f; their moves become a repertoire."""
    page, dojo = story.page, story.server.dojo
    story.go("#explorer")
    explored = page.locator(".explored")
    for name in ("P-7f", "P-3d", "P-2f"):
        if name == "P-2f":
            expect(explored).to_contain_text("17 games meet here")
            story.photograph("explorer")
        explored.locator(".line-move").get_by_text(name, exact=True).click()
    page.get_by_role("heading", name="Games with this position: 17").wait_for()
    page.get_by_role("button", name="P-5d Learn this move").click()
    page.get_by_role("button", name="P-5d A move of your repertoire").wait_for()
    page.get_by_role("button", name="Learn the last move").click()
    page.get_by_role("button", name="Take the last move out of my repertoire").wait_for()
    learnt = [one for one in dojo.problems.sound() if one.kind is ProblemKind.OPENING]
    answers = [(one.moves, one.content["answers"][0]["move"]) for one in learnt]
    assert answers == [(("7g7f", "3c3d"), "2g2f"), (("7g7f", "3c3d", "2g2f"), "5c5d")]
    page.locator(".explored-games button").first.click()
    page.locator(".review .game-move[aria-current]").get_by_text("P-2f").wait_for()


def a_blunder_is_taken_back(story: Story, on_board: Any) -> None:
    page = story.page
    story.go("#play")
    page.locator(".level input").fill("1")
    page.get_by_label("Teaching game").check()
    page.get_by_text("More", exact=True).click()
    page.get_by_role("button", name="Set up a position").click()
    page.get_by_label("SFEN").fill(board_after(START_SFEN, ROOK_HANGS[:10]).sfen())
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Play from it").click()
    page.get_by_role("button", name="Start", exact=True).click()
    on_page = on_board(page, ".play .shogi")
    on_page.move(ROOK_HANGS[10])
    panel = page.locator(".lesson")
    expect(panel.locator("h2")).to_contain_text("R-8d")
    expect(page.locator(".play .arrows .arrow")).to_have_count(1)
    page.reload()
    expect(panel.locator(".line-move").first).to_have_text("Rx8d")
    story.photograph("lesson")
    panel.get_by_role("button", name="Show the better move").click()
    expect(panel.locator(".line")).to_have_count(2)
    panel.locator(".line-move").last.click()
    expect(page.locator(".play .arrows .arrow")).to_have_count(0)
    panel.get_by_role("button", name="Take it back").click()
    expect(page.locator(".moves li")).to_have_count(0)
    on_page.move(RETREAT)
    expect(page.locator(".moves li")).to_have_count(2)
    resign(page)
    expect(panel.locator("li")).to_have_count(1)
    expect(panel.locator("li")).to_contain_text("taken back")


def resign(page: Any) -> None:
    page.get_by_role("button", name="Resign").click()
    page.locator("dialog").get_by_role("button", name="Resign").click()


def a_lost_game_becomes_a_problem(story: Story, on_board: Any) -> None:
    """She hangs her rook, sees it in the review, finds the better move there and the next day in Train."""
    page, server = story.page, story.server
    game = her_game_is_lost(story, on_board)
    bubble = page.locator(".play .result")
    bubble.get_by_role("button", name="Review").click()
    expect(page.locator(".review-actions h2")).to_contain_text(HER)
    assert f"#review/{game}" in page.url
    question = page.locator(".guess")
    expect(question.locator("h2")).to_contain_text("R-8d")
    on_board(page, ".review .shogi").move(RETREAT)
    expect(question.locator(".verdict")).to_be_visible()
    story.photograph("her-mistake")
    question.get_by_role("button", name="Next").click()
    expect(question).to_contain_text("Result")
    story.go("#play")
    bubble.get_by_role("button", name="Another game").click()
    expect(bubble).to_be_hidden()
    expect(page.locator(".play .moves li")).to_have_count(0)
    story.go("#games")
    expect(page.locator(".games .side")).to_contain_text("All games are reviewed")
    story.go("#train")
    page.reload()
    following = page.get_by_role("button", name="Next")
    expect(following).to_be_visible()  # Of the new state.
    expect(page.locator(".train .day")).not_to_contain_text("waiting")
    following.click()
    expect(page.locator(".task")).to_contain_text(HER)
    problem = story.shown()
    assert (problem.game, problem.played) == (game, ROOK_HANGS[10])
    story.answer(problem, problem.played)
    expect(page.locator(".train-result h2")).to_contain_text("wrong")
    page.get_by_role("button", name="Try again").click()
    story.answer(problem, problem.content["answers"][0]["move"])
    expect(page.locator(".train-result h2")).to_contain_text("right")
    story.photograph("her-problem")
    server.now += timedelta(days=1)
    assert problem.id in server.dojo.schedule.day(server.now).problems


def her_game_is_lost(story: Story, on_board: Any) -> int:
    """Plays a game against an opponent whose moves are given; returns its number in My games."""
    page, dojo = story.page, story.server.dojo
    page.get_by_role("button", name="New game").click()
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Your name").fill(HER)
    page.get_by_label("Teaching game").uncheck()
    page.evaluate(f"localStorage.setItem('goryu.review.playouts', {PLAYOUTS})")
    (view,) = (one.views["play"] for one in story.server.server.sessions.values())
    view._opponents.reply = lambda *_: view._game.move_named(ROOK_HANGS[len(view._game.played)])
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".side-parts")).to_be_visible()  # The server has the new game.
    on_page = on_board(page, ".play .shogi")
    for count, move in enumerate(ROOK_HANGS[::2], 1):
        on_page.move(move)
        expect(page.locator(".play .moves li")).to_have_count(2 * count)
    resign(page)
    expect(page.locator(".play .result")).to_contain_text("You lose")
    story.photograph("lost")
    (lost,) = dojo.database.rows("SELECT * FROM games WHERE black = ?", HER)
    assert (lost["winner"], lost["white"]) == (1, "Goryu Chick")
    assert HER in dojo.games.me()
    return int(lost["id"])


def a_phone_pairs_and_plays(story: Story, open_page: Any, on_board: Any) -> None:
    computer, lan = story.page, story.server.server.lan
    computer.get_by_role("button", name="Devices").click()
    expect(computer.locator("#devices .qr")).to_be_visible()
    expect(computer.locator("#devices .warning")).not_to_be_empty()

    phone = open_page(lan.link.removeprefix(lan.url), url=lan.url, width=390, height=844)
    expect(phone.locator("#warning")).not_to_be_empty()
    assert phone.url == lan.url + "pair"  # The code is gone from the address.
    phone.get_by_label("Name of this device").fill("<b>My phone</b>")
    phone.get_by_role("button", name="Pair").click()
    phone.wait_for_url(lan.url)
    assert phone.evaluate("document.cookie") == ""
    expect(phone.locator("#devices-button")).to_be_hidden()
    phone.locator('input[name="side"][value="both"]').check(force=True)
    phone.get_by_role("button", name="Start").click()
    on_board(phone, ".play .shogi").move("7g7f")
    expect(phone.locator(".play .moves li")).to_have_count(1)
    story.photograph("phone", phone)

    computer.bring_to_front()
    expect(computer.locator("#devices li")).to_contain_text("<b>My phone</b>")
    expect(computer.locator("#devices .qr")).to_have_count(0)  # The code was used.
    computer.get_by_role("button", name="Revoke").click()
    phone.wait_for_url(lan.url + "pair")
    expect(phone.locator("#problem")).not_to_be_empty()
    expect(computer.locator("#devices li")).to_have_count(0)
