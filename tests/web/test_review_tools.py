"""What the Review view offers on the board and beside the graph, in a real browser."""

from pathlib import Path
from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect

MOVES = "2g2f 8c8d 2f2e 8d8e 6i7h 4a3b 2e2d 2c2d 2h2d P*2c 2d8d 8b8d"
"""On move 11 black puts its rook where a rook takes it."""


@pytest.fixture(scope="module")
def analyses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the database of analyses: the tests search a position once."""
    return tmp_path_factory.mktemp("analyses")


@pytest.fixture(autouse=True)
def folders(analyses: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests touch neither the user's database nor the user's engines."""
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "APPDATA", "HOME"):
        monkeypatch.setenv(name, str(analyses))


def opened(open_page: Any, **options: Any) -> Any:
    page = open_page("#review", storage={"goryu.review.playouts": "100"}, **options)
    page.set_default_timeout(120_000)
    page.locator(".opener textarea").fill(f"startpos moves {MOVES}")
    page.locator(".opener .row button").last.click()
    page.locator(".review-actions progress[value='1']").wait_for(state="attached")
    expect(page.locator(".mistake")).to_have_count(1, timeout=60_000)
    return page


def draw(page: Any, board: Any, first: str, last: str, button: str = "right") -> None:
    """Draws with a button of the mouse; shogiground looks at the mouse once a frame."""
    page.mouse.move(*board.point(first))
    page.mouse.down(button=button)
    page.mouse.move(*board.point(last), steps=3)
    page.wait_for_timeout(100)
    page.mouse.up(button=button)


def test_the_user_draws_arrows_and_circles(open_page: Any, on_board: Any) -> None:
    page = opened(open_page)
    board = on_board(page, ".review .shogi")
    own, drawn = page.locator(".review .arrows .arrow"), page.locator(".review .drawn .arrow")
    page.keyboard.press("Home")
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
    assert own.count() == count > 0
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


def test_mistakes_are_marked_and_searched_deeper_and_threats_are_shown(open_page: Any) -> None:
    page = opened(open_page)
    for width, height in ((390, 844), (1440, 900), (1280, 800)):  # The graph needs no scrolling.
        page.set_viewport_size({"width": width, "height": height})
        expect(page.locator(".graph canvas")).to_be_visible()
        assert page.evaluate("scrollY") == 0
        box = page.locator(".graph").bounding_box()
        assert box["y"] + box["height"] <= height
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    marks = page.locator(".game-move .badge[data-kind='blunder']")
    expect(marks).to_have_text(["??"])
    expect(page.locator(".losses .of-blunder")).to_have_count(1)
    assert sum(map(int, page.locator(".losses .count").all_text_contents())) == len(MOVES.split())
    page.get_by_role("button", name="Search the mistakes deeper").click()
    expect(page.locator(".review-actions")).to_contain_text("searched with 1,000 playouts: 1")
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
