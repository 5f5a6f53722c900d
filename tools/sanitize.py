"""Builds native/core with the compiler's sanitizers and runs its C++ tests: tools/dev.py asan.

First AddressSanitizer with UndefinedBehaviorSanitizer, then ThreadSanitizer, on native/tests/*_test.cpp; then
the fuzz targets native/tests/fuzz_*.cpp for --fuzz seconds each. Needs GCC or Clang.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence

from bootstrap import ROOT, StepError, cxx, log

BUILD = ROOT / "build" / "sanitize"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
FLAGS = ["-std=c++20", "-O1", "-g", "-ffp-contract=off", *WARNINGS, "-pthread", "-Inative"]
SANITIZERS = {
    "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-D_GLIBCXX_ASSERTIONS"],
    "thread": ["-fsanitize=thread"],
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns 0 if no sanitizer and no test found a fault, else 1."""
    parser = argparse.ArgumentParser(prog="dev.py asan", description=__doc__)
    parser.add_argument(
        "--fuzz", type=float, default=10, metavar="SECONDS", help="time of each fuzz target (default 10)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the fuzz targets (default 1)")
    args = parser.parse_args(arguments)
    if os.name == "nt" or not cxx():
        log("asan: needs GCC or Clang")
        return 1
    BUILD.mkdir(parents=True, exist_ok=True)
    try:
        for sanitizer in SANITIZERS:
            for program in ("core_test", "search_test", "winograd_test"):
                run([build(program, sanitizer)])
        for program in ("fuzz_sfen", "fuzz_search"):
            run([build(program, "address"), str(args.fuzz), str(args.seed)])
    except StepError as error:
        log(str(error))
        return 1
    return 0


def build(program: str, sanitizer: str) -> str:
    """Compiles the core with a test program; returns its path."""
    target = str(BUILD / f"{program}_{sanitizer}")
    log(f"building {program} with the {sanitizer} sanitizer")
    core = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "native" / "core").glob("*.cpp"))
    sources = [*core, f"native/tests/{program}.cpp"]
    run([*shlex.split(cxx()), *FLAGS, *SANITIZERS[sanitizer], *sources, "-o", target])
    return target


def run(command: Sequence[str]) -> None:
    """Runs a command in the checkout; raises StepError if it fails."""
    status = subprocess.run(command, cwd=ROOT).returncode
    if status != 0:
        raise StepError(f"asan: {shlex.join(command[:1])} failed with status {status}")


if __name__ == "__main__":
    sys.exit(main())
