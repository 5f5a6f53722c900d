"""Runs Goryu as a Windows program under Wine: tools/dev.py wine.

    python3 tools/dev.py wine                               what a GUI says first: usi, isready, then silence
    python3 tools/dev.py wine -m goryu doctor               any arguments of python.exe, in a copy of the tree
    LC_ALL=ja_JP.UTF-8 python3 tools/dev.py wine -m pytest tests/engine/usi

Debian: apt install wine64 g++-mingw-w64-x86-64-posix. The first time it takes some minutes. With a Japanese
locale, consoles and files are in cp932, as on most of our users' computers.

The Python is that of Windows: Panda3D's wheel on PyPI has python3xx.dll and the extension modules as
python.org builds them. python.exe is three lines of C, and the library is that of the Python that runs this,
whose version differs in the last number. What Wine 8 lacks is added: the complex functions of its C library,
for NumPy, and bcryptprimitives.dll. Streams are pipes, as with a GUI, since Wine cannot use files that Linux
has opened. MinGW compiles the native code: Microsoft's compiler is not tested, nor are consoles.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import BinaryIO, cast

from bootstrap import ROOT, StepError, log

BUILD = ROOT / "build" / "wine"
WINDOWS, TREE, PREFIX = BUILD / "python", BUILD / "tree", BUILD / "prefix"
PACKAGES = WINDOWS / "Lib" / "site-packages"
VERSION = f"3{sys.version_info.minor}"
FOR_WINDOWS = ("--platform", "win_amd64", "--python-version", f"3.{VERSION[1:]}", "--only-binary=:all:")

COMPILER, TOOLS = "x86_64-w64-mingw32-g++-posix", "x86_64-w64-mingw32-"
FLAGS = (
    "-std=c++20", "-O2", "-ffp-contract=off", "-fvisibility=hidden", "-DMS_WIN64", "-DMS_WINDOWS",
    "-Wa,-mbig-obj",
)  # fmt: skip

READY_S = 120.0
"""How long the engine may take to be ready, its measurement included."""

PANDA = "panda3d==1.10.16"
REQUIREMENTS = (
    "numpy>=1.26,<2.3", "onnxruntime", "onnx", "rich", "aiohttp", "fsrs>=6,<7", "msgspec", "rsshogi", "segno",
    "pytest", "pytest-timeout", "pytest-xdist", "hypothesis", "jsonschema", "py7zr", "colorama",
)  # fmt: skip

PYTHON_C = """
#include <wchar.h>
int Py_Main(int, wchar_t **);
int wmain(int argc, wchar_t **argv) { return Py_Main(argc, argv); }
"""

CONFIG_H = """
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED 1
#define HAVE_LONG_LONG 1
#define HAVE_PY_SSIZE_T 1
typedef long long Py_ssize_t;
#define PY_SSIZE_T_MAX 0x7fffffffffffffffLL
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_LONG_LONG 8
#define SIZEOF_TIME_T 8
#define SIZEOF_FPOS_T 8
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_OFF_T 4
#define SIZEOF_WCHAR_T 2
#define ALIGNOF_SIZE_T 8
#define NT_THREADS
#define WITH_THREAD
#define HAVE_STRFTIME
"""
"""What Python's headers want to know of Windows."""

MATH = "api-ms-win-crt-math-l1-1-0.dll"
OWN_MATH = "apx-ms-win-crt-math-l1-1-0.dll"
REAL = ("cabs", "carg", "cimag", "creal")
COMPLEX = (
    "cacos", "cacosh", "casin", "casinh", "catan", "catanh", "ccos", "ccosh", "cexp", "clog", "conj", "cpow",
    "cproj", "csin", "csinh", "csqrt", "ctan", "ctanh",
)  # fmt: skip

MATH_C = """
#include <complex.h>
typedef struct { double v[2]; } D;
typedef struct { float v[2]; } F;
static double complex of_D(D a) { double complex z; __real__ z = a.v[0]; __imag__ z = a.v[1]; return z; }
static double complex of_F(F a) { double complex z; __real__ z = a.v[0]; __imag__ z = a.v[1]; return z; }
static D to_D(double complex z) { D r = {{creal(z), cimag(z)}}; return r; }
static F to_F(double complex z) { F r = {{(float)creal(z), (float)cimag(z)}}; return r; }
int __stdcall DllMain(void *module, unsigned reason, void *reserved) { return 1; }
"""

RANDOM_C = """
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
BOOL WINAPI own(PBYTE to, SIZE_T size) { return SystemFunction036(to, (ULONG)size); }
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status of python.exe."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in (["-h"], ["--help"]):
        print(f"usage: dev.py wine [ARGUMENT ...]\n\n{__doc__}")
        return 0
    try:
        prepare()
    except StepError as error:
        log(str(error))
        return 1
    return run(given) if given else first_commands()


def prepare() -> None:
    """Makes what is missing or was made of something else; raises StepError."""
    for program in (COMPILER, "wine"):
        if not shutil.which(program):
            raise StepError(f"wine: {program} is not installed; `dev.py wine --help` names the packages")
    once("Windows' Python", "python", make_python, PANDA, PYTHON_C)
    once("its packages, and what Wine lacks", "packages", install, *REQUIREMENTS, MATH_C, RANDOM_C)
    copy_tree()
    sources = filter(Path.is_file, sorted((TREE / "native").rglob("*")))
    once("the native code", "native", compile_native, *map(Path.read_bytes, sources))


def once(what: str, name: str, make: Callable[[], None], *wanted: str | bytes) -> None:
    """Calls `make` unless it has been done with the same texts."""
    digest = hashlib.sha256(repr((VERSION, wanted)).encode()).hexdigest()
    stamp = BUILD / f"{name}.done"
    if not stamp.exists() or stamp.read_text() != digest:
        log(f"wine: making {what}")
        BUILD.mkdir(parents=True, exist_ok=True)
        make()
        stamp.write_text(digest)


def call(*command: object, folder: Path = BUILD) -> str:
    """Runs a program; raises StepError with its output if it fails."""
    done = subprocess.run([*map(str, command)], cwd=folder, env=environment(), capture_output=True, text=True)
    if done.returncode:
        raise StepError(f"wine: {command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def environment() -> dict[str, str]:
    """Returns the environment of Wine: without what belongs to the Python of Linux."""
    unwanted = ("PYTHONPATH", "DISPLAY", "PIP_FIND_LINKS", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    own = {"WINEPREFIX": str(PREFIX), "WINEARCH": "win64", "WINEDEBUG": "-all"}
    return kept | own | {"WINEDLLOVERRIDES": "mscoree,mshtml=;winemenubuilder.exe=d"}


def pip(*words: object, target: Path) -> None:
    """Installs packages into a folder."""
    quiet = ("--quiet", "--no-compile", "--upgrade", "--target", target)
    call(sys.executable, "-m", "pip", "install", *quiet, *words)


def make_python() -> None:
    """Makes python.exe with its library, and the import library for the native code."""
    (BUILD / "packages.done").unlink(missing_ok=True)
    shutil.rmtree(WINDOWS, ignore_errors=True)
    pip(PANDA, "--no-deps", *FOR_WINDOWS, target=BUILD / "panda")
    parts = BUILD / "panda" / "deploy_libs"
    if not parts.is_dir():
        raise StepError(f"wine: {PANDA} has no Python {VERSION} for Windows")
    dlls, library = WINDOWS / "DLLs", Path(sysconfig.get_path("stdlib"))
    dlls.mkdir(parents=True)
    for path in parts.glob("*.pyd"):
        if path.stem != "_tkinter":
            shutil.copy(path, dlls)
    for name in ("libffi-8", "libcrypto-3", "libssl-3", "sqlite3"):
        shutil.copy(parts / f"{name}.dll", dlls)
    dll = shutil.copy(parts / f"python{VERSION}.dll", WINDOWS)
    left_out = shutil.ignore_patterns("lib-dynload", "site-packages", "config-*", "test", "__pycache__")
    shutil.copytree(library, WINDOWS / "Lib", ignore=left_out)
    PACKAGES.mkdir()
    listed = call(f"{TOOLS}objdump", "-p", dll)
    names = re.findall(r"^\s+\[\s*\d+\] (?:\+base\[\s*\d+\]\s+[0-9a-f]+ )?(\w+)$", listed, re.MULTILINE)
    definition("python", f"python{VERSION}.dll", names)
    call(f"{TOOLS}dlltool", "-d", "python.def", "-l", f"libpython{VERSION}.a")
    library_of("python3", "", [f"{name}=python{VERSION}.{name}" for name in names], WINDOWS)
    (BUILD / "python.c").write_text(PYTHON_C)
    call(f"{TOOLS}gcc", "-municode", "-o", WINDOWS / "python.exe", "python.c", f"libpython{VERSION}.a")
    shutil.rmtree(PREFIX, ignore_errors=True)
    call("wine", "wineboot", "-i")
    call("wine", "reg", "add", r"HKCU\Software\Wine", "/v", "Version", "/d", "win10", "/f")


def definition(name: str, dll: str, exports: Sequence[str]) -> None:
    """Writes what a DLL exports into a file for the linker."""
    (BUILD / f"{name}.def").write_text("\n".join([f"LIBRARY {dll}", "EXPORTS", *exports, ""]))


def library_of(name: str, code: str, exports: Sequence[str], folder: Path, *more: str) -> None:
    """Compiles a DLL of this code; an export may be one of another DLL."""
    definition(name, f"{name}.dll", exports)
    entry = "int __stdcall DllMain(void *a, unsigned b, void *c) { return 1; }\n"
    (BUILD / f"{name}.c").write_text(code or entry)
    made = folder / f"{name}.dll"
    call(f"{TOOLS}gcc", "-shared", "-static", "-fno-builtin", "-o", made, f"{name}.c", f"{name}.def", *more)


def install() -> None:
    """Installs the packages, and gives Wine the functions that they want and it lacks."""
    shutil.rmtree(PACKAGES, ignore_errors=True)
    pip(*REQUIREMENTS, *FOR_WINDOWS, target=PACKAGES)
    pip("python-shogi", "--no-deps", target=PACKAGES)  # It has no wheel.
    code, exports = [MATH_C], []
    for name, (suffix, kind) in product((*REAL, *COMPLEX), (("", "D"), ("l", "D"), ("f", "F"))):
        letters = "ab" if name == "cpow" else "a"
        takes = ", ".join(f"{kind} {letter}" for letter in letters)
        value = f"{name}({', '.join(f'of_{kind}({letter})' for letter in letters)})"
        result = kind
        if name in REAL:
            result = "float" if kind == "F" else "double"
        else:
            value = f"to_{kind}({value})"
        code.append(f"{result} own_{name}{suffix}({takes}) {{ return {value}; }}")
        exports.append(f"{name}{suffix}=own_{name}{suffix}")
    own = {export.partition("=")[0] for export in exports}
    wanted: dict[str, list[Path]] = {}
    for path in [*PACKAGES.rglob("*.pyd"), *PACKAGES.rglob("*.dll")]:
        for name in imports(path):
            wanted.setdefault(name, []).append(path)
    exports += [f"{name}=ucrtbase.{name}" for name in sorted(wanted.keys() - own)]
    system = PREFIX / "drive_c" / "windows" / "system32"
    library_of(OWN_MATH.removesuffix(".dll"), "\n".join(code), exports, system)
    for path in {path for name in own for path in wanted.get(name, ())}:
        path.write_bytes(path.read_bytes().replace(MATH.encode(), OWN_MATH.encode()))
    library_of("bcryptprimitives", RANDOM_C, ["ProcessPrng=own"], system, "-ladvapi32")


def imports(path: Path) -> list[str]:
    """Returns the names of the functions of Windows' mathematical library that a DLL calls."""
    listed = call(f"{TOOLS}objdump", "-p", path)
    pattern = rf"DLL Name: {MATH}\n(.*?)(?:DLL Name|Ordinal Base|\n\n\n)"
    table = re.search(pattern, listed, re.DOTALL | re.IGNORECASE)
    return re.findall(r"^\t[0-9a-f]+\s+[<>\w]*\s*(\w+)\s*$", table[1], re.MULTILINE) if table else []


def copy_tree() -> None:
    """Copies the files that git knows or would add, and the downloaded network."""
    listed = call("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=ROOT)
    downloads = [str(path.relative_to(ROOT)) for path in (ROOT / "models" / "downloads").glob("*")]
    for name in [*filter(None, listed.split("\0")), *downloads]:
        source, target = ROOT / name, TREE / name
        if not source.is_file():
            continue
        if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    (PACKAGES / "goryu.pth").write_text(str(windows_path(TREE / "engine")))


def windows_path(path: Path) -> str:
    return "Z:" + str(path).replace("/", "\\")


def compile_native() -> None:
    """Compiles the extension module."""
    objects, headers = BUILD / "objects", BUILD / "include"
    shutil.rmtree(headers, ignore_errors=True)
    shutil.copytree(sysconfig.get_path("include"), headers)
    (headers / "pyconfig.h").write_text(CONFIG_H)
    objects.mkdir(exist_ok=True)
    module = objects / "_native.cpp"
    cython = (sys.executable, "-m", "cython", "-3", "--cplus", "-I", "native")
    call(*cython, "native/_native.pyx", "-o", module, folder=TREE)
    sources = [*(TREE / "native" / "core").glob("*.cpp"), module]

    def compiled(source: Path) -> Path:
        made = objects / f"{source.stem}.o"
        call(COMPILER, *FLAGS, f"-I{headers}", f"-I{TREE / 'native'}", "-c", source, "-o", made)
        return made

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(compiled, sources))
    target = TREE / "engine" / "goryu" / f"_native.cp{VERSION}-win_amd64.pyd"
    hidden = "-Wl,--exclude-all-symbols"
    call(COMPILER, "-shared", "-static", "-o", target, *made, f"libpython{VERSION}.a", hidden)


def started(arguments: Sequence[str]) -> tuple[subprocess.Popen[bytes], BinaryIO, BinaryIO]:
    """Starts python.exe; returns the process, its input and its output."""
    command = ["wine", str(WINDOWS / "python.exe"), *arguments]
    pipe, both = subprocess.PIPE, subprocess.STDOUT
    process = subprocess.Popen(command, cwd=TREE, env=environment(), stdin=pipe, stdout=pipe, stderr=both)
    assert process.stdin
    assert process.stdout
    return process, cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)


def run(arguments: Sequence[str]) -> int:
    """Runs python.exe with our streams; returns its exit status."""
    process, to, come = started(arguments)

    def feed() -> None:
        with suppress(OSError):  # The program has ended.
            while data := os.read(0, 1 << 16):
                to.write(data)
                to.flush()
            to.close()

    threading.Thread(target=feed, daemon=True).start()
    while data := os.read(come.fileno(), 1 << 16):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return process.wait()


def first_commands() -> int:
    """Says to the engine what a GUI says first; returns 0 if it becomes ready without another word."""
    process, to, come = started(["-m", "goryu"])
    began_s, is_ready = time.monotonic(), False
    impatience = threading.Timer(READY_S, process.kill)
    impatience.start()
    to.write(b"usi\nisready\n")
    to.flush()
    for line in come:
        if not line.startswith(b"option"):
            print(f"{time.monotonic() - began_s:5.1f} s  {line.decode().rstrip()}", flush=True)
        if line.startswith(b"readyok"):
            is_ready = True
            to.write(b"quit\n")
            to.flush()
    impatience.cancel()
    return process.wait() if is_ready else 1


if __name__ == "__main__":
    raise SystemExit(main())
