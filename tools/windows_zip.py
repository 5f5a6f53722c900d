r"""Packs Goryu for Windows with Python inside: people unpack the zip and register `goryu.exe`.

    python tools/windows_zip.py --python python-3.13.9-embed-amd64.zip --runtime directml \
        --wheel dist/goryu-0.1.0-cp313-cp313-win_amd64.whl --out goryu-windows-directml.zip

--python is python.org's "Windows embeddable package" of the version that the wheel is for. pip fetches the
other packages for Windows, on any system. The zip holds a folder:

    goryu\goryu.exe     runs the engine and all commands: distlib's launcher, as in every installation by pip
    goryu\play.bat      opens the page in the browser
    goryu\python\       Python, which looks for packages only in goryu\packages
    goryu\packages\     goryu, its native code and networks, NumPy, one onnxruntime

Needs pip and the package distlib.
"""

import argparse
import io
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from goryu.base.errors import InputError
from goryu.base.installation import CHECKOUT
from goryu.commands.common import new_parser, output_file, program

RUNTIMES = ("cpu", "directml", "cuda", "openvino")

PACKAGES = r"..\packages"
"""The folder of the packages, from that of python.exe."""

SHEBANG = '#!"<launcher_dir>\\python\\python.exe" -X utf8 -u\r\n'
"""The launcher replaces <launcher_dir> by its own folder. -u: a GUI reads every line at once."""

START = """\
import sys
from goryu.__main__ import main
if __name__ == "__main__":
    sys.exit(main())
"""

PLAY = '@echo off\r\n"%~dp0goryu.exe" web %*\r\nif errorlevel 1 pause\r\n'

README = """\
Goryu (合流)

将棋 GUI には goryu.exe を登録してください。play.bat をダブルクリックすると、\
ブラウザーで対局や検討ができます。
うまく動かないときは、コマンド プロンプトで goryu.exe doctor を実行してください。

Register goryu.exe in a shogi GUI. Double-click play.bat to play and review games in the browser.
If something does not work, run goryu.exe doctor in a command prompt.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("windows_zip.py", make_parser(), run, arguments, extra="test")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("--python", type=Path, required=True, metavar="ZIP", help="embeddable Python")
    parser.add_argument("--wheel", type=Path, required=True, metavar="FILE", help="goryu for Windows")
    parser.add_argument(
        "--requirements",
        type=Path,
        metavar="FILE",
        help="packages with hashes (default: the newest, unchecked)",
    )
    parser.add_argument("--runtime", choices=RUNTIMES, default="cpu", help="onnxruntime (default cpu)")
    parser.add_argument("--out", type=output_file, required=True, metavar="ZIP", help="the zip to write")
    return parser


def run(args: argparse.Namespace) -> None:
    """Builds the folder and packs it."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "goryu"
        version = unpack_python(args.python, folder / "python")
        if f"-cp{version.replace('.', '')}-" not in args.wheel.name or "win_amd64" not in args.wheel.name:
            raise InputError(f"{args.wheel.name}: expected a wheel for Python {version} on win_amd64")
        install(args.wheel, args.runtime, version, folder / "packages", args.requirements)
        add_runtime_libraries(version, folder / "python", args.requirements)
        (folder / "goryu.exe").write_bytes(launcher())
        (folder / "play.bat").write_bytes(PLAY.encode("ascii"))
        (folder / "README.txt").write_text(README, "utf-8-sig", newline="\r\n")
        shutil.copyfile(CHECKOUT / "LICENSE", folder / "LICENSE.txt")
        pack(folder, args.out)
    print(f"wrote {args.out} ({args.out.stat().st_size / 1e6:.0f} MB)")


def unpack_python(archive: Path, folder: Path) -> str:
    """Unpacks an embeddable Python and lets it find our packages; returns its version, such as "3.13"."""
    try:
        with zipfile.ZipFile(archive) as file:
            file.extractall(folder)
    except zipfile.BadZipFile as error:
        raise InputError(f"{archive}: expected Python's embeddable package ({error})") from error
    found = sorted(folder.glob("python3*._pth"))
    if not found or not (folder / "python.exe").is_file():
        raise InputError(
            f"{archive}: expected Python's embeddable package, with python.exe and python3*._pth"
        )
    (paths,) = found
    lines = [line for line in paths.read_text("ascii").splitlines() if line and not line.startswith("#")]
    paths.write_text("\n".join([*lines, PACKAGES, ""]), "ascii", newline="\r\n")
    digits = paths.stem.removeprefix("python")
    return f"{digits[0]}.{digits[1:]}"


def pip_for_windows(version: str) -> list[str]:
    """Returns the options of pip that choose packages for Windows and a version of Python."""
    return ["--platform", "win_amd64", "--python-version", version, "--only-binary=:all:"]


def install(wheel: Path, runtime: str, version: str, folder: Path, requirements: Path | None) -> None:
    """Installs goryu with its dependencies into a folder; those with hashes if `requirements` lists them."""
    words = ["--no-compile", *pip_for_windows(version), "--target", str(folder)]
    wanted = f"goryu[{runtime},web] @ {wheel.resolve().as_uri()}"
    if requirements:
        pip("install", *words, "--no-deps", "--require-hashes", "--requirement", str(requirements))
        words.append("--no-deps")
    pip("install", *words, wanted)
    shutil.rmtree(folder / "bin", ignore_errors=True)  # Its programs name this machine's Python.


def add_runtime_libraries(version: str, folder: Path, requirements: Path | None) -> None:
    """Copies Microsoft's C++ libraries next to python.exe: Python brings only those for C."""
    with tempfile.TemporaryDirectory() as temporary:
        listed = (
            ["--require-hashes", "--requirement", str(requirements)] if requirements else ["msvc-runtime"]
        )
        pip("download", "--no-deps", *pip_for_windows(version), "--dest", temporary, *listed)
        (wheel,) = Path(temporary).glob("msvc_runtime-*.whl")
        with zipfile.ZipFile(wheel) as file:
            for name in file.namelist():
                _, _, library = name.rpartition(".data/data/")
                if library.startswith(("msvcp140", "vcruntime140")) and "/" not in library:
                    (folder / library).write_bytes(file.read(name))


def pip(verb: str, *words: str) -> None:
    """Runs pip; raises InputError with its last line if it fails."""
    command = [sys.executable, "-m", "pip", verb, "--quiet", "--disable-pip-version-check", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise InputError(f"pip {verb} {words[-1]}: {last}")


def launcher() -> bytes:
    """Returns goryu.exe: distlib's launcher, the command that it runs, and a zip with the script."""
    script = io.BytesIO()
    with zipfile.ZipFile(script, "w") as file:
        file.writestr("__main__.py", START)
    return files("distlib").joinpath("t64.exe").read_bytes() + SHEBANG.encode("ascii") + script.getvalue()


def pack(folder: Path, out: Path) -> None:
    """Packs a folder into a zip, with its name as the first part of every path."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            file.write(path, path.relative_to(folder.parent))


if __name__ == "__main__":
    raise SystemExit(main())
