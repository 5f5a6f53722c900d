"""Sets up a checkout: `.venv`, goryu in it (editable) with its dependencies, and the native extension.

For tools/dev.py; standard library only, because it runs before anything is installed. A step is repeated only
when what it depends on has changed, which stamps in .venv record. Messages go to stderr, the output of the
steps to logs in build/dev/.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import locale
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOGS = ROOT / "build" / "dev"
TAIL_LINES = 20

VENV_ADVICE = "on Debian and Ubuntu this needs `apt install python3-venv`"
NETWORK_ADVICE = (
    "is the network there? Run the same command again to go on. Where pip finds no matching distribution, "
    "Python may be too new for one: remove .venv, and set up with an older Python "
    "(python3.14 tools/dev.py setup; Windows: py -3.14 tools\\dev.py setup)"
)
COMPILER_ADVICE = (
    "the native code needs a C++20 compiler and Python's headers (Debian: apt install g++ python3-dev; "
    "macOS: xcode-select --install; Windows: Visual Studio Build Tools with C++)"
)

DIRECTML = "directml"
"""What `setup` is given for the GPUs of AMD and Intel on Windows. It is no extra for pip: one can only add to
what is installed, and two distributions of onnxruntime overwrite each other's files."""

ONE_RUNTIME = {"cuda", "cuda12", DIRECTML}
"""Each wants an onnxruntime of its own: a new one takes the place of an earlier one."""


class Programs(NamedTuple):
    """Where the programs of a virtual environment lie."""

    folder: Path
    python: Path
    engine: Path


def programs(venv: Path, system: str = os.name) -> Programs:
    """Returns where they lie on a system, named as in `os.name`."""
    folder = venv / ("Scripts" if system == "nt" else "bin")
    suffix = ".exe" if system == "nt" else ""
    return Programs(folder, folder / f"python{suffix}", folder / f"goryu{suffix}")


PYTHON = str(programs(VENV).python)


class StepError(Exception):
    """A step failed. The first line says which, the others what to do and what its log ends with."""


def set_up(extras: Iterable[str]) -> None:
    """Sets up what is missing or out of date; costs milliseconds where nothing is."""
    if not (install_is_current(extras) and native_is_current()):
        with set_up_lock():
            if not install_is_current(extras):  # Asked again: another set-up may just have finished.
                install(extras)
            if not native_is_current():
                build_native()
    if failure := read_stamp("native")["failure"]:
        say(f"running without native code: {failure} (`dev.py setup` tries again)")


def force_set_up(extras: Iterable[str]) -> None:
    """Sets up everything anew, whatever the stamps say."""
    with set_up_lock():
        install(extras)
        build_native()


# --- goryu and its dependencies ---


def install(extras: Iterable[str]) -> None:
    """Installs goryu, editable, with the extras asked for and those it already had."""
    before = set(read_stamp("install").get("extras", []))
    together = sorted({*extras, *(before - ONE_RUNTIME if ONE_RUNTIME & {*extras} else before)})
    create_venv()
    pip = [PYTHON, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    build_tools = project()["build-system"]["requires"]
    step("build-tools", "installing the build tools", [*pip, *build_tools], NETWORK_ADVICE)
    if DIRECTML in before:
        remove_runtimes()
    for_pip = [extra for extra in together if extra != DIRECTML]
    target = f".[{','.join(for_pip)}]" if for_pip else "."
    message = f"installing goryu and its dependencies, {target} (the first time this takes minutes)"
    command = [*pip, "--no-build-isolation", "--editable", target]
    step("install", message, command, NETWORK_ADVICE, GORYU_SKIP_NATIVE="1")
    if DIRECTML in together:
        remove_runtimes()
        runtime = "onnxruntime-directml"
        step(DIRECTML, f"installing {runtime}", [*pip, runtime], NETWORK_ADVICE)
    write_stamp("install", key=install_key(), extras=together)


def remove_runtimes() -> None:
    """Removes every onnxruntime: after removing one of two the other is broken, too."""
    names = ["onnxruntime", "onnxruntime-gpu", "onnxruntime-directml"]
    command = [PYTHON, "-m", "pip", "uninstall", "--yes", "--disable-pip-version-check", *names]
    step("uninstall", "removing the onnxruntime that is there", command, "does an engine still run? End it")


def create_venv() -> None:
    """Creates .venv, or completes it: without the package python3-venv Debian leaves one that has no pip."""
    if not ask_python("-m", "pip", "--version"):
        # venv keeps the links that it finds, even those to a Python that is gone.
        clear = [] if python_version() else ["--clear"]
        step("venv", "creating .venv", [sys.executable, "-m", "venv", *clear, str(VENV)], VENV_ADVICE)


def install_is_current(extras: Iterable[str]) -> bool:
    stamp = read_stamp("install")
    return stamp.get("key") == install_key() and set(extras) <= set(stamp["extras"])


def install_key() -> str:
    return digest([ROOT / "pyproject.toml", ROOT / "setup.py"], str(ROOT), python_version())


def extras_known() -> list[str]:
    """Returns the names of what `setup` can add: the extras that pyproject.toml offers, and DirectML."""
    return [*project()["project"]["optional-dependencies"], DIRECTML]


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


# --- the native extension ---


def build_native() -> None:
    """Builds goryu._native; goryu also runs without it, unless GORYU_REQUIRE_NATIVE=1."""
    key, failure = native_key(), ""
    try:
        if native_sources():
            if not cxx() and os.name != "nt":  # On Windows setuptools finds it, off the path.
                raise StepError(f"no C++ compiler found\n{COMPILER_ADVICE}")
            command = [PYTHON, "setup.py", "--quiet", "build_ext", "--inplace"]
            environment = {"GORYU_REQUIRE_NATIVE": "1"} | ({"CXX": cxx()} if cxx() else {})
            step("native", "building the native code", command, COMPILER_ADVICE, **environment)
    except StepError as error:
        for stale in native_modules():  # Built from other sources, and no longer the twin of the Python.
            stale.unlink()
        if os.environ.get("GORYU_REQUIRE_NATIVE") == "1":
            raise
        say(f"{error}\ngoing on without native code: pure Python plays the same, slowly")
        failure = str(error).splitlines()[0]
    write_stamp("native", key=key, failure=failure)


def native_is_current() -> bool:
    """Is the extension built from today's sources, or known not to build from them?"""
    stamp = read_stamp("native")
    if stamp.get("key") != native_key():
        return False
    if stamp["failure"]:
        return os.environ.get("GORYU_REQUIRE_NATIVE") != "1"
    return bool(native_modules()) or not native_sources()


def native_key() -> str:
    flags = os.environ.get("CXXFLAGS", "")
    return digest([ROOT / "setup.py", *native_sources()], python_version(), cxx(), flags)


def native_sources() -> list[Path]:
    """Returns what the extension is built from, or nothing if there is no module to build."""
    folder = ROOT / "native"
    if not (folder / "_native.pyx").exists():
        return []
    return sorted(path for path in folder.rglob("*") if path.suffix in {".pyx", ".pxi", ".pxd", ".h", ".cpp"})


def native_modules() -> list[Path]:
    """Returns the built extension (one for each version of Python it was built for)."""
    package = ROOT / "engine" / "goryu"
    return [*package.glob("_native*.so"), *package.glob("_native*.pyd")]


def cxx() -> str:
    """Returns the C++ compiler to call, or nothing."""
    found = (shutil.which(name) for name in ("c++", "g++", "clang++"))
    return os.environ.get("CXX") or next(filter(None, found), "")


# --- steps, stamps and the lock ---


def say(message: str) -> None:
    print("goryu: " + message.replace("\n", "\ngoryu: "), file=sys.stderr, flush=True)


def step(name: str, message: str, command: Sequence[str], advice: str, **environment: str) -> None:
    """Runs a command with its output in a log; raises StepError if it fails."""
    say(f"{message} ...")
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    started = time.monotonic()
    with log.open("wb") as output:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,  # What the GUI has already sent is for the engine.
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    if done.returncode != 0:
        # In the encoding of the system, as Microsoft's compiler and pip write into a file.
        tail = log.read_text(encoding=locale.getencoding(), errors="replace").splitlines()[-TAIL_LINES:]
        shown = [f"  | {line}" for line in tail]
        raise StepError("\n".join([f"{message} failed", *shown, f"  the whole log: {log}", advice]))
    say(f"... done ({time.monotonic() - started:.0f} s)")


def read_stamp(name: str) -> dict[str, Any]:
    """Returns what the last finished step of this name was made from; empty if there was none."""
    try:
        stamp: dict[str, Any] = json.loads((VENV / f"goryu-{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp


def write_stamp(name: str, **facts: Any) -> None:
    (VENV / f"goryu-{name}.json").write_text(json.dumps(facts), encoding="utf-8")


def digest(files: Sequence[Path], *facts: str) -> str:
    """Returns a hash of the contents of files and of some facts."""
    total = hashlib.sha256("\0".join(facts).encode())
    for path in files:
        total.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def python_version() -> str:
    """Returns the version of .venv's Python, or nothing if it does not run."""
    return ask_python("-c", "import sys; print(sys.version)")


def ask_python(*arguments: str) -> str:
    """Returns what .venv's Python prints, or nothing if it does not run."""
    command = [PYTHON, *arguments]
    try:
        asked = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
        return asked.stdout
    except OSError:
        return ""


@contextlib.contextmanager
def set_up_lock() -> Iterator[None]:
    """Lets one set-up of this checkout run at a time: a match starts two engines at once."""
    with (ROOT / ".venv.lock").open("a") as file:
        if not try_lock(file.fileno()):
            say("waiting for another set-up of this checkout to finish ...")
            while not try_lock(file.fileno()):
                time.sleep(0.2)
        yield  # Closing the file unlocks it.


def try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
