"""The frame of the programs in tools/: exit statuses, argument types, options from dataclasses, progress."""

import argparse
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from goryu.__main__ import COMMANDS
from goryu.__main__ import main as goryu_main
from goryu.base.arguments import whole_number
from goryu.base.config_fields import option, ranged
from goryu.base.errors import GoryuError
from goryu.base.files import atomic_path
from goryu.base.installation import how_to_install
from goryu.commands.common import (
    UsageError,
    above_zero,
    new_parser,
    non_negative,
    output_file,
    positive,
    program,
    share,
)
from goryu.commands.config_options import add_fields, from_arguments
from goryu.engines.time_control import MOST_NODES
from goryu_lab.records.game_records import write_games
from goryu_lab.work.driver import Workforce
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


def test_an_output_file_needs_a_folder(tmp_path: Path) -> None:
    assert output_file(str(tmp_path / "x.json")) == tmp_path / "x.json"
    for path, expected in ((tmp_path / "no" / "x.json", "no such folder"), (tmp_path, "a folder, expected")):
        with pytest.raises(argparse.ArgumentTypeError, match=expected):
            output_file(str(path))


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


LOOP = "selfplay loop --folder new"
PLAY = f"selfplay play --model {ROOT}/models/goryu-5x64.onnx --out a.games"
TEACH = "teach play a --out a.games"
EVALUATE = "evaluate goryu-5x64.onnx --games"


@pytest.mark.parametrize("fault", [ValueError("a defect"), ModuleNotFoundError("gone", name="goryu.x")])
def test_a_fault_of_goryu_is_a_traceback(fault: Exception) -> None:
    with pytest.raises(type(fault)):
        exit_status(fault)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (f"{LOOP} --game tictactoe --channels 64", "--channels: for shogi only"),
        (f"{LOOP} --game tictactoe --max-plies 8 --gpus 1", "--max-plies, --gpus: for shogi only"),
        (f"{LOOP} --game tictactoe --backend cuda", "--backend: for shogi only"),
        (f"{LOOP} --cheap-playouts 0", "cheap_playouts: expected more than 0"),
        (f"{LOOP} --window-start 100", "expected at least one batch of 256 positions"),
        (f"{LOOP} --match-limit 3", "expected an even number"),
        (f"{PLAY} --full-playouts -1", "--full-playouts: -1: expected at least 0"),
        (f"{PLAY} --max-plies 4000000000", "expected more than 0 and at most 2147483647"),
        (f"{PLAY} --random-plies 6 0", "--random-plies: 6 0: expected 0 <= MIN <= MAX"),
        (f"{PLAY} --backend gpu", "--backend: invalid choice: 'gpu'"),
        (f"{PLAY} --gpus 0,-1", "--gpus: -1: expected at least 0"),
        (f"{PLAY} --temperature nan", "--temperature nan: expected"),
        (f"{PLAY} --device cpu", "--device: for games without searches"),
        (f"{PLAY} --worker-gpus 1", "these go with --cluster"),
        (f"{PLAY} --gpus 0,1", "--backend cpu runs on the CPU"),
        (f"{PLAY} --backend cuda --gpus 0 --cluster auto", "--gpus is for the processes of this computer"),
        ("selfplay play --model a --out self.hcpe", "ends in .games"),
        ("selfplay leaves empty.games --model a --out leaves.txt", "ends in .games"),
        ("selfplay leaves empty.games --model none.onnx --out leaves.games", "none.onnx"),
        ("train --source none.hcpe,540 --folder new", "none.hcpe"),
        ("train --source none.hcpe,x --folder new", "expected FILE"),
        ("train --source empty.games --folder new", "expected the scale of its scores, or a teacher"),
        ("teach play a --out a.hcpe", "ends in .games"),
        (f"{TEACH} --openings none.txt", "none.txt"),
        (f"{TEACH} --move-timeout nan", "--move-timeout: nan"),
        (TEACH, "cannot start 'a'"),
        (f"{EVALUATE} none.games", "none.games"),
        (f"{EVALUATE} empty.games", "expected at least one position of a game"),
        (f"{EVALUATE} empty.games --temperature 0", "--temperature: 0: expected "),
        ("learn reversi --folder new --cycles 0", "--cycles: 0: expected "),
        ("learn reversi --folder empty.games/new", "empty.games"),
        ("learn lesson --folder new --checkpoint-every 7", "a multiple of --games-together (3)"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_named_and_nothing_is_written(
    command: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if command.startswith((LOOP, "train")):
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    write_games("empty.games", [])
    try:
        status: object = goryu_main(command.split())
    except SystemExit as end:  # From argparse.
        status = end.code
    assert status == 2
    assert words in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["empty.games"]


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    path.write_text("old")
    left = tmp_path / "unfinished-01234567-numbers.json"
    left.write_text("left by a kill")
    os.utime(left, (0, 0))
    with pytest.raises(FileNotFoundError, match="elsewhere"), atomic_path(path) as temporary:  # noqa: PT012
        assert not temporary.exists()
        temporary.write_text("half")
        (tmp_path / "elsewhere").read_text()
    assert [file.name for file in tmp_path.iterdir()] == ["numbers.json"]
    assert path.read_text() == "old"
    with atomic_path(path) as temporary:
        assert temporary.suffix == ".json"
        temporary.write_text("new")
    assert path.read_text() == "new"


def test_two_programs_that_write_a_file_at_once_each_write_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    with atomic_path(path) as first:
        first.write_text("half of the fir")
        with atomic_path(path) as second:
            second.write_text("the second")
        assert path.read_text() == "the second"
        first.write_text("the first")
    assert path.read_text() == "the first"


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
    from goryu_lab.commands.cluster_options import watcher

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
import os, runpy, sys
for name in ("rich", "torch", "onnx", "cshogi", "rsshogi", "matplotlib"):
    sys.modules[name] = None
before = [os.path.dirname(sys.argv[1]), *sys.path]
for program in sys.argv[1:]:
    sys.argv, sys.path[:] = [program, "--help"], before
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as ended:
        assert not ended.code, program
"""


NOT_PROGRAMS = {"bootstrap", "file_server", "network_file", "tab_page", "textbook"}


def test_help_needs_no_extra() -> None:
    programs = [str(path) for path in sorted(TOOLS.glob("*.py")) if path.stem not in NOT_PROGRAMS]
    command = [sys.executable, "-c", WITHOUT_EXTRAS, *programs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("usage: ") == len(programs)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_what_is_no_regular_file_is_not_replaced_by_one(tmp_path: Path) -> None:
    path = tmp_path / "device"
    os.mkfifo(path)
    with pytest.raises(FileExistsError, match="not a regular file"), atomic_path(path):
        pass
    assert path.is_fifo()
