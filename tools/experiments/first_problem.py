"""Measures how soon after a game the page has a problem made from it.

    python tools/experiments/first_problem.py GAMES              the loser of each game trains
    python tools/experiments/first_problem.py GAMES --limit 5 --seconds 240

GAMES has a game on each line, as `docs/pictures/games.usi`: "startpos moves ...". Each game is kept in an
empty dojo as one that has just been played; review and checks then run as they do behind the page, with the
strongest network here and the machine's cores. Prints, in seconds from the end of the game, when its review
was done, what became of each candidate, and when the first problem was there; then the medians.
"""

import argparse
import os
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

from goryu.base.errors import InputError
from goryu.commands.common import new_parser, positive, program
from goryu.kifu.reading import parse_record
from goryu.kifu.record import Ending, GameRecord
from goryu.usi.start_config import start_config
from goryu_page.dojo.dojo import Dojo
from goryu_page.dojo.games import PlayedGame
from goryu_page.dojo.problems import ProblemState

ME = "甲"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit status."""
    return program("first_problem.py", make_parser(), run, arguments, extra="web")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("games", type=Path, metavar="GAMES", help="a game on each line")
    parser.add_argument("--limit", type=positive, metavar="N", help="games, the first ones (default: all)")
    parser.add_argument("--seconds", type=positive, default=300, metavar="N", help="to wait at most (300)")
    return parser


@dataclass(slots=True)
class Times:
    """Seconds from the end of a game. decisions: what became of each candidate, when."""

    review: float | None = None
    problem: float | None = None
    decisions: list[tuple[float, str]] = field(default_factory=list)


def run(args: argparse.Namespace) -> None:
    """Measures and prints."""
    lines = args.games.read_text(encoding="ascii").splitlines()[: args.limit]
    found = []
    for number, line in enumerate(lines, start=1):
        game = played(line)
        times = measure(game, args.seconds)
        found.append(times)
        decided = ", ".join(f"{kind} {seconds:.0f}" for seconds, kind in times.decisions)
        print(
            f"{number}: {len(game.moves)} moves, review {shown(times.review)}, {decided or 'no candidate'}",
            flush=True,
        )
    problems = [times.problem for times in found if times.problem is not None]
    reviews = [times.review for times in found if times.review is not None]
    if reviews:
        print(f"review, median: {statistics.median(reviews):.0f} s")
    if problems:
        soon = sum(seconds <= 120 for seconds in problems)
        print(
            f"first problem: in {len(problems)} of {len(found)} games, {soon} within 120 s; "
            f"median {statistics.median(problems):.0f} s"
        )


def played(line: str) -> GameRecord:
    """Returns a game of one's own, which the loser, who did not move last, calls his."""
    game = parse_record(line)
    if not game.moves:
        raise InputError(f"{line}: no move")
    winner = (len(game.moves) + 1) % 2
    names = ("乙", ME) if winner == 0 else (ME, "乙")
    return GameRecord(game.start, game.plies, names=names, ending=Ending.RESIGNATION, winner=winner)


def measure(game: GameRecord, seconds: float) -> Times:
    """Keeps a game in an empty dojo; returns when what was there."""
    times, changed = Times(), Event()

    def tell(_kind: str, **_content: Any) -> None:
        changed.set()

    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # No position has been analysed before.
        dojo = Dojo(Path(folder, "dojo.sqlite3"), start_config(None, print))
        dojo.network()  # The page has it: the engine has just played.
        dojo.subscribe(tell)
        dojo.start()
        begin = monotonic()
        dojo.keep_played(PlayedGame(game, ME))
        decided: set[int] = set()
        while (now := monotonic() - begin) < seconds and times.problem is None:
            changed.wait(1)
            changed.clear()
            now = monotonic() - begin
            if times.review is None and dojo.database.rows("SELECT 1 FROM reviews WHERE is_collected"):
                times.review = now
            for row in dojo.database.rows("SELECT id, kind, state, content ->> 'reason' FROM problems"):
                identity, kind, state, reason = row
                if identity in decided or state == ProblemState.CANDIDATE:
                    continue
                decided.add(identity)
                times.decisions.append((now, f"{kind} {reason or state}"))
                if state == ProblemState.SOUND:
                    times.problem = now
            if times.review is not None and not dojo.checker.is_running:
                break
        dojo.close()
    return times


def shown(seconds: float | None) -> str:
    """Returns a number of seconds, or that there is none."""
    return "not done" if seconds is None else f"{seconds:.0f}"


if __name__ == "__main__":
    raise SystemExit(main())
