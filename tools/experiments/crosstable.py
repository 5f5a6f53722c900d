r"""Plays matches between all of Goryu's algorithms over USI and prints the cross table.

    python3 tools/dev.py crosstable --out runs/algorithms -- --movetime 100 --games 20 --max-plies 200

What follows `--` are options of `goryu match`, which plays every pair. If the folder given with `--out`
already holds games, the matches are resumed. A cell has the points of the engine of its row, a draw counting
half, and the 95 % interval (Wilson's) of the score in percent.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import sqrt
from pathlib import Path

from goryu.commands.common import new_parser, program
from goryu.players.agents.usi_traits import USI_TRAITS
from goryu_lab.commands import match

Z = 1.96
"""Standard deviations of a 95 % interval."""

Points = tuple[float, int]
"""Points and games."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("crosstable.py", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the matches")
    parser.add_argument("options", nargs="*", metavar="-- OPTION", help="options of goryu match")
    return parser


def run(args: argparse.Namespace) -> int:
    """Plays the matches that are missing and prints the table."""
    results: dict[tuple[str, str], Points] = {}
    for first, second in combinations(USI_TRAITS, 2):
        folder = args.out / f"{first}-{second}"
        engines = [*engine("1", first), *engine("2", second)]
        status = match.main([*engines, *args.options, "--out", str(folder)])
        if status not in (0, 1):  # 1: an engine has failed, but the match was played.
            return status
        results |= read_result(folder, first, second)
    print("\n".join(table(list(USI_TRAITS), results)))
    return 0


def engine(side: str, name: str) -> list[str]:
    """Returns the options of `goryu match` for one engine."""
    return [f"--engine{side}", f"goryu usi --algorithm {name}", f"--name{side}", name]


def read_result(folder: Path, first: str, second: str) -> dict[tuple[str, str], Points]:
    """Returns the points of both engines in a match."""
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    points, games = summary["wins"] + 0.5 * summary["draws"], summary["games"]
    return {(first, second): (points, games), (second, first): (games - points, games)}


def table(names: Sequence[str], results: Mapping[tuple[str, str], Points]) -> list[str]:
    """Returns the cross table in Markdown, by falling mean score against the opponents."""

    def mean(name: str) -> float:
        scores = [share(result) for (first, _), result in results.items() if first == name and result[1]]
        return sum(scores) / max(1, len(scores))

    ranked = sorted(names, key=lambda name: -mean(name))
    lines = [f"| | {' | '.join(ranked)} |", "|---" * (len(ranked) + 1) + "|"]
    for name in ranked:
        cells = [cell(results[name, other]) if other != name else "" for other in ranked]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def share(result: Points) -> float:
    """Returns the points per game."""
    points, games = result
    return points / games if games else 0.0


def cell(result: Points) -> str:
    """Returns the points, the games and the interval of the score in percent.

    >>> cell((20, 20)), cell((9.5, 20))
    ('20/20 (84-100 %)', '9.5/20 (28-68 %)')
    """
    points, games = result
    if not games:
        return "no games"
    mean, weight = share(result), Z * Z / games
    centre = (mean + weight / 2) / (1 + weight)
    half = Z * sqrt(mean * (1 - mean) / games + weight / games / 4) / (1 + weight)
    least, most = 100 * max(0, centre - half), 100 * min(1, centre + half)
    return f"{points:g}/{games} ({least:.0f}-{most:.0f} %)"


if __name__ == "__main__":
    raise SystemExit(main())
