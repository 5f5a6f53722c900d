"""The engine as a GUI starts it, and the rules that hold in every session.

These are: one answer for every `go`; valid lines in ASCII, shorter than 4096 characters; legal moves,
according to cshogi, which shares no code with Goryu; silence before the first command; exit status 0; almost
nothing on stderr.
"""

import os
import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import pytest

from fuzz import ENGINE_LINE, INFO, OTHER_INFO

if TYPE_CHECKING:
    import cshogi
else:
    cshogi = pytest.importorskip("cshogi")

PATIENCE_S = 60.0
"""How long to wait for a line if the test sets no time."""

SLACK_S = 0.5
"""Added to all upper bounds of times, besides the time in which the engine waited for a core."""

QUICK = "setoption name Evaluator value hashed\nsetoption name USI_Hash value 64\n"


@dataclass(slots=True, repr=False)
class Go:
    """A `go` that was sent, and the position it is about."""

    position: list[str]
    words: list[str]

    @property
    def board(self) -> "cshogi.Board | None":
        """The position as cshogi reads it, or None if cshogi refuses it.

        Only for positions in which the engine has made a move: some that it must refuse make cshogi abort.
        """
        return parse_position(self.position)


@dataclass(slots=True, repr=False)
class Engine:
    """A running engine, and the lines sent to it and received from it."""

    process: "subprocess.Popen[bytes]"
    lines: "SimpleQueue[tuple[float, str | None]]" = field(default_factory=SimpleQueue)
    peeked: tuple[float, str | None] | None = None
    sent_s: float = 0.0
    received_s: float = 0.0
    waits_when_sent: dict[str, int] = field(default_factory=dict)
    has_spoken_to: bool = False
    pending: deque[Go] = field(default_factory=deque)
    transcript: list[str] = field(default_factory=list)
    position: list[str] = field(default_factory=lambda: ["startpos"])
    offered: list[str] = field(default_factory=list)
    last_pv: tuple[str, ...] = ()
    is_stochastic: bool = False
    algorithm: str = "puct"

    def send(self, text: str) -> None:
        """Sends text and a newline in one write."""
        for line in text.split("\n"):
            self.transcript.append(f"> {line}")
            self._follow(line)
        self.has_spoken_to = True
        self.waits_when_sent = core_waits(self.process.pid, os.getpid())
        self.sent_s = time.monotonic()
        self.send_bytes(text.encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def peek(self, timeout_s: float = PATIENCE_S) -> str | None:
        """Returns the next line without taking it, or None if no line comes."""
        if self.peeked is None:
            try:
                self.peeked = self.lines.get(timeout=timeout_s)
            except Empty:
                return None
        return self.peeked[1]

    @property
    def is_closed(self) -> bool:
        """Has the output been read to its end, so that no process can write to it any more?"""
        return self.peeked is not None and self.peeked[1] is None

    def next_line(self, timeout_s: float = PATIENCE_S) -> str | None:
        """Returns the next line after checking the rules for all sessions, or None if no line comes."""
        line = self.peek(timeout_s)
        if line is None:
            return None
        assert self.peeked is not None
        self.received_s, self.peeked = self.peeked[0], None
        self.transcript.append(f"< {line}")
        assert self.has_spoken_to, f"printed before the first command: {line!r}"
        assert len(line) < 4096, f"a line of {len(line)} characters"
        assert line.isascii(), f"not ASCII: {line!r}"
        assert line == line.rstrip(), f"trailing blanks: {line!r}"
        is_known = ENGINE_LINE.fullmatch(line) or self.info(line) or line in ("black", "white")
        assert is_known, f"not a USI line: {line!r}"
        self._check_moves(line)
        return line

    def expect(self, pattern: str, timeout_s: float = PATIENCE_S) -> str:
        """Returns the next line that is no info line, or that matches; it must match."""
        while True:
            found = self.next_line(timeout_s)
            assert found is not None, f"waited for {pattern!r}"
            if re.fullmatch(pattern, found):
                return found
            assert found.startswith("info") or not found, f"expected {pattern!r}, received {found!r}"

    def expect_silence(self, duration_s: float, but_info: bool = True) -> None:
        """Checks that no line comes, or no line but info lines."""
        end_s = time.monotonic() + duration_s
        while (rest_s := end_s - time.monotonic()) > 0:
            found = self.next_line(rest_s)
            if found is not None:
                assert but_info, f"expected silence, received {found!r}"
                assert self.info(found), f"expected silence, received {found!r}"
            assert found is not None or self.process.poll() is None, "the process has ended"

    def expect_within(self, pattern: str, least_s: float, most_s: float) -> str:
        """Like `expect`; the line must come within these seconds after the last one was sent."""
        found = self.expect(pattern)
        taken_s = self.received_s - self.sent_s
        assert least_s <= taken_s, f"{pattern!r} came after {taken_s:.3f} s, expected at least {least_s}"
        running_s = self.running_s()
        assert running_s <= most_s + SLACK_S, (
            f"{pattern!r} came after {taken_s:.3f} s, {running_s:.3f} s without waits, expected {most_s}"
        )
        return found

    def running_s(self) -> float:
        """Returns the seconds between the last `send` and the last line, less those spent waiting for a core.

        On a busy machine every time limit is exceeded in the end; that is no fault of the engine.
        """
        return self.received_s - self.sent_s - self.waited_s()

    def waited_s(self) -> float:
        """Returns the seconds that the engine and the test have waited for a core since the last `send`.

        These include the seconds in which the machine itself waited for a core of its host.
        """
        now = core_waits(self.process.pid, os.getpid())
        return sum(ns - self.waits_when_sent.get(thread, 0) for thread, ns in now.items()) / 1e9

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def expect_exit(self, timeout_s: float) -> None:
        """Waits for the end of the process and checks its last lines."""
        assert self.process.wait(timeout_s + PATIENCE_S) == 0, f"status {self.process.returncode}"
        while self.next_line() is not None:
            pass
        assert len(self.pending) <= 1, "a go was not answered"

    def prelude(self) -> None:
        """Sends usi, the option for a quick evaluator, and isready."""
        self.send("usi")
        while (line := self.expect(r"id .*|option .*|usiok")) != "usiok":
            self.offered.append(line)
        self.send(QUICK + "isready")
        self.expect("readyok")

    def reset(self) -> None:
        """Sets all options of an idle engine to their defaults, as GUIs do between games."""
        assert not self.pending, "a go was not answered"
        for line in self.offered:
            words = line.split()
            if words[0] == "option" and "default" in words:
                self.send(f"setoption name {words[2]} value {words[words.index('default') + 1]}")
        self.send(QUICK + "isready\nusinewgame\nposition startpos")
        self.expect("readyok")

    def finish(self) -> None:
        """Sends quit and checks the end of the process."""
        if self.process.poll() is None:
            self.send("quit")
            self.expect_exit(2.0)
        if self.process.stderr is not None:
            assert len(self.process.stderr.read()) < 4096, "too much on stderr"

    def _follow(self, line: str) -> None:
        """Keeps track of the position and of the `go` commands that are to be answered."""
        words = line.split()
        if words[:1] == ["position"]:
            self.position = words[1:]
        elif words[:1] == ["go"] and "perft" not in words:
            self.pending.append(Go(self.position, words[1:]))
        elif words[:3] == ["setoption", "name", "Stochastic_Ponder"]:
            self.is_stochastic = words[-1] == "true"
        elif words[:3] == ["setoption", "name", "Algorithm"]:
            self.algorithm = words[-1]

    def info(self, line: str) -> "re.Match[str] | None":
        """Returns the match if this is an info line with all numbers that the algorithm knows."""
        return INFO.fullmatch(line) or (OTHER_INFO.fullmatch(line) if self.algorithm != "puct" else None)

    def _check_moves(self, line: str) -> None:
        info = self.info(line)
        if info:
            assert self.pending, f"info without go: {line!r}"
            self.last_pv = tuple(info["pv"].split())
            self._check_pv(self.pending[0])
        if line.startswith("bestmove"):
            assert self.pending, "one answer too many"
            self._check_bestmove(self.pending.popleft(), line.split())
            self.last_pv = ()
        if line.startswith("checkmate"):
            assert self.pending, "one answer too many"
            go = self.pending.popleft()
            assert "mate" in go.words, "checkmate without go mate"
            self._check_mate(go, line.split()[1:])

    def _check_pv(self, go: Go) -> None:
        board = go.board
        assert board is not None, "a variation without a position"
        if self.is_stochastic and "ponder" in go.words and not is_line(board, self.last_pv):
            board.pop()
        assert is_line(board, self.last_pv), f"illegal pv {self.last_pv} in {board.sfen()}"

    def _check_bestmove(self, go: Go, words: list[str]) -> None:
        assert "mate" not in go.words, "bestmove after go mate"
        if words[1] in ("resign", "win"):
            return
        board, moves = go.board, (words[1], *words[3:4])
        assert board is not None, "a move in a position that cshogi refuses"
        assert is_line(board, moves), f"illegal {moves} in {board.sfen()}"
        assert self.last_pv[:1] == moves[:1], f"the last pv {self.last_pv} does not begin with {words[1]}"

    def _check_mate(self, go: Go, words: list[str]) -> None:
        if words[0] in ("nomate", "timeout", "notimplemented"):
            return
        board = go.board
        assert board is not None, "a mate in a position that cshogi refuses"
        assert is_line(board, tuple(words)), f"illegal mate {words}"
        for word in words:
            board.push_usi(word)
        assert board.is_check(), "the last move gives no check"
        assert not list(board.legal_moves), "no mate"


def core_waits(*processes: int) -> dict[str, int]:
    """Returns how long each thread of the processes has been ready to run but had no core, in nanoseconds.

    The entry `host` is the time in which a virtual machine had no core, since its host ran something else.
    Empty where the system does not count it (only Linux does).
    """
    waits: dict[str, int] = {}
    if sys.platform == "linux":
        with suppress(OSError), open("/proc/stat") as file:
            # "cpu user nice system idle iowait irq softirq steal ...", in ticks, summed over all cores
            waits["host"] = int(file.readline().split()[8]) * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))
    for process in processes:
        folder = f"/proc/{process}/task"
        for thread in os.listdir(folder) if os.path.isdir(folder) else ():
            with suppress(OSError), open(f"{folder}/{thread}/schedstat", "rb") as file:  # It may have ended.
                waits[thread] = int(file.read().split()[1])
    return waits


def parse_position(words: list[str]) -> "cshogi.Board | None":
    """Returns the position as cshogi reads it, or None if cshogi refuses it or one of the moves."""
    at = words.index("moves") if "moves" in words else len(words)
    sfen = " ".join(word for word in words[:at] if word != "sfen")
    board = cshogi.Board()
    try:
        if sfen != "startpos":
            board.set_sfen(sfen if len(sfen.split()) > 3 else f"{sfen} 1")
    except (RuntimeError, ValueError):
        return None
    for text in words[at + 1 :]:
        if not is_line(board, (text,)):
            return None
        board.push_usi(text)
    return board


def is_line(board: "cshogi.Board", moves: tuple[str, ...]) -> bool:
    """Can the moves be played one after the other?"""
    board = board.copy()
    for text in moves:
        # Neither push_usi nor is_legal can be trusted: both let impossible promotions pass.
        if text not in map(cshogi.move_to_usi, board.legal_moves):
            return False
        board.push_usi(text)
    return True


def start(
    folder: Path, implementation: str, stderr: str, command: Sequence[str] = (), **environment: str
) -> Engine:
    """Starts the engine in another folder than its own."""
    process = subprocess.Popen(
        command or (sys.executable, "-m", "goryu"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if stderr == "merged" else subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "GORYU_IMPLEMENTATION": implementation, **environment},
    )
    engine = Engine(process)

    def read() -> None:
        assert process.stdout is not None
        for raw in process.stdout:
            engine.lines.put((time.monotonic(), raw.decode("latin-1").rstrip("\r\n")))
        engine.lines.put((time.monotonic(), None))

    threading.Thread(target=read, daemon=True).start()
    return engine


class Pool:
    """Shares one process among many tests. A test that fails ends its process."""

    def __init__(self, folder: Path, mode: tuple[str, str]) -> None:
        self.folder, self.mode = folder, mode
        self.idle: Engine | None = None

    @contextmanager
    def start(self, command: Sequence[str] = (), **environment: str) -> Iterator[Engine]:
        """Starts a process, and ends it after the test."""
        engine = start(self.folder, *self.mode, command, **environment)
        with killed_if_this_fails(engine):
            yield engine
            engine.finish()

    @contextmanager
    def lend(self) -> Iterator[Engine]:
        """Lends an engine that has loaded, with every option at its default."""
        engine, self.idle = self.idle, None
        if engine is None:
            engine = start(self.folder, *self.mode)
            engine.prelude()
        with killed_if_this_fails(engine):
            yield engine
            engine.reset()
            engine.transcript.clear()
            self.idle = engine


@contextmanager
def killed_if_this_fails(engine: Engine) -> Iterator[None]:
    try:
        yield
    except BaseException:
        print(*engine.transcript[-100:], sep="\n")
        engine.process.kill()
        raise


@pytest.fixture(scope="module")
def pool(mode: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    pool = Pool(tmp_path_factory.mktemp("gui"), mode)
    yield pool
    if pool.idle is not None:
        pool.idle.finish()


@pytest.fixture
def ready(pool: Pool) -> Iterator[Engine]:
    """An engine that has loaded, with every option at its default."""
    with pool.lend() as engine:
        yield engine


@pytest.fixture
def fresh(pool: Pool) -> Iterator[Engine]:
    """An engine that was just started."""
    with pool.start() as engine:
        yield engine
