#!/usr/bin/env python3
"""The task runner of this checkout; it needs nothing but Python 3.11 or newer.

Each verb first sets up what it lacks (tools/bootstrap.py): .venv with goryu and its dependencies in it, and
the native code where there is a C++ compiler.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

if sys.version_info < (3, 11):  # noqa: UP036 (whoever has an older one shall read why it does not do)
    names = [name for name in ("python3.14", "python3.13", "python3.12", "python3.11") if shutil.which(name)]
    advice = f"run {names[0]} tools/dev.py" if names else "install a newer one"
    sys.exit(f"goryu needs Python 3.11 or newer, this is {sys.version.split()[0]}; {advice}")

import bootstrap
from bootstrap import PYTHON, ROOT, VENV, StepError, programs, say


class Verb(NamedTuple):
    """run(arguments) -> exit status; called once goryu is installed with the extras, unless they are None."""

    help: str
    extras: tuple[str, ...] | None
    run: Callable[[Sequence[str]], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one verb and returns its exit status."""
    lines = "\n".join(f"  {name:<9} {verb.help}" for name, verb in VERBS.items())
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=f"verbs:\n{lines}", formatter_class=raw)
    parser.add_argument("verb", choices=VERBS, metavar="VERB")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="what the verb is given")
    given = parser.parse_args(argv)
    verb = VERBS[given.verb]
    try:
        if verb.extras is not None:
            bootstrap.set_up(verb.extras)
        return verb.run(given.arguments)
    except StepError as error:
        say(str(error))
        return 1


def setup(extras: Sequence[str]) -> int:
    """Sets up everything anew."""
    known = bootstrap.extras_known()
    if unknown := sorted(set(extras) - set(known)):
        raise StepError(f"no extra named {', '.join(unknown)}; there are: {', '.join(known)}")
    bootstrap.force_set_up(extras)
    say(f"ready. The engine for a shogi GUI: {programs(VENV).engine}")
    return 0


def goryu(*command: str) -> Callable[[Sequence[str]], int]:
    """Returns a verb that is a command of goryu itself."""
    return lambda arguments: become([PYTHON, "-m", "goryu", *command, *arguments])


def script(name: str) -> Callable[[Sequence[str]], int]:
    """Returns a verb that is a program of tools/."""
    return lambda arguments: become([PYTHON, str(ROOT / "tools" / name), *arguments])


def become(command: list[str]) -> int:
    """Turns this process into the command, or on Windows, which cannot do that, waits for it.

    Its `python` is that of .venv: `match` starts engines by `python -m goryu`.
    """
    path = os.pathsep.join([str(programs(VENV).folder), os.environ.get("PATH", os.defpath)])
    environment = {**os.environ, "PATH": path}
    if os.name != "nt":
        os.execve(command[0], command, environment)
    return follow(subprocess.Popen(command, env=environment))


def follow(program: subprocess.Popen[bytes]) -> int:
    """Waits for a program and returns its exit status; on Ctrl-C, which it has got too, until it has ended.

    `subprocess.run` would kill it after a quarter of a second, with its engines running and games unsaved.
    """
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            return program.wait()


def test(arguments: Sequence[str]) -> int:
    """Runs pytest, one process for each core; tests/test_lint.py runs the checks of `lint`, too."""
    os.chdir(ROOT)
    parallel = ["-n", "auto", "--maxprocesses", "8", "--dist", "worksteal"]
    return become([PYTHON, "-m", "pytest", *parallel, *arguments])


def lint(_arguments: Sequence[str]) -> int:
    """Prints the verdict of every check, with what it found."""
    failed = False
    for name, command in {**checks(VENV), "pyright": [PYTHON, "-m", "pyright"]}.items():
        started = time.monotonic()
        done = run_check(command)
        verdict = "ok" if done.returncode == 0 else "FAILED"
        if done.returncode != 0 and name == "pyright":  # It downloads Node.js, and mypy has decided already.
            verdict = "has remarks, which do not count"
        failed |= verdict == "FAILED"
        print(f"lint: {name} {verdict} ({time.monotonic() - started:.1f} s)", flush=True)
        if done.returncode != 0:
            print((done.stdout + done.stderr).rstrip(), flush=True)
    return int(failed)


def checks(venv: Path) -> dict[str, list[str]]:
    """Returns the commands of the checks that must pass, by name, with the programs of `venv`."""
    folder, python, _ = map(str, programs(venv))
    commands = {
        "ruff": [python, "-m", "ruff", "check", "--quiet"],
        "mypy": [python, "-m", "mypy"],
        "layers": [os.path.join(folder, "lint-imports"), "--no-logo"],
    }
    core = sorted(str(path) for path in (ROOT / "native" / "core").glob("*.cpp"))
    if core and (compiler := bootstrap.cxx()) and os.name != "nt":
        warnings = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        commands["C++"] = [*shlex.split(compiler), "-std=c++20", *warnings, "-Inative", *core]
    return commands


def run_check(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs the command of a check and captures what it prints."""
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def asan(arguments: Sequence[str]) -> int:
    """Runs the tests of native/core under the sanitizers; needs only a compiler."""
    return subprocess.run([sys.executable, ROOT / "tools" / "sanitize.py", *arguments], cwd=ROOT).returncode


def clean(arguments: Sequence[str]) -> int:
    """Removes what builds and checks left behind."""
    if unknown := set(arguments) - {"--all"}:
        raise StepError(f"clean knows only --all, not {' '.join(sorted(unknown))}")
    caches = (".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".import_linter_cache")
    doomed = [ROOT / name for name in ("build", "dist", *caches)]
    doomed += [*(ROOT / "engine").glob("*.egg-info"), *bootstrap.native_modules()]
    for room in ("engine", "tests", "tools"):
        doomed += (ROOT / room).rglob("__pycache__")
    if "--all" in arguments:
        doomed.append(bootstrap.VENV)
    with bootstrap.set_up_lock():
        for path in filter(os.path.exists, doomed):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    return 0


TEST_EXTRAS = ("test", "train") if os.environ.get("GORYU_TEST_TRAIN") == "1" else ("test",)

VERBS = {
    "setup": Verb("install goryu and build its native code anew; extras: cuda, directml ...", None, setup),
    "usi": Verb("the USI engine on stdin and stdout", (), goryu("usi")),
    "doctor": Verb("what is installed, what works, and what a GUI registers", (), goryu("doctor")),
    "test": Verb("pytest on all cores, with the arguments given; lint among the tests", TEST_EXTRAS, test),
    "lint": Verb("ruff, mypy, the layers, the C++ warnings, and pyright for comparison", ("test",), lint),
    "bench": Verb("playouts a second and the bench signature", ("tools",), script("bench.py")),
    "perft": Verb("leaves of the tree of legal moves, counted and timed", ("tools",), script("perft.py")),
    "match": Verb("a match between two USI engines", ("tools",), script("match.py")),
    "openings": Verb("a file of openings for matches", ("tools",), script("openings.py")),
    "learn": Verb("networks from nothing, and the tutorials' tables", ("train",), script("learn.py")),
    "teach": Verb("training games of a USI engine", ("tools",), script("teach.py")),
    "train": Verb("a shogi network from training games", ("train",), script("train.py")),
    "selfplay": Verb("training games of a shogi network", ("train",), script("selfplay.py")),
    "evaluate": Verb("how well networks predict games", ("tools",), script("evaluate.py")),
    "quantize": Verb("a shogi network in 8-bit integers", ("train",), script("quantize.py")),
    "fuzz": Verb("bytes and commands in any order at the USI engine", ("tools",), script("fuzz.py")),
    "asan": Verb("the tests of native/core under the sanitizers; --fuzz SECONDS", None, asan),
    "clean": Verb("remove what was built; --all: .venv too", None, clean),
}

if __name__ == "__main__":
    sys.exit(main())
