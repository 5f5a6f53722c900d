"""Perft: leaves of the tree of legal moves, ours and cshogi's side by side.

    python tools/perft.py                          the two positions of the table, five rounds
    python tools/perft.py --rounds 9 --json FILE
    python tools/perft.py --sfen "4k4/9/9/9/9/9/9/9/4K4 b - 1" --depth 4

The implementations take turns in one process and the median of the rounds counts, in leaves per second of
processor time, so that another program on the machine weighs on both alike. Ours is the native core;
cshogi is driven from Python through the lengths of its `legal_moves` lists. Both count at the last ply.
Where the native core is not built, or with --python, the Python board is measured, at a lower depth.
"""

import argparse
import importlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

from goryu.games.perft import perft
from goryu.games.shogi import START_SFEN, Board, SfenError

try:
    NATIVE: ModuleType | None = importlib.import_module("goryu._native")
except ImportError:
    NATIVE = None

MIDDLE_GAME = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"


@dataclass(frozen=True, slots=True)
class Case:
    """A position and how deep to look; leaves: the known count, if any."""

    name: str
    sfen: str
    depth: int
    leaves: int | None = None


NATIVE_CASES: tuple[Case, ...] = (
    Case("start", START_SFEN, 5, 19_861_490),
    Case("middle game", MIDDLE_GAME, 3, 4_809_015),
)
PYTHON_CASES: tuple[Case, ...] = (
    Case("start", START_SFEN, 3, 25_470),
    Case("middle game", MIDDLE_GAME, 2, 28_684),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns 1 if two counts differ."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--sfen", help="another position than the two of the table")
    parser.add_argument("--depth", type=int, help="plies (default: so that a round takes a second or less)")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each (default: 5)")
    parser.add_argument("--python", action="store_true", help="measure the Python board, not the native one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    args = parser.parse_args(arguments)
    for name in ("depth", "rounds"):
        if (number := getattr(args, name)) is not None and number < 1:
            parser.error(f"--{name} {number}: expected at least 1")
    ours = "python" if args.python or NATIVE is None else "native"
    cases = NATIVE_CASES if ours == "native" else PYTHON_CASES
    if args.sfen:
        cases = (Case("position", args.sfen, args.depth or 3),)
    elif args.depth:
        cases = tuple(Case(case.name, case.sfen, args.depth) for case in cases)
    try:
        figures = [measure(case, ours, args.rounds) for case in cases]
        for figure in figures:
            print_figure(figure)
        if args.json:
            args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    except (OSError, SfenError) as error:
        print(f"perft: {error}", file=sys.stderr)
        return 2
    return 0 if all(figure["agree"] for figure in figures) else 1


def measure(case: Case, ours: str, rounds: int) -> dict[str, Any]:
    """Returns leaves and leaves per second of each implementation; `agree`: are all counts equal?"""
    contenders = {ours: native_perft(case) if ours == "native" else python_perft(case)}
    if theirs := cshogi_perft(case):
        contenders["cshogi"] = theirs
    leaves: dict[str, int] = {}
    speeds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, count in contenders.items():
            started = time.process_time()
            leaves[name] = count()
            speeds[name].append(leaves[name] / max(time.process_time() - started, 1e-9))
    expected = set() if case.leaves is None else {case.leaves}
    figure: dict[str, Any] = {
        "name": case.name,
        "sfen": case.sfen,
        "depth": case.depth,
        "leaves": leaves,
        "leaves_per_s": {name: median(values) for name, values in speeds.items()},
        "agree": len({*leaves.values(), *expected}) == 1,
    }
    if "cshogi" in contenders:
        figure["ratio"] = figure["leaves_per_s"][ours] / figure["leaves_per_s"]["cshogi"]
    return figure


def native_perft(case: Case) -> Callable[[], int]:
    assert NATIVE is not None
    count: Callable[..., int] = NATIVE.perft
    board = NATIVE.Board(case.sfen)
    return lambda: count(board, case.depth)


def python_perft(case: Case) -> Callable[[], int]:
    board = Board(case.sfen)
    return lambda: perft(board, case.depth)


def cshogi_perft(case: Case) -> Callable[[], int] | None:
    """Returns cshogi's perft, or None where it is not installed."""
    try:
        import cshogi
    except ImportError:
        return None
    board = cshogi.Board(case.sfen)

    def perft(depth: int) -> int:
        if depth <= 1:
            return len(board.legal_moves) if depth == 1 else 1
        leaves = 0
        for move in board.legal_moves:
            board.push(move)
            leaves += perft(depth - 1)
            board.pop()
        return leaves

    return lambda: perft(case.depth)


def print_figure(figure: dict[str, Any]) -> None:
    print(f"{figure['name']}, depth {figure['depth']}: {figure['sfen']}")
    for name, leaves in figure["leaves"].items():
        print(f"  {name:<8}{leaves:>14,} leaves {figure['leaves_per_s'][name] / 1e6:>10.1f} M/s")
    if "ratio" in figure:
        print(f"  {figure['ratio']:.2f} times as fast as cshogi driven from Python")
    if not figure["agree"]:
        print("  THE COUNTS DIFFER")


if __name__ == "__main__":
    sys.exit(main())
