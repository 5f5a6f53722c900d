"""Builds native/core with the compiler's sanitizers and runs its C++ tests: tools/dev.py asan.

AddressSanitizer with UndefinedBehaviorSanitizer runs native/tests/*_test.cpp, and the fuzz targets
native/tests/fuzz_*.cpp for --fuzz seconds each; then ThreadSanitizer runs those tests that use several
threads: it makes a search ten times as slow, and finds nothing on one thread. Needs GCC or Clang.
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bootstrap import ROOT, StepError, cxx, log

BUILD = ROOT / "build" / "sanitize"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
FLAGS = ["-std=c++20", "-O1", "-g1", "-ffp-contract=off", *WARNINGS, "-pthread", "-Inative"]
SANITIZERS = {
    "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-D_GLIBCXX_ASSERTIONS"],
    "thread": ["-fsanitize=thread"],
}
TESTS = ("core_test", "search_test", "winograd_test")
ARGUMENTS = {"address": [], "thread": ["threads"]}
"""What the tests are told."""

FUZZERS = ("fuzz_sfen", "fuzz_search", "fuzz_network_file")
KERNELS = {
    "amx": "amx_int8",
    "avx_vnni": "avx_vnni",
    "avx512": "avx512vl",
    "avx512_vnni": "avx512_vnni",
}
"""Parts of winograd_*.cpp -> what /proc/cpuinfo says of processors that run them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns 0 if no sanitizer and no test found a fault, else 1."""
    parser = argparse.ArgumentParser(prog="dev.py asan", description=__doc__)
    parser.add_argument(
        "--fuzz", type=seconds, default=10, metavar="SECONDS", help="time of each fuzz target (default 10)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the fuzz targets (default 1)")
    parser.add_argument(
        "--sanitizer", choices=SANITIZERS, action="append", help="run only this one (default: both)"
    )
    args = parser.parse_args(arguments)
    if os.name == "nt" or not cxx():
        log("asan: needs GCC or Clang")
        return 1
    try:
        for sanitizer in args.sanitizer or SANITIZERS:
            core = compile_core(sanitizer)
            for program in TESTS:
                run([link(program, core, sanitizer), *ARGUMENTS[sanitizer]])
            if sanitizer == "address":
                for program in FUZZERS:
                    run([link(program, core, sanitizer), str(args.fuzz), str(args.seed)])
    except StepError as error:
        log(str(error))
        return 1
    return 0


def seconds(text: str) -> float:
    """Returns a number of seconds; raises ArgumentTypeError unless it is above 0."""
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text}: expected more than 0")
    return number


def compile_core(sanitizer: str) -> list[str]:
    """Compiles native/core, one file on each processor at a time; returns the paths of the object files.

    Code that this processor cannot run is neither instrumented nor optimized, which takes longest.
    """
    folder = BUILD / sanitizer
    folder.mkdir(parents=True, exist_ok=True)
    log(f"building native/core with the {sanitizer} sanitizer")
    idle = idle_kernels()

    def compile_one(source: Path) -> str:
        target = str(folder / f"{source.stem}.o")
        how = [*shlex.split(cxx()), *FLAGS, "-O0"] if source.stem in idle else command(sanitizer)
        run([*how, "-c", str(source.relative_to(ROOT)), "-o", target])
        return target

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compile_one, sorted((ROOT / "native" / "core").glob("*.cpp"))))


def idle_kernels() -> set[str]:
    """Returns the names of the files with instructions that this processor lacks, as far as is known."""
    try:
        flags = set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return set()
    return {f"winograd_{name}" for name, flag in KERNELS.items() if "fpu" in flags and flag not in flags}


def link(program: str, core: Sequence[str], sanitizer: str) -> str:
    """Compiles a test program and links the core to it; returns its path."""
    target = str(BUILD / sanitizer / program)
    log(f"building {program} with the {sanitizer} sanitizer")
    run([*command(sanitizer), f"native/tests/{program}.cpp", *core, "-o", target])
    return target


def command(sanitizer: str) -> list[str]:
    return [*shlex.split(cxx()), *FLAGS, *SANITIZERS[sanitizer]]


def run(arguments: Sequence[str]) -> None:
    """Runs a command in the checkout; raises StepError if it fails."""
    status = subprocess.run(arguments, cwd=ROOT).returncode
    if status != 0:
        raise StepError(f"asan: {arguments[0]} failed with status {status}")


if __name__ == "__main__":
    sys.exit(main())
