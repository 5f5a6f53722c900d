#!/usr/bin/env python3
"""Runs the tasks of this checkout and the commands of goryu; needs only Python 3.11 or newer.

Each verb first installs what it needs (tools/bootstrap.py): .venv with goryu and its dependencies, and the
native code if there is a C++ compiler. Most verbs are programs with their own --help.
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

if sys.version_info < (3, 11):  # noqa: UP036 (users of an older one read what to do)
    names = [name for name in ("python3.14", "python3.13", "python3.12", "python3.11") if shutil.which(name)]
    advice = f"run {names[0]} tools/dev.py" if names else "install a newer one"
    sys.exit(f"goryu needs Python 3.11 or newer, this is {sys.version.split()[0]}; {advice}")

import bootstrap
from bootstrap import PYTHON, ROOT, VENV, StepError, log, programs
from goryu.__main__ import COMMANDS
from goryu.base.language import tr

WITHOUT_NETWORK = "--without-network-download"


class Verb(NamedTuple):
    """A task. run(arguments) returns the exit status; with extras None it needs no installed goryu."""

    help: str
    extras: tuple[str, ...] | None
    run: Callable[[Sequence[str]], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one verb and returns its exit status."""
    lines = "\n".join(f"  {name:<10} {verb.help}" for name, verb in TASKS.items())
    more = " ".join(name for name in COMMANDS if name not in TASKS)
    network = (
        f"The first of usi, web and setup downloads a stronger network; {WITHOUT_NETWORK} leaves it out."
    )
    epilog = f"verbs:\n{lines}\n\n{network}\n\nother commands of goryu, each with --help:\n  {more}"
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=epilog, formatter_class=raw)
    parser.add_argument("verb", choices=VERBS, metavar="VERB")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="arguments of the verb")
    given = parser.parse_args(argv)
    verb = VERBS[given.verb]
    try:
        if verb.extras is not None:
            bootstrap.set_up(verb.extras)
        return verb.run(given.arguments)
    except StepError as error:
        log(str(error))
        return 1


def setup(arguments: Sequence[str]) -> int:
    """Installs goryu with the named extras and builds the native code, also if nothing has changed."""
    extras = [word for word in arguments if word != WITHOUT_NETWORK]
    known = bootstrap.extras_known()
    if unknown := sorted(set(extras) - set(known)):
        unknown_names, known_names = tr(", ").join(unknown), tr(", ").join(known)
        raise StepError(
            tr("no extra named {names}; there are: {known}", names=unknown_names, known=known_names)
        )
    bootstrap.force_set_up(extras)
    bootstrap.fetch_network(is_declined=WITHOUT_NETWORK in arguments, looks_again=True)
    log(tr("ready. The engine for a shogi GUI: {program}", program=programs(VENV).engine))
    return 0


def goryu(name: str, what: str = "", *, fetches_network: bool = False) -> Verb:
    """Returns the verb that runs a command of goryu."""
    extras = (extra,) if (extra := COMMANDS[name].extra) else ()

    def run(arguments: Sequence[str]) -> int:
        if fetches_network:
            bootstrap.fetch_network(is_declined=WITHOUT_NETWORK in arguments)
            arguments = [word for word in arguments if word != WITHOUT_NETWORK]
        return become([PYTHON, "-m", "goryu", name, *arguments])

    return Verb(what, extras, run)


def script(name: str) -> Callable[[Sequence[str]], int]:
    """Returns a verb that is a program of tools/."""
    return lambda arguments: become([PYTHON, str(ROOT / "tools" / name), *arguments])


def become(command: list[str]) -> int:
    """Replaces this process by the command; Windows cannot do that, so there it runs the command and waits.

    The command finds .venv's `python` on its PATH: `match` starts engines by `python -m goryu`.
    """
    path = os.pathsep.join([str(programs(VENV).folder), os.environ.get("PATH", os.defpath)])
    environment = {**os.environ, "PATH": path}
    if os.name != "nt":
        os.execve(command[0], command, environment)
    return follow(subprocess.Popen(command, env=environment))


def follow(program: subprocess.Popen[bytes]) -> int:
    """Waits for a program and returns its exit status; does not end before it on Ctrl-C, which it gets too.

    `subprocess.run` would kill it after a quarter of a second, while its engines run and games are unsaved.
    """
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            return program.wait()


def test(arguments: Sequence[str]) -> int:
    """Runs pytest: all tests, lint among them, in several processes; selected tests in one."""
    os.chdir(ROOT)
    # Two more than there are cores: many tests wait for a program, a browser or a cluster. With one more, a
    # quarter of two cores was idle.
    # A file stays in one process, which starts its engine, its cluster or its networks only once.
    by_file = ["--dist", "loadfile", "--no-loadscope-reorder"]  # In the order of tests/conftest.py.
    parallel = ["-n", str(min(8, (os.cpu_count() or 1) + 2)), *by_file]
    return become([PYTHON, "-m", "pytest", *([] if selects(arguments) else parallel), *arguments])


def selects(arguments: Sequence[str]) -> bool:
    """Do the arguments of pytest select tests, by words, by files or by the last failures?"""
    options = ("-k", "--lf", "--last-failed", "--sw", "--stepwise")
    return any(word.startswith(options) or os.path.isfile(word.partition("::")[0]) for word in arguments)


def lint(_arguments: Sequence[str]) -> int:
    """Runs every check and prints its verdict and its output."""
    failed = False
    types = [str(PYTHON), str(ROOT / "tools" / "javascript_types.py")]
    compared = [str(PYTHON), "-m", "pyright"]
    for name, command in {**checks(VENV), "JavaScript": types, "pyright": compared}.items():
        started = time.monotonic()
        done = run_check(command)
        verdict = "ok" if done.returncode == 0 else "FAILED"
        if done.returncode != 0 and name == "pyright":  # mypy decides; and pyright has to download Node.js.
            verdict = "has messages, which do not count"
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
    """Runs the command of a check and captures its output."""
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def asan(arguments: Sequence[str]) -> int:
    """Runs the tests of native/core with the compiler's sanitizers; needs only a compiler."""
    return subprocess.run([sys.executable, ROOT / "tools" / "sanitize.py", *arguments], cwd=ROOT).returncode


def cross(arguments: Sequence[str]) -> int:
    """Builds native/core for another system and runs its tests in an emulator; needs a cross compiler."""
    return subprocess.run([sys.executable, ROOT / "tools" / "cross.py", *arguments], cwd=ROOT).returncode


def docs(arguments: Sequence[str]) -> int:
    """Compares what the guides name with what exists, then builds their site into build/site.

    Fails on a difference, a broken link or a missing language.
    --serve shows the site in the browser and follows edits.
    """
    if unknown := set(arguments) - {"--serve"}:
        raise StepError(f"docs: {' '.join(sorted(unknown))}: expected --serve or nothing")
    os.chdir(ROOT)
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    if lost := subprocess.run([PYTHON, "tools/guides.py"]).returncode:
        return lost
    how = ["serve", "--no-strict", "--open"] if "--serve" in arguments else ["build"]
    return become([PYTHON, "-m", "mkdocs", *how])


def clean(arguments: Sequence[str]) -> int:
    """Removes what builds and checks have written, with --all the virtual environment too."""
    if unknown := set(arguments) - {"--all"}:
        raise StepError(f"clean: {' '.join(sorted(unknown))}: expected --all or nothing")
    if "--all" in arguments and os.name == "nt" and Path(sys.prefix) == VENV:
        raise StepError("clean: Windows keeps the Python that runs this; use py tools\\dev.py clean --all")
    caches = (".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".import_linter_cache")
    paths = [ROOT / name for name in ("build", "dist", *caches)]
    paths += [*(ROOT / "engine").glob("*.egg-info"), *bootstrap.native_modules()]
    for folder in ("docs", "engine", "tests", "tools"):
        paths += (ROOT / folder).rglob("__pycache__")
    if "--all" in arguments:
        paths.append(bootstrap.VENV)
    with bootstrap.set_up_lock():
        for path in filter(os.path.exists, paths):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    return 0


TEST_EXTRAS = ("test", "train") if os.environ.get("GORYU_TEST_TRAIN") == "1" else ("test",)

TASKS = {
    "usi": goryu("usi", "run the USI engine on stdin and stdout", fetches_network=True),
    "web": goryu(
        "web", "open the page in the browser: play, review games, watch searches", fetches_network=True
    ),
    "setup": Verb("install goryu and build it again; words: cpu, cuda, openvino ...", None, setup),
    "test": Verb("run all tests and lint; with -k WORD or FILE only those tests", TEST_EXTRAS, test),
    "lint": Verb("run ruff, mypy, the layers, C++ warnings, TypeScript; pyright compares", ("test",), lint),
    "fuzz": Verb("send random bytes and commands to the USI engine; --files", ("test",), script("fuzz.py")),
    "asan": Verb("test native/core with sanitizers; --fuzz SECONDS", None, asan),
    "cross": Verb("test native/core for windows or arm in an emulator", None, cross),
    "wine": Verb("run Goryu as a Windows program under Wine; -m pytest FILE", ("test",), script("wine.py")),
    "wasm": Verb("compile the engine to WebAssembly; --bench measures it", ("test",), script("wasm.py")),
    "vendor": Verb("fetch the browser page's libraries from npm; --check", ("test",), script("vendor.py")),
    "page": Verb("take the pictures of the browser page, or measure its speed", ("test",), script("page.py")),
    "zip": Verb("pack Goryu for Windows with Python inside", ("test",), script("windows_zip.py")),
    "guides": Verb("compare what the guides name with what exists", ("test",), script("guides.py")),
    "docs": Verb("compare the guides with what exists, build their site; --serve shows it", ("docs",), docs),
    "rehearse": Verb("build a release and install it as strangers do", (), script("rehearse.py")),
    "notebooks": Verb(
        "make and run the notebooks of docs/notebooks/", ("test", "train"), script("notebooks.py")
    ),
    "clean": Verb("remove built files; --all: .venv too", None, clean),
    "texts": Verb("run the commands of docs/texts.md and compare", ("train",), script("texts.py")),
    "levels": Verb("measure the levels of strength", ("tools",), script("experiments/levels.py")),
    "review-quality": Verb(
        "measure reviews: speed, agreement with longer searches",
        ("tools",),
        script("experiments/review_quality.py"),
    ),
    "problems": Verb(
        "measure how many of the dojo's problems are sound",
        ("tools",),
        script("experiments/problem_soundness.py"),
    ),
    "first-problem": Verb(
        "measure how soon after a game a problem is made from it",
        ("web",),
        script("experiments/first_problem.py"),
    ),
    "large-dojo": Verb(
        "measure how soon the views answer with 10,000 games", ("tools",), script("experiments/large_dojo.py")
    ),
    "tab-speed": Verb(
        "measure the page without a server: starts, a review, memory",
        ("test",),
        script("tab_speed.py"),
    ),
    "tsume-oracle": Verb(
        "compare mates and their lengths with cshogi", ("test",), script("experiments/tsume_oracle.py")
    ),
    "elo-by-commit": Verb(
        "draw the Elo of commits from kept matches", ("tools",), script("experiments/elo_by_commit.py")
    ),
    "series": Verb("play on with what decides a change of the search", ("tools",), script("series.py")),
    "crosstable": Verb(
        "play all algorithms against each other", ("tools",), script("experiments/crosstable.py")
    ),
    "clock": Verb("simulate the clocks of whole games", (), script("experiments/clock.py")),
    "kernel-accuracy": Verb(
        "compare our kernel's answers with onnxruntime's", (), script("experiments/kernel_accuracy.py")
    ),
    "mate-cost": Verb(
        "measure what the mate searches in the graph cost", ("tools",), script("experiments/mate_cost.py")
    ),
    "cluster": Verb(
        "measure what a Ray cluster costs", ("tools", "cluster"), script("experiments/cluster.py")
    ),
    "first-contact": Verb(
        "examine an unknown GPU, unattended, in half an hour", ("tools",), script("first_contact.py")
    ),
    "simulated-gpus": Verb(
        "measure the search before simulated GPUs", ("tools",), script("simulated_gpus.py")
    ),
    "perft-race": Verb("count legal moves beside cshogi", ("test",), script("experiments/perft_race.py")),
    "openings": Verb("make a file of openings for matches", ("tools",), script("make_openings.py")),
    "text-tables": Verb(
        "measure the tables of the texts again", ("tools",), script("experiments/text_tables.py")
    ),
    "differences": Verb(
        "measure what each difference from the pseudocode brings",
        ("train",),
        script("experiments/differences.py"),
    ),
    "muon-steps": Verb(
        "compare training steps with our Muon and with PyTorch's",
        ("train",),
        script("experiments/muon_steps.py"),
    ),
    "distillation-speed": Verb(
        "compare the speed of training with a teacher and with stored labels",
        ("train",),
        script("experiments/distillation_speed.py"),
    ),
    "loop-trial": Verb(
        "let the learning loop run while computers die",
        ("train", "cluster"),
        script("experiments/loop_trial.py"),
    ),
}

VERBS = {**{name: goryu(name) for name in COMMANDS}, **TASKS}

if __name__ == "__main__":
    sys.exit(main())
