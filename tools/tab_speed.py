"""Measures the page without a server: how soon it plays over a slow line and offline, a review, and memory.

    python tools/tab_speed.py                    10 Mbit/s and 40 ms; a game of 93 positions
    python tools/tab_speed.py --runs 3 --no-review   the starts alone, three times

It builds the page, serves it through a line that all files share, and drives Chromium (`apt-get install
chromium`) with an empty profile: the seconds until the board is there, and from there until level 5 has
answered the first move, which is played as soon as it can be. Then the server ends, and both are measured
again in a new tab. The review uses goryu-10x96 at 400 playouts; the memory is the greatest of
the tab's process during it (Linux). Prints the medians of the runs.
"""

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import tab_page
import textbook
from file_server import Line, file_server
from goryu.commands.common import new_parser, positive, program
from goryu.kifu.reading import parse_record
from goryu.kifu.writing import to_kif
from page import chromium_path

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

GAMES = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "games.usi"
"""Games of some 100 positions between levels."""

POSITIONS = 93
PLAYOUTS = "400"
LEVEL = "5"
DEADLINE_MS = 600_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit status."""
    return program("tab_speed.py", make_parser(), run, arguments, extra="test")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("--runs", type=positive, default=1, metavar="N", help="starts to measure (1)")
    parser.add_argument("--megabits", type=float, default=10.0, metavar="N", help="a second (10)")
    parser.add_argument("--delay", type=float, default=40.0, metavar="MS", help="of each answer (40)")
    parser.add_argument("--no-review", action="store_true", help="measure the starts alone")
    return parser


def run(args: argparse.Namespace) -> None:
    """Builds the page and measures it."""
    from playwright.sync_api import sync_playwright

    chromium = chromium_path()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = Path(folder, "site")
        textbook.begin_site(site)
        tab_page.build(site)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        rows: dict[str, list[float]] = {}
        for _ in range(args.runs):
            line = Line(args.megabits * 1e6 / 8, args.delay / 1000)
            with file_server(site, line) as server, new_context(browser) as context:
                for name, seconds in measure_starts(context, server):
                    rows.setdefault(name, []).append(seconds)
        for name, times in rows.items():
            print(f"{name}: {statistics.median(times):.1f} s")
        if not args.no_review:
            with file_server(site) as server, new_context(browser) as context:
                measure_review(context, server, write_game(Path(folder, "game.kif")))
        browser.close()


@contextmanager
def new_context(browser: "Browser") -> Iterator["BrowserContext"]:
    """A browser's profile, at first empty."""
    context = browser.new_context(locale="en-US")
    context.set_default_timeout(DEADLINE_MS)
    with context:
        yield context


def measure_starts(context: "BrowserContext", server: ThreadingHTTPServer) -> Iterator[tuple[str, float]]:
    """Opens the page, plays a move, and does the same without the server; yields what took how long."""
    page = context.new_page()
    yield from measure_start(page, server.server_port, "first visit")
    page.evaluate("async () => (await navigator.serviceWorker.ready).active.state")
    page.close()
    server.shutdown()
    server.server_close()
    yield from measure_start(context.new_page(), server.server_port, "offline")


def measure_start(page: "Page", port: int, when: str) -> Iterator[tuple[str, float]]:
    begin = monotonic()
    page.goto(f"http://127.0.0.1:{port}/page/", wait_until="commit")
    page.locator(".play .shogi piece.king").nth(1).wait_for()
    yield f"{when}, board", monotonic() - begin
    page.locator("#connection").wait_for(state="hidden")
    page.locator(".level input").fill(LEVEL)
    page.get_by_role("button", name="Start").click()
    page.get_by_placeholder("7g7f").fill("7g7f")
    page.get_by_role("button", name="Play", exact=True).click()
    page.locator(".play .moves li").nth(1).wait_for()
    yield f"{when}, first reply", monotonic() - begin


def write_game(path: Path) -> Path:
    """Writes the first game of GAMES that is long enough, as far as POSITIONS."""
    games = (parse_record(line) for line in GAMES.read_text(encoding="ascii").splitlines())
    game = next(game for game in games if len(game.plies) >= POSITIONS - 1)
    plies = game.plies[: POSITIONS - 1]
    path.write_text(to_kif(parse_record("startpos moves " + " ".join(ply.move for ply in plies))), "utf-8")
    return path


def measure_review(context: "BrowserContext", server: ThreadingHTTPServer, record: Path) -> None:
    """Prints the seconds of a review, and the greatest memory of the page's process meanwhile."""
    page = context.new_page()
    page.add_init_script(f"localStorage.setItem('goryu.review.playouts', '{PLAYOUTS}')")
    page.goto(f"http://127.0.0.1:{server.server_port}/page/#review")
    page.locator("#connection").wait_for(state="hidden")
    begin = monotonic()
    page.locator(".opener input[type=file]").set_input_files(record)
    greatest, progress = 0, page.locator(".review-progress progress")
    progress.wait_for(state="attached")
    while progress.get_attribute("value") != "1":
        greatest = max(greatest, page_memory())
        page.wait_for_timeout(500)
    print(f"review of {POSITIONS} positions at {PLAYOUTS} playouts: {monotonic() - begin:.1f} s")
    print(f"memory of the page's process meanwhile: {greatest / 1e6:.0f} MB")


def page_memory() -> int:
    """Returns the resident bytes of the largest process that renders a page."""
    sizes = [0]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"--type=renderer" in (process / "cmdline").read_bytes():
                sizes.append(int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
        except OSError:
            continue  # It has ended.
    return max(sizes)


if __name__ == "__main__":
    raise SystemExit(main())
