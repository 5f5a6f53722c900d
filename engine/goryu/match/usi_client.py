"""The other side of USI: starts an engine, asks it for moves, and survives whatever it does.

A reader thread stamps every line of the engine with the time at which it arrived; stderr goes straight to
a log file, so that no amount of it can block the engine; at the end the whole process group is killed.
"""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from goryu.errors import GoryuError
from goryu.match.time_control import TimeControl
from goryu.match.usi_output import Info, best_info

__all__ = ["EngineError", "EngineSpec", "SearchReply", "Timeouts", "UsiClient"]


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """How to start an engine and what it may spend.

    command: program and arguments. options: (name, value) in the order in which they are sent.
    environment: added to ours. name: instead of the engine's own `id name`.
    """

    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    limits: TimeControl = field(default_factory=TimeControl)
    name: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    directory: str | None = None


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long the referee waits, in seconds.

    handshake_s: for `usiok` and `readyok`; any line from the engine starts the wait again.
    move_s: for `bestmove` where no clock runs, before the engine counts as hung.
    grace_s: beyond its time before an engine that runs on a clock is interrupted.
    quit_s: after `quit`, before the process group is killed.
    """

    handshake_s: float = 60.0
    move_s: float = 600.0
    grace_s: float = 5.0
    quit_s: float = 2.0


class EngineError(GoryuError):
    """The engine failed; `kind` is `crash`, `hang` or `protocol`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class SearchReply:
    """An engine's answer to one `go`.

    move: what followed `bestmove`: a move in USI, `resign` or `win`. elapsed_ms: from the moment before `go`
    is sent to the arrival of `bestmove`. lines: its `info` lines, as they came.
    """

    move: str
    elapsed_ms: int
    lines: tuple[str, ...] = ()

    @property
    def info(self) -> Info:
        """The numbers of the best variation."""
        return best_info(self.lines)


class UsiClient:
    """One running engine. `start` it first; after an `EngineError`, `restart` it."""

    def __init__(
        self,
        spec: EngineSpec,
        log_path: Path | None = None,
        timeouts: Timeouts | None = None,
        core: int | None = None,
    ) -> None:
        self.spec = spec
        self.timeouts = timeouts or Timeouts()
        self.name = spec.name or Path(spec.command[0]).name
        self.warnings: list[str] = []
        self.transcript: TextIO | None = None
        self._log_path = log_path
        self._log_start = 0
        self._core = core
        self._offered: set[str] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[tuple[float, str | None]] = queue.SimpleQueue()
        self._last_lines: deque[str] = deque(maxlen=5)

    @property
    def is_alive(self) -> bool:
        """Is the process running?"""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts the process, sends the options and waits until the engine is ready."""
        self._spawn()
        self._send("usi")
        self._offered.clear()
        for line in self._lines_until("usiok"):
            words = line.split()
            if words[:2] == ["id", "name"] and self.spec.name is None:
                self.name = " ".join(words[2:])
            elif words[:2] == ["option", "name"]:
                end = words.index("type") if "type" in words else len(words)
                self._offered.add(" ".join(words[2:end]).lower())
        for name, value in self.spec.options:
            if not self.offers(name) and not name.lower().startswith("usi_"):
                self.warnings.append(f"{self.name} does not list the option {name}")
            self._send(f"setoption name {name} value {value}")

    def offers(self, name: str) -> bool:
        """Does the engine list an option of this name?"""
        return name.lower() in self._offered

    def set_option(self, name: str, value: str) -> None:
        """Changes an option between searches; `restart` forgets it."""
        self._send(f"setoption name {name} value {value}")

    def new_game(self) -> None:
        """Waits until the engine is ready for another game."""
        self._send("isready")
        for _ in self._lines_until("readyok"):
            pass
        self._send("usinewgame")

    def go(self, position: str, command: str, budget_ms: int | None) -> SearchReply:
        """Sends a position and a `go`, and waits for the move.

        An engine that stays silent far beyond its budget is sent `stop`; its answer then counts, with the
        time it took. One that does not even answer that raises `EngineError`.
        """
        self._drain()
        self._send(position)
        start = time.perf_counter()  # Asked first: afterwards the engine thinks while we may have to wait.
        self._send(command)
        wait_s = self.timeouts.move_s if budget_ms is None else budget_ms / 1000 + self.timeouts.grace_s
        deadline, stopped = start + wait_s, False
        infos: list[str] = []
        while True:
            is_overdue = time.perf_counter() >= deadline  # Asked first: an engine may chatter without end.
            line = None if is_overdue else self._next_line(deadline)
            if line is None:
                if stopped:
                    text = f"{self.name} gave no bestmove within {wait_s:.0f} s of {command!r}"
                    raise EngineError("hang", text)
                self._send("stop")
                deadline, stopped = deadline + self.timeouts.grace_s, True
                continue
            arrival, text = line
            if text.startswith("info "):
                infos.append(text)
            elif text.startswith("bestmove"):
                words = text.split()
                if len(words) < 2:
                    raise EngineError("protocol", f"{self.name} answered {text!r}: expected a move")
                return SearchReply(words[1], round(1000 * (arrival - start)), tuple(infos))

    def game_over(self, result: str) -> None:
        """Tells the engine how its game ended: `win`, `lose` or `draw`."""
        self._send(f"gameover {result}")

    def restart(self) -> None:
        """Starts the engine again after a failure."""
        self.kill()
        self._lines = queue.SimpleQueue()
        self.start()

    def quit(self) -> None:
        """Asks the engine to leave, and kills what is left of it."""
        if self._process is not None:
            with suppress(EngineError, subprocess.TimeoutExpired):
                self._send("quit")
                self._process.wait(self.timeouts.quit_s)
        self.kill()

    def kill(self) -> None:
        """Kills the engine with everything it started; safe to call twice and from another thread."""
        process, self._process = self._process, None
        if process is None:
            return
        if sys.platform == "win32":
            process.kill()
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        if process.stdin:
            with suppress(OSError):
                process.stdin.close()
        process.wait()

    def _spawn(self) -> None:
        environment = os.environ | dict(self.spec.environment)
        with open(self._log_path or os.devnull, "ab") as log:
            self._log_start = log.tell()  # What is before was said by others.
            try:
                self._process = subprocess.Popen(
                    self.spec.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=self.spec.directory,
                    env=environment,
                    start_new_session=True,
                )
            except OSError as error:
                command = " ".join(self.spec.command)
                raise EngineError("crash", f"cannot start {command!r}: {error}") from error
        if self._core is not None and sys.platform == "linux":
            os.sched_setaffinity(self._process.pid, {self._core})
        threading.Thread(target=self._read, args=(self._process, self._lines), daemon=True).start()

    @staticmethod
    def _read(process: subprocess.Popen[bytes], lines: "queue.SimpleQueue[tuple[float, str | None]]") -> None:
        assert process.stdout is not None
        for raw in process.stdout:
            lines.put((time.perf_counter(), raw.decode("utf-8", "replace").strip()))
        lines.put((time.perf_counter(), None))

    def _send(self, line: str) -> None:
        self._note(">", line)
        process = self._process
        try:
            if process is None or process.stdin is None:
                raise BrokenPipeError("the process is gone")
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._crash(f"{error}, while sending {line[:60]!r}") from error

    def _next_line(self, deadline: float) -> tuple[float, str] | None:
        """Returns the next line and when it arrived, or None once the deadline has passed."""
        try:
            left = min(deadline - time.perf_counter(), threading.TIMEOUT_MAX)
            arrival, text = self._lines.get(timeout=max(0.0, left))
        except queue.Empty:
            return None
        if text is None:
            raise self._crash("its output ended")
        self._note("<", text)
        self._last_lines.append(text)
        return arrival, text

    def _lines_until(self, last: str) -> list[str]:
        """Returns the lines before `last`, which any line gives more time to arrive."""
        lines: list[str] = []
        while True:
            line = self._next_line(time.perf_counter() + self.timeouts.handshake_s)
            if line is None:
                wait = f"{self.timeouts.handshake_s:g} s"
                raise EngineError("hang", f"{self.name} sent no {last} within {wait}")
            if line[1] == last:
                return lines
            lines.append(line[1])

    def _drain(self) -> None:
        """Drops what an earlier search left behind."""
        with suppress(queue.Empty):
            while (line := self._lines.get_nowait())[1] is not None:
                self._note("<", line[1] or "")
            self._lines.put(line)

    def _crash(self, why: str) -> EngineError:
        code = None
        if self._process:
            with suppress(subprocess.TimeoutExpired):  # Its output may end a moment before it does.
                code = self._process.wait(0.5)
        last = " | ".join(self._last_lines) or "nothing"
        text = f"{self.name} died (exit code {code}): {why}; its last lines: {last}"
        if self._log_path:
            said = self._log_path.read_bytes()[self._log_start :]
            complaint = said.strip().rpartition(b"\n")[2].decode("utf-8", "replace")
            text += f"; {self._log_path}: {complaint or 'nothing new'}"
        return EngineError("crash", text)

    def _note(self, direction: str, line: str) -> None:
        if self.transcript is not None:
            self.transcript.write(f"{time.perf_counter():.3f} {self.name} {direction} {line}\n")
