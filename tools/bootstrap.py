"""Sets up a checkout: creates `.venv`, installs goryu in it with its dependencies, builds the native code.

tools/dev.py uses it before anything is installed, so it imports only the standard library and modules of
goryu that need no more. A step is repeated only when its inputs have changed; stamps in .venv record them.
Messages go to stderr in the user's language, the output of the steps to logs in build/dev/.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import locale
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "engine"))

from goryu.base.language import tr  # noqa: E402 (found by the line above)

VENV = ROOT / ".venv"
LOGS = ROOT / "build" / "dev"
DOWNLOADS = ROOT / "models" / "downloads"
RETRY_S = 24 * 60 * 60
"""A failed download of the network is not tried again for so long."""

TAIL_LINES = 20
TICK_S = 1.0
"""How often a terminal shows how long a step has run."""

VENV_ADVICE = tr("on Debian and Ubuntu this needs `apt install python3-venv`")
NETWORK_ADVICE = tr(
    "is the network available? Run the same command again to resume. If pip finds no matching distribution, "
    "this Python may be too new: remove .venv, and set up with an older Python "
    "(python3.14 tools/dev.py setup; Windows: py -3.14 tools\\dev.py setup)"
)
COMPILER_ADVICE = tr(
    "the native code needs a C++20 compiler and Python's headers (Debian: apt install g++ python3-dev; "
    "macOS: xcode-select --install; Windows: Visual Studio Build Tools with C++)"
)

RUNTIMES = ("cpu", "cuda", "cuda12", "directml", "openvino")
"""The extras that bring an onnxruntime, of which there is one at a time: they overwrite each other."""

DISTRIBUTIONS = (
    "onnxruntime",
    "onnxruntime-gpu",
    "onnxruntime-directml",
    "onnxruntime-openvino",
    "onnxruntime-webgpu",
)

CPU_TORCH = "https://download.pytorch.org/whl/cpu/"
"""PyPI's PyTorch for Linux contains CUDA, 3 GB; here is one without."""

CUDA_13, CUDA_13_GPU = 13_000, (7, 5)
"""What CUDA 13 needs: a driver of this version (580 or newer) and a GPU of this capability (GTX 16xx)."""


class Programs(NamedTuple):
    """The paths of the programs of a virtual environment."""

    folder: Path
    python: Path
    engine: Path


def programs(venv: Path, system: str = os.name) -> Programs:
    """Returns the programs of a virtual environment; system: as in `os.name`."""
    folder = venv / ("Scripts" if system == "nt" else "bin")
    suffix = ".exe" if system == "nt" else ""
    return Programs(folder, folder / f"python{suffix}", folder / f"goryu{suffix}")


PYTHON = str(programs(VENV).python)


class StepError(Exception):
    """A step failed. The message names the step, and then shows the end of its log and what to do."""


def set_up(extras: Iterable[str]) -> None:
    """Sets up what is missing or out of date; takes milliseconds if everything is current."""
    if not (install_is_current(extras) and native_is_current()):
        with set_up_lock():
            if not install_is_current(extras):  # Again: another process may just have finished it.
                install(extras)
            if not native_is_current():
                build_native()
    if failure := read_stamp("native")["failure"]:
        log(tr("running without native code: {failure} (`dev.py setup` tries again)", failure=failure))


def force_set_up(extras: Iterable[str]) -> None:
    """Installs and builds everything again, even if the stamps are current, with a fitting onnxruntime."""
    with set_up_lock():
        install(extras, looks_again=True)
        build_native()


# --- goryu and its dependencies ---


def install(extras: Iterable[str], *, looks_again: bool = False) -> None:
    """Installs goryu, editable, with these extras and those that were installed before, and one onnxruntime.

    looks_again: replace an onnxruntime that nobody chose by the one that fits the machine now.
    """
    stamp = read_stamp("install")
    create_venv()
    runtime, is_chosen = choose_runtime(extras, stamp, looks_again=looks_again)
    together = sorted({*extras, *stamp.get("extras", ())} - {*RUNTIMES})
    pip = [PYTHON, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    build_tools = project()["build-system"]["requires"]
    step("build-tools", tr("installing the build tools"), [*pip, *build_tools], NETWORK_ADVICE)
    if runtime and set(installed_runtimes()) - {distribution_of(runtime)}:
        remove_runtimes()
    if "train" in together and runtime in ("cpu", "openvino"):
        install_cpu_torch(pip)
    for_pip = [*together, *([runtime] if runtime else [])]
    target = f".[{','.join(for_pip)}]" if for_pip else "."
    message = tr("installing goryu and its dependencies, {target}", target=target)
    command = [*pip, "--no-build-isolation", "--editable", target]
    duration = tr("the first time this takes minutes")
    step("install", message, command, NETWORK_ADVICE, duration, GORYU_SKIP_NATIVE="1")
    write_stamp("install", key=install_key(), extras=together, runtime=runtime, is_chosen=is_chosen)


def choose_runtime(extras: Iterable[str], stamp: dict[str, Any], *, looks_again: bool) -> tuple[str, bool]:
    """Returns the extra that brings the onnxruntime, and if the user named it.

    The extra is "" to keep an onnxruntime that the set-up did not install.
    """
    named = [extra for extra in RUNTIMES if extra in {*extras}]
    if len(named) > 1:
        names = tr(", ").join(named)
        raise StepError(tr("name one of {names}: each brings an onnxruntime of its own", names=names))
    if named:
        return named[0], True
    if stamp.get("is_chosen"):
        return str(stamp["runtime"]), True
    if installed_runtimes() and not looks_again:
        return str(stamp.get("runtime", "")), False
    return fitting_runtime(), False


def fitting_runtime() -> str:
    """Returns the extra for this machine: "cuda" or "cuda12" with an NVIDIA GPU and driver, else "cpu"."""
    capability, driver = nvidia_gpu()
    if driver == 0:
        return "cpu"
    fits_13 = driver >= CUDA_13 and capability >= CUDA_13_GPU
    runtime = "cuda" if fits_13 else "cuda12"
    cuda = 13 if fits_13 else 12
    log(tr("found a GPU of NVIDIA: installing onnxruntime and CUDA {cuda}, about 1.6 GB", cuda=cuda))
    log(tr("(`dev.py setup cpu` installs the small onnxruntime for the CPU instead)"))
    return runtime


def nvidia_gpu() -> tuple[tuple[int, int], int]:
    """Returns the lowest compute capability of the GPUs, and the driver's version of CUDA.

    ((0, 0), 0) without a GPU. Looks only where there is an onnxruntime-gpu: Windows and Linux on x86-64.
    """
    none = ((0, 0), 0)
    library = {"win32": "nvcuda.dll", "linux": "libcuda.so.1"}.get(sys.platform)
    if library is None or platform.machine() not in ("x86_64", "AMD64"):
        return none
    try:
        cuda = ctypes.CDLL(library)
    except OSError:
        return none
    version, count = ctypes.c_int(), ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDriverGetVersion(ctypes.byref(version)):
        return none
    if cuda.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        return none

    def attribute(kind: int, device: int) -> int:
        value = ctypes.c_int()
        cuda.cuDeviceGetAttribute(ctypes.byref(value), kind, device)
        return value.value

    # 75 and 76: CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR in cuda.h.
    capabilities = [(attribute(75, device), attribute(76, device)) for device in range(count.value)]
    return min(capabilities), version.value


def distribution_of(runtime: str) -> str:
    """Returns the distribution of onnxruntime that an extra brings."""
    requirements = project()["project"]["optional-dependencies"][runtime]
    (name,) = {match.group() for text in requirements if (match := re.match(r"onnxruntime[\w-]*", text))}
    return str(name)


def installed_runtimes() -> list[str]:
    """Returns the distributions of onnxruntime in .venv; normally one."""
    code = (
        "from importlib.metadata import distributions as all; "
        "print(*{(one.metadata['Name'] or '').lower().replace('_', '-') for one in all()})"
    )
    return [name for name in DISTRIBUTIONS if name in ask_python("-c", code).split()]


def remove_runtimes() -> None:
    """Removes every onnxruntime: after removing one of two, the other one is broken."""
    command = [PYTHON, "-m", "pip", "uninstall", "--yes", "--disable-pip-version-check", *DISTRIBUTIONS]
    message, advice = tr("removing the onnxruntime that is there"), tr("if an engine is running, end it")
    step("uninstall", message, command, advice)


def install_cpu_torch(pip: Sequence[str]) -> None:
    """Installs PyTorch without CUDA where PyPI has only the other one.

    It comes from the folders of wheels that pip knows (its setting `find-links`), or from PyTorch's server.
    """
    has_choice = sys.platform == "linux" and platform.machine() == "x86_64"
    if not has_choice or ask_python("-c", "import torch; print(torch.__version__)"):
        return
    wanted = [text for text in project()["project"]["optional-dependencies"]["train"] if text[:5] == "torch"]
    local = ["--no-index", "--no-deps", *wanted]
    if "Would install" in ask_python(*pip[1:], "--dry-run", *local):
        command = [*pip, *local]
    else:
        try:
            with urllib.request.urlopen(CPU_TORCH, timeout=5):
                pass
        except OSError:
            log(tr("{url} cannot be reached: installing PyPI's PyTorch, with CUDA (3 GB)", url=CPU_TORCH))
            return
        command = [*pip, "--index-url", CPU_TORCH, *wanted]
    step("torch", tr("installing PyTorch for the CPU"), command, NETWORK_ADVICE)


def create_venv() -> None:
    """Creates .venv, or completes one without pip, which Debian makes without the package python3-venv."""
    if not ask_python("-m", "pip", "--version"):
        # venv keeps existing links, even broken ones to a removed Python.
        clear = [] if python_version() else ["--clear"]
        command = [sys.executable, "-m", "venv", *clear, str(VENV)]
        step("venv", tr("creating .venv"), command, VENV_ADVICE)


def install_is_current(extras: Iterable[str]) -> bool:
    stamp = read_stamp("install")
    have = {*stamp.get("extras", ()), stamp.get("runtime", "")}
    return stamp.get("key") == install_key() and set(extras) <= have


def install_key() -> str:
    return digest([ROOT / "pyproject.toml", ROOT / "setup.py"], str(ROOT), python_version())


def extras_known() -> list[str]:
    """Returns the words that `setup` accepts: the extras of pyproject.toml."""
    return [*project()["project"]["optional-dependencies"]]


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


# --- the native extension ---


def build_native() -> None:
    """Builds goryu._native. A failure is an error only with GORYU_REQUIRE_NATIVE=1."""
    key, failure = native_key(), ""
    has_current = read_stamp("native").get("key") == key and not read_stamp("native").get("failure")
    try:
        if native_sources():
            if not cxx() and os.name != "nt":  # On Windows setuptools finds it without PATH.
                raise StepError(f"{tr('no C++ compiler found')}\n{COMPILER_ADVICE}")
            command = [PYTHON, "setup.py", "--quiet", "build_ext", "--inplace"]
            environment = {"GORYU_REQUIRE_NATIVE": "1"} | ({"CXX": cxx()} if cxx() else {})
            message, duration = tr("building the native code"), tr("this takes a minute or two")
            step("native", message, command, COMPILER_ADVICE, duration, **environment)
    except StepError as error:
        if has_current and native_modules():
            raise StepError(f"{error}\n{tr('the native code that is there is kept')}") from error
        for stale in native_modules():  # Built from other sources: it may differ from the Python.
            try:
                stale.unlink()
            except OSError as problem:  # Windows does not delete the module of a running engine.
                raise StepError(f"{error}\n{problem}") from problem
        if os.environ.get("GORYU_REQUIRE_NATIVE") == "1":
            raise
        log(f"{error}\n{tr('continuing without native code: pure Python plays the same, but slowly')}")
        failure = str(error).splitlines()[0]
    write_stamp("native", key=key, failure=failure, compiler=compiler_key())


def native_is_current() -> bool:
    """Is the extension built from the current sources, or are they known not to build with this compiler?"""
    stamp = read_stamp("native")
    if stamp.get("key") != native_key():
        return False
    if stamp["failure"]:
        return stamp.get("compiler") == compiler_key() and os.environ.get("GORYU_REQUIRE_NATIVE") != "1"
    return bool(native_modules()) or not native_sources()


def native_key() -> str:
    """Returns what a built module depends on; a GUI may start the engine with another PATH or CXXFLAGS."""
    return digest([ROOT / "setup.py", *native_sources()], python_version())


def compiler_key() -> str:
    return digest([], cxx(), os.environ.get("CXXFLAGS", ""))


def native_sources() -> list[Path]:
    """Returns the source files of the extension, or none if there is no module to build."""
    folder = ROOT / "native"
    if not (folder / "_native.pyx").exists():
        return []
    return sorted(path for path in folder.rglob("*") if path.suffix in {".pyx", ".pxi", ".pxd", ".h", ".cpp"})


def native_modules() -> list[Path]:
    """Returns the built extensions, one for each version of Python."""
    package = ROOT / "engine" / "goryu"
    return [*package.glob("_native*.so"), *package.glob("_native*.pyd")]


def cxx() -> str:
    """Returns the command of the C++ compiler, or an empty text."""
    found = (shutil.which(name) for name in ("c++", "g++", "clang++"))
    return os.environ.get("CXX") or next(filter(None, found), "")


# --- the stronger network ---


def fetch_network(*, is_declined: bool = False, looks_again: bool = False) -> None:
    """Downloads the network of miniosl, which plays much better than the shipped ones, if it is not there.

    Failures are reported, not raised: goryu-10x96 plays. What was declined is not tried again, and
    what failed not for a day, until looks_again. Without native code goryu-5x64 is the right one.

    is_declined: the user does not want it.
    """
    if not wants_network(is_declined=is_declined, looks_again=looks_again):
        return
    with set_up_lock():
        if not wants_network(is_declined=is_declined, looks_again=looks_again):
            return  # Another process has just tried.
        if is_declined:
            write_stamp("network", is_declined=True)
            log(tr("goryu-10x96 plays; `dev.py setup` downloads a much stronger one"))
            return
        message = tr("downloading the network of miniosl, much stronger than the shipped ones")
        try:
            step("network", message, [PYTHON, "-m", "goryu", "download"], "", "23 MB")
        except StepError:
            write_stamp("network", failed_s=time.time())
            lines = (LOGS / "network.log").read_text(encoding="utf-8", errors="replace").splitlines() or [""]
            log(
                tr(
                    "not downloaded, goryu-10x96 plays (`dev.py setup` tries again): {reason}",
                    reason=lines[-1].removeprefix("goryu download: "),
                )
            )


def wants_network(*, is_declined: bool, looks_again: bool) -> bool:
    """Is there something to do for `fetch_network`?"""
    is_shipped_wanted = os.environ.get("GORYU_NETWORK") == "shipped"
    if is_shipped_wanted or read_stamp("native").get("failure") or (DOWNLOADS / "miniosl.onnx").exists():
        return False
    stamp = {} if looks_again else read_stamp("network")
    has_just_failed = abs(time.time() - stamp.get("failed_s", 0)) < RETRY_S
    return not stamp.get("is_declined") and (is_declined or not has_just_failed)


# --- steps, stamps and the lock ---


def log(message: str) -> None:
    print("goryu: " + message.replace("\n", "\ngoryu: "), file=sys.stderr, flush=True)


def step(
    name: str, message: str, command: Sequence[str], advice: str, duration: str = "", **environment: str
) -> None:
    """Runs a command and writes its output to a log; raises StepError if it fails.

    duration: how long it takes, for the user; "" if that is seconds.
    """
    log(f"{message} ({duration}) ..." if duration else f"{message} ...")
    LOGS.mkdir(parents=True, exist_ok=True)
    log_file = LOGS / f"{name}.log"
    started_s = time.monotonic()
    with log_file.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,  # The lines of a GUI are for the engine.
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        status = wait_for(process, started_s)
    if status != 0:
        # Microsoft's compiler and pip write files in the encoding of the system.
        tail = log_file.read_text(encoding=locale.getencoding(), errors="replace").splitlines()[-TAIL_LINES:]
        shown = [f"  | {line}" for line in tail]
        lines = [tr("{step} failed", step=message), *shown, tr("  whole log: {path}", path=log_file), advice]
        raise StepError("\n".join(lines))
    log(tr("... done ({seconds:.0f} s)", seconds=time.monotonic() - started_s))


def wait_for(process: subprocess.Popen[bytes], started_s: float) -> int:
    """Waits for a process and returns its exit status; a terminal shows the seconds meanwhile."""
    is_terminal = bool(sys.stderr and sys.stderr.isatty())
    shown = ""
    try:
        while True:
            try:
                return process.wait(TICK_S if is_terminal else None)
            except subprocess.TimeoutExpired:
                shown = f"goryu: {time.monotonic() - started_s:.0f} s"
                print(f"\r{shown}", end="", file=sys.stderr, flush=True)
    except BaseException:  # Ctrl-C.
        process.kill()
        process.wait()
        raise
    finally:
        if shown:  # The next line overwrites the seconds.
            print(f"\r{' ' * len(shown)}\r", end="", file=sys.stderr, flush=True)


def read_stamp(name: str) -> dict[str, Any]:
    """Returns the inputs of the last finished step of this name; empty if there was none."""
    try:
        stamp: dict[str, Any] = json.loads((VENV / f"goryu-{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp


def write_stamp(name: str, **facts: Any) -> None:
    (VENV / f"goryu-{name}.json").write_text(json.dumps(facts), encoding="utf-8")


def digest(files: Sequence[Path], *facts: str) -> str:
    """Returns a hash of the names and contents of files and of some texts."""
    total = hashlib.sha256("\0".join(facts).encode())
    for path in files:
        total.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def python_version() -> str:
    """Returns the version of .venv's Python, or an empty text if it does not run."""
    return ask_python("-c", "import sys; print(sys.version)")


def ask_python(*arguments: str) -> str:
    """Returns the output of .venv's Python, or an empty text if it does not run."""
    command = [PYTHON, *arguments]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
        return done.stdout
    except OSError:
        return ""


@contextlib.contextmanager
def set_up_lock() -> Iterator[None]:
    """Lets one set-up of this checkout run at a time: a match starts two engines at the same time."""
    try:
        lock = (ROOT / ".venv.lock").open("a")
    except OSError as error:  # A checkout that is read-only.
        raise StepError(str(error)) from error
    with lock as file:
        if not try_lock(file.fileno()):
            log(tr("waiting for another set-up of this checkout to finish ..."))
            while not try_lock(file.fileno()):
                time.sleep(0.2)
        yield  # Closing the file unlocks it.


def try_lock(descriptor: int) -> bool:
    """Locks a file; returns whether no other process has locked it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # On Windows the file is locked; elsewhere the file system has no locks to wait for.
        return sys.platform != "win32"
    return True
