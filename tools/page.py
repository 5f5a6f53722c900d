#!/usr/bin/env python3
"""Drives the browser page: takes the READMEs' pictures, or measures how quickly the page reacts.

    python3 tools/dev.py page pictures    writes tools/pictures/web-*.png
    python3 tools/dev.py page speed       prints a table

It needs Chromium. `speed` measures in the browser, while an engine at full strength uses every core that it
may: the time from a click to the drawn piece, the time from a request to its reply, and how late the page's
own timers are.
"""

import argparse
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goryu.programs.common import UsageError, new_parser, positive, program

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "tools" / "pictures"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SIZE: Any = {"width": 1180, "height": 760}

GAME = PICTURES / "game.usi"
"""A game between the levels 9 and 8."""

SHOWN_PLIES = 42
"""Moves of the game in the picture of a game in progress."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit status."""
    return program("page", make_parser(), run, arguments, extra="test")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("task", choices=("pictures", "speed"))
    parser.add_argument("--moves", type=positive, default=20, help="moves that `speed` measures")
    return parser


def run(args: argparse.Namespace) -> None:
    """Starts the server and a browser, and does the task."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise UsageError("Chromium is not installed: apt-get install chromium")
    with served(GAME) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        if args.task == "speed":
            measure(browser.new_page(viewport=SIZE, locale="en-US"), url, args.moves)
        else:
            for language, locale in (("", "en-US"), (".ja", "ja-JP")):
                page = browser.new_page(viewport=SIZE, locale=locale, color_scheme="light")
                take_pictures(page, url, language)
                page.close()
        browser.close()


@contextlib.contextmanager
def served(record: Path) -> Iterator[str]:
    """Runs `goryu web` with a record to review, and yields its address; it keeps no reviews."""
    command = [sys.executable, "-m", "goryu", "web", "--no-browser", str(record)]
    with (
        tempfile.TemporaryDirectory() as cache,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "XDG_CACHE_HOME": cache}
        ) as server,
    ):
        assert server.stdout is not None
        words = server.stdout.readline().split()
        try:
            if len(words) < 3:
                raise UsageError("goryu web did not start: run it to see why")
            yield words[2].partition("#")[0]
        finally:
            server.terminate()


def begin(page: "Page", side: str = "both", level: int = 10) -> None:
    """Begins a game of shogi with the form."""
    page.locator(".level input").fill(str(level))
    page.locator(f'input[name="side"][value="{side}"]').check(force=True)
    page.locator(".setup button.primary").click()
    page.wait_for_selector(".side-parts:not([hidden])")


def click(page: "Page", square: str) -> None:
    """Clicks a square of the board, which must not be turned."""
    box = page.locator(".shogi:visible sg-pieces").first.bounding_box()
    assert box is not None
    column, row = 9 - int(square[0]), ord(square[1]) - ord("a")
    page.mouse.click(box["x"] + (column + 0.5) * box["width"] / 9, box["y"] + (row + 0.5) * box["height"] / 9)


# Pictures.


def take_pictures(page: "Page", url: str, language: str) -> None:
    """Writes the pictures of all views in one language."""
    page.goto(url)
    picture_of_play(page, language)
    picture_of_the_microscope(page, url, language)
    picture_of_a_review(page, url, language)


def picture_of_play(page: "Page", language: str) -> None:
    """Takes the picture of a game against the fifth level, with a hint."""
    page.wait_for_selector(".setup form button")
    moves = GAME.read_text(encoding="ascii").split()[2:]
    setup = {"game": "shogi", "side": "first", "opponent": "5", "moves": moves[:SHOWN_PLIES]}
    page.evaluate(
        """async (setup) => {
          const socket = await import("/static/js/socket.js");
          await socket.request("play.new", setup);
        }""",
        {**setup, "clock": {"main": 600, "byoyomi": 30}},
    )
    page.reload()
    page.wait_for_selector(".side-parts:not([hidden])")
    page.locator(".actions button").first.click()
    page.wait_for_selector(".hints:not([hidden])")
    page.mouse.move(0, 0)
    shoot(page, f"web-play{language}")


def picture_of_the_microscope(page: "Page", url: str, language: str) -> None:
    """Takes the picture of a search of tic-tac-toe in which paths have flowed together."""
    page.goto(f"{url}#microscope")
    page.wait_for_selector(".graph svg.tree-picture g.node")
    page.fill(".playout", "60")
    page.press(".playout", "Enter")
    page.wait_for_function("() => document.querySelectorAll('.graph g.node').length > 8")
    page.wait_for_timeout(1500)  # Its animation.
    page.locator(".microscope .setup summary").first.click()
    shoot(page, f"web-microscope{language}")


def picture_of_a_review(page: "Page", url: str, language: str) -> None:
    """Takes the picture of a reviewed game at its worst mistake."""
    page.goto(f"{url}#review/file")
    done = "() => document.querySelector('.review-actions progress')?.value === 1"
    page.wait_for_function(done, timeout=600_000)
    # The worst one: losses are shown as −23 %.
    losses = page.locator(".mistakes button").all_inner_texts()
    worst = max(range(len(losses)), key=lambda at: int(re.findall(r"(\d+)\s*%", losses[at])[-1]))
    page.locator(".mistakes button").nth(worst).click()
    page.evaluate("() => scrollTo(0, 0)")
    shoot(page, f"web-review{language}", height=1130)


def shoot(page: "Page", name: str, height: int = SIZE["height"]) -> None:
    """Writes a picture when nothing moves any more."""
    page.set_viewport_size({"width": SIZE["width"], "height": height})
    page.wait_for_timeout(500)
    page.screenshot(path=PICTURES / f"{name}.png")


# Speed.

WATCH_MOVES = """
() => {
  window.moveTimes = [];
  let clicked = 0;
  document.addEventListener("mousedown", (event) => {
    if (event.target.closest(".square-board")) clicked = event.timeStamp;
  }, true);
  const pieces = document.querySelector("sg-squares");
  new MutationObserver(() => {
    if (!clicked || document.querySelectorAll("sq.last-dest").length !== 2 ||
    document.querySelector("sq.selected")) return; const from = clicked;
    clicked = 0;
    requestAnimationFrame(() => setTimeout(() => window.moveTimes.push(performance.now() - from)));
  }).observe(pieces, { subtree: true, attributes: true });
}
"""

WATCH_REPLIES = """
async (seconds) => {
  const socket = await import("/static/js/socket.js");
  const replies = [], lateness = [];
  const end = performance.now() + 1000 * seconds;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    lateness.push(Math.max(0, now - last - 20));
    last = now;
  }, 20);
  while (performance.now() < end) {
    const start = performance.now();
    await socket.request("play.options");
    replies.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  clearInterval(timer);
  return { replies, lateness };
}
"""


def measure(page: "Page", url: str, moves: int) -> None:
    """Prints how quickly the page reacts while an engine thinks."""
    page.goto(url)
    # The searching engine belongs to another tab: in one's own game one does not move while it thinks.
    other = page.context.browser.new_page() if page.context.browser else page
    other.goto(url)
    other.get_by_label("Clock", exact=True).select_option(label="Your own …")
    other.get_by_label("Minutes").fill("600")  # The engine thinks for minutes.
    begin(other, side="second")
    begin(page)
    page.evaluate(WATCH_MOVES)
    shuttle = ("2h3h", "8b7b", "3h2h", "7b8b")
    for ply in range(moves):
        move = shuttle[ply % 4]
        if ply % 8 == 7:  # Before the fourth occurrence of a position.
            page.locator(".actions button").nth(1).click()
            continue
        click(page, move[:2])
        click(page, move[2:])
        page.wait_for_timeout(150)
    if not other.locator(".player.turn .dots").is_visible():
        raise UsageError("the engine has already moved: nothing was measured during a search")
    answers: dict[str, list[float]] = page.evaluate(WATCH_REPLIES, 8)
    times: list[float] = page.evaluate("() => window.moveTimes")
    print(f"{'milliseconds':<28}{'median':>8}{'99 %':>8}{'most':>8}{'count':>8}")
    for name, found in (
        ("from click to drawn move", times),
        ("from request to reply", answers["replies"]),
        ("lateness of the page's timers", answers["lateness"]),
    ):
        print_row(name, found)


def print_row(name: str, times: list[float]) -> None:
    """Prints a row of the table."""
    ordered = sorted(times)
    if not ordered:
        print(f"{name:<28} nothing was measured")
        return
    most = ordered[-1]
    high = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    print(f"{name:<28}{statistics.median(ordered):>8.1f}{high:>8.1f}{most:>8.1f}{len(ordered):>8}")


if __name__ == "__main__":
    raise SystemExit(main())
