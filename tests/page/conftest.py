"""A running server, and pages of a real browser that report what must not happen."""

import asyncio
import json
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu_page.dojo.dojo import Dojo, JudgePlayouts
from goryu_page.dojo.timing import TIMING, Timing
from goryu_page.lan.lan import Lan
from goryu_page.server.server import Server
from goryu_page.views.views import VIEWS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, CDPSession, ConsoleMessage, Page, Request

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--process-per-site",
]
TIMEOUT_MS = 60_000
"""A busy machine is slow; Playwright waits 5 s or 30 s by itself."""

LOOK_MS = 50
"""The pause between two looks at a page."""


class RunningServer:
    """A server in a thread of its own; `call` runs a function in its event loop."""

    def __init__(
        self,
        dojo: Path,
        record: tuple[str, bytes] | None = None,
        lan: Lan | None = None,
        timing: Timing = TIMING,
        playouts: JudgePlayouts = JudgePlayouts(),  # noqa: B008 - is frozen
    ) -> None:
        """dojo: where its database lies, or will lie."""
        self.dojo = Dojo(dojo, EngineConfig(evaluator=EvaluatorConfig(threads=1)), timing, playouts)
        self._record = record
        self._lan = lan
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self.server = Server(VIEWS, self.dojo, self._record, self._lan)
        async with self.server.running():
            self._started.set()
            await self._ended.wait()

    def start(self) -> "RunningServer":
        self._thread.start()
        assert self._started.wait(30)
        return self

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(30)
        self.dojo.close()

    def call(self, function: Callable[[], Any]) -> Any:
        async def run() -> Any:
            return function()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(30)

    def drop_connections(self) -> None:
        """Cuts the connections as a network does, without a goodbye."""

        def cut() -> None:
            for socket in self.server._sockets.values():
                transport = socket._req.transport if socket._req else None
                if transport:
                    transport.abort()

        self.call(cut)

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def token(self) -> str:
        return self.server.guard.token


@pytest.fixture
def own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test touches neither the user's analyses and settings nor the user's engines."""
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "APPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))


@pytest.fixture
def timing() -> Timing:
    """The times of the server; a file may have others."""
    return TIMING


@pytest.fixture
def server(tmp_path: Path, timing: Timing) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path / "dojo.sqlite3", timing=timing).start()
    yield running
    running.stop()


@pytest.fixture
def running_server() -> type[RunningServer]:
    return RunningServer


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    playwright.expect.set_options(timeout=TIMEOUT_MS)
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS, timeout=120_000)
        yield browser
        browser.close()


class Contexts:
    """A browser context for each language, which all tests share: a new one for each test costs a second.

    What pages store belongs to a port; it is cleared, as a later server may get the same one.
    """

    def __init__(self, browser: "Browser") -> None:
        self._browser = browser
        self._contexts: dict[str, BrowserContext] = {}
        self._cleaners: list[CDPSession] = []

    def of(self, language: str, server: RunningServer) -> "BrowserContext":
        if language not in self._contexts:
            locale = {"ja": "ja-JP", "en": "en-US"}[language]
            context = self._contexts[language] = self._browser.new_context(locale=locale)
            # As long as this is open, the process that draws the pages of 127.0.0.1 stays.
            page = context.new_page()
            page.goto(server.url + "static/icon.svg")
            self._cleaners.append(context.new_cdp_session(page))
        return self._contexts[language]

    def clear(self, server: RunningServer) -> None:
        for context in self._contexts.values():
            context.clear_cookies()
        stored = {"origin": server.url.rstrip("/"), "storageTypes": "local_storage"}
        for cleaner in self._cleaners:
            cleaner.send("Storage.clearDataForOrigin", stored)


@pytest.fixture(scope="session")
def contexts(browser: "Browser") -> Contexts:
    return Contexts(browser)


OpenPage = Callable[..., "Page"]


@pytest.fixture
def open_page(contexts: Contexts, server: RunningServer) -> Iterator[OpenPage]:
    """Opens the page of the server in a new tab: open_page("#review", width=390, language="ja").

    storage: put into the page's localStorage before it loads.

    The test fails if a page writes an error to its console, throws one, or sends a request to another host.
    A test that provokes such an error removes it from `page.problems`.
    """
    pages: list[Any] = []

    def open_it(
        address: str = "",
        *,
        width: int = 1280,
        height: int = 800,
        language: str = "en",
        scheme: Any = "light",
        url: str = "",
        storage: Mapping[str, str] = MappingProxyType({}),
    ) -> Any:
        page: Any = contexts.of(language, server).new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.set_default_timeout(TIMEOUT_MS)
        page.problems = []
        watch(page, url or server.url)
        pages.append(page)
        if storage:
            page.add_init_script(f"Object.assign(localStorage, {json.dumps(dict(storage))})")
        page.goto((url or server.url) + address)
        return page

    yield open_it
    problems = [problem for page in pages for problem in page.problems]
    for page in pages:
        page.close()
    contexts.clear(server)
    assert problems == []


def watch(page: Any, url: str) -> None:
    """Collects errors and foreign requests of a page in `page.problems`."""

    def on_console(message: "ConsoleMessage") -> None:
        if message.type in ("error", "warning"):
            page.problems.append(f"console {message.type}: {message.text}")

    def on_request(request: "Request") -> None:
        if not request.url.startswith((url, "data:", "blob:" + url, "ws://127.0.0.")):
            page.problems.append(f"request to {request.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: page.problems.append(f"error: {error}"))
    page.on("request", on_request)


@pytest.fixture
def page(open_page: OpenPage) -> "Page":
    return open_page()


@pytest.fixture
def drop() -> Callable[["Page", Path], None]:
    """Drops a file or a folder on a page, as a person does from the file manager."""

    def drop_it(page: "Page", path: Path) -> None:
        browser = page.context.new_cdp_session(page)
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            browser.send("Input.dispatchDragEvent", {"type": kind, "x": 300, "y": 300, "data": data})

    return drop_it


ROLES = {"P": "pawn", "L": "lance", "N": "knight", "S": "silver", "G": "gold", "B": "bishop", "R": "rook"}


class ShogiPage:
    """A shogi board on a page, used as a person does: by the mouse."""

    def __init__(self, page: Any, root: str = ".shogi") -> None:
        self.page = page
        self.root = page.locator(root)

    @property
    def is_turned(self) -> bool:
        return "orientation-gote" in self.root.locator(".square-board").get_attribute("class")

    def point(self, square: str) -> tuple[float, float]:
        """Returns the middle of a square on the page."""
        box = self.root.locator("sg-pieces").bounding_box()
        column, row = 9 - int(square[0]), ord(square[1]) - ord("a")
        if self.is_turned:
            column, row = 8 - column, 8 - row
        return box["x"] + (column + 0.5) * box["width"] / 9, box["y"] + (row + 0.5) * box["height"] / 9

    def click(self, square: str) -> None:
        self.page.mouse.click(*self.point(square))

    def select(self, square: str) -> None:
        """Clicks on a square until it is selected: a busy page may not be ready for the first click."""
        selected = self.root.locator("sq.selected")
        self.root.locator(".square-board").scroll_into_view_if_needed()
        for attempt in range(TIMEOUT_MS // LOOK_MS):
            if attempt % 20 == 0:
                self.click(square)
            x, y = self.point(square)
            for box in selected.evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())"):
                if box["left"] < x < box["right"] and box["top"] < y < box["bottom"]:
                    return
            self.page.wait_for_timeout(LOOK_MS)
        raise AssertionError(f"{square} cannot be selected")

    def hand_piece(self, letter: str, color: str) -> Any:
        """color: "sente" or "gote"."""
        return self.root.locator(f"sg-hand piece.{color}.{ROLES[letter]}")

    def move(self, usi: str, color: str = "sente", has_choice: bool | None = None) -> None:
        """Plays a move by clicks.

        color: the side to move. has_choice: may the piece promote or not? By default if it does.
        """
        if usi[1] == "*":
            self.hand_piece(usi[0], color).click()
            self.click(usi[2:4])
            return
        self.select(usi[:2])
        self.click(usi[2:4])
        if usi.endswith("+") if has_choice is None else has_choice:
            choices = self.root.locator("sg-promotion:visible sg-promotion-choices piece")
            choices.nth(0 if usi.endswith("+") else 1).click()

    def drag(self, usi: str) -> None:
        """Plays a move by dragging the piece; shogiground looks at the mouse once a frame."""
        mouse = self.page.mouse
        mouse.move(*self.point(usi[:2]))
        mouse.down()
        mouse.move(*self.point(usi[2:4]), steps=5)
        self.root.locator(".dragging").wait_for()
        mouse.up()


@pytest.fixture
def on_board() -> type[ShogiPage]:
    return ShogiPage


@pytest.fixture
def in_loop() -> Callable[..., Any]:
    """Runs a coroutine in a thread: in this one, Playwright's event loop runs."""

    def run(work: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, work).result(60)

    return run


@pytest.fixture
def quick_replies(server: RunningServer) -> None:
    """Lets engines answer as soon as they have a move."""
    server.dojo.timing = replace(server.dojo.timing, least_reply_s=0.0)
