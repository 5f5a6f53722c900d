"""The page without a server, in Chromium, from what `python -m http.server` serves."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from goryu_page.dojo.backup import merge
from goryu_page.dojo.database import Database
from goryu_page.dojo.games import Games
from sample_games import ROOK_HANGS_KIF, sample_game

expect = pytest.importorskip("playwright.sync_api").expect

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

PATIENCE_MS = 300_000
"""Python starts in some seconds, and a game is reviewed in some more, but not on a busy machine."""


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
    loads_the_large_network_once_there_is_a_connection(context, tab)
    asks_for_easy_problems(tab)
    reviews(tab, tmp_path / "game.kif")
    sees_a_problem(tab)
    plays_and_resigns(tab)
    has_no_space_left(context, tab)
    moves_copies(tab, tmp_path)
    another_tab_is_told(context, tab)
    comes_back_offline(context, tab, files)
    assert tab.problems == []
    assert tab.hosts - {""} == {f"127.0.0.1:{files.server_port}"}
    context.close()


def loads_the_large_network_once_there_is_a_connection(context: Any, tab: Tab) -> None:
    page = tab.page
    page.locator('input[name="side"][value="both"]').check(force=True)
    page.get_by_role("button", name="Start").click()
    context.set_offline(True)
    page.get_by_role("button", name="Hint").click()
    expect(page.locator(".toast")).to_contain_text("goryu-10x96.onnx is not in this browser yet")
    context.set_offline(False)
    page.get_by_role("button", name="Hint").click()
    expect(page.locator(".play .hints")).to_contain_text("%")
    tab.problems.clear()  # The browser itself writes of what it could not fetch.
    page.get_by_role("button", name="New game").click()
    page.locator('input[name="side"][value="first"]').check(force=True)


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


def has_no_space_left(context: Any, tab: Tab) -> None:
    """A game that cannot be kept is refused with the reason, and the page goes on."""
    page, devtools = tab.page, context.new_cdp_session(tab.page)
    quota = {"origin": page.evaluate("location.origin")}
    tab.go("games")
    devtools.send("Storage.overrideQuotaForOrigin", {**quota, "quotaSize": 1})
    another = {"name": "another.sfen", "mimeType": "", "buffer": b"startpos moves 7g7f 3c3d"}
    page.locator("input[type=file][multiple]").first.set_input_files(another)
    expect(page.locator(".toast")).to_contain_text("the disk is full")
    page.reload()
    tab.expect_started()
    expect(page.locator(".game-list tbody tr")).to_have_count(2)
    expect(page.get_by_role("button", name="Save a copy")).to_be_visible()
    devtools.send("Storage.overrideQuotaForOrigin", quota)


def moves_copies(tab: Tab, folder: Path) -> None:
    """An installed Goryu adds what a copy from the tab has, and the tab one of an installed Goryu."""
    page = tab.page
    with page.expect_download() as download:
        page.get_by_role("button", name="Save a copy").click()
    download.value.save_as(folder / "tab.sqlite3")
    installed = Database(folder / "installed.sqlite3")
    merged = merge(installed, folder / "tab.sqlite3")
    assert merged.games == 2
    Games(installed).add(sample_game(1))
    installed.copy_to(folder / "copy.sqlite3")
    installed.close()
    page.locator("input[accept='.sqlite3']").set_input_files(folder / "copy.sqlite3")
    expect(page.locator(".game-list tbody tr")).to_have_count(3)


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
    expect(page.locator(".game-list tbody tr")).to_have_count(3)
    expect(page.locator("td.of-accuracy .pair").first).to_be_visible()
