"""The frame of the programs in tools/: exit statuses, argument types, options from dataclasses, progress."""

import argparse
import re
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import MISSING, dataclass
from pathlib import Path

import pytest

from goryu.__main__ import COMMANDS
from goryu.__main__ import main as goryu_main
from goryu.base.arguments import whole_number
from goryu.base.config_fields import option, ranged
from goryu.base.errors import GoryuError
from goryu.base.installation import how_to_install
from goryu.commands.common import UsageError, above_zero, new_parser, non_negative, positive, program, share
from goryu.commands.config_options import add_fields, from_arguments
from goryu.match.time_control import MOST_NODES
from goryu.work.driver import Workforce
from paths import ROOT


def exit_status(error: BaseException | None, *, extra: str = "tools") -> int:
    def run(args: argparse.Namespace) -> None:
        if error:
            raise error

    return program("tool", new_parser("A tool."), run, [], extra=extra, interrupted="run it again")


@pytest.fixture(autouse=True)
def _sigterm() -> "object":
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def test_engines_of_a_program_depend_on_no_cache_and_play_without_a_book(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("GORYU_MEASURE", "GORYU_BOOK")
    for name in names:
        monkeypatch.delenv(name)
    assert exit_status(None) == 0
    command = [sys.executable, "-c", f"import os; print([os.environ.get(name) for name in {names}])"]
    assert subprocess.run(command, capture_output=True, text=True).stdout.strip() == "['off', 'off']"


@pytest.mark.parametrize("error", [GoryuError("no"), UsageError("no"), OSError("no")])
def test_a_fault_outside_goryu_is_one_line_and_status_2(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_status(error) == 2
    assert capsys.readouterr().err == "tool: no\n"


def test_ctrl_c_ends_with_130_and_advice(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "tool: interrupted; run it again\n"


def test_a_missing_package_names_the_extra_that_installs_it() -> None:
    missing = ModuleNotFoundError("No module named 'rich.table'", name="rich.table")
    with pytest.raises(
        SystemExit, match="^tool: rich is not installed: " + re.escape(how_to_install("train")) + "$"
    ):
        exit_status(missing, extra="train")


def test_every_command_calls_itself_in_its_errors_as_the_user_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in COMMANDS:
        status: object
        try:
            status = goryu_main([name, "--no-such-option"])
        except SystemExit as error:
            status = error.code
        assert status == 2
        assert capsys.readouterr().err.splitlines()[-1].startswith(f"goryu {name}: ")


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (positive, ["1", "20", "2147483647"], ["0", "-1", "x", "1.5", "2147483648", "9" * 20]),
        (non_negative, ["0", "3"], ["-1", "x", "9" * 20]),
        (whole_number(1, MOST_NODES), ["1", "5000000000"], ["0", "9" * 20]),
        (above_zero, ["0.5", "3"], ["0", "-1", "nan", "inf", "x"]),
        (share, ["0", "1", "0.5"], ["-0.1", "1.5", "nan", "x"]),
    ],
)
def test_numbers_out_of_range_are_refused(kind: "object", good: list[str], bad: list[str]) -> None:
    assert callable(kind)
    assert [float(kind(text)) for text in good] == [float(text) for text in good]
    for text in bad:
        with pytest.raises(argparse.ArgumentTypeError, match=f"{text}.*: expected "):
            kind(text)


@dataclass(frozen=True)
class Config:
    """Numbers of a tool."""

    steps: int = ranged(100, "training steps, at most 5 % of all")
    rate: float | None = ranged(None, "learning rate (default: the game's)", most=1.0)
    plies: tuple[int, int] = option((2, 8), "random moves")
    merge: bool = option(True, "merge equal positions")
    search: str = option("puct", "the search", choices=("puct", "uct"))
    folder: Path | None = option(None, "where the files are")
    hidden: int = 7


def test_options_of_a_dataclass_explain_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    parser = new_parser("A tool.")
    add_fields(parser, Config)
    assert from_arguments(Config, parser.parse_args([])) == Config()
    words = [
        "--steps", "5", "--rate", "0.5", "--plies", "0", "3", "--no-merge", "--search", "uct", "--folder",
        "x",
    ]  # fmt: skip
    expected = Config(5, 0.5, (0, 3), False, "uct", Path("x"), 8)
    assert from_arguments(Config, parser.parse_args(words), hidden=8) == expected
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "training steps, at most 5 % of all (default 100)" in text
    assert "learning rate (default: the game's) --plies" in text
    assert "--search {puct,uct} the search (default puct)" in text
    assert "random moves (default 2 8)" in text
    assert "merge equal positions (default yes)" in text
    assert "hidden" not in text


@pytest.mark.parametrize(
    "words",
    [
        "--steps 0",
        "--steps x",
        "--steps 2.5",
        "--rate 0",
        "--rate 1.1",
        "--rate nan",
        "--plies 3 1",
        "--plies -1 2",
        "--search minimax",
    ],
)
def test_options_of_a_dataclass_check_their_range(words: str) -> None:
    parser = new_parser("A tool.")
    add_fields(parser, Config)
    with pytest.raises(SystemExit, match="2"):
        parser.parse_args(words.split())


def test_an_option_of_a_dataclass_without_a_default_must_be_given() -> None:
    @dataclass(frozen=True)
    class Required:
        folder: Path = option(MISSING, "where the files are")

    parser = new_parser("A tool.")
    add_fields(parser, Required)
    assert from_arguments(Required, parser.parse_args(["--folder", "x"])) == Required(Path("x"))
    with pytest.raises(SystemExit, match="2"):
        parser.parse_args([])


def test_without_a_terminal_progress_is_a_line_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    from goryu.commands.progress_display import ProgressDisplay

    now = 0.0
    with ProgressDisplay(lambda: now) as display:
        for done in range(10, 20):
            display.update("games", done, 100, f"{done} [positions]")
            now += 30.0
        display.print("a line with [brackets] and :100:")
    assert capsys.readouterr().out.splitlines() == [
        "games: 12 of 100, 12 [positions], 60 s, about 2640 s left",
        "games: 14 of 100, 14 [positions], 120 s, about 2580 s left",
        "games: 16 of 100, 16 [positions], 180 s, about 2520 s left",
        "games: 18 of 100, 18 [positions], 240 s, about 2460 s left",
        "a line with [brackets] and :100:",
    ]


def test_lost_workers_of_this_computer_are_no_cluster() -> None:
    from goryu.commands.cluster_options import watcher

    printed: list[str] = []
    now = 0.0
    watch = watcher(printed.append, clock=lambda: now)
    watch(Workforce(nodes=Counter({"": 2})))
    assert printed == []
    now = 60.0
    watch(Workforce(nodes=Counter({"": 1}), losses=1))
    assert printed == ["workers: 1 lost so far"]


TOOLS = ROOT / "tools"
WITHOUT_EXTRAS = """
import runpy, sys
for name in ("rich", "torch", "onnx", "cshogi", "rsshogi", "matplotlib"):
    sys.modules[name] = None
sys.argv = [sys.argv[1], *sys.argv[2:]]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


NOT_PROGRAMS = {"bootstrap"}


@pytest.mark.parametrize("name", sorted({path.stem for path in TOOLS.glob("*.py")} - NOT_PROGRAMS))
def test_help_needs_no_extra(name: str) -> None:
    command = [sys.executable, "-c", WITHOUT_EXTRAS, str(TOOLS / f"{name}.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "usage: " in done.stdout
