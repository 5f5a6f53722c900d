"""The view "My games" in a real browser, its backup by HTTP, and who comes before the background review."""

import asyncio
import json
import threading
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu_page.dojo.database import Database
from goryu_page.dojo.dojo import Dojo
from goryu_page.dojo.games import Games
from goryu_page.dojo.settings import change_training_settings
from goryu_page.dojo.timing import Timing
from goryu_page.server.security import TOKEN_HEADER
from goryu_page.session.session import Job, Session
from goryu_page.views.games import GamesView
from goryu_page.views.views import VIEWS
from sample_games import write_sample_games

expect = pytest.importorskip("playwright.sync_api").expect

PLIES = 12


pytestmark = pytest.mark.usefixtures("own_files")


@pytest.fixture
def timing() -> Timing:
    """The review begins at once after an import."""
    return Timing(rest_s=0.05, look_s=0.05)


def test_games_are_imported_reviewed_listed_and_opened(
    open_page: Callable[..., Any], server: Any, tmp_path: Path, drop: Any
) -> None:
    folder = tmp_path / "games" / "below"
    write_sample_games(folder, 6, PLIES)
    (folder / "notes.pdf").write_bytes(b"no record")
    (folder / "broken.kif").write_text("先手：甲\n   1 ７六歩(77)\n   2 ３四歩(32)\n", encoding="utf-8")
    server.dojo.reviewing.reviews.playouts = 10
    change_training_settings(server.dojo.database, {"playouts": 100})  # The checks come between the reviews.
    page = open_page("#games", storage={"goryu.review.playouts": "100"})
    notice = page.locator(".games .notice:visible")
    page.set_viewport_size({"width": 390, "height": 800})
    expect(notice).to_have_text("No games yet. Add files or a whole folder under “Add and set up”.")
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(notice).to_contain_text("or drop them here")
    drop(page, tmp_path / "games")
    rows = page.locator(".game-list tbody tr")
    expect(rows).to_have_count(6)
    expect(page.locator(".faults summary")).to_contain_text("1")
    expect(page.locator(".fault-list")).to_contain_text("games/below/broken.kif:3")

    page.set_input_files(".games input[webkitdirectory]", str(folder))
    expect(page.locator(".games .side [role=status]").first).to_contain_text("6 known already")

    page.get_by_label("甲 (6)").check()
    expect(page.locator(".game-list .won, .game-list .lost")).to_have_count(6)
    expect(page.locator(".games .side")).to_contain_text("All games are reviewed", timeout=120_000)
    expect(page.locator("td.of-accuracy .pair")).to_have_count(6)

    page.get_by_role("button", name="Date").click()
    dates = [f"2026-0{month}-0{month}" for month in range(1, 7)]
    expect(page.locator("td.of-date")).to_have_text(dates)
    page.get_by_label("I played").select_option("white")
    expect(rows).to_have_count(3)
    page.get_by_label("Names, opening or file").fill("game3")
    expect(rows).to_have_count(1)

    page.locator(".game-list td.of-players button").click()
    page.locator(".review-progress progress[value='1']").wait_for(state="attached", timeout=120_000)
    expect(page.locator(".game-move")).to_have_count(PLIES + 1)
    expect(page.locator(".review-actions h2")).to_have_text("▲相手0 △甲 2026-04-04")

    page.goto(page.url.partition("#")[0] + "#games/progress")
    expect(page.locator(".game-progress .dot")).to_have_count(6)  # A game in each month.
    page.goto(page.url.partition("#")[0] + "#games")
    twice = "one => { one.click(); const asked = one.textContent; one.click(); return asked; }"  # In 3 s.
    assert page.get_by_role("button", name="Delete this game").evaluate(twice) == "Delete?"
    expect(page.locator(".games .notice:visible")).to_have_text("No game fits.")
    page.get_by_role("button", name="Clear the filters").click()
    expect(rows).to_have_count(5)


def test_a_copy_is_saved_and_read_by_the_page_and_refused_to_others(
    open_page: Callable[..., Any], server: Any, tmp_path: Path
) -> None:
    for path in write_sample_games(tmp_path / "games", 3):
        server.dojo.games.add_file(path.read_bytes(), path.name)
    page = open_page("#games")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save a copy").click()
    copy = tmp_path / "copy.sqlite3"
    saved.value.save_as(copy)
    for game in (1, 2):
        server.dojo.games.delete(game)
    page.locator(".games input[accept='.sqlite3']").set_input_files(str(copy))
    expect(page.locator(".toast")).to_contain_text("2 games")
    expect(page.locator(".game-list tbody tr")).to_have_count(3)

    page.locator(".games input[accept='.sqlite3']").set_input_files(str(tmp_path / "games" / "game0.kif"))
    expect(page.locator(".toast.error")).to_contain_text("expected a backup")
    page.problems.clear()  # The browser and the page log the error that is shown.

    for method in ("GET", "POST"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(urllib.request.Request(server.url + "backup", method=method))

    headers = {"Content-Encoding": "gzip", TOKEN_HEADER: server.server.guard.token}
    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(urllib.request.Request(server.url + "backup", b"no gzip", headers))


def test_a_full_disk_is_said_and_the_import_can_be_repeated(
    open_page: Callable[..., Any], server: Any, tmp_path: Path
) -> None:
    paths = [str(path) for path in write_sample_games(tmp_path / "games", 4, 100)]
    database, rows = server.dojo.database, "SELECT * FROM games"
    pages, free = (database.rows(f"PRAGMA {name}")[0][0] for name in ("page_count", "freelist_count"))
    database.rows(f"PRAGMA max_page_count = {pages - free + 8}")
    page = open_page("#games")
    page.set_input_files(".games input[accept*='.kif']", paths)
    expect(page.locator(".toast.error")).to_contain_text("the disk is full")
    status = page.locator(".games .side [role=status]").first
    expect(status).to_contain_text("Files that were not added")
    added = len(database.rows(rows))
    assert added < 4
    database.rows("PRAGMA max_page_count = 100000")
    page.set_input_files(".games input[accept*='.kif']", paths)
    expect(status).to_contain_text(f"added, {added} known already, 0 unreadable")


def test_an_import_goes_on_when_the_connection_is_back(
    open_page: Callable[..., Any], server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, lost = Games.add_file, list[int]()

    def add_and_drop(*given: Any) -> Any:
        added = add(*given)
        if not lost:
            lost.append(1)
            server.drop_connections()
        return added

    monkeypatch.setattr(Games, "add_file", add_and_drop)
    page = open_page("#games")
    paths = [str(path) for path in write_sample_games(tmp_path / "games", 4, 100)]
    page.set_input_files(".games input[accept*='.kif']", paths)
    status = page.locator(".games .side [role=status]").first
    expect(status).to_contain_text("3 games added, 1 known already, 0 unreadable")
    page.problems[:] = [one for one in page.problems if "WebSocket" not in one]


def test_a_large_file_comes_in_parts_and_a_broken_off_one_is_forgotten(
    tmp_path: Path, in_loop: Callable[..., Any]
) -> None:
    async def run() -> None:
        dojo = Dojo(tmp_path / "dojo.sqlite3", EngineConfig())
        dojo.reviewing.pause(True)
        session = Session({"games": GamesView}, dojo)
        asks = session.views["games"].handlers()
        lines = [f"position startpos moves {move}\n" for move in ("7g7f", "2g2f", "5g5f")]
        parts = [b64encode(line.encode()).decode() for line in lines]
        await asks["games.add"]({"name": "a.sfen", "part": 0, "content": parts[0], "more": True})
        await asks["games.add"]({"name": "b.sfen", "part": 0, "content": parts[1], "more": True})
        done = await asks["games.add"]({"name": "b.sfen", "part": 1, "content": parts[2], "more": False})
        assert (done["added"], done["faults"]) == (2, [])
        found = await asks["games.list"]({})
        assert [game["file"] for game in found["games"]] == ["b.sfen", "b.sfen"]
        json.dumps(await asks["games.state"]({}))
        session.close()
        dojo.close()

    in_loop(run())


MESSAGES: tuple[dict[str, Any], ...] = (
    {"type": "games.add", "name": "a.usi", "content": b64encode(b"position startpos moves 7g7f").decode()},
    {"type": "games.state"},
    {"type": "games.list"},
    {"type": "games.progress", "minutes": 540},
    {"type": "games.playouts", "playouts": 100},
    {"type": "games.pause", "isPaused": True},
    {"type": "games.again"},
    {"type": "games.me", "names": ["甲"]},
    {"type": "games.delete", "game": 1},
    {"type": "games.forget_faults"},
    {"type": "train.state"},
    {"type": "train.change", "changes": {"is_checking": False}},
    {"type": "train.next", "mode": "free", "kind": "tsume"},
    {"type": "train.solution"},
    {"type": "train.export"},
    {"type": "train.remove"},
    {"type": "explorer.learn", "moves": ["7g7f"], "learns": True},
    {"type": "explorer.look", "moves": []},
)


def test_the_event_loop_never_waits_for_the_database(
    tmp_path: Path, in_loop: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may hold its lock for seconds."""
    threads = set[str]()

    def watched(name: str) -> None:
        method = getattr(Database, name)

        def noting(*values: Any) -> Any:
            threads.add(threading.current_thread().name)
            return method(*values)

        monkeypatch.setattr(Database, name, noting)

    for name in ("__init__", "rows", "transaction"):
        watched(name)

    async def run() -> None:
        dojo = Dojo(tmp_path / "dojo.sqlite3", EngineConfig(evaluator=EvaluatorConfig("uniform")))
        session = Session(VIEWS, dojo)
        for message in MESSAGES:
            handlers = session.views[message["type"].partition(".")[0]].handlers()
            await handlers[message["type"]](message)
        assert threading.current_thread().name not in threads
        session.close()
        dojo.close()

    in_loop(run())
    assert any(name.startswith("goryu-web") for name in threads)


def test_the_background_review_rests_while_a_tab_searches(
    tmp_path: Path, in_loop: Callable[..., Any]
) -> None:
    async def run() -> None:
        seconds = 0.0
        dojo = Dojo(tmp_path / "dojo.sqlite3", EngineConfig(), Timing(clock=lambda: seconds))
        session = Session({}, dojo)
        started, ends = threading.Event(), threading.Event()

        def work(_job: Job) -> bool:
            started.set()
            ends.wait(10)
            return dojo.activity.is_going_on

        task = asyncio.create_task(session.run("play", work))
        await asyncio.to_thread(started.wait, 10)
        was_going_on = dojo.activity.is_going_on
        ends.set()
        assert [was_going_on, await task] == [True, True]
        assert dojo.activity.is_going_on  # People often ask for another search.
        seconds = 60.0
        assert not await session.run("list", work, is_search=False)
        session.close()

    in_loop(run())
