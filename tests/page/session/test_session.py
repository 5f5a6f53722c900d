"""Lost connections, closed tabs, and the rate of reports."""

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from goryu.players.config import EngineConfig
from goryu_page.dojo.dojo import Dojo
from goryu_page.dojo.timing import Timing
from goryu_page.server.server import Server, TabLimits
from goryu_page.session.outbox import Outbox
from goryu_page.session.session import Job, Session, View
from goryu_page.tab import page as page_of_tab

expect = pytest.importorskip("playwright.sync_api").expect


class Endless(View):
    """A view whose search ends only when it is stopped."""

    name = "endless"
    started = threading.Event()
    ended = threading.Event()

    async def on_start(self) -> None:
        await self.session.run("endless", self._work)

    def on_stop(self) -> None:
        self.session.stop("endless")

    def _work(self, job: Job) -> None:
        self.started.set()
        count = 0
        while not job.is_stopped:
            count += 1
            job.report("endless.count", count=count, at=time.monotonic())
            time.sleep(1 / 300)
        self.ended.set()


@pytest.fixture
def endless(server: Any) -> type[Endless]:
    Endless.started.clear()
    Endless.ended.clear()
    server.server._views = {**server.server._views, "endless": Endless}
    return Endless


START = """
async () => {
  const socket = goryu.take("js/socket.js");
  window.counts = [];
  socket.on("endless.count", ({ count, at }) => window.counts.push([count, at]));
  socket.request("endless.start").catch(() => {});
}
"""


def ready(page: Any) -> None:
    page.wait_for_function("() => sessionStorage.getItem('goryu.session')")
    page.wait_for_selector(".setup form button.primary")
    expect(page.locator("#connection")).to_be_hidden()


def test_a_search_outlives_its_connection_but_not_its_tab_and_reports_ten_times_a_second(
    open_page: Any, server: Any, endless: type[Endless]
) -> None:
    server.server.limits = TabLimits(grace_s=600.0)
    page = open_page()
    ready(page)
    page.evaluate(START)
    assert endless.started.wait(30)
    page.wait_for_function("() => window.counts.length > 2")
    server.drop_connections()
    page.evaluate("() => { window.counts = []; }")
    page.wait_for_function("() => window.counts.length > 2")
    assert len(server.server.sessions) == 1
    page.wait_for_function("() => window.counts.length > 11")
    counts, times = zip(*page.evaluate("() => window.counts"), strict=True)
    assert len(counts) <= 10 * (times[-1] - times[0]) + 3
    assert counts == tuple(sorted(set(counts)))
    # The browser itself reports a broken connection; the page cannot prevent that.
    page.problems[:] = [one for one in page.problems if "WebSocket" not in one]
    assert not endless.ended.is_set()
    page.close(run_before_unload=False)
    assert endless.ended.wait(30)


def test_the_engines_search_ends_when_its_tab_is_closed(open_page: Any, server: Any) -> None:
    server.dojo.timing = Timing(thinking_s=600.0)
    server.server.limits = TabLimits(grace_s=600.0)
    page = open_page()
    page.locator(".level input").fill("10")
    page.locator('input[name="side"][value="second"]').check(force=True)
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".player.turn .dots")).to_be_visible()
    (session,) = server.server.sessions.values()
    assert session.is_running("play")
    page.close()
    until = time.monotonic() + 30
    while session.is_running("play") and time.monotonic() < until:
        time.sleep(0.05)
    assert not session.is_running("play")


NO_CONNECTION = """() => {
  window.Real = WebSocket;
  WebSocket = class { constructor() { setTimeout(() => this.onclose({code: 1006}), 50); } };
}"""


def test_a_search_ends_when_the_connection_is_lost_for_long(
    open_page: Any, server: Any, endless: type[Endless]
) -> None:
    server.server.limits = TabLimits(grace_s=0.2)
    page = open_page()
    ready(page)
    page.evaluate(START)
    assert endless.started.wait(30)
    page.evaluate(NO_CONNECTION)
    server.drop_connections()
    assert endless.ended.wait(30)
    expect(page.locator("#connection")).to_be_visible()
    page.problems[:] = [one for one in page.problems if "WebSocket" not in one]


def two_people_with_a_clock(page: Any, on_board: Any) -> None:
    """Begins their game; Black has played."""
    page.locator('input[name="side"][value="both"]').check(force=True)
    page.get_by_label("Clock", exact=True).select_option(index=3)
    page.get_by_role("button", name="Start").click()
    on_board(page).move("7g7f")
    expect(page.locator(".moves li")).to_have_count(1)


def restart(page: Any, server: Any) -> Any:
    """Forgets the sessions as a restart of the server does; returns the game that the page brings back."""
    server.call(server.server.sessions.clear)
    server.drop_connections()
    until = time.monotonic() + 60
    while (
        not (games := [one.views["play"]._game for one in list(server.server.sessions.values())])
        or not games[0]
    ):
        assert time.monotonic() < until, "the page did not bring its game back"
        page.wait_for_timeout(50)
    page.problems[:] = [one for one in page.problems if "WebSocket" not in one]
    return games[0]


@pytest.mark.slow
def test_the_game_survives_a_restart_of_the_server_and_a_reload(
    open_page: Any, server: Any, on_board: Any
) -> None:
    page = open_page()
    page.locator('input[name="side"][value="both"]').check(force=True)
    page.get_by_role("button", name="Start").click()
    on_board(page).move("7g7f")
    expect(page.locator(".moves li")).to_have_count(1)
    page.goto("about:blank")
    server.call(server.server.sessions.clear)

    def delay(route: Any) -> None:  # The answer to the hello comes before the view is there.
        time.sleep(0.5)
        route.continue_()

    page.route("**/js/play.js", delay)
    page.goto(server.url)
    expect(page.locator(".moves li")).to_have_count(1)
    on_board(page).move("3c3d", "gote")
    expect(page.locator(".moves li")).to_have_count(2)


@pytest.mark.slow
def test_the_clocks_and_the_end_of_a_game_survive_a_restart_of_the_server(
    open_page: Any, server: Any, on_board: Any
) -> None:
    page = open_page()
    two_people_with_a_clock(page, on_board)
    (session,) = server.server.sessions.values()
    before = session.views["play"]._game
    before.clocks.left_s = (before.clocks.left_s[0], before.clocks.left_s[1] - 5.0)
    on_board(page).move("3c3d", "gote")
    expect(page.locator(".moves li")).to_have_count(2)
    page.wait_for_timeout(300)
    game = restart(page, server)
    assert game.clocks.config == before.clocks.config
    assert game.clocks.left_s[1] == pytest.approx(before.clocks.left_s[1], abs=0.01)
    assert game.clocks.budget_s(0) < before.clocks.left_s[0] + before.clocks.config.byoyomi_s - 0.25
    for one, other in zip(game.played, before.played, strict=True):
        assert one.seconds == pytest.approx(other.seconds, abs=0.001)
        assert one.left_s == pytest.approx(other.left_s, abs=0.01)
    page.get_by_role("button", name="Resign").click()
    page.locator("dialog button.primary").click()
    expect(page.locator(".status.over")).to_be_visible()
    game = restart(page, server)
    assert (game.over.ending, game.over.winner) == ("resignation", 1)
    expect(page.locator(".status.over")).to_be_visible()
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(".moves li")).to_have_count(1)


KEPT_CLOCKS = "() => JSON.parse(sessionStorage.getItem('goryu.play'))?.clocks?.at(-1)"


def test_the_clock_stands_still_without_a_connection(open_page: Any, server: Any, on_board: Any) -> None:
    page = open_page()
    two_people_with_a_clock(page, on_board)
    page.evaluate(NO_CONNECTION)
    server.drop_connections()
    page.wait_for_function(KEPT_CLOCKS)
    before = page.evaluate(KEPT_CLOCKS)
    page.wait_for_timeout(1500)  # Meanwhile the page tries to connect twice.
    assert page.evaluate(KEPT_CLOCKS) == before
    page.evaluate("() => { WebSocket = window.Real; }")
    game = restart(page, server)
    assert game.clocks.left_s == pytest.approx(before, abs=0.01)


@pytest.mark.parametrize(
    "refusal",
    [
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };",
        """for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(
             window, name, { get() { throw new DOMException("blocked", "SecurityError"); } });""",
    ],
    ids=["full", "blocked"],
)
def test_a_browser_that_stores_nothing_is_no_hindrance(open_page: Any, on_board: Any, refusal: str) -> None:
    page = open_page()
    page.add_init_script(refusal)
    page.reload()
    page.locator('input[name="side"][value="both"]').check(force=True)
    page.get_by_role("button", name="日本語").click()
    page.get_by_role("button", name="対局開始").click()
    on_board(page).move("7g7f")
    expect(page.locator(".moves li")).to_contain_text("▲７六歩")


ONLINE = """() => {
  window.isBack = new Promise((done) => {
    const online = () => dispatchEvent(new Event("online"));
    const { onState } = goryu.take("js/socket.js");
    onState((isConnected) => (isConnected ? setTimeout(done, 600) : setTimeout(online)));
  });
}"""


def test_a_browser_that_is_online_again_connects_once(open_page: Any, server: Any) -> None:
    page, sockets = open_page(), list[Any]()
    ready(page)
    page.on("websocket", lambda socket: sockets.append(socket))
    page.evaluate(ONLINE)
    server.drop_connections()
    page.evaluate("() => window.isBack")
    assert len(sockets) == 1
    page.problems[:] = [one for one in page.problems if "WebSocket" not in one]


# The outbox and the jobs, without a browser.


def test_only_the_newest_report_of_a_kind_waits(in_loop: Any) -> None:
    async def run() -> list[Any]:
        session = Session({}, Dojo(None, EngineConfig()))
        session.outbox.open()
        for number in range(1000):
            session.report("a.x", number=number)
            session.report("a.y", number=-number)
        session.send("a.x", number="sent")  # Is no report, and replaces none.
        messages = [json.loads(text) for text in await session.outbox.next()]
        session.close()
        return [(message["type"], message["number"]) for message in messages]

    assert in_loop(run()) == [("a.x", "sent"), ("a.x", 999), ("a.y", -999)]


def test_a_page_that_reads_nothing_is_disconnected(in_loop: Any) -> None:
    async def run() -> None:
        outbox = Outbox(asyncio.get_running_loop())
        outbox.open()
        for number in range(2000):
            outbox.put({"type": "a.x", "number": number})
        with pytest.raises(ConnectionError):
            await outbox.next()

    in_loop(run())


def test_jobs_of_one_name_never_run_at_the_same_time(in_loop: Any) -> None:
    running: list[int] = []
    overlaps: list[int] = []

    def work(job: Job) -> bool:
        running.append(1)
        overlaps.append(len(running))
        while not job.is_stopped:
            time.sleep(0.001)
        time.sleep(0.02)
        running.pop()
        return True

    async def run() -> None:
        session = Session({}, Dojo(None, EngineConfig()))
        tasks = []
        for _ in range(5):
            tasks.append(asyncio.create_task(session.run("one", work)))
            await asyncio.sleep(0.01)
        tasks[0].cancel()
        session.stop("one")
        await asyncio.gather(*tasks, return_exceptions=True)
        session.close()

    in_loop(run())
    assert set(overlaps) == {1}


def test_messages_of_a_tab_without_a_server_take_effect_in_their_order(
    in_loop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_of_tab, "DATABASE", tmp_path / "dojo.sqlite3")
    monkeypatch.setattr(page_of_tab, "VIEWS", {"endless": Endless})

    async def run() -> None:
        replies = list[str]()
        tab = page_of_tab.Page(replies.append)
        for number, name in enumerate(("start", "stop")):
            tab.receive(json.dumps({"type": f"endless.{name}", "id": number}))
        try:
            async with asyncio.timeout(30):
                while sum('"reply"' in text for text in replies) < 2:
                    await asyncio.sleep(0.01)
        finally:
            tab._session.close()
            tab._session.dojo.close()

    in_loop(run())


def test_messages_are_in_the_language_of_the_page_and_wait_for_the_connection(
    open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    greet, may_greet = Server._greet, threading.Event()

    async def greet_late(*given: Any) -> Any:
        await asyncio.to_thread(may_greet.wait, 60)
        return await greet(*given)

    monkeypatch.setattr(Server, "_greet", greet_late)
    page = open_page("#review", language="ja")
    page.locator(".opener textarea").fill("手数----指手---------消費時間--\n   1 ５五玉(59)\n")
    open_text = page.locator(".opener textarea + .row button")
    open_text.click()
    may_greet.set()
    expect(page.locator(".toast.error")).to_contain_text("2行目")
    expect(page.locator(".toast.error")).to_contain_text("指せません")
    page.locator("#language").click()
    open_text.click()
    expect(page.locator(".toast.error").last).to_contain_text("is not legal")
    page.problems = [one for one in page.problems if "5五玉" not in one]


def test_a_huge_paste_is_refused_and_the_connection_stays(open_page: Any, server: Any) -> None:
    page = open_page("#review")
    page.locator(".opener").wait_for()
    page.wait_for_function("() => sessionStorage.getItem('goryu.session')")
    paste = """() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", "▲７六歩\\n".repeat(200000));  // 3 MB in UTF-8.
      document.dispatchEvent(new ClipboardEvent("paste", { clipboardData }));
    }"""
    page.evaluate(paste)
    expect(page.locator(".toast.error")).to_contain_text("larger than 1 MB")
    too_large = """async () => {
      const socket = goryu.take("js/socket.js");
      return socket.request("play.options", { text: "x".repeat(3 << 20) }).catch((error) => error.message);
    }"""
    page.problems = []
    assert "too large" in page.evaluate(too_large)
    assert page.evaluate("async () => (goryu.take('js/socket.js')).request('play.options')")
    assert len(server.server._sockets) == 1
