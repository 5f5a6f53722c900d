"""Counts and times the leaves of the tree of legal moves, by Goryu and cshogi side by side.

    goryu perft                          two positions, five rounds
    goryu perft --rounds 9 --json FILE
    goryu perft --sfen "4k4/9/9/9/9/9/9/9/4K4 b - 1" --depth 4

Without cshogi it counts by Goryu alone. Without native code, or with --python, the Python board counts, at a
lower depth.

Exit status: 0; 1 if two counts differ; 2 for wrong arguments.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib.util import find_spec

from goryu.benchmark.perft import CASES, Case, Kind, Result, measure
from goryu.commands.common import new_parser, output_file, positive, program


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu perft", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("--sfen", help="another position (default: the start and a middle game)")
    parser.add_argument("--depth", type=positive, help="plies (default: a round takes about a second)")
    parser.add_argument("--rounds", type=positive, default=5, help="measurements for each median (default 5)")
    parser.add_argument("--python", action="store_true", help="measure the Python board, not the native one")
    parser.add_argument("--json", type=output_file, metavar="FILE", help="also write the numbers as JSON")
    return parser


def run(args: argparse.Namespace) -> int:
    """Measures, prints and writes the results; returns 1 if two counts differ."""
    kind: Kind = "python" if args.python or not find_spec("goryu._native") else "native"
    cases = CASES[kind]
    if args.sfen:
        cases = (Case("position", args.sfen, args.depth or 3),)
    elif args.depth:
        cases = tuple(replace(case, depth=args.depth, leaves=None) for case in cases)
    results = [measure(case, kind, args.rounds) for case in cases]
    for result in results:
        print_result(result)
    if args.json:
        args.json.write_text(json.dumps([to_json(result) for result in results], indent=2) + "\n", "utf-8")
    return 0 if all(result.agree for result in results) else 1


def to_json(result: Result) -> dict[str, object]:
    """Returns a result as JSON values."""
    values = {**asdict(result), "ratio": result.ratio}
    case = values.pop("case")
    return {name: case[name] for name in ("name", "sfen", "depth")} | values


def print_result(result: Result) -> None:
    """Prints the counts and speeds of one case."""
    print(f"{result.case.name}, depth {result.case.depth}: {result.case.sfen}")
    for name, leaves in result.leaves.items():
        print(f"  {name:<8}{leaves:>14,} leaves {result.leaves_per_s[name] / 1e6:>10.1f} M/s")
    if result.ratio is not None:
        print(f"  {result.ratio:.2f} times as fast as cshogi called from Python")
    if not result.agree:
        print("  THE COUNTS DIFFER")


if __name__ == "__main__":
    raise SystemExit(main())
