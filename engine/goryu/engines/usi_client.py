"""A USI client: starts an engine, lets it search, and survives any fault of it.

A thread reads the engine's lines and notes when each one arrived. stderr goes to a log file, so a full pipe
can never block the engine. At the end the whole process group is killed.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import TextIO

from goryu.base.config_fields import ranged
from goryu.base.errors import GoryuError
from goryu.base.language import tr
from goryu.engines.line_queue import LineQueue, arriving_lines, shown_line
from goryu.engines.time_control import TimeControl
from goryu.engines.usi_output import Info, best_info

ERROR = re.compile(r"info string (error\b.*)", re.IGNORECASE)
"""The lines in which Goryu, YaneuraOu and others report an error."""

MOST_ERRORS = 3
"""Errors that are kept until they are taken."""

MOST_LINES = 10_000
"""Lines that wait to be read, and `info` lines that are kept of a search: the last ones."""

MOST_LINES_TO_START = 100_000
"""Lines before `usiok` or `readyok`. A program that prints more is no USI engine."""

MOST_QUOTED = 200
"""Characters of a line in the message about an engine that died."""


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """How to start an engine, and its limits.

    command: program and arguments. options: (name, value) in the order in which they are sent.
    environment: added to that of this process. name: replaces the engine's own `id name`.
    """

    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    limits: TimeControl = field(default_factory=TimeControl)
    name: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    directory: str | None = None

    @property
    def command_line(self) -> str:
        """The command as the shell of this system reads it."""
        return subprocess.list2cmdline(self.command) if sys.platform == "win32" else shlex.join(self.command)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long the client waits, in seconds.

    move_timeout_s: for `bestmove`; then the engine is sent `stop`.
    grace_s: for `bestmove` after the end of the engine's time, and for its answer to `stop`.
    quit_s: after `quit`, before the process group is killed.
    """

    start_timeout_s: float = ranged(
        60.0, "an engine hangs that prints nothing for this time before usiok or readyok", most=inf
    )
    move_timeout_s: float = ranged(600.0, "without a clock, an engine hangs after this time", most=inf)
    grace_s: float = 5.0
    quit_s: float = 2.0


class EngineError(GoryuError):
    """The engine failed; `kind` is `crash`, `hang` or `protocol`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class UnknownOptionError(GoryuError):
    """The engine does not list an option that it is to be given."""


@dataclass(frozen=True, slots=True)
class SearchReply:
    """An engine's answer to one `go`.

    move: the word after `bestmove`: a move in USI, `resign` or `win`.
    elapsed_ms: from the moment before `go` is sent to the arrival of `bestmove`.
    lines: the `info` lines. ponder: the reply that the engine expects, in USI.
    """

    move: str
    elapsed_ms: int
    lines: tuple[str, ...] = ()
    ponder: str | None = None

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
    ) -> None:
        self.spec = spec
        self.timeouts = timeouts or Timeouts()
        self.name = spec.name or Path(spec.command[0]).name
        self.transcript: TextIO | None = None
        self._log_path = log_path
        self._log_start = 0
        self._options: dict[str, str] = {}  # Names of the engine's options, by the name in small letters.
        self._process: subprocess.Popen[bytes] | None = None
        self._lines = LineQueue(MOST_LINES)
        self._last_lines: deque[str] = deque(maxlen=5)
        self._errors: list[str] = []

    @property
    def is_alive(self) -> bool:
        """Is the process running?"""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts the process and sends the options; raises UnknownOptionError if the engine lacks one."""
        self._spawn()
        self._send("usi")
        self._options.clear()
        for line in self._lines_until("usiok"):
            words = line.split()
            if words[:2] == ["id", "name"] and self.spec.name is None:
                self.name = " ".join(words[2:])[:MOST_QUOTED] or self.name
            elif words[:2] == ["option", "name"]:
                end = words.index("type") if "type" in words else len(words)
                option = " ".join(words[2:end])
                self._options[option.lower()] = option
        for name, value in self.spec.options:
            if not name.lower().startswith("usi_"):  # An engine need not list the options of the protocol.
                self.require_option(name)
            self.set_option(name, value)

    def require_option(self, name: str) -> None:
        """Raises UnknownOptionError if the engine does not list an option of this name."""
        if not self.has_option(name):
            similar = get_close_matches(name.lower(), self._options, n=1)
            advice = tr("expected one that it lists")
            if similar:
                advice = tr("did you mean {name}?", name=self._options[similar[0]])
            text = tr("{engine} does not list the option {name}", engine=self.name, name=name)
            raise UnknownOptionError(f"{text}: {advice}")

    def has_option(self, name: str) -> bool:
        """Does the engine list an option of this name?"""
        return name.lower() in self._options

    def set_option(self, name: str, value: str) -> None:
        """Changes an option between searches; `restart` sets it back."""
        self._send(f"setoption name {name} value {value}")

    def new_game(self) -> None:
        """Starts a new game, once the engine is ready."""
        self._send("isready")
        for _ in self._lines_until("readyok"):
            pass
        self._send("usinewgame")

    def go(self, position: str, command: str, budget_ms: int | None) -> SearchReply:
        """Sends a position and a `go` command, and waits for the move.

        budget_ms: the time that the engine has; None without a clock. Long after the budget the client sends
        `stop`, and the answer counts with the time that it took. Raises EngineError without an answer.
        """
        self._drain()
        self._send(position)
        return self._ask(command, budget_ms)

    def ponder(self, position: str, command: str) -> None:
        """Sends a position and a `go ponder` command; then either call `ponderhit`, or `end_ponder`."""
        self._drain()
        self._send(position)
        self._send(command)

    def ponderhit(self, budget_ms: int | None) -> SearchReply:
        """Tells the engine that the expected move was played, and waits for its answer as `go` does."""
        return self._ask("ponderhit", budget_ms)

    def end_ponder(self, wait_ms: int) -> None:
        """Ends a search for an expected move that was not played. wait_ms: for the engine's answer."""
        self._ask("stop", wait_ms)

    def stop(self) -> None:
        """Lets the engine answer at once. Another thread may call this while `go` or `ponderhit` waits."""
        self._send("stop")

    def _ask(self, command: str, budget_ms: int | None) -> SearchReply:
        """Sends a command and waits for `bestmove`."""
        start = time.perf_counter()  # Before it: after it, this process may have to wait for a core.
        self._send(command)
        wait_s = (
            self.timeouts.move_timeout_s if budget_ms is None else budget_ms / 1000 + self.timeouts.grace_s
        )
        deadline, stopped = start + wait_s, False
        infos: deque[str] = deque(maxlen=MOST_LINES)
        while True:
            is_overdue = time.perf_counter() >= deadline  # The engine may print lines without end.
            line = None if is_overdue else self._next_line(deadline)
            if line is None:
                if stopped:
                    text = "{engine} gave no bestmove within {seconds:.0f} s of {command!r}"
                    raise EngineError("hang", tr(text, engine=self.name, seconds=wait_s, command=command))
                self._send("stop")
                deadline, stopped = deadline + self.timeouts.grace_s, True
                continue
            arrival, text = line
            if text.startswith("info "):
                infos.append(text)
            elif text.startswith("bestmove"):
                words = text.split()
                if len(words) < 2:
                    text = tr("{engine} answered {text!r}: expected a move", engine=self.name, text=text)
                    raise EngineError("protocol", text)
                ponder = words[3] if words[2:3] == ["ponder"] and len(words) > 3 else None
                elapsed_ms = round(1000 * (arrival - start))
                return SearchReply(words[1][:MOST_QUOTED], elapsed_ms, tuple(infos), ponder)

    def take_errors(self) -> list[str]:
        """Returns the first errors that the engine has reported since the last call, each once."""
        errors, self._errors = self._errors, []
        return errors

    def game_over(self, result: str) -> None:
        """Sends the result of the game: `win`, `lose` or `draw`."""
        self._send(f"gameover {result}")

    def restart(self) -> None:
        """Starts the engine again after a failure."""
        self.kill()
        self._lines = LineQueue(MOST_LINES)
        self.start()

    def quit(self) -> None:
        """Sends `quit`, waits for a moment, and kills the process group."""
        if self._process is not None:
            with suppress(EngineError, subprocess.TimeoutExpired):
                self._send("quit")
                self._process.wait(self.timeouts.quit_s)
        self.kill()

    def kill(self) -> None:
        """Kills the engine and its child processes; safe to call twice and from another thread."""
        process, self._process = self._process, None
        if process is None:
            return
        if sys.platform == "win32":  # Only taskkill ends the programs that a batch file has started.
            command = ["taskkill", "/t", "/f", "/pid", str(process.pid)]
            with suppress(OSError):
                subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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
            self._log_start = log.tell()  # Earlier text is from earlier processes.
            try:
                self._process = subprocess.Popen(
                    self.spec.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=self.spec.directory,
                    env=environment,
                    # Ctrl-C is for this program alone.
                    start_new_session=True,
                    creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
                )
            except (OSError, ValueError) as error:  # A zero byte is a ValueError.
                command = " ".join(self.spec.command)
                raise EngineError(
                    "crash", tr("cannot start {command!r}: {error}", command=command, error=error)
                ) from error
        threading.Thread(target=self._read, args=(self._process, self._lines), daemon=True).start()

    @staticmethod
    def _read(process: subprocess.Popen[bytes], lines: LineQueue) -> None:
        assert process.stdout is not None
        for line in arriving_lines(process.stdout):
            lines.put(line)

    def _send(self, line: str) -> None:
        self._record(">", line)
        process = self._process
        try:
            if process is None or process.stdin is None:
                raise BrokenPipeError("the process is gone")
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._crash(f"{error}, while sending {line[:60]!r}") from error

    def _next_line(self, deadline: float) -> tuple[float, str] | None:
        """Returns the time of arrival and the text of the next line, or None after the deadline."""
        line = self._lines.get(deadline)
        if line is None:
            return None
        arrival, text = line
        if text is None:
            raise self._crash("its output ended")
        self._record("<", text)
        self._last_lines.append(text[:MOST_QUOTED])
        self._note_error(text)
        return arrival, text

    def _note_error(self, line: str) -> None:
        found = ERROR.match(line)
        if found and found[1] not in self._errors and len(self._errors) < MOST_ERRORS:
            self._errors.append(found[1])

    def _lines_until(self, last: str) -> list[str]:
        """Returns the lines before `last`; each line restarts the wait."""
        lines: list[str] = []
        while len(lines) < MOST_LINES_TO_START:
            line = self._next_line(time.perf_counter() + self.timeouts.start_timeout_s)
            if line is None:
                text, wait_s = "{engine} sent no {last} within {seconds:g} s", self.timeouts.start_timeout_s
                raise EngineError("hang", tr(text, engine=self.name, last=last, seconds=wait_s))
            if line[1] == last:
                return lines
            lines.append(line[1])
        text = f"{self.name} sent {MOST_LINES_TO_START} lines and no {last}, the last one {lines[-1][:60]!r}"
        raise EngineError("protocol", text)

    def _drain(self) -> None:
        """Drops the lines that arrived after the end of an earlier search."""
        for _ in range(len(self._lines)):  # More may come as fast as they are dropped.
            line = self._lines.get(time.perf_counter())
            assert line is not None, "only this thread takes lines"
            if line[1] is None:
                self._lines.put(line)
                return
            self._record("<", line[1])
            self._note_error(line[1])

    def _crash(self, why: str) -> EngineError:
        code = None
        if self._process:
            with suppress(subprocess.TimeoutExpired):  # The output may end a moment before the process.
                code = self._process.wait(0.5)
        last = " | ".join(self._last_lines) or "nothing"
        text = f"{self.name} died (exit code {code}): {why}; its last lines: {last}"
        if self._log_path:
            written = self._log_path.read_bytes()[self._log_start :]
            last_line = shown_line(written.strip().rpartition(b"\n")[2])
            text += f"; {self._log_path}: {last_line or 'nothing new'}"
        return EngineError("crash", text)

    def _record(self, direction: str, line: str) -> None:
        if self.transcript is not None:
            self.transcript.write(f"{time.perf_counter():.3f} {self.name} {direction} {line}\n")
