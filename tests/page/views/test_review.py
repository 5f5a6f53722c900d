"""The Review view in a real browser, and the page that `goryu review --html` writes."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, Literal

import pytest

from goryu.analysis.description import Describer
from goryu.analysis.review import GameReview
from goryu.analysis.reviewer import Reviewer
from goryu.analysis.standalone_page import html_report
from goryu.base.language import speaking
from goryu.kifu.reading import parse_record
from goryu.kifu.record import Ending
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.set_up import loading
from goryu.players.set_up.loading import LoadedEvaluator, LostError, load_evaluator
from goryu.search.evaluator import Evaluator
from goryu_page.dojo.dojo import Dojo, JudgePlayouts
from goryu_page.session.session import Job, Session, text_of
from goryu_page.views.review import ReviewView
from sample_games import ROOK_HANGS, ROOK_HANGS_KIF

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def analyses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the database of analyses: the tests search a position once."""
    return tmp_path_factory.mktemp("analyses")


@pytest.fixture(autouse=True)
def folders(analyses: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests touch neither the user's database nor the user's engines."""
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "APPDATA", "HOME"):
        monkeypatch.setenv(name, str(analyses))


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "game.kif"
    path.write_bytes(ROOK_HANGS_KIF.encode("cp932"))
    return path


def opened(open_page: Callable[..., Any], record: Path, **options: Any) -> Any:
    """The page with the record, reviewed at few playouts."""
    page = open_page("#review", storage={"goryu.review.playouts": "100"}, **options)
    page.set_default_timeout(120_000)
    page.locator(".opener").wait_for()
    page.set_input_files(".opener input[type=file]", str(record))
    page.locator(".review-progress progress[value='1']").wait_for(state="attached")
    return page


def test_a_record_is_reviewed_and_another_move_is_tried_and_played_on(
    open_page: Any, record: Path, server: Any, on_board: Any
) -> None:
    page = opened(open_page, record)
    expect(page.locator(".mistake")).to_have_count(1, timeout=60_000)
    expect(page.locator(".mistake .name")).to_have_text("▲R-8d")
    expect(page.locator(".graph svg")).to_be_visible()
    expect(page.locator(".game-move")).to_have_count(13)
    expect(page.locator(".side-name").last).to_contain_text("先手太郎")
    expect(page.get_by_text("飛車をただで取られる。")).to_be_visible()
    expect(page.locator(".accuracy-table tbody tr").first).to_contain_text("%")

    page.click(".mistake")
    expect(page.locator(".judgement h2")).to_contain_text("blunder")
    expect(page.locator(".arrows .arrow").first).to_be_attached()
    page.locator(".judgement .line-move").first.click()  # The better move, on the board.
    expect(page.locator(".branch")).to_contain_text("11")
    page.keyboard.press("Home")
    expect(page.locator(".game-move[aria-current]")).to_contain_text("Start")

    on_board(page, ".review .shogi").move("7g7f")  # Any move is analysed at once.
    expect(page.locator(".branch .line-move")).to_have_text(["P-7f"])
    page.locator(".candidates .name button").first.hover()
    page.mouse.down()
    page.wait_for_timeout(700)  # The analysis goes on, and must not take the button away.
    page.mouse.up()
    expect(page.locator(".branch .line-move").nth(1)).to_be_visible()
    page.locator(".branch .line-move").first.hover()
    page.mouse.down()
    page.keyboard.press("Home")  # In another position the button is gone at once.
    page.mouse.up()
    expect(page.locator(".branch .line-move")).to_have_count(0)

    page.reload()
    expect(page.locator(".mistake")).to_have_count(1, timeout=60_000)
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".game-move[aria-current]")).to_contain_text("11")
    page.locator(".variation .line-move").click()
    expect(page.locator(".branch .line-move")).to_have_text(["R-2h"])
    page.get_by_role("button", name="Play on from here").click()
    expect(page.locator(".given")).to_contain_text("11 moves")
    expect(page.locator('input[name="side"][value="second"]')).to_be_checked()
    expect(page.locator(".play sg-pieces piece")).to_have_count(39)
    page.locator('input[name="side"][value="both"]').check(force=True)
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".moves li")).to_have_count(11)
    (session,) = server.server.sessions.values()
    state = session.views["play"]._state()
    assert [move["name"] for move in state["moves"]][-2:] == ["P*2c", "2d2h"]
    assert state["turn"] == 1


@pytest.mark.slow
def test_a_review_goes_on_and_ends_while_the_connection_is_lost_and_comes_back(
    open_page: Any, server: Any
) -> None:
    page = open_page("#review", storage={"goryu.review.playouts": "3000"})
    page.locator(".opener textarea").fill(
        "startpos moves 2g2f 8c8d 2f2e 8d8e 7g7f 4a3b 8h7g 3c3d 7i6h 2b7g+ 6h7g 3a2b"
    )
    page.get_by_role("button", name="Open the text").click()
    done = "Every position has at least 3,000 playouts."
    expect(page.locator(".review-progress")).to_contain_text(re.compile(f"[2-9] of 13|{done}"))
    server.drop_connections()
    expect(page.locator(".review-progress")).to_contain_text(done, timeout=120_000)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    page.problems[:] = [one for one in page.problems if "WebSocket" not in one]


@pytest.mark.slow
def test_the_moves_of_white_are_guessed_and_nothing_gives_them_away(
    open_page: Any, record: Path, on_board: Any, server: Any
) -> None:
    server.dojo.playouts = JudgePlayouts(move=60)
    page = opened(open_page, record)
    page.keyboard.press("Home")
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Guess the moves").click()
    panel = page.locator(".guess")
    panel.locator("input[value='1']").check(force=True)
    panel.get_by_role("button", name="Begin").click()
    expect(panel.locator("h2")).to_contain_text("Move 10")
    hidden = (".candidates", ".win-rates", ".mistakes-panel", ".judgement", ".accuracies")
    for keys in ("ArrowRight", "End", "ArrowDown"):  # Nothing goes on before the answer.
        page.keyboard.press(keys)
        expect(page.locator(".game-move:visible")).to_have_count(10)  # The start and nine moves.
        assert not any(page.locator(name).is_visible() for name in hidden)
    expect(page.locator(".arrows .arrow")).to_have_count(0)

    board = on_board(page, ".review .shogi")
    board.move("8b8d", "gote")  # A rook for a pawn.
    expect(panel.locator(".verdict")).to_contain_text("Loses")
    expect(page.locator(".arrows .arrow")).to_have_count(2)
    panel.locator(".line-move").first.click()
    expect(page.locator(".branch .line-move[aria-current]")).to_have_text("Rx8d")
    page.get_by_role("button", name="Back to the game").click()
    page.keyboard.press("ArrowRight")
    expect(panel.locator("h2")).to_contain_text("Move 12")
    board.move("8b8d", "gote")
    expect(panel.locator(".verdict")).to_have_text("Right!")
    page.keyboard.press("Enter")
    expect(panel.locator(".verdict")).to_have_text("3 of 6 points (50 %)")
    expect(panel.locator(".guesses li")).to_have_count(2)
    panel.get_by_role("button", name="Close").click()
    expect(page.locator(".game-move:visible")).to_have_count(13)
    expect(page.locator(".mistakes-panel")).to_be_visible()


def test_my_mistakes_are_asked_for_at_an_address_and_the_board_stays_in_sight(
    open_page: Any, on_board: Any, server: Any
) -> None:
    server.dojo.playouts = JudgePlayouts(move=60)
    server.dojo.games.add_file(ROOK_HANGS_KIF, "game.kif")
    server.dojo.games.set_me(["先手太郎"])
    page = open_page("#review/1", storage={"goryu.review.playouts": "100"})
    page.set_default_timeout(120_000)
    panel = page.locator(".guess")
    expect(panel.locator("h2")).to_contain_text("11. R-8d: blunder", timeout=120_000)
    expect(page.locator(".game-move:visible")).to_have_count(11)  # The start and ten moves.
    on_board(page, ".review .shogi").move("2d2h")
    expect(panel.locator(".verdict")).to_be_visible(timeout=60_000)
    expect(panel).to_contain_text("Rx8d")  # What refutes the mistake.
    page.keyboard.press("Enter")
    expect(panel).to_contain_text("Result")
    panel.get_by_role("button", name="Close").click()

    board = page.locator(".review .square-board")
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.keyboard.press("Home")
        mistake = page.locator(".mistake").last
        mistake.scroll_into_view_if_needed()
        mistake.click()
        box = board.bounding_box()
        assert 0 <= box["y"] <= box["y"] + box["height"] <= height
    page.wait_for_url("**/#review/1/11")
    expect(page.get_by_role("button", name="Mistake ›")).to_be_disabled()
    page.reload()
    expect(page.locator(".game-move[aria-current]")).to_contain_text("R-8d")
    page.goto(page.url.partition("#")[0] + "#explorer/7g7f")
    page.locator(".explorer .line-moves .line-move").get_by_text("P-7f").wait_for()
    page.go_back()
    expect(page.locator(".game-move[aria-current]")).to_contain_text("R-8d")


COME_BACK = """() => {
  const { onState } = goryu.take("js/socket.js");
  window.isBack = new Promise((done) => onState((isConnected) => isConnected && done()));
}"""


def test_the_place_stays_after_a_lost_connection_and_the_analysis_after_a_look_elsewhere(
    open_page: Any, on_board: Any, server: Any
) -> None:
    server.dojo.games.add_file(ROOK_HANGS_KIF, "game.kif")
    page = open_page("#review/1/4", storage={"goryu.review.playouts": "100"})
    board, branch = on_board(page, ".review .shogi"), page.locator(".branch .line-move")
    board.move("9g9f")
    expect(branch).to_have_text(["P-9f"])
    page.evaluate(COME_BACK)
    server.drop_connections()
    page.evaluate("() => window.isBack.then(() => goryu.take('js/socket.js').request('review.state'))")
    expect(branch).to_have_text(["P-9f"])

    server.call(server.server.sessions.clear)
    server.drop_connections()
    expect(branch).to_have_count(0)  # The game was opened again.
    page.wait_for_url("**/#review/1/4")
    board.move("1g1f")
    expect(branch).to_have_text(["P-1f"])

    page.get_by_role("button", name="Keep analysing").click()
    page.locator("#tabs a[href='#explorer']").click()
    page.locator(".explorer .line-moves").first.wait_for()
    (session,) = server.server.sessions.values()
    for _ in range(600):
        page.wait_for_timeout(50)
        if not session.is_running("review.live"):
            break
    page.locator("#tabs a[href='#review']").click()
    for _ in range(200):
        page.wait_for_timeout(50)
        if is_running := session.is_running("review.live"):
            break
    assert is_running
    page.problems[:] = [one for one in page.problems if "WebSocket" not in one]


def test_a_kept_game_has_its_ending_also_where_kif_has_no_word_for_it(open_page: Any, server: Any) -> None:
    game = replace(parse_record(ROOK_HANGS_KIF), ending=Ending.PERPETUAL_CHECK, winner=1)
    server.dojo.games.add(game)
    page = open_page("#review/1/0", storage={"goryu.review.playouts": "100"})
    expect(page.locator(".review")).to_contain_text("perpetual check")


def test_back_and_forward_lead_through_the_games(open_page: Any, server: Any) -> None:
    server.dojo.games.add_file(ROOK_HANGS_KIF, "game.kif")
    page = open_page("#review/1/4", storage={"goryu.review.playouts": "100"})
    moves = page.locator(".review .game-move")
    expect(moves).to_have_count(13)
    page.wait_for_url("**/#review/1/4")
    page.get_by_role("button", name="Another game").click()
    page.wait_for_url("**/#review")
    page.get_by_label("Paste a record").fill("position startpos moves 7g7f 3c3d")
    page.get_by_role("button", name="Open the text").click()
    page.wait_for_url("**/#review/r*/*")
    pasted = page.url
    for step in (page.go_back, page.go_forward, page.reload, page.go_back):
        step()
        expect(moves).to_have_count(13 if step == page.go_back else 3)
        page.wait_for_url("**/#review/1/4" if step == page.go_back else pasted)


def test_the_end_of_an_old_review_leaves_the_new_one_running(
    open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    prove, may_end = ReviewView._prove, Event()

    def prove_late(self: ReviewView, job: Job, describer: Describer) -> None:
        if len(describer.review.moves) == 1:
            may_end.wait(60)
        prove(self, job, describer)

    monkeypatch.setattr(ReviewView, "_prove", prove_late)
    page = open_page("#review", storage={"goryu.review.playouts": "100000"})
    page.locator(".opener").wait_for()
    for moves in ("7g7f", "7g7f 3c3d 2g2f"):
        page.evaluate(PASTE, f"startpos moves {moves}")
        expect(page.locator(".game-move")).to_have_count(len(moves.split()) + 1)
        expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.evaluate(POSITIONS)
    may_end.set()
    page.evaluate("() => window.hasPosition")  # The new review has begun to search.
    expect(page.get_by_role("button", name="Stop")).to_be_visible()


PASTE = """(text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  document.dispatchEvent(new ClipboardEvent("paste", { clipboardData }));
}"""

POSITIONS = """() => {
  window.hasPosition = new Promise((done) => goryu.take("js/socket.js").on("review.position", () => done()));
}"""


def test_a_broken_record_says_which_line_is_wrong_and_a_file_which_game_it_shows(open_page: Any) -> None:
    page = open_page("#review")
    page.locator(".opener textarea").fill(ROOK_HANGS_KIF.replace("   3 ２五歩(26)", "   3 ２五歩(27)"))
    page.get_by_role("button", name="Open the text").click()
    expect(page.locator(".toast.error")).to_contain_text(":9")
    page.problems.clear()  # The page logs the error that it shows.
    page.locator(".opener textarea").fill(
        "startpos moves 7g7g\nstartpos moves 2g2f\nstartpos moves 7g7f 3c3d"
    )
    page.get_by_role("button", name="Open the text").click()
    expect(page.locator(".toast").last).to_have_text("the file has several games; this is number 2")
    expect(page.locator(".game-move")).to_have_count(2)  # The start and a move.


def test_the_written_page_shows_the_review_without_a_server(open_page: Any, tmp_path: Path) -> None:
    game = parse_record(ROOK_HANGS_KIF, "game.kif")
    review = GameReview(game.start, game.moves, 20)
    config = EngineConfig(EvaluatorConfig("hashed"))
    Reviewer(load_evaluator(config.evaluator, print), config).review(review)
    path = tmp_path / "review.html"
    path.write_text(html_report("<game> & co", Describer(game, review)), encoding="utf-8")
    page = open_page(url=path.as_uri())
    expect(page.locator("sg-pieces piece")).to_have_count(40)
    expect(page.locator(".report-title")).to_have_text("<game> & co")
    expect(page.locator(".game-move")).to_have_count(13)
    page.keyboard.press("End")
    expect(page.locator(".game-move[aria-current]")).to_contain_text("12")
    expect(page.locator(".sg-hand-wrap piece").first).to_be_attached()
    page.locator(".graph svg").click(position={"x": 1, "y": 20})  # The graph's left end is the start.
    expect(page.locator(".game-move[aria-current]")).to_contain_text("Start")


# What the view offers on the board and beside the graph.


def opened_moves(open_page: Any, **options: Any) -> Any:
    page = open_page("#review", storage={"goryu.review.playouts": "100"}, **options)
    page.set_default_timeout(120_000)
    page.locator(".opener textarea").fill(f"startpos moves {' '.join(ROOK_HANGS)}")
    page.locator(".opener .row button").last.click()
    page.locator(".review-progress progress[value='1']").wait_for(state="attached")
    expect(page.locator(".mistake")).to_have_count(1, timeout=60_000)
    return page


def draw(page: Any, board: Any, first: str, last: str, button: str = "right") -> None:
    """Draws with a button of the mouse; shogiground looks at the mouse once a frame."""
    page.mouse.move(*board.point(first))
    page.mouse.down(button=button)
    page.mouse.move(*board.point(last), steps=3)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.mouse.up(button=button)


@pytest.mark.slow
def test_the_user_draws_arrows_and_circles(open_page: Any, on_board: Any) -> None:
    page = opened_moves(open_page)
    board = on_board(page, ".review .shogi")
    own, drawn = page.locator(".review .arrows .arrow"), page.locator(".review .drawn .arrow")
    page.keyboard.press("Home")
    expect(own).not_to_have_count(0)
    count = own.count()
    draw(page, board, "7g", "7f")
    expect(drawn.locator("path")).to_have_count(1)
    page.keyboard.down("Shift")
    draw(page, board, "5e", "5e")
    page.keyboard.up("Shift")
    expect(drawn).to_have_count(2)
    colors = drawn.locator("path, ellipse").evaluate_all(
        "all => all.map((one) => one.getAttribute('stroke') + one.parentNode.getAttribute('fill'))"
    )
    assert len(set(colors)) == 2
    expect(own).to_have_count(count)
    draw(page, board, "5e", "5e")  # The same in another colour replaces it.
    expect(drawn).to_have_count(2)
    board.click("5e")
    expect(drawn).to_have_count(0)
    draw(page, board, "2g", "2f")
    expect(drawn).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(drawn).to_have_count(0)
    page.locator(".review .pen").dispatch_event("click")  # It is shown on touch screens.
    draw(page, board, "2g", "2f", button="left")
    expect(drawn.locator("path")).to_have_count(1)


@pytest.mark.slow
def test_mistakes_are_marked_and_searched_deeper_and_threats_are_shown(open_page: Any) -> None:
    page = opened_moves(open_page)
    for width, height in ((390, 844), (1440, 900), (1280, 800)):  # The graph needs no scrolling.
        page.set_viewport_size({"width": width, "height": height})
        expect(page.locator(".graph svg")).to_be_visible()
        page.wait_for_function(
            """([width, height]) => scrollY === 0 && document.documentElement.scrollWidth <= width
            && document.querySelector(".review .graph").getBoundingClientRect().bottom <= height""",
            arg=[width, height],
        )
    marks = page.locator(".game-move .badge[data-kind='blunder']")
    expect(marks).to_have_text(["??"])
    expect(page.locator(".losses .of-blunder")).to_have_count(1)
    counts = "[...document.querySelectorAll('.losses .count')].map((one) => Number(one.textContent))"
    page.wait_for_function(f"all => {counts}.reduce((sum, one) => sum + one) === all", arg=len(ROOK_HANGS))
    page.get_by_text("Settings, saving").click()
    page.get_by_role("button", name="Search the mistakes deeper").click()
    done = page.locator(".review-progress")
    expect(done).to_contain_text("searched with 1,000 playouts: 1", timeout=120_000)
    expect(marks).to_have_text(["??"])
    page.click(".mistake")
    expect(page.locator(".candidates h2")).to_contain_text("1,")  # Playouts of the position after it.

    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")  # After R-8d: Black would take the rook.
    page.keyboard.press("x")
    expect(page.locator(".threat-line b")).to_contain_text("Rx8b")
    expect(page.locator(".arrows .arrow.threat").first).to_be_attached()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".threat-line")).to_be_hidden()
    expect(page.locator(".arrows .arrow.threat")).to_have_count(0)
    page.get_by_role("button", name="Another game").click()
    page.locator(".opener textarea").fill("startpos moves 7g7f 3c3d 8h3c+")
    page.get_by_role("button", name="Open the text").click()
    expect(page.locator(".game-move")).to_have_count(4)
    page.keyboard.press("End")
    page.keyboard.press("x")
    expect(page.locator(".toast.error")).to_contain_text("cannot pass")
    expect(page.locator(".threat-button")).to_have_attribute("aria-pressed", "false")
    page.problems.clear()  # The page logs the error that it shows.


@pytest.mark.parametrize(
    ("language", "problem"),
    [
        ("en", "the network has failed, and the next search loads it again: the GPU has gone"),
        ("ja", "ネットワークが使えなくなりました。次の探索で読み込み直します：the GPU has gone"),
    ],
)
def test_the_page_says_that_the_network_was_lost(
    language: Literal["en", "ja"],
    problem: str,
    in_loop: Any,
    monkeypatch: pytest.MonkeyPatch,
    failing: Callable[..., Evaluator],
) -> None:
    def load(config: EvaluatorConfig, report: Callable[[str], None]) -> LoadedEvaluator:
        return replace(load_evaluator(config, report), evaluator=failing(0, "the GPU has gone"))

    monkeypatch.setattr(loading, "load_evaluator", load)

    async def run() -> None:
        dojo = Dojo(None, EngineConfig(EvaluatorConfig("uniform")))
        dojo._warn("analyses are not kept")
        session = Session({"review": ReviewView}, dojo)
        session.outbox.open()
        asks = session.views["review"].handlers()
        with speaking(language):
            await asks["review.open"]({"name": "game.kif", "text": ROOK_HANGS_KIF})
            assert "analyses are not kept" in (await session.outbox.next())[0]  # The tab came later.
            for kind, message in (("live", {"moves": []}), ("guess", {"index": 0, "move": "2g2f"})):
                with pytest.raises(LostError) as raised:
                    await asks[f"review.{kind}"](message)
                assert text_of(raised.value) == problem
        session.close()

    in_loop(run())
