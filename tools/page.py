#!/usr/bin/env python3
"""Drives the browser page: takes the READMEs' pictures, or measures how quickly the page reacts.

    python3 tools/dev.py page pictures    writes docs/pictures/web-*.png
    python3 tools/dev.py page speed       prints a table of a game in progress
    python3 tools/dev.py page review      prints a table of a review that runs
    python3 tools/dev.py page load        prints how soon each view is there over a slow line

It needs Chromium, and measures in it. `speed`: while an engine at full strength uses every core that it may,
the time from a click to the drawn piece, the time from a request to its reply, and how late the page's own
timers are. `review`: while a game is reviewed, and with the review stopped, the time from a click to the
picture of another move, of a move that is tried on the board, and of another view. `load`: for a line of
50 KB/s and 400 ms, emulated by Chromium.
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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goryu.commands.common import UsageError, new_parser, positive, program
from goryu.kifu.reading import parse_record, read_record
from goryu.kifu.record import Ending
from goryu.kifu.writing import to_kif

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SIZE: Any = {"width": 1180, "height": 760}

GAME = PICTURES / "game.usi"
"""A game between the levels 9 and 8."""

GAMES = PICTURES / "games.usi"
"""Twelve games between the levels 7 and 8, at 100 playouts a move."""

OPPONENTS = ("鈴木花子", "佐藤次郎", "田中桂馬")
DOJO_GAMES = 12

SHOWN_PLIES = 42
"""Moves of the game in the picture of a game in progress."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit status."""
    return program("page.py", make_parser(), run, arguments, extra="test")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("task", choices=("pictures", "speed", "review", "load"))
    parser.add_argument("--moves", type=positive, default=20, help="clicks of each kind to measure (20)")
    parser.add_argument("--record", type=Path, default=GAME, metavar="FILE", help="game for `review`")
    parser.add_argument("--playouts", type=positive, default=200, help="of each position, for `review` (200)")
    return parser


def run(args: argparse.Namespace) -> None:
    """Starts the server and a browser, and does the task."""
    from playwright.sync_api import sync_playwright

    chromium = chromium_path()
    record = args.record if args.task == "review" else GAME
    games = DOJO_GAMES if args.task == "pictures" else 0
    with served(record, games) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        if args.task == "speed":
            measure(browser.new_page(viewport=SIZE, locale="en-US"), url, args.moves)
        elif args.task == "load":
            for view in ("play", "review", "games", "explorer", "train", "microscope"):
                measure_load(browser.new_context(viewport=SIZE).new_page(), url, view)
        elif args.task == "review":
            page = browser.new_page(viewport=SIZE, locale="en-US")
            # Trying the move of the game only goes there.
            tried = [move for move in TRIED if move != read_record(args.record).moves[0]]
            measure_review(page, url, args.moves, args.playouts, tried)
        else:
            for language, locale in (("", "en-US"), (".ja", "ja-JP")):
                page = browser.new_page(viewport=SIZE, locale=locale, color_scheme="light")
                take_pictures(page, url, language)
                page.close()
        browser.close()


def chromium_path() -> str:
    """Returns where Chromium is; raises UsageError without it."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise UsageError("Chromium is not installed: apt-get install chromium")
    return path


@contextlib.contextmanager
def served(record: Path, games: int) -> Iterator[str]:
    """Runs `goryu web` with a record to review, and yields its address; it keeps nothing.

    games: how many games the dojo has, between engines that play like strong amateurs.
    """
    with tempfile.TemporaryDirectory() as folder:
        write_games(Path(folder, "games"), games)
        command = [sys.executable, "-m", "goryu", "web", "--no-browser", "--games", f"{folder}/games"]
        command += ["--dojo", f"{folder}/dojo.sqlite3", str(record)]
        environment = {**os.environ, "XDG_CACHE_HOME": folder}
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server,
            _ended(server) as address,
        ):
            yield address


@contextlib.contextmanager
def _ended(server: "subprocess.Popen[str]") -> Iterator[str]:
    """Yields the address that a server prints, and ends the server."""
    assert server.stdout is not None
    words = server.stdout.readline().split()
    try:
        if len(words) < 3:
            raise UsageError("goryu web did not start: run it to see why")
        yield words[2].partition("#")[0]
    finally:
        server.terminate()


def write_games(folder: Path, count: int) -> None:
    """Writes the first games of GAMES as the user's, with names and dates."""
    folder.mkdir()
    for at, line in enumerate(GAMES.read_text(encoding="ascii").splitlines()[:count]):
        game = parse_record(line)
        names = ("山田太郎", OPPONENTS[at % 3]) if at % 2 == 0 else (OPPONENTS[at % 3], "山田太郎")
        day = f"2026/{1 + at // 2:02}/{3 + 7 * (at % 4):02}"
        winner = (len(game.moves) + 1) % 2
        kept = replace(game, names=names, headers={"開始日時": day}, ending=Ending.RESIGNATION, winner=winner)
        (folder / f"{at}.kif").write_text(to_kif(kept), encoding="utf-8")


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
    begin_the_dojo(page)
    picture_of_play(page, language)
    picture_of_the_microscope(page, url, language)
    picture_of_a_review(page, url, language)
    picture_of_the_explorer(page, url, language)
    pictures_of_the_dojo(page, url, language)


def picture_of_play(page: "Page", language: str) -> None:
    """Takes the picture of a game against the fifth level, with a hint."""
    page.wait_for_selector(".setup form button.primary")
    moves = GAME.read_text(encoding="ascii").split()[2:]
    setup = {"game": "shogi", "side": "first", "opponent": "5", "moves": moves[:SHOWN_PLIES]}
    page.evaluate(
        """async (setup) => {
          const socket = goryu.take("js/socket.js");
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
    moves_shown = page.locator(".microscope .shown input").nth(1)
    moves_shown.fill("3")
    moves_shown.press("Enter")
    page.fill(".playout", "60")
    page.press(".playout", "Enter")
    page.wait_for_function("() => document.querySelectorAll('.graph g.node').length > 8")
    page.wait_for_timeout(1500)  # Its animation.
    page.locator(".microscope .setup summary").first.click()
    shoot(page, f"web-microscope{language}")


def picture_of_a_review(page: "Page", url: str, language: str) -> None:
    """Takes the picture of a reviewed game at its worst mistake."""
    page.goto(f"{url}#review/file")
    done = "() => document.querySelector('.review-progress progress')?.value === 1"
    page.wait_for_function(done, timeout=600_000)
    page.wait_for_timeout(1000)  # The list of mistakes is written anew at the end.
    # The worst one: losses are shown as −23 %.
    losses = page.locator(".mistakes button").all_inner_texts()
    worst = max(range(len(losses)), key=lambda at: int(re.findall(r"(\d+)\s*%", losses[at])[-1]))
    page.locator(".mistakes button").nth(worst).click()
    page.evaluate("() => scrollTo(0, 0)")
    shoot(page, f"web-review{language}", height=1130)


def begin_the_dojo(page: "Page") -> None:
    """Has the games reviewed and the problems checked, with few playouts; it goes on in the background."""
    page.wait_for_selector(".setup form button.primary")  # The page is connected.
    page.evaluate(
        """async () => {
          const socket = goryu.take("js/socket.js");
          await socket.request("games.playouts", { playouts: 60 });
          await socket.request("games.me", { names: ["山田太郎"] });
          await socket.request("train.change", { changes: { playouts: 1000 } });
        }"""
    )


def picture_of_the_explorer(page: "Page", url: str, language: str) -> None:
    """Takes the picture of a position in which games meet."""
    page.goto(f"{url}#explorer/7g7f,3c3d")
    page.wait_for_selector(".explored .meeting")
    shoot(page, f"web-explorer{language}")


def pictures_of_the_dojo(page: "Page", url: str, language: str) -> None:
    """Takes the pictures of the user's games and of a problem, when there are both."""
    page.goto(f"{url}#games")
    state = """async () => {
      const socket = goryu.take("js/socket.js");
      const { total } = await socket.request("games.list", { reviewed: "yes" });
      const { counts } = await socket.request("train.summary");
      return [total, counts.mistake];
    }"""
    while (found := page.evaluate(state)) and (found[0] < DOJO_GAMES or not found[1]):
        page.wait_for_timeout(2000)
    page.reload()
    page.wait_for_selector(".games table tbody tr")
    shoot(page, f"web-games{language}")
    page.goto(f"{url}#train")
    page.locator(".kinds button").first.click()
    page.wait_for_selector(".train .shogi")
    shoot(page, f"web-train{language}")


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
  const socket = goryu.take("js/socket.js");
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


LINE = {"offline": False, "latency": 400, "downloadThroughput": 50 << 10, "uploadThroughput": 50 << 10}


def measure_load(page: "Page", url: str, view: str) -> None:
    """Prints what a view loads, and how soon something, and then the view, is painted."""
    line, received = page.context.new_cdp_session(page), list[float]()
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", LINE)
    line.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    page.goto(f"{url}#{view}")
    page.wait_for_selector(f".view.{view}:visible")
    shown: float = page.evaluate("() => performance.now()")
    page.wait_for_timeout(3000)  # The pictures of the pieces.
    paint: float = page.evaluate("() => performance.getEntriesByType('paint')[0].startTime")
    count = 1 + page.evaluate(
        "() => new Set(performance.getEntriesByType('resource').map((one) => one.name)).size"
    )
    size = sum(received) / 1024
    print(f"{view:<12}{count:>3} requests{size:>7.0f} KB  first paint {paint:.0f} ms, view {shown:.0f} ms")


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
    print(f"{'milliseconds':<44}{'median':>8}{'99 %':>8}{'most':>8}{'count':>8}")
    for name, found in (
        ("from click to drawn move", times),
        ("from request to reply", answers["replies"]),
        ("lateness of the page's timers", answers["lateness"]),
    ):
        print_row(name, found)


UNTIL_PAINTED = """
(check) => {
  window.painted = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`not painted within 10 s: ${check}`)), 10000);
    let from = null;
    const note = (event) => (from = event.timeStamp);
    document.addEventListener("pointerdown", note, { capture: true });
    const isDone = new Function(`return ${check}`);
    const look = () => {
      if (from === null || !isDone()) return requestAnimationFrame(look);
      document.removeEventListener("pointerdown", note, { capture: true });
      setTimeout(() => resolve(performance.now() - from)); // After this frame is painted.
    };
    requestAnimationFrame(look);
  });
}
"""
"""Measures from the last press of the mouse to the painted frame in which `check` is true."""

IS_RUNNING = "document.querySelector('.review-progress progress').value < 1"
GO, TRY, OPEN = "going to another move", "trying a move", "opening a view"
TRIED = ("7g7f", "2g2f", "6g6f", "5g5f", "9g9f", "1g1f", "3g3f", "4g4f")
"""Moves of Black to try at the start of the game."""


def measure_review(page: "Page", url: str, count: int, playouts: int, tried: Sequence[str]) -> None:
    """Prints how quickly the page reacts while a review runs, and while nothing runs."""
    page.add_init_script(f"localStorage.setItem('goryu.review.playouts', '{playouts}')")
    page.goto(f"{url}#review/file")
    page.wait_for_selector(".candidates td.name", timeout=120_000)  # The first position is there.
    _open_views(page)  # The first time loads their programs.
    button = page.locator(".review-progress button")
    times: dict[tuple[str, str], list[float]] = {}
    for number in range(count):
        for state in ("reviewing", "idle"):
            is_running = page.evaluate(f"() => {IS_RUNNING}")
            if state == "reviewing" and not is_running:
                break
            if state == "idle":
                button.click()  # Stops the review.
                page.wait_for_timeout(500)
            times.setdefault((GO, state), []).append(_go_to_a_move(page, number))
            times.setdefault((TRY, state), []).append(_try_a_move(page, tried[number % len(tried)]))
            times.setdefault((OPEN, state), []).extend(_open_views(page))
            if state == "idle":
                button.click()
                page.wait_for_timeout(500)
    print(f"{'milliseconds':<44}{'median':>8}{'99 %':>8}{'most':>8}{'count':>8}")
    for (name, state), found in sorted(times.items()):
        print_row(f"{name}, {state}", found)


def _painted(page: "Page", check: str, click: Callable[[], None]) -> float:
    """Returns the milliseconds from the last press of the mouse in `click` to the picture of it."""
    page.evaluate(UNTIL_PAINTED, check)
    click()
    milliseconds: float = page.evaluate("() => window.painted")
    return milliseconds


def _go_to_a_move(page: "Page", number: int) -> float:
    moves = page.locator(".game-moves .game-move")
    at = 1 + 7 * number % (moves.count() - 1)
    check = f"document.querySelectorAll('.game-moves .game-move')[{at}].hasAttribute('aria-current')"
    return _painted(page, check, moves.nth(at).click)


def _try_a_move(page: "Page", move: str) -> float:
    """Tries a move at the start; it is drawn when the reply of the server has the moves of the other side."""
    page.locator(".navigation button").first.click()
    page.evaluate("() => scrollTo(0, 0)")
    page.wait_for_selector(".manipulable")
    click(page, move[:2])
    check = "!document.querySelector('.navigation .primary').hidden"
    return _painted(page, check, lambda: click(page, move[2:]))


def _open_views(page: "Page") -> list[float]:
    times = []
    for name in ("play", "microscope", "review"):
        check = f"document.querySelector('section.{name}')?.hidden === false"
        times.append(_painted(page, check, page.locator(f'#tabs a[href="#{name}"]').click))
    return times


def print_row(name: str, times: list[float]) -> None:
    """Prints a row of the table."""
    ordered = sorted(times)
    if not ordered:
        print(f"{name:<44} nothing was measured")
        return
    most = ordered[-1]
    high = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    print(f"{name:<44}{statistics.median(ordered):>8.1f}{high:>8.1f}{most:>8.1f}{len(ordered):>8}")


if __name__ == "__main__":
    raise SystemExit(main())
