"""The command line of matches."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from goryu.base.installation import how_to_install
from goryu.commands.common import command_words
from goryu_lab.match.export import new_folder
from goryu_lab.match.openings import read_openings
from goryu_lab.match.referee import Referee
from paths import ROOT

pytest.importorskip("rsshogi")

MISSING = str(Path(__file__).with_name("missing"))
"""The path of no file."""

SCRIPTED = f"{sys.executable} {ROOT / 'tests' / 'helpers' / 'engines' / 'scripted.py'}"


def tool(name: str) -> ModuleType:
    return import_module(f"goryu_lab.commands.{name}")


def status_of(name: str, arguments: list[str]) -> object:
    """Returns the exit status of a tool, be it by `return` or by argparse."""
    try:
        return tool(name).main(arguments)
    except SystemExit as error:
        return error.code


def test_match_plays_and_sums_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "match"
    status = tool("match").main(
        ["--engine1", f"{SCRIPTED} push", "--engine2", f"{SCRIPTED} push,resign", "--nodes", "1",
         "--games", "3", "--name1", "Ours", "--out", str(out), "--records", "csa,usi"]
    )  # fmt: skip
    assert status == 0
    text = capsys.readouterr().out
    assert "Ours vs Scripted: 4 games, 2 pairs" in text, "an odd number of games is made even"
    assert json.loads((out / "summary.json").read_text())["pentanomial"] == [0, 0, 0, 0, 2]
    assert "Ours" in (out / "match.html").read_text("utf-8")
    assert len(list(out.glob("*.csa"))) == len((out / "games.usi").read_text().splitlines()) == 4


def test_match_reports_the_elo_of_tuned_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engines = ["--engine1", f"{SCRIPTED} push", "--engine2", f"{SCRIPTED} push,resign", "--nodes", "1"]
    tuned = ["--tune", "Style=1:9", "--games", "34", "--out", str(tmp_path / "match")]
    assert tool("match").main([*engines, *tuned]) == 0
    text = capsys.readouterr().out
    assert "Style                    1: +inf" in text, "it won every game"
    assert "best of the fit: Style=" in text
    assert tool("match").main([*engines, "--tune", "Style=9", "--out", str(tmp_path / "none")]) == 2
    assert "expected NAME=LOW:HIGH" in capsys.readouterr().err


def test_match_reports_the_elo_of_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engines = ["--engine1", f"{SCRIPTED} push", "--engine2", f"{SCRIPTED} push,resign", "--nodes", "1"]
    openings = str(ROOT / "tools" / "openings" / "balanced.txt")
    screened = ["--screen", "Style=1:9", "--games", "40", "--out", str(tmp_path / "match")]
    assert tool("match").main([*engines, *screened, "--openings", openings]) == 0
    text = capsys.readouterr().out
    assert "screened change of one engine: Style=1:9" in text
    effect = next(line.split() for line in text.splitlines() if line.startswith("  Style=1:9 "))
    assert effect[1:] in (["+0.0", "±", "0"], ["-0.0", "±", "0"]), "engine 1 won each game, with and without"
    assert tool("match").main([*engines, "--screen", "Style=9", "--out", str(tmp_path / "none")]) == 2
    assert "expected NAME=OLD:NEW" in capsys.readouterr().err


def test_a_match_does_not_go_on_with_another_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "engine.py"
    program.write_bytes((ROOT / "tests" / "helpers" / "engines" / "scripted.py").read_bytes())
    engines = ["--engine1", f"{sys.executable} {program} resign", "--engine2", f"{SCRIPTED} resign"]
    arguments = [*engines, "--nodes", "1", "--games", "2", "--out", str(tmp_path / "match")]
    assert [tool("match").main(arguments) for _ in range(2)] == [0, 0]
    with program.open("a") as file:
        file.write("# Changed.\n")
    assert tool("match").main(arguments) == 2
    assert "different: files" in capsys.readouterr().err


def test_match_refuses_a_misspelled_option_before_the_first_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engines = ["--engine1", f"{SCRIPTED} push", "--engine2", f"{SCRIPTED} resign", "--nodes", "1"]
    assert status_of("match", [*engines, "--option1", "Stile=wild", "--out", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert captured.err == "goryu match: Scripted does not list the option Stile: did you mean Style?\n"
    assert "no complete pair" not in captured.out


def test_a_resumed_match_has_records_of_all_its_games(tmp_path: Path) -> None:
    arguments = ["--engine1", f"{SCRIPTED} push", "--engine2", f"{SCRIPTED} resign", "--nodes", "1"]
    match = tool("match")
    for more in (["2"], ["4", "--records", "csa,usi"], ["4", "--records", "csa,usi"]):
        assert match.main([*arguments, "--out", str(tmp_path), "--games", *more]) == 0
    assert len(list(tmp_path.glob("*.csa"))) == 4
    assert len((tmp_path / "games.usi").read_text().splitlines()) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files")
def test_a_match_on_a_full_disk_names_its_log_and_can_be_resumed(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "goryu", "match", "--games", "12", "--out", str(tmp_path)),
        *("--engine1", f"{SCRIPTED} push", "--engine2", f"{SCRIPTED} resign", "--nodes", "1"),
    ]
    log = tmp_path / "games.jsonl"
    # No file may have more than 3 blocks of a kilobyte.
    full = subprocess.run(
        ["bash", "-c", 'ulimit -f 3; "$@"', "bash", *command], capture_output=True, text=True
    )
    assert full.returncode != 0
    assert f"{log}: " in full.stderr.splitlines()[-1]
    assert log.stat().st_size == 3 << 10
    resumed = subprocess.run(command, capture_output=True, text=True)
    assert resumed.returncode == 0
    assert "resuming after" in resumed.stdout
    games = [json.loads(line)["number"] for line in log.read_text().splitlines() if '"number"' in line]
    assert games == list(range(12))


def test_match_stops_when_an_engine_reports_an_error_and_resigns_unplayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--engine1", f"{SCRIPTED} broken", "--name1", "Ours", "--engine2", f"{SCRIPTED} push"]
    arguments += ["--nodes", "1", "--games", "200", "--max-failures", "6", "--out", str(tmp_path)]
    assert tool("match").main(arguments) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines.count("game 1: resignation: after Error! no network") == 1
    assert sum(line.startswith("warning: Ours reported an error in 1 of 1 games") for line in lines) == 1
    assert "stopped after 6 failures; to resume, add --max-failures 16" in lines
    assert lines[-2:] == [
        "warning: Ours reported an error in 6 of 6 games, first: Error! no network",
        "warning: Ours lost 6 of 6 games within 5 moves of its own: does it play as it should?",
    ]
    assert json.loads((tmp_path / "summary.json").read_text())["warnings"] == lines[-2:]


@pytest.mark.parametrize(
    "answers, warning",
    [
        ("push,push,resign", "lost 4 of 4 games within 5 moves of its own: does it play as it should?"),
        ("error", "reported an error in 4 of 4 games, first: Error! no network"),
        (",".join(6 * ["push"]) + ",resign", ""),
    ],
)
def test_match_warns_of_an_engine_that_may_not_work_but_plays_on(
    answers: str, warning: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--engine1", f"{SCRIPTED} {answers}", "--name1", "Ours", "--engine2", f"{SCRIPTED} push"]
    arguments += ["--nodes", "1", "--games", "4", "--max-plies", "16", "--max-failures", "1"]
    for _ in range(2):  # The second time from the log.
        assert tool("match").main([*arguments, "--out", str(tmp_path)]) == 0
        warnings = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: Ours")]
        assert (warnings[-1] if warnings else "") == (warning and f"warning: Ours {warning}")


def test_match_reports_that_it_stopped_after_failures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--engine1", f"{SCRIPTED} 7g7f+", "--engine2", f"{SCRIPTED} push", "--nodes", "1"]
    for _ in range(2):
        assert tool("match").main([*arguments, "--max-failures", "1", "--out", str(tmp_path)]) == 1
        assert "stopped after 1 failure;" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "no limit"),
        (["--limits1", "nodes=x", "--nodes", "1"], "NAME=NUMBER"),
        (["--nodes", "1", "--openings", MISSING], MISSING),
        (["--nodes", "1", "--sprt", "5", "0"], "lower one first"),
        (["--inc", "1000"], "no time for its first move"),
        (["--nodes", "1", "--limits2", "byoyomi=0"], "engine 2 (byoyomi=0,nodes=1) has no time"),
        (["--nodes", "1", "--limits1", "movetime=0"], "engine 1 (movetime=0,nodes=1) may do nothing"),
        (["--nodes", "1", "--games", "0"], "--games: 0"),
        (["--nodes", "1", "--engine1", '"a'], "argument --engine1: '\"a': No closing quotation"),
        (["--nodes", "1", "--engine2", ""], "argument --engine2: '': expected a program"),
        (["--nodes", "1", "--option1", "Threads"], "argument --option1: 'Threads': expected NAME=VALUE"),
        (["--nodes", "1", "--records", "kif,pgn"], "argument --records: pgn: expected kif, csa, usi"),
        (["--nodes", "1", "--start-timeout", "nan"], "--start-timeout: nan"),
        (["--nodes", "1", "--tune", "C_init=1:9", "--games", "28"], "15 for 1 option, that is --games 30"),
        (["--nodes", "1", "--screen", "A=1:9", "--sprt", "0", "9"], "expected only one of them"),
        (["--nodes", "1", "--tune", "A=1:9", "--sprt", "0", "9"], "expected only one of them"),
        (["--nodes", "1", "--alpha", "0.1"], "expected --sprt with them"),
        (["--nodes", "1", "--tune", "C_init=1:9", "--games", "28", "--dry-run"], "14 pairs: expected 15"),
    ],
)
def test_match_reports_wrong_arguments(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of("match", ["--engine1", "a", "--engine2", "b", "--out", str(tmp_path), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_backslash_in_a_command_is_part_of_a_path_on_windows() -> None:
    assert command_words(r'C:\shogi\x.exe "a b"', "nt") == (r"C:\shogi\x.exe", "a b")
    assert command_words(r"/opt/x\ y 'a b'", "posix") == ("/opt/x y", "a b")


def test_the_path_of_a_program_may_have_blanks_without_quotes_of_its_own(tmp_path: Path) -> None:
    program = tmp_path / "my engine"
    program.touch()
    assert command_words(str(program), "nt") == command_words(str(program), "posix") == (str(program),)


def test_matches_that_begin_in_one_second_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = {new_folder() for _ in range(5)}
    assert len(folders) == 5
    assert all(folder.is_dir() for folder in folders)


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_match_prints_its_table_and_stops_its_engines(how: int, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    engine = f"sh -c 'echo $$ >> {pids}; exec {SCRIPTED} push,push,hang'"
    command = [
        *(sys.executable, "-m", "goryu", "match"),
        *("--engine1", engine, "--engine2", f"{SCRIPTED} push", "--nodes", "1", "--out", str(tmp_path)),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 30
        while not (pids.exists() and pids.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(how)
        text = process.communicate(timeout=60)[0]
    assert process.returncode == 130
    assert "no complete pair of games yet" in text
    for pid in pids.read_text().split():  # The game with the other colours may have begun, too.
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


@pytest.mark.parametrize(("name", "count"), [("balanced.txt", 400), ("balanced-1600.txt", 1600)])
def test_the_shipped_openings_are_distinct_and_playable(name: str, count: int) -> None:
    openings = read_openings(ROOT / "tools" / "openings" / name)
    assert len(openings) == count
    ends = set()
    for opening in openings:
        assert 4 <= len(opening.moves) <= 12
        referee = Referee()
        for move in opening.moves:
            referee.play(move)
        ends.add(referee.key)
    assert len(ends) == len(openings)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bench", "--no-network"),
        ("match", "--engine1 a --engine2 b --nodes 1 --out {folder}"),
    ],
)
def test_a_tool_names_the_extra_that_it_needs(name: str, arguments: str, tmp_path: Path) -> None:
    code = "import sys; sys.modules['rich'] = None; from goryu.__main__ import main; sys.exit(main())"
    words = arguments.format(folder=tmp_path).split()
    done = subprocess.run([sys.executable, "-c", code, name, *words], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"goryu {name}: rich is not installed: {how_to_install('tools')}\n"
