"""Games in a real browser, played by clicks."""

import re
from dataclasses import replace
from typing import Any

import pytest
import shogi.CSA
import shogi.KIF

from goryu_page.views.play import PlayView

expect = pytest.importorskip("playwright.sync_api").expect

MATE = ["7g7f", "3c3d", "8h2b+", "3a2b", "B*5b", "6c6d", "5b4a+", "5a6b", "G*6c"]
"""A game that ends in checkmate, with drops, captures and promotions."""


def start(page: Any, game: str = "shogi", side: str = "first", **values: str) -> None:
    """Fills in the form for a new game. values: labels of fields -> labels of choices."""
    page.locator("label", has=page.locator(f'input[name="game"][value="{game}"]')).click()
    page.locator(f'input[name="side"][value="{side}"]').check(force=True)
    for label, value in values.items():
        page.get_by_label(label.capitalize(), exact=True).select_option(label=value)
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".side-parts")).to_be_visible()


def moves_shown(page: Any) -> list[str]:
    return [text.strip() for text in page.locator(".moves li button span:last-child").all_inner_texts()]


def the_game(server: Any) -> Any:
    (session,) = server.server.sessions.values()
    view = session.views["play"]
    assert isinstance(view, PlayView)
    return view._game


def click_until_the_game_is_over(page: Any, server: Any) -> None:
    """Plays the first legal square, turn by turn."""
    while not (game := the_game(server)).over:
        count = len(game.played)
        page.locator(".grid button.legal").first.click()
        page.wait_for_function(
            "count => document.querySelectorAll('.moves li').length > count && "
            "(document.querySelector('.status.over') || document.querySelector('.grid button.legal'))",
            arg=count,
        )


def choose_level(page: Any, level: int) -> None:
    page.locator(".level input").fill(str(level))


@pytest.mark.slow
def test_two_people_play_a_game_of_shogi_to_checkmate(page: Any, server: Any, on_board: Any) -> None:
    start(page, side="both")
    board = on_board(page)
    board.select("7g")
    expect(page.locator("sq.dest")).to_have_count(1)
    for ply, move in enumerate(MATE):
        board.move(move, ("sente", "gote")[ply % 2])
        expect(page.locator(".moves li")).to_have_count(ply + 1)
        if ply == 0:
            expect(page.locator("sq.last-dest")).to_have_count(2)
        elif ply == 3:
            expect(board.hand_piece("B", "sente")).to_be_visible()
            expect(board.hand_piece("B", "gote")).to_be_visible()
            expect(board.hand_piece("R", "gote")).to_be_hidden()
        elif ply == 6:
            expect(page.locator("sq.check")).to_have_count(1)
    assert [one["name"] for one in the_game(server).shown] == MATE
    expect(page.locator(".status")).to_have_text("Black wins")
    expect(page.locator(".status + p")).to_have_text("by checkmate")

    for name, parser in (("KIF", shogi.KIF.Parser), ("CSA", shogi.CSA.Parser)):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save {name}").click()
        text = download.value.path().read_text(encoding="utf-8")
        (record,) = parser.parse_str(text)
        assert record["moves"] == MATE
        assert download.value.suggested_filename.endswith(name.lower())

    page.locator(".moves button").first.click()  # An earlier position.
    expect(page.locator(".moves button").first).to_have_attribute("aria-current", "true")
    expect(page.locator("sg-pieces piece")).to_have_count(40)
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(page.locator("sg-pieces piece")).to_have_count(39)

    for width, height in ((844, 390), (667, 375)):  # A phone in landscape.
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("() => scrollTo(500, 500)")
        assert page.evaluate("() => [scrollX, scrollY]") == [0, 0]
        for name in (".frame", ".hand-top", ".hand-bottom", ".player >> nth=0", ".player >> nth=1"):
            box = page.locator(name).bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= height


def test_moves_are_dragged_typed_and_written_in_several_notations_and_a_reload_keeps_them(
    open_page: Any, server: Any, on_board: Any
) -> None:
    page = open_page()
    start(page, side="both")
    page.locator(".square-board").focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowDown", "Enter", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".moves li")).to_have_count(1)
    for ply, text in enumerate(("3c3d", "Bx2b+", "同銀"), start=1):
        page.get_by_label("Write a move").fill(text)
        page.get_by_role("button", name="Play", exact=True).click()
        expect(page.locator(".moves li")).to_have_count(ply + 1)
    board = on_board(page)
    board.select("2g")
    board.drag("2g2f")
    expect(page.locator(".moves li")).to_have_count(5)
    assert moves_shown(page) == ["P-7f", "P-3d", "Bx2b+", "Sx2b", "P-2f"]
    page.get_by_label("Notation").select_option("ja")
    assert moves_shown(page)[:3] == ["▲７六歩", "△３四歩", "▲２二角成"]
    page.get_by_label("Notation").select_option("name")

    other = open_page()  # The two tabs do not disturb each other.
    start(other, side="both")
    on_board(other).move("2g2f")
    expect(other.locator(".moves li")).to_have_count(1)
    assert len(server.server.sessions) == 2

    page.bring_to_front()
    rook = page.locator("sg-pieces piece.rook").first
    letter = "rook => getComputedStyle(rook, '::after').content"
    assert rook.evaluate(letter) == "none"
    page.get_by_role("button", name="Letters").click()
    assert rook.evaluate(letter) == '"R"'
    page.reload()
    expect(page.locator(".moves li")).to_have_count(5)
    assert rook.evaluate(letter) == '"R"'
    on_board(page).move("8c8d", "gote")
    expect(page.locator(".moves li")).to_have_count(6)
    assert moves_shown(page) == ["7g7f", "3c3d", "8h2b+", "3a2b", "2g2f", "8c8d"]
    expect(other.locator(".moves li")).to_have_count(1)


def test_a_position_is_set_up_and_played_from(page: Any, server: Any, on_board: Any) -> None:
    page.get_by_text("More", exact=True).click()
    page.get_by_role("button", name="Set up a position").click()
    editor = page.locator("dialog.editor")
    editor.get_by_role("button", name="Kings only").click()
    board = on_board(page, ".editor .shogi")
    rook = editor.get_by_role("button", name="Black rook 2")
    rook.click()
    board.click("4d")
    expect(editor.get_by_role("button", name="Black rook 1")).to_be_visible()
    editor.get_by_role("button", name="Black rook 1").click()
    board.click("5b")
    expect(editor.get_by_role("button", name="Black rook 0")).to_be_disabled()
    board.click("4d")
    board.click("4d")  # The second click turns it over.
    expect(board.root.locator("sg-pieces piece.sente.dragon")).to_have_count(1)
    board.click("5b")
    board.root.locator(".hand-top").click()
    expect(board.hand_piece("R", "gote")).to_be_visible()
    board.root.locator(".square-board").focus()
    for key in ("p", "ArrowLeft", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(editor.get_by_label("SFEN")).to_have_value("4k4/9/9/5+R3/4P4/9/9/9/4K4 b r 1")
    for key in ("p", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    editor.get_by_role("button", name="Play from it").click()
    expect(editor.get_by_role("alert")).to_contain_text("pawns")
    page.keyboard.press("Escape")


def test_a_game_begins_from_a_legal_start_position_and_ends_by_declaration_or_on_time(
    page: Any, server: Any
) -> None:
    page.get_by_text("More", exact=True).click()
    page.get_by_role("button", name="Set up a position").click()
    editor = page.locator("dialog.editor")
    editor.get_by_label("SFEN").fill("9/9/9 b - 1")
    page.keyboard.press("Tab")
    expect(editor.get_by_role("alert")).to_contain_text("SFEN")
    page.problems.clear()  # The page writes what it shows to the console too.
    # The click ends the writing: both ask the server at once.
    editor.get_by_label("SFEN").fill("K7+R/+R+B+B6/GGGGSSSS1/9/9/9/9/9/4k4 b 4N4L18P 1")
    editor.get_by_role("button", name="Play from it").click()
    page.get_by_text("Both", exact=True).click()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Declare").click()
    expect(page.locator(".status")).to_have_text("Black wins")
    expect(page.locator(".status + p")).to_have_text("by entering king")
    assert the_game(server).over.winner == 0

    page.get_by_role("button", name="New game").click()
    page.get_by_label("Clock", exact=True).select_option(label="Your own …")
    page.get_by_label("Minutes").fill("0")
    page.get_by_label("Seconds a move").fill("1")
    start(page, side="both")
    expect(page.locator(".status")).to_have_text("White wins")
    expect(page.locator(".status + p")).to_have_text("on time")


@pytest.mark.usefixtures("quick_replies")
def test_two_engines_play_each_other_and_wait_when_they_are_told(page: Any, server: Any) -> None:
    page.locator('input[name="game"][value="tictactoe"]').check(force=True)
    page.get_by_text("Watch", exact=True).click()
    for side in ("×", "○"):
        page.get_by_label(f"Engine for {side}").select_option("alpha-beta")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".status")).to_have_text("Draw")
    assert page.locator(".player .name").all_inner_texts() == 2 * ["Alpha-beta: perfect play"]

    page.get_by_role("button", name="New game").click()
    page.locator('input[name="game"][value="shogi"]').check(force=True)
    page.locator('input[name="side"][value="first"]').check(force=True)
    page.get_by_label("Your strength").select_option("1d")
    choose_level(page, 4)
    expect(page.get_by_text("A match for you")).to_be_visible()
    page.locator('input[name="side"][value="none"]').check(force=True)
    expect(page.get_by_text("A match for you")).to_be_hidden()
    page.get_by_label("Engine for White").select_option("2")
    server.dojo.timing = replace(server.dojo.timing, least_reply_s=0.5)  # Their game is not over too soon.
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator(".dots:visible")).to_have_count(0)
    count = len(the_game(server).played)
    page.get_by_role("button", name="Go on", exact=True).click()
    expect(page.locator(".moves li").nth(count + 1)).to_be_visible()
    assert the_game(server).names == ("Goryu Raccoon", "Goryu Squirrel")


@pytest.mark.usefixtures("quick_replies")
def test_the_small_games_are_played_to_the_end_and_fit_a_phone(
    page: Any, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    perfect = "Alpha-beta: perfect play"
    for game, board, ending in (
        ("tictactoe", {}, "You lose|Draw"),
        ("reversi", {"Board": "4 × 4"}, "You lose"),
    ):
        page.set_viewport_size({"width": 1280, "height": 800})
        start(page, game, **board, Opponent=perfect)
        click_until_the_game_is_over(page, server)
        expect(page.locator(".status")).to_have_text(re.compile(ending))

        page.set_viewport_size({"width": 844, "height": 390})
        page.evaluate("() => scrollTo(500, 500)")
        assert page.evaluate("() => [scrollX, scrollY]") == [0, 0]
        first, last = (page.locator(".grid button").nth(at).bounding_box() for at in (0, -1))
        assert last["y"] + last["height"] <= 390
        assert first["width"] == pytest.approx(first["height"], abs=1)
        page.get_by_role("button", name="New game").click()
    assert page.locator(".grid button").count() == 16
    assert the_game(server).over.winner == 1  # The second player wins 4x4 with the best moves.

    def reply(*_: Any) -> None:
        raise ZeroDivisionError("no such luck")

    monkeypatch.setattr("goryu_page.views.opponents.Opponents.reply", reply)
    start(page, "tictactoe", "second")
    expect(page.locator(".toast.error")).to_contain_text("report it: ZeroDivisionError: no such luck")


@pytest.mark.usefixtures("quick_replies")
def test_the_engine_moves_takes_back_hints_and_gives_a_handicap(
    page: Any, server: Any, on_board: Any
) -> None:
    choose_level(page, 1)
    start(page, side="second")
    expect(page.locator(".moves li")).to_have_count(1)
    assert on_board(page).is_turned
    page.get_by_role("button", name="New game").click()

    start(page)
    page.get_by_role("button", name="Hint").click()
    expect(page.locator(".hints li")).not_to_have_count(0)
    expect(page.locator("svg.arrows .arrow")).not_to_have_count(0)
    on_board(page).move("7g7f")
    expect(page.locator(".moves li")).to_have_count(2)
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(".moves li")).to_have_count(0)
    on_board(page).move("2g2f")
    expect(page.locator(".moves li")).to_have_count(2)
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("svg.arrows .arrow")).not_to_have_count(0)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("svg.arrows .arrow")).to_have_count(0)  # They belong to the current position.
    page.keyboard.press("ArrowRight")
    expect(page.locator("svg.arrows .arrow")).not_to_have_count(0)
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Resign").click()
    page.locator("dialog").get_by_role("button", name="Resign").click()
    expect(page.locator(".status + p")).to_have_text("by resignation · Move 1 of 2")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".status + p")).to_have_text("by resignation")
    expect(page.locator("svg.arrows .arrow")).to_have_count(0)
    page.locator(".side-parts").get_by_role("button", name="New game").click()

    start(page, Handicap="6-piece")
    expect(page.locator(".moves li")).to_have_count(1)
    assert the_game(server).first_position.startswith("2sgkgs2/9/")


@pytest.mark.slow
def test_a_game_that_was_played_can_be_reviewed(page: Any, on_board: Any) -> None:
    start(page, side="both")
    on_board(page).move("7g7f")
    expect(page.locator(".moves li")).to_have_count(1)
    page.get_by_role("button", name="Review").click()
    expect(page.locator(".view.review")).to_be_visible()
    expect(page.locator(".view.review")).to_contain_text("P-7f")
