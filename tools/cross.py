"""Builds native/core with its C++ tests for another system and runs them in an emulator: tools/dev.py cross.

    python3 tools/dev.py cross windows    with MinGW's compiler, under Wine
    python3 tools/dev.py cross arm        64-bit ARM (NEON), under QEMU

Debian: apt install g++-mingw-w64-x86-64-posix wine, or g++-aarch64-linux-gnu qemu-user. This tests what
the rules, the search and the kernel compute there. It tests neither the Python extension nor Microsoft's
compiler, and measures no speed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from bootstrap import ROOT, StepError, log

BUILD = ROOT / "build" / "cross"
FLAGS = ["-std=c++20", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-pthread", "-Inative"]
TESTS = ("core_test", "search_test", "winograd_test")


class Target(NamedTuple):
    """compiler and emulator: programs that must be on the PATH; suffix: of the programs that are built."""

    compiler: str
    flags: tuple[str, ...]
    emulator: str
    suffix: str


TARGETS = {
    "windows": Target("x86_64-w64-mingw32-g++-posix", ("-static",), "wine", ".exe"),
    "arm": Target("aarch64-linux-gnu-g++", ("-static",), "qemu-aarch64", ""),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns 0 if every test of every target passed, else 1."""
    parser = argparse.ArgumentParser(
        prog="dev.py cross", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="+", choices=TARGETS, metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="compilers at a time")
    given = parser.parse_args(arguments)
    try:
        for name in given.targets:
            check(name, TARGETS[name], given.jobs)
    except StepError as error:
        log(str(error))
        return 1
    return 0


def check(name: str, target: Target, jobs: int) -> None:
    """Builds and runs the tests for one target; raises StepError if a program is missing or fails."""
    for program in (target.compiler, target.emulator):
        if not shutil.which(program):
            raise StepError(
                f"cross {name}: {program} is not installed; `dev.py cross --help` names the packages"
            )
    folder = BUILD / name
    folder.mkdir(parents=True, exist_ok=True)
    log(f"{name}: compiling native/core and its tests")
    core = sorted((ROOT / "native" / "core").glob("*.cpp"))
    tests = [ROOT / "native" / "tests" / f"{test}.cpp" for test in TESTS]

    def compiled(source: Path) -> str:
        made = folder / f"{source.stem}.o"
        run(name, [target.compiler, *FLAGS, "-c", str(source), "-o", str(made)])
        return str(made)

    with ThreadPoolExecutor(jobs) as pool:
        *objects, core_test, search_test, winograd_test = pool.map(compiled, [*core, *tests])
    for test, made in zip(TESTS, (core_test, search_test, winograd_test), strict=True):
        program = str(folder / f"{test}{target.suffix}")
        run(name, [target.compiler, *target.flags, "-pthread", *objects, made, "-o", program])
        run(name, [target.emulator, program])


def run(name: str, command: Sequence[str]) -> None:
    """Runs a command in the checkout; raises StepError if it fails."""
    quiet = {"WINEDEBUG": "-all"}  # Wine reports much that is no fault of the program.
    status = subprocess.run(command, cwd=ROOT, env={**quiet, **os.environ}).returncode
    if status != 0:
        raise StepError(f"cross {name}: {' '.join(command)} failed with status {status}")


if __name__ == "__main__":
    sys.exit(main())
