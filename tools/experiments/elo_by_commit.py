r"""Draws the Elo of commits against one opponent, from matches that were kept.

    for commit in v0.1.0 main; do  # Each checked out and set up in a folder of its own.
        goryu match --engine1 ../$commit/.venv/bin/goryu --name1 $commit --engine2 gpsshogi \
            --movetime 1000 --games 200 --out runs/by-commit/$commit
    done
    python tools/experiments/elo_by_commit.py runs/by-commit/* --out elo.svg

The name of engine 1 is what git calls the commit. All matches have the same second engine, openings, rules
and limits, or their Elo cannot be compared. The points stand in the order of the commits' dates, with 95 %
intervals.
"""

import argparse
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any

from goryu.base.errors import InputError
from goryu.commands.common import new_parser, picture_file, program
from goryu_lab.match.game_log import read_game_log, read_match_config
from goryu_lab.match.match_statistics import MatchStatistics, format_elo
from goryu_lab.match.tournament import distinct_pairs

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Point:
    """A commit and its match. date: of the commit, in seconds since 1970."""

    name: str
    date: int
    subject: str
    statistics: MatchStatistics


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("elo_by_commit.py", make_parser(), run, arguments, extra="tools")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("matches", nargs="+", type=Path, metavar="DIR", help="folder of a match")
    parser.add_argument("--repository", type=Path, default=ROOT, metavar="DIR", help="default: this one")
    parser.add_argument("--out", type=picture_file, required=True, metavar="FILE", help="the picture")
    return parser


def run(args: argparse.Namespace) -> None:
    """Prints a line for each commit and draws the picture."""
    logs = [folder / "games.jsonl" for folder in args.matches]
    check_comparable(logs)
    points = sorted((read_point(log, args.repository) for log in logs), key=lambda point: point.date)
    for point in points:
        low, high = map(format_elo, point.statistics.elo_interval)
        elo, games = format_elo(point.statistics.elo), 2 * point.statistics.pairs
        print(f"{point.name:<12} {elo:>8} [{low}, {high}] {games:>5} games  {point.subject}")
    draw(points, args.out)


def check_comparable(logs: Sequence[Path]) -> None:
    """Raises InputError if the matches differ in more than the first engine's program and options."""
    configs = [opponent(read_match_config(log)) for log in logs]
    for log, config in zip(logs, configs, strict=True):
        different = sorted(key for key in config if config[key] != configs[0].get(key))
        if different:
            raise InputError(f"{log}: expected the match of {logs[0]} (different: {', '.join(different)})")


def opponent(config: dict[str, Any]) -> dict[str, Any]:
    """Returns what the matches of two commits have in common."""
    first = config.get("engine1", {})
    return {**config, "engine1": None, "limits1": first.get("limits")}


def read_point(log: Path, repository: Path) -> Point:
    """Returns the commit that the first engine's name says, with its match."""
    names, entries = read_game_log(log)
    pairs = distinct_pairs(entries)
    if names is None or not pairs:
        raise InputError(f"{log}: no complete pair of games yet")
    statistics = MatchStatistics.from_pairs((a.score, b.score) for a, b in pairs)
    command = [
        "git",
        "-C",
        str(repository),
        "log",
        "-1",
        "--format=%ct %s",
        "--end-of-options",
        names[0],
        "--",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"{log}: engine 1 has the name {names[0]!r}: expected a commit (use --name1)")
    date, _, subject = done.stdout.strip().partition(" ")
    return Point(names[0], int(date), subject, statistics)


def draw(points: Sequence[Point], picture: Path) -> None:
    """Draws the points; one whose Elo is infinite is left out, an infinite end of an interval has no bar."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(6, 0.5 * len(points) + 2), 4), layout="constrained")
    axes = figure.subplots()
    for x, point in enumerate(points):
        elo = point.statistics.elo
        if isfinite(elo):
            low, high = (end if isfinite(end) else elo for end in point.statistics.elo_interval)
            axes.errorbar(x, elo, [[elo - low], [high - elo]], fmt="o", color="tab:red", capsize=3)
    dates = [datetime.fromtimestamp(point.date, UTC) for point in points]
    labels = [f"{point.name[:12]}\n{date:%Y-%m-%d}" for point, date in zip(points, dates, strict=True)]
    axes.set_xticks(range(len(points)), labels, rotation=60, ha="right")
    axes.set_ylabel("Elo, with 95 % interval")
    axes.grid(axis="y", alpha=0.4)
    figure.savefig(picture)


if __name__ == "__main__":
    raise SystemExit(main())
