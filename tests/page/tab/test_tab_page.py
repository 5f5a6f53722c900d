"""The page without a server, in Chromium, from what `python -m http.server` serves."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import tab_page
import textbook
from goryu.commands.common import UsageError
from sample_games import ROOK_HANGS_KIF
from wasm_module import module

expect = pytest.importorskip("playwright.sync_api").expect

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.usefixtures(module.__name__)]

PATIENCE_MS = 300_000
"""Python starts in some seconds, and a game is reviewed in some more, but not on a busy machine."""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def files(tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    try:
        textbook.build(tmp_path / "site", textbook.fetch_pyodide(), {})
        tab_page.build(tmp_path / "site", "https://example.org/source")
    except UsageError as error:
        pytest.skip(str(error))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "site"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


class Tab:
    """A tab with the page, whose faults the test finds at its end."""

    def __init__(self, context: Any, address: str) -> None:
        self.page = page = context.new_page()
        self.problems: list[str] = []
        self.hosts: set[str] = set()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._note)
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        self._address = address
        page.goto(address)

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def go(self, view: str) -> None:
        self.page.goto(f"{self._address}#{view}")

    def expect_started(self) -> None:
        expect(self.page.locator("#connection")).to_be_hidden(timeout=PATIENCE_MS)


def test_a_game_is_played_reviewed_and_kept_in_a_tab(browser: Any, files: Any, tmp_path: Path) -> None:
    context = browser.new_context(locale="en-US")
    context.set_default_timeout(PATIENCE_MS)
    tab = Tab(context, f"http://127.0.0.1:{files.server_port}/page/")
    expect(tab.page.locator(".play .shogi piece.king")).to_have_count(2)  # Also before Python is there.
    tab.expect_started()
    asks_for_easy_problems(tab)
    reviews(tab, tmp_path / "game.kif")
    sees_a_problem(tab)
    plays_and_resigns(tab)
    another_tab_is_told(context, tab)
    comes_back_offline(context, tab, files)
    assert tab.problems == []
    assert tab.hosts - {""} == {f"127.0.0.1:{files.server_port}"}
    context.close()


def asks_for_easy_problems(tab: Tab) -> None:
    page = tab.page
    tab.go("train")
    page.get_by_text("Settings", exact=True).click()
    for kind in ("Unpunished mistakes", "Mates allowed", "Only moves", "Tsume (mates)"):
        box = page.locator("fieldset").get_by_label(kind)
        box.uncheck()
        expect(box).not_to_be_checked()
    for label, value in (
        ("Playouts of a check", "100"),
        ("A move is wrong if it loses so many percent", "30"),
        ("At most so many right answers", "10"),
    ):
        page.get_by_label(label).fill(value)
        page.keyboard.press("Tab")
        expect(page.get_by_label(label)).to_have_value(value)


def reviews(tab: Tab, record: Path) -> None:
    page = tab.page
    tab.go("games")
    page.get_by_label("Playouts for each position").select_option("100")
    record.write_text(ROOK_HANGS_KIF, encoding="utf-8")
    page.locator("input[type=file][multiple]").first.set_input_files(record)
    page.get_by_label("先手太郎 (1)").check()
    expect(page.locator(".games .side")).to_contain_text("All games are reviewed", timeout=PATIENCE_MS)


def sees_a_problem(tab: Tab) -> None:
    page = tab.page
    tab.go("train")
    expect(page.locator(".train .day .primary")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Solution").click()
    expect(page.get_by_role("heading", name="Answers")).to_be_visible()


def plays_and_resigns(tab: Tab) -> None:
    page = tab.page
    tab.go("play")
    page.locator(".level input").fill("1")
    page.get_by_role("button", name="Start").click()
    for number, move in enumerate(("5i5h", "5h5i", "5i5h", "5h5i", "5i5h"), start=1):
        page.get_by_placeholder("7g7f").fill(move)
        page.get_by_role("button", name="Play", exact=True).click()
        expect(page.locator(".play .moves li")).to_have_count(2 * number, timeout=PATIENCE_MS)
    page.get_by_role("button", name="Resign").click()
    page.locator("dialog").get_by_role("button", name="Resign").click()
    expect(page.locator(".play .result")).to_contain_text("You lose")


def another_tab_is_told(context: Any, tab: Tab) -> None:
    other = context.new_page()
    other.goto(tab.page.url)
    expect(other.locator("#connection")).to_contain_text("another tab", timeout=PATIENCE_MS)
    other.close()


def comes_back_offline(context: Any, tab: Tab, files: Any) -> None:
    page = tab.page
    tab.go("games")
    if not context.service_workers:
        context.wait_for_event("serviceworker")
    page.evaluate("async () => (await navigator.serviceWorker.ready).active.state")
    files.shutdown()
    files.server_close()
    page.reload()
    tab.expect_started()
    expect(page.locator(".game-list tbody tr")).to_have_count(2)
    expect(page.locator("td.of-accuracy .pair").first).to_be_visible()
