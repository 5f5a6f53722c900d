"""Sessions that a session file cannot describe: with bytes, files, broken libraries, signals."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goryu_lab.benchmark.random_network import write_random_network
from paths import ROOT

if TYPE_CHECKING:
    from tests.acceptance.conftest import Engine, Pool

cshogi = pytest.importorskip("cshogi")

ENGINE = ROOT / "engine"
MATED = "4k4/4G4/4G4/9/9/9/9/9/4K4 w - 1"


def usiok(engine: Engine) -> list[str]:
    """Sends usi and returns the lines of the answer."""
    engine.send("usi")
    lines = []
    while (line := engine.expect("id .*|option .*|usiok")) != "usiok":
        lines.append(line)
    return lines


# Handshake.


def test_a_python_without_the_packages_says_so_and_plays_no_game() -> None:
    command = [sys.executable, "-S", "-m", "goryu"]  # Without site, this Python has no installed package.
    environment = {**os.environ, "PYTHONPATH": str(ENGINE)}
    ended = subprocess.run(command, input="usi\n", env=environment, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stdout.startswith("info string Error! ")
    for text in (ended.stdout, ended.stderr):
        assert "lacks numpy, python-shogi; to install: " in text


def test_a_byte_order_mark_before_the_first_command_is_ignored(fresh: Engine) -> None:
    fresh.send_bytes(b"\xef\xbb\xbf")
    assert usiok(fresh)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the files of another process")
def test_nobody_else_sees_the_commands(fresh: Engine) -> None:
    """On Windows NumPy would wait for the next command, and `readyok` with it."""
    usiok(fresh)
    assert Path(f"/proc/{fresh.process.pid}/fd/0").readlink() == Path(os.devnull)


def test_a_broken_installation_answers_every_command_with_the_reason(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "shogi.py").write_text("raise ImportError('broken on purpose')")
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    with pool.start(PYTHONPATH=path, GORYU_IMPLEMENTATION="python") as engine:
        usiok(engine)
        engine.send("isready\nposition startpos\ngo nodes 5\ngo mate 5\nisready")
        engine.expect("info string Error! .*broken on purpose")
        engine.expect("readyok")
        engine.expect("info string Error! .*broken on purpose")
        engine.expect("bestmove resign")
        engine.expect("checkmate timeout")
        engine.expect("readyok")


FAILING_PLAYER = """
import os
from goryu.usi import loop
class Player:
    def load(self, config, report, measures, hurries):
        pass
    def new_game(self):
        raise RuntimeError("broken on purpose")
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # As the engine does: the traceback goes to the log.
loop = loop.UsiLoop(0, os.dup(1), Player)
loop.run()
os._exit(0)
"""


def test_a_failing_new_game_is_reported_and_isready_is_answered_once(pool: Pool) -> None:
    with pool.start([sys.executable, "-c", FAILING_PLAYER]) as engine:
        engine.send("usinewgame\nisready\nusinewgame\nisready\nside")
        lines = [engine.next_line() for _ in range(7)]
        assert lines.count("readyok") == 2
        assert lines.count("info string Error! RuntimeError: broken on purpose") == 2
        assert lines[-1] == "black"


def test_the_engine_survives_a_megabyte_of_noise(fresh: Engine) -> None:
    fresh.has_spoken_to = True
    noise = random.Random(1).randbytes(1_000_000).replace(b"\n", b"\0")
    fresh.send_bytes(noise + b"\n\0\n\xff\xfe\n" + noise[:1000].replace(b"\0", b"\n") + b"\n")
    assert usiok(fresh)


# Options.


def test_every_known_client_understands_the_option_lines(ready: Engine) -> None:
    for line in usiok(ready)[2:]:
        words = line.split(" ")
        assert words[0] == "option"
        assert words[1] == "name"
        assert words[3] == "type"
        kind, rest = words[4], words[5:]
        assert kind in ("check", "spin", "combo", "string", "filename", "button")
        assert len(rest) % 2 == 0, line
        pairs = list(zip(rest[::2], rest[1::2], strict=True))
        keys = [key for key, _ in pairs]
        default = dict(pairs).get("default", "")
        if kind == "button":
            assert not pairs
        elif kind == "spin":
            assert keys == ["default", "min", "max"]
            least, most = int(pairs[1][1]), int(pairs[2][1])
            assert least <= int(default) <= most
            assert abs(int(default)) < 2**31
        elif kind == "combo":
            assert keys == ["default", *["var"] * (len(pairs) - 1)]
            assert ("var", default) in pairs
        elif kind == "check":
            assert default in ("true", "false")
        else:
            assert keys == ["default"]


@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
def test_a_japanese_path_with_blanks_is_read_in_both_encodings(ready: Engine, encoding: str) -> None:
    path = "C:/My Models/日本　語 表"
    ready.send_bytes(f"setoption name EvalDir value {path}\n".encode(encoding))
    ready.send("getoption EvalDir")
    escaped = path.encode("ascii", "backslashreplace").decode()
    assert ready.expect("info string EvalDir.*") == f"info string EvalDir = {escaped}"


# isready.


def test_a_go_on_the_clock_ends_the_measuring_of_threads(pool: Pool, tmp_path: Path) -> None:
    """A GUI that does not wait for readyok: all commands come at once."""
    cache = {"XDG_CACHE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    with pool.start(GORYU_MEASURE="", **cache) as engine:
        engine.send("usi\nisready\nposition startpos\ngo btime 0 wtime 0 byoyomi 300")
        before = []
        while not (line := str(engine.next_line())).startswith("bestmove"):
            before.append(line)
        assert "usiok" in before
        assert "readyok" in before
        if any("implementation=native" in line for line in before):  # The Python one measures nothing.
            assert "info string not measured: a search waits; the next isready measures again" in before
        assert not list(tmp_path.rglob("measured.json"))


SLOW_PLAYER = """
import os, sys, time
from goryu.usi import loop
loop.KEEP_ALIVE_S = 0.5
class Player:
    def load(self, config, report, measures, hurries):
        while not os.path.exists(sys.argv[1]):
            time.sleep(0.05)
    def new_game(self):
        pass
loop = loop.UsiLoop(0, os.dup(1), Player)
loop.run()
os._exit(0)
"""


def test_empty_lines_are_sent_during_a_slow_load(pool: Pool, tmp_path: Path) -> None:
    """The player has loaded once a file appears: here after two empty lines."""
    with pool.start([sys.executable, "-c", SLOW_PLAYER, str(tmp_path / "end")]) as engine:
        engine.send("isready")
        for _ in range(2):
            assert engine.expect("|readyok") == ""
        (tmp_path / "end").touch()
        remarks = [line for line in iter(engine.next_line, "readyok") if line]
        assert not remarks


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network of random weights."""
    pytest.importorskip("onnx")
    path = tmp_path_factory.mktemp("model") / "random 零.onnx"
    write_random_network(1, 8, path)
    return path


def test_a_model_file_with_new_content_is_loaded_again(ready: Engine, network: Path, tmp_path: Path) -> None:
    copy = tmp_path / "net.onnx"
    copy.write_bytes(network.read_bytes())
    ready.send(f"setoption name Evaluator value network\nsetoption name DNN_Model value {copy}\nisready")
    ready.expect("info string backend=.*")
    ready.expect("readyok")
    copy.write_bytes(b"broken")
    ready.send("isready")
    ready.expect("info string Error! .*")
    ready.expect("readyok")


def test_failing_providers_print_nothing_into_the_session(ready: Engine, network: Path) -> None:
    ready.send(f"setoption name Evaluator value network\nsetoption name DNN_Model value {network}")
    for backend in ("cuda", "tensorrt"):
        ready.send(f"setoption name Backend value {backend}\nisready")
        ready.expect("readyok")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_three_games_need_no_more_memory_than_one(ready: Engine) -> None:
    ready.send("setoption name Threads value 1")  # With more, a search is not the same twice.
    first_searches, memory = [], []
    for _ in range(3):
        ready.send("usinewgame\nisready\nposition startpos\ngo nodes 300")
        ready.expect("readyok")
        first_searches.append(ready.expect("bestmove .*"))
        moves: list[str] = []
        while len(moves) < 16:
            ready.send(f"position startpos moves {' '.join(moves)}\ngo nodes 100")
            move = ready.expect("bestmove .*").split()[1]
            if move in ("resign", "win"):
                break
            moves.append(move)
        status = Path(f"/proc/{ready.process.pid}/status").read_text()
        memory.append(int(re.search(r"VmRSS:\s+(\d+)", status)[1]))  # type: ignore[index]
    assert len(set(first_searches)) == 1
    assert memory[2] < 1.05 * memory[0], memory


# Time.


@pytest.mark.slow
def test_byoyomi_is_kept_on_a_busy_machine(ready: Engine) -> None:
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        for _ in range(4):
            ready.send("position startpos\ngo btime 0 wtime 0 byoyomi 500")
            ready.expect_within("bestmove .*", 0.1, 0.5)
    finally:
        for hog in hogs:
            hog.kill()


# Races.


@pytest.mark.parametrize("commands", [300, pytest.param(1_000, marks=pytest.mark.slow)])
def test_every_go_among_random_commands_is_answered(ready: Engine, commands: int) -> None:
    rng = random.Random(18)
    for _ in range(commands):
        ready.send(rng.choice(RANDOM_COMMANDS))
        if rng.random() < 0.1:
            time.sleep(rng.uniform(0.0, 0.01))
        while ready.peek(0.0) is not None:
            ready.next_line()
    ready.send("stop\nisready\nsetoption name EvalDir value the-end\ngetoption EvalDir")
    while (line := ready.next_line()) != "info string EvalDir = the-end":
        assert line is not None
    assert not ready.pending


RANDOM_COMMANDS = (
    "isready", "usinewgame", "stop", "stop", "ponderhit", "gameover win", "gameover", "d", "side", "moves",
    "position startpos", "position startpos moves 7g7f 3c3d", "position startpos moves 7g7f 9z9z",
    "position foo", f"position sfen {MATED}", "position sfen 4k4/9/4G4/9/9/9/9/9/4K4 b G 1",
    "unknown words", "", "go mate 20", "go infinite", "go ponder", "go ponder byoyomi 20", "go nodes 5",
    "go depth 2", "go byoyomi 10", "go movetime 5", "go searchmoves 7g7f nodes 3",
    "go btime 100 wtime 100", "ponderhit btime 0 wtime 0 byoyomi 10", "setoption name MultiPV value 3",
    "setoption name MultiPV value 1", "setoption name Clear_Hash", "getoption Seed",
    "setoption name Evaluator value uniform", "setoption name Evaluator value hashed", "eval", "policy 2",
    "tree 2", "setoption name Stochastic_Ponder value true", "setoption name MaxMovesToDraw value 100",
    "perft 1",
)  # fmt: skip


# Output.


def test_other_clients_read_the_info_lines(ready: Engine) -> None:
    from cshogi.usi.Engine import InfoListener

    ready.send("position startpos\ngo nodes 300")
    listener = InfoListener()
    cp = None
    while not (line := ready.expect("info depth.*|bestmove.*")).startswith("bestmove"):
        words = line.split()
        cp = int(words[words.index("cp") + 1])
        listener(line)
    listener(line)
    assert listener.score == cp


def test_info_lines_come_a_few_times_a_second(ready: Engine) -> None:
    ready.send("go infinite")
    times_ms = [0]
    while times_ms[-1] < 1000 or len(times_ms) < 3:
        found = re.search(r" time (\d+)", ready.expect("info depth .*"))
        assert found
        times_ms.append(int(found[1]))
    assert times_ms[2] <= 1000 * (1 + ready.waited_s())
    ready.send("stop")
    ready.expect("bestmove .*")
    assert len(times_ms) - 1 <= 15 * times_ms[-1] / 1000


# Process and platform.


def test_the_engine_works_from_a_read_only_folder_and_writes_nothing(pool: Pool, tmp_path: Path) -> None:
    folder = tmp_path / "将棋 (x86) folder"
    folder.mkdir()
    folder.chmod(0o555)
    here = pool.folder
    pool.folder = folder
    try:
        with pool.start() as engine:
            engine.prelude()
            engine.send("go nodes 10")
            engine.expect("bestmove .*")
    finally:
        pool.folder = here
    assert not list(folder.iterdir())


def test_the_options_file_next_to_the_program_overrides_the_gui(pool: Pool, tmp_path: Path) -> None:
    program = tmp_path / "goryu"
    program.write_text("from goryu.__main__ import main\nmain()\n")
    (tmp_path / "engine_options.txt").write_text("Evaluator uniform\nスレッド 2\nBookDir 定跡\n", "cp932")
    with pool.start([sys.executable, str(program)]) as engine:
        engine.prelude()  # It sets another evaluator.
    lines = [line for line in engine.transcript if "engine_options.txt" in line]
    assert sum("option Evaluator stays uniform" in line for line in lines) == 1
    assert sum("set by engine_options.txt: Evaluator=uniform" in line for line in lines) == 1
    assert sum("no option" in line for line in lines) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_the_engine_with_status_0(pool: Pool, number: str) -> None:
    with pool.start() as engine:
        engine.prelude()
        engine.send("go infinite")
        time.sleep(0.2)
        engine.process.send_signal(getattr(signal, number))
        engine.expect_exit(1.0)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no non-blocking pipes")
def test_non_blocking_pipes_do_not_end_the_engine(pool: Pool) -> None:
    commands, to_engine = os.pipe()
    from_engine, answers = os.pipe()
    os.set_blocking(commands, False)
    os.set_blocking(answers, False)
    process = subprocess.Popen(
        [sys.executable, "-m", "goryu"], stdin=commands, stdout=answers, cwd=pool.folder
    )
    os.close(commands)
    os.close(answers)
    with open(to_engine, "wb", buffering=0) as sender, open(from_engine, "rb") as received:
        sender.write(b"usi\n")
        while (line := received.readline()) != b"usiok\n":
            assert line
        with pytest.raises(subprocess.TimeoutExpired):  # It waits for the next command.
            process.wait(0.2)
        sender.write(b"usi\n" * 50)  # The answers do not fit into the pipe.
        time.sleep(0.2)
        sender.write(b"quit\n")
        assert received.read().count(b"usiok") == 50
    assert process.wait(60.0) == 0


def test_a_closed_output_ends_the_engine(pool: Pool) -> None:
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "goryu"],
        stdin=subprocess.PIPE,
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=pool.folder,
    )
    os.close(writer)
    os.close(reader)
    assert process.stdin is not None
    process.stdin.write(b"usi\n")
    process.stdin.flush()
    assert process.wait(30.0) == 0
    assert process.stderr is not None
    assert process.stderr.read() == b""


@pytest.mark.parametrize(
    "arguments, environment",
    [((), {"PYTHONIOENCODING": "cp932", "PYTHONUTF8": "0"}), (("-X", "dev", "-W", "error"), {})],
    ids=["cp932", "dev mode"],
)
def test_the_engine_plays_under_any_locale_and_python_option(
    pool: Pool, arguments: tuple[str, ...], environment: dict[str, str]
) -> None:
    with pool.start([sys.executable, *arguments, "-m", "goryu"], **environment) as engine:
        engine.prelude()
        engine.send_bytes("setoption name LogFile value \nsetoption name EvalDir value 日本\n".encode())
        engine.send("position startpos moves 7g7f\ngo byoyomi 200")
        engine.expect_within("bestmove .*", 0.05, 0.2)


def test_the_log_file_contains_the_session(ready: Engine, tmp_path: Path) -> None:
    log = tmp_path / "log file.txt"
    ready.send(f"setoption name LogFile value {log}\nisready")
    ready.expect("readyok")
    ready.send("go nodes 5")
    ready.expect("bestmove .*")
    ready.send("setoption name BookFile value 定跡 1.db\nisready")
    while (line := ready.next_line()) != "readyok":
        assert line is not None
        assert line.isascii()
    ready.send("setoption name LogFile value <empty>\nisready")
    ready.expect("readyok")
    text = log.read_text(encoding="utf-8")
    assert re.search("< info string .*定跡 1.db", text)
    assert "> go nodes 5" in text
    assert "< bestmove" in text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs")
def test_a_log_that_is_a_fifo_blocks_nothing(ready: Engine, tmp_path: Path) -> None:
    fifo = tmp_path / "log"
    os.mkfifo(fifo)
    ready.send(f"setoption name LogFile value {fifo}\nisready")
    ready.expect("info string Error! cannot write the log: .*")
    ready.expect("readyok")
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    ready.send(f"setoption name LogFile value {fifo}\nisready")
    ready.expect("readyok")
    assert b"< readyok" in os.read(reader, 10_000)
    ready.send("setoption name PvInterval value 1\ngo movetime 300")  # Nobody reads; the FIFO may fill up.
    ready.expect("bestmove .*")
    os.close(reader)
    ready.send("isready")
    ready.expect("readyok")


def test_quit_answers_the_questions_before_it(pool: Pool, tmp_path: Path) -> None:
    graph = tmp_path / "tree of questions.json"
    commands = f"position startpos\npolicy 2\ngo nodes 50\ntree {graph}\nside\nperft 2\nquit\n"
    done = subprocess.run(
        [sys.executable, "-m", "goryu"],
        input=commands.encode(),
        capture_output=True,
        env={**os.environ, "GORYU_IMPLEMENTATION": pool.mode[0]},
        timeout=60,
    )
    assert done.returncode == 0
    lines = [line for line in done.stdout.decode().splitlines() if not line.startswith("info depth")]
    assert sum(bool(re.fullmatch(r"info string \S+ +0\.\d{4}", line)) for line in lines) == 2
    assert sum(line.startswith("bestmove ") for line in lines) == 1
    assert "black" in lines
    assert lines[-1] == "info string perft 2: 900"
    assert json.loads(graph.read_text())["nodes"]


FULL = pytest.param(
    "/dev/full",
    marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full"),
)


@pytest.mark.parametrize("path", [FULL, "a\0b"])
def test_a_log_that_cannot_be_written_is_reported_and_the_engine_plays(ready: Engine, path: str) -> None:
    ready.send(f"setoption name LogFile value {path}\nisready")
    ready.expect("info string Error! cannot write the log: .*")
    ready.expect("readyok")
    ready.send("go nodes 5")
    ready.expect("bestmove .*")


# A GPU that cannot be used.


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="makes a library that looks like a driver")
@pytest.mark.parametrize("fallback", [True, False])
def test_cuda_without_a_gpu_is_refused_once_with_its_reason(
    fallback: bool, pool: Pool, tmp_path: Path
) -> None:
    """With onnxruntime-gpu. A driver without a GPU lets onnxruntime try, fail, and write to stdout too."""
    onnxruntime = pytest.importorskip("onnxruntime")
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        pytest.skip("this onnxruntime does not contain CUDA")
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    (tmp_path / "driver.c").write_text("int cuInit(unsigned flags) { return 100; }\n")
    driver = str(tmp_path / "libcuda.so.1")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", driver, str(tmp_path / "driver.c")], check=True)
    with pool.start(LD_LIBRARY_PATH=str(tmp_path)) as engine:
        usiok(engine)
        engine.send("setoption name Backend value cuda")
        engine.send(f"setoption name AllowFallback value {str(fallback).lower()}")
        engine.send("isready")
        lines = []
        while (line := engine.expect(".*")) != "readyok":
            lines += [line] if line else []  # Empty lines keep the GUI waiting.
        assert all(line.startswith("info string ") for line in lines)
        refusals = [line for line in lines if "CUDA cannot be used" in line]
        engine.send("position startpos\ngo nodes 5")
        if fallback:
            assert len(refusals) == 1
            assert any("backend=Winograd" in line or "backend=CPU" in line for line in lines)
            engine.expect(r"bestmove [1-9].*")
        else:
            assert refusals[0].startswith("info string Error! ")
            assert "(AllowFallback is false)" in refusals[0]
            assert not any("backend=" in line for line in lines)
            engine.expect("bestmove resign")
