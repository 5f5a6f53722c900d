"""Sends random bytes and commands to the USI engine and checks that it survives and answers as it must.

    python tools/fuzz.py --seconds 600                      each implementation for ten minutes
    python tools/fuzz.py --seed 7 --sessions 1 --implementation native    one session again

Each session starts a new process. The input of a session that fails is kept in --out.

Exit status: 0; 1 after a failed session; 2 for wrong arguments.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random

from goryu.commands.common import above_zero, new_parser, positive, program
from goryu_lab.match.fuzzer import FuzzerError, make_session, play


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("fuzz.py", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument(
        "--implementation", choices=("python", "native"), help="default: each one that is installed"
    )
    parser.add_argument(
        "--seconds", type=above_zero, default=600, metavar="S", help="for each implementation (default 600)"
    )
    parser.add_argument(
        "--sessions", type=positive, default=sys.maxsize, metavar="N", help="at most (default: no limit)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the first session (default 1)")
    parser.add_argument(
        "--pieces", type=positive, default=200, metavar="N",
        help="commands and random bytes of a session (default 200)",
    )  # fmt: skip
    parser.add_argument(
        "--engine", nargs="+", default=[sys.executable, "-m", "goryu"], metavar="WORD",
        help="command of the engine (default: goryu)",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, default=Path("build/fuzz"), metavar="DIR",
        help="folder for the input of failed sessions (default build/fuzz)",
    )  # fmt: skip
    return parser


def run(args: argparse.Namespace) -> int:
    """Fuzzes each implementation; returns 1 if a session failed."""
    installed = ("python", "native") if find_spec("goryu._native") else ("python",)
    names = [args.implementation] if args.implementation else installed
    return int(sum([fuzz(args, name) for name in names]) > 0)


def fuzz(args: argparse.Namespace, implementation: str) -> int:
    """Plays the sessions of one implementation and prints a summary; returns how many failed."""
    start_s, seed, counts, failures = time.monotonic(), args.seed, Counter[str](), 0
    while time.monotonic() - start_s < args.seconds and seed - args.seed < args.sessions:
        data = make_session(Random(seed), args.pieces)
        try:
            counts += play(args.engine, data, Random(seed), implementation)
        except FuzzerError as error:
            failures += 1
            args.out.mkdir(parents=True, exist_ok=True)
            kept = args.out / f"{implementation}-{seed}.bytes"
            kept.write_bytes(b"".join(data))
            print(f"{implementation}, seed {seed}: {error}\n  input: {kept}", flush=True)
        seed += 1
    print(
        f"{implementation}: {seed - args.seed} sessions in {time.monotonic() - start_s:.0f} s, "
        f"{counts['bytes']} bytes, {counts['lines']} lines, {counts['go']} go, {counts['isready']} isready; "
        f"{counts['received']} lines received; {failures} sessions failed",
        flush=True,
    )
    return failures


if __name__ == "__main__":
    raise SystemExit(main())
