"""The ways to start the engine: console script, shell script, `python -m`, and `bat/usi.bat` under cmd.exe.

If Wine is installed, its cmd.exe runs the .bat files; the python.exe in their .venv is a script that starts
this Python.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paths import ROOT

if TYPE_CHECKING:
    from tests.acceptance.conftest import Engine, Pool

WINE = shutil.which("wine")


class CommandPrompt:
    """The cmd.exe of Wine."""

    def __init__(self, folder: Path) -> None:
        self.environment = {
            "WINEPREFIX": str(folder / "prefix"),
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml=",
            "LC_ALL": japanese_locale() or "C.UTF-8",
        }

    def start(self) -> None:
        assert WINE
        subprocess.run(
            [WINE, "cmd", "/c", "exit"], env={**os.environ, **self.environment}, check=True, timeout=120
        )

    def command(self, launcher: Path, by_name: bool = False) -> list[str]:
        """Returns how a GUI starts a launcher: as a program, or by name as ShogiHome does (`cmd /c PATH`)."""
        assert WINE
        path = "Z:" + str(launcher).replace("/", "\\")
        return [WINE, "cmd", "/c", path] if by_name else [WINE, path]


@pytest.fixture(scope="module")
def mode() -> tuple[str, str]:
    """As built: which implementation of the rules the engine has makes no difference here."""
    return "", "unread"


def japanese_locale() -> str:
    """Returns the name of a locale with which Wine reads Japanese file names, "" if none is installed."""
    if shutil.which("locale") is None:
        return ""
    installed = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split()
    return next((name for name in installed if name.lower().startswith("ja_jp.utf")), "")


@pytest.fixture(scope="module")
def command_prompt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandPrompt]:
    if not WINE:
        pytest.skip("Wine is not installed")
    prompt = CommandPrompt(tmp_path_factory.mktemp("wine"))
    (Path(prompt.environment["WINEPREFIX"])).mkdir()
    prompt.start()
    yield prompt
    if wineserver := shutil.which("wineserver") or shutil.which("/usr/lib/wine/wineserver"):
        subprocess.run([wineserver, "-k"], env={**os.environ, **prompt.environment})


def installed_copy(folder: Path) -> Path:
    """Makes a checkout with a .venv for Windows in a folder; returns its `usi.bat`."""
    shutil.copytree(ROOT / "bat", folder / "bat")
    scripts = folder / ".venv" / "Scripts"
    scripts.mkdir(parents=True)
    python = scripts / "python.exe"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return folder / "bat" / "usi.bat"


def check_session(engine: Engine) -> None:
    """Plays a short session: usi, a move in byoyomi, the end of the input during a search."""
    engine.prelude()
    assert engine.offered[0].startswith("id name Goryu ")
    engine.send("position startpos\ngo btime 0 wtime 0 byoyomi 200")
    engine.expect_within("bestmove .*", 0.05, 0.2)
    engine.send("go infinite")
    engine.close_input()
    engine.expect_exit(1.0)


@pytest.mark.parametrize("way", ["module", "console script", "shell script"])
def test_each_launcher_starts_the_engine(way: str, pool: Pool, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "goryu"]
    if way == "console script":
        name = "goryu.exe" if sys.platform == "win32" else "goryu"
        command = [str(Path(sys.executable).parent / name)]
        if not Path(command[0]).exists():
            pytest.skip("goryu is on the path but not installed")
    elif way == "shell script":
        if sys.platform == "win32":
            pytest.skip("a shell script")
        script = tmp_path / "将棋 (x86) & goryu.sh"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -u -m goryu "$@"\n')
        script.chmod(0o755)
        command = [str(script)]
    with pool.start(command) as engine:
        check_session(engine)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, by_name",
    [
        *(("with blanks", True), ("将棋 合流", True)),
        *(("Program Files (x86)", False), ("a & b", False)),  # By name cmd.exe does not find these.
    ],
)
def test_the_bat_file_starts_the_engine_from_any_folder(
    name: str, by_name: bool, command_prompt: CommandPrompt, pool: Pool, tmp_path: Path
) -> None:
    if not name.isascii() and not japanese_locale():
        pytest.skip("no Japanese locale")
    command = command_prompt.command(installed_copy(tmp_path / name), by_name)
    with pool.start(command, **command_prompt.environment) as engine:
        check_session(engine)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, given, expected",
    [
        ("dev", ["match", "--games", "2"], ["match", "--games", "2"]),
        ("learn", [], ["learn", "tictactoe"]),
        ("learn", ["reversi"], ["learn", "reversi"]),
        ("train", [], ["train", "--help"]),
        ("match", [], ["match", "--help"]),
        (
            "match",
            ["--engine1", r"C:\My Engines (x86)\x & y.exe", "--option1", "A=b c", "a ^b", "x!y z"],
            ["match", "--engine1", r"C:\My Engines (x86)\x & y.exe", "--option1", "A=b c", "a ^b", "x!y z"],
        ),
    ],
)
def test_a_launcher_hands_its_arguments_to_dev_py_in_the_checkout(
    name: str, given: list[str], expected: list[str], command_prompt: CommandPrompt, tmp_path: Path
) -> None:
    folder = tmp_path / "with blanks & more"
    launcher = installed_copy(folder).with_name(f"{name}.bat")
    report = tmp_path / "report"
    (folder / ".venv" / "Scripts" / "python.exe").write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" end > "{report}"\n'
    )
    environment = {**os.environ, **command_prompt.environment}
    command = [*command_prompt.command(launcher), *given]
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    deadline_s = time.monotonic() + 20.0  # Wine does not wait for programs of Linux.
    while not (report.exists() and report.read_text().endswith("end\n")):
        assert time.monotonic() < deadline_s, "python.exe was not started"
        time.sleep(0.1)
    assert report.read_text().splitlines() == [str(folder), r"tools\dev.py", *expected, "end"]


@pytest.mark.skipif(sys.platform == "win32", reason="a shell that stands in for cmd.exe")
def test_the_engine_ends_when_its_launcher_is_killed_and_the_gui_closes_the_pipe(pool: Pool) -> None:
    with pool.start(["sh", "-c", f'"{sys.executable}" -m goryu; exit 0']) as engine:
        engine.prelude()
        engine.send("go infinite")
        engine.process.kill()
        engine.process.wait()
        engine.close_input()
        expect_the_end_of_output(engine, 30.0)


def expect_the_end_of_output(engine: Engine, timeout_s: float) -> None:
    """Waits until the engine itself has ended, not only its launcher: no process can write any more."""
    while engine.next_line(timeout_s) is not None:
        pass
    assert engine.is_closed, "the engine lives on"
