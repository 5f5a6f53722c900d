#!/usr/bin/env python3
"""Perft as a race: Goryu and cshogi count the leaves of the same trees of legal moves, in turn.

    python3 tools/dev.py perft-race --rounds 5

The median of the rounds counts, in leaves per second of processor time, so that another program on the
machine slows both alike. cshogi is called from Python: its leaves are the lengths of its `legal_moves` lists.
Both count the moves at the last ply without playing them. The exit status is 1 if two counts differ.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from statistics import median
from typing import Any, Literal

import cshogi

from goryu.commands.common import new_parser, positive, program
from goryu.games.perft import perft
from goryu.games.shogi import START_SFEN, Board
from goryu.implementation import IMPLEMENTATION

MIDDLE_GAME = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"

NATIVE_PLIES = 4
"""The native code counts this deep in one call; Ctrl-C has to wait for its end."""

Kind = Literal["python", "native"]


@dataclass(frozen=True, slots=True)
class Case:
    """A position and the depth of its tree. leaves: their known number, if any."""

    name: str
    sfen: str
    depth: int
    leaves: int | None = None


CASES: dict[Kind, tuple[Case, ...]] = {
    "native": (
        Case("start", START_SFEN, 5, 19_861_490),
        Case("middle game", MIDDLE_GAME, 3, 4_809_015),
    ),
    "python": (
        Case("start", START_SFEN, 3, 25_470),
        Case("middle game", MIDDLE_GAME, 2, 28_684),
    ),
}
"""For each implementation, trees that it counts within about a second."""


@dataclass(frozen=True, slots=True)
class Result:
    """The counts and speeds of one case, by the name of the program: "python", "native" or "cshogi".

    agree: are all counts equal, and equal to the known number?
    """

    case: Case
    leaves: dict[str, int]
    leaves_per_s: dict[str, float]
    agree: bool

    @property
    def ratio(self) -> float:
        """Goryu's speed divided by that of cshogi."""
        (ours,) = self.leaves_per_s.keys() - {"cshogi"}
        return self.leaves_per_s[ours] / self.leaves_per_s["cshogi"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = new_parser(__doc__)
    parser.add_argument("--rounds", type=positive, default=5, metavar="N", help="for each median (default 5)")
    return program("perft-race", parser, run, arguments)


def run(args: argparse.Namespace) -> int:
    """Prints leaves and rates of each tree; returns 1 if counts differ."""
    kind: Kind = "native" if IMPLEMENTATION == "native" else "python"
    results = [measure(case, kind, args.rounds) for case in CASES[kind]]
    for result in results:
        print(f"{result.case.name}, depth {result.case.depth}: {result.case.sfen}")
        for name, leaves in result.leaves.items():
            print(f"  {name:<8}{leaves:>14,} leaves {result.leaves_per_s[name] / 1e6:>10.1f} M/s")
        print(f"  {result.ratio:.2f} times as fast as cshogi called from Python")
        if not result.agree:
            print("  THE COUNTS DIFFER")
    return 0 if all(result.agree for result in results) else 1


def measure(case: Case, kind: Kind, rounds: int) -> Result:
    """Counts and times the leaves of a case; raises SfenError if its position is not legal."""
    ours = native_counter(case) if kind == "native" else python_counter(case)
    programs = {kind: ours, "cshogi": cshogi_counter(case)}
    leaves: dict[str, int] = {}
    speeds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, count in programs.items():
            started = time.process_time()
            leaves[name] = count()
            speeds[name].append(leaves[name] / max(time.process_time() - started, 1e-9))
    known = {case.leaves} - {None}
    return Result(
        case=case,
        leaves=leaves,
        leaves_per_s={name: median(values) for name, values in speeds.items()},
        agree=len({*leaves.values(), *known}) == 1,
    )


def native_counter(case: Case) -> Callable[[], int]:
    """Returns the function that counts with the native board; raises ImportError if it is not built."""
    native: Any = import_module("goryu._native")
    board = native.Board(case.sfen)

    def count(depth: int) -> int:
        if depth <= NATIVE_PLIES:
            return int(native.perft(board, depth))
        leaves = 0
        for move in board.legal_moves():
            board.push(move)
            leaves += count(depth - 1)
            board.pop()
        return leaves

    return lambda: count(case.depth)


def python_counter(case: Case) -> Callable[[], int]:
    """Returns the function that counts with the Python board."""
    board = Board(case.sfen)
    return lambda: perft(board, case.depth)


def cshogi_counter(case: Case) -> Callable[[], int]:
    """Returns the function that counts with cshogi."""
    board = cshogi.Board(case.sfen)

    def count(depth: int) -> int:
        if depth <= 1:
            return len(board.legal_moves) if depth == 1 else 1
        leaves = 0
        for move in board.legal_moves:
            board.push(move)
            leaves += count(depth - 1)
            board.pop()
        return leaves

    return lambda: count(case.depth)


if __name__ == "__main__":
    raise SystemExit(main())
