#!/usr/bin/env python3
"""Plays series of games that decide what a change of the search brings, an hour at a time, on any computer.

    python3 tools/dev.py series                        lists the series and what they have decided
    python3 tools/dev.py series --minutes 60           plays on with the open one that is due first
    python3 tools/dev.py series --minutes 60 --only NAME

tools/series/NAME.toml says what is asked, with which match, and when it is decided at the latest:

    question = "Does more exploration win games with the network of miniosl?"
    match = "--engine1 goryu --option1 C_init=125 ... --nodes 800 --sprt 0 30"
    signature = "67b3edeba68a2d92"
    decide_by = 2027-01-31

`match` has arguments of `goryu match`, with a limit of nodes and --sprt, so that a busy machine changes
nothing. "goryu" as an engine is the one of this checkout. `signature` is its bench signature: games of
another search would be another series. {root} stands for the folder of the checkout.

NAME.pairs grows: a line for each pair of games, in order, with engine 1's points in both games and the commit
that played them. It is small enough for git, and all that another computer needs. The games themselves stay
in runs/series/NAME. When a series is decided, its result becomes a row of docs/tried.md, and both files go.
"""

import argparse
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from goryu.base.errors import InputError
from goryu.commands.common import new_parser, positive, program
from goryu_lab.benchmark.signature import bench_signature
from goryu_lab.commands.match import make_config
from goryu_lab.commands.match import make_parser as match_parser
from goryu_lab.match.game_log import GameEntry, GameLog
from goryu_lab.match.report import elo_text, sprt_text
from goryu_lab.match.sprt import SequentialTest
from goryu_lab.match.tournament import Match, MatchConfig, complete_pairs

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tools" / "series"
GAMES = ROOT / "runs" / "series"

POINTS = {"0": 0.0, "1/2": 0.5, "1": 1.0}
"""How a pair's line writes engine 1's points in a game."""


@dataclass(frozen=True, slots=True)
class Series:
    """A question that pairs of games decide.

    match: what is played; its sequential test decides. signature: of the search that plays.
    pairs: engine 1's points in the games of each pair so far.
    """

    path: Path
    question: str
    match: MatchConfig
    signature: str
    decide_by: date
    pairs: tuple[tuple[float, float], ...]

    @property
    def name(self) -> str:
        """The name of its files."""
        return self.path.stem

    @property
    def test(self) -> SequentialTest:
        """The sequential test after the pairs so far."""
        assert self.match.sprt is not None
        test = SequentialTest(self.match.sprt)
        for points in self.pairs:
            test.add(points)
        return test

    @property
    def is_open(self) -> bool:
        """May it be played on? It has no verdict yet, and openings are left."""
        return self.test.verdict is None and len(self.pairs) < len(self.match.openings)

    def line(self) -> str:
        """Returns what it asks, and how far it has come."""
        test = self.test
        state = "open" if self.is_open else "decided" if test.verdict else "no opening left"
        return (
            f"{self.name}: {self.question}\n"
            f"  {state}, {2 * len(self.pairs)} games, {elo_text(test.statistics)}, {sprt_text(test)}; "
            f"by {self.decide_by}"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("series.py", make_parser(), run, arguments, extra="tools")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("--minutes", type=positive, metavar="N", help="play on for so long")
    parser.add_argument("--only", metavar="NAME", help="this series")
    parser.add_argument("--concurrency", type=positive, default=1, metavar="N", help="games at a time")
    parser.add_argument("--folder", type=Path, default=FOLDER, metavar="DIR", help="of the series")
    parser.add_argument("--out", type=Path, default=GAMES, metavar="DIR", help="of the games")
    return parser


def run(args: argparse.Namespace) -> None:
    """Lists the series, or plays one."""
    found = sorted((read_series(path) for path in args.folder.glob("*.toml")), key=lambda one: one.decide_by)
    if args.only:
        found = [one for one in found if one.name == args.only]
        if not found:
            raise InputError(f"{args.folder}: there is no {args.only}.toml")
    if args.minutes:
        wanted = next((one for one in found if one.is_open), None)
        if wanted is None:
            raise InputError("no series is open")
        play(
            replace(wanted, match=replace(wanted.match, concurrency=args.concurrency)),
            60 * args.minutes,
            args.out,
        )
        found = [read_series(wanted.path)]
    for one in found:
        print(one.line())


def read_series(path: Path) -> Series:
    """Returns a series with its pairs; raises InputError if a file of it cannot be used."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        wanted = {"question": str, "match": str, "signature": str, "decide_by": date}
        if values.keys() != wanted.keys() or any(type(values[key]) is not wanted[key] for key in wanted):
            raise InputError(f"expected texts question, match and signature, and a date decide_by: {values}")
        words = [word.replace("{root}", str(ROOT)) for word in shlex.split(values.pop("match"))]
        match = make_config(match_parser().parse_args([*words, "--games", "2"]))
        if match.sprt is None or any(engine.limits.nodes is None for engine in match.engines):
            raise InputError("match: expected --sprt, and --nodes for both engines")
        pairs = read_pairs(path.with_suffix(".pairs"))
    except (InputError, ValueError) as error:
        raise InputError(f"{path}: {error}") from None
    return Series(path, match=replace(match, games=2 * len(match.openings)), pairs=pairs, **values)


def read_pairs(path: Path) -> tuple[tuple[float, float], ...]:
    """Returns the points of the pairs in a file; raises InputError if a line is no pair, or out of order."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    pairs = []
    for number, line in enumerate(text.splitlines()):
        match line.split():
            case [place, first, second, _commit] if place == str(number) and {first, second} <= POINTS.keys():
                pairs.append((POINTS[first], POINTS[second]))
            case _:
                raise InputError(f"{path.name}:{number + 1}: expected '{number} POINTS POINTS COMMIT'")
    return tuple(pairs)


def play(series: Series, seconds: float, out: Path) -> None:
    """Plays pairs of a series for some time, and adds them to its file. out: the folder for the games."""
    if (signature := bench_signature().digest) != series.signature:
        raise InputError(f"{series.path}: its search has the signature {series.signature}, ours {signature}")
    end_s = time.monotonic() + seconds
    folder = out / series.name
    folder.mkdir(parents=True, exist_ok=True)
    config = replace(series.match, first_pair=len(series.pairs), directory=folder)
    pairs, played_by = list(series.pairs), commit()

    def add_finished(_entry: GameEntry) -> None:
        """Adds the pairs that follow the last one; with several games at a time a later one may end first."""
        points = {a.number // 2: (a.score, b.score) for a, b in complete_pairs(match.entries)}
        while len(pairs) in points:
            line = pair_line(len(pairs), points[len(pairs)], played_by)
            with series.path.with_suffix(".pairs").open("a", encoding="utf-8", newline="\n") as file:
                file.write(line + "\n")
            pairs.append(points[len(pairs)])
            print(f"{series.name}: {line}", flush=True)

    with closing(GameLog(folder / "games.jsonl", config.identity())) as log:
        match = Match(config, log, add_finished, earlier=pairs, is_late=lambda: time.monotonic() > end_s)
        match.run()


def pair_line(number: int, points: tuple[float, float], played_by: str) -> str:
    """Returns the line of a pair."""
    names = {value: name for name, value in POINTS.items()}
    return f"{number} {names[points[0]]} {names[points[1]]} {played_by}"


def commit() -> str:
    """Returns the short name of the commit of this checkout, with "+" if files differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    is_changed = git("status", "--porcelain", "--untracked-files=no", "--", "engine", "native")
    return (git("rev-parse", "--short=8", "HEAD") or "unknown") + ("+" if is_changed else "")


if __name__ == "__main__":
    sys.exit(main())
