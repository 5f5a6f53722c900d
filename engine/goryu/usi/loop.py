"""The USI engine as a process: stdin, stdout, signals and threads around `UsiEngine`.

Of three threads, the reader reads lines, the worker runs the player, and the main thread passes the lines and
the player's results to `UsiEngine`, one at a time, and writes the answers. Reading never waits for a search.

Libraries print: onnxruntime writes to stdout when a provider fails. No GUI reads stderr, and a full pipe
would block the engine. So the protocol uses private copies of stdin and stdout, and the file descriptors 1
and 2 lead to the log file or to nothing.
"""

import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from time import perf_counter
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from goryu.base.errors import named
from goryu.base.files import decode
from goryu.base.installation import how_to_install, missing_packages
from goryu.base.language import speaking, tr
from goryu.players.agents.catalogue import ALGORITHMS
from goryu.players.agents.usi_traits import USI_TRAITS
from goryu.players.config import AlgorithmConfig, EngineConfig
from goryu.players.request import Request, SearchControl
from goryu.players.set_up.model_path import read_model_options
from goryu.usi.actions import (
    Action,
    Ask,
    Load,
    NewGame,
    OpenLog,
    Quit,
    Search,
    SolveMate,
    Write,
)
from goryu.usi.commands import Command
from goryu.usi.engine import UsiEngine
from goryu.usi.options_file import read_options_file
from goryu.usi.presets import NO_PRESET, PRESETS

if TYPE_CHECKING:
    from goryu.players.player import Player

KEEP_ALIVE_S = 5.0
"""Interval of the empty lines sent while the player loads: ShogiGUI gives up after 15 seconds of silence."""

STOPPED_SEARCH_S = 0.25
"""How long `quit` waits for the answer of the search that it has stopped."""

LAST_ANSWERS_S = 60.0
"""How long `quit` waits for the answers to the commands before it if they may need the model.

Longer than any network takes to load, except a first start with TensorRT; a GUI ends the engine before that.
"""

NEVER = 1 << 30
"""Number of collections of young objects before one of all objects."""

MAX_LINE = 1 << 20
"""Bytes of a line; longer lines are ignored. The longest game fits into a few kilobytes."""

LOG_VARIABLE = "GORYU_LOG"
"""The environment variable that names a log file for the time before the option LogFile is set."""

NONBLOCKING = getattr(os, "O_NONBLOCK", 0)
"""Opening a FIFO that nobody reads is an error then, and does not block for ever. Windows has no FIFOs."""

_log = logging.getLogger("goryu")


def main(arguments: Sequence[str]) -> NoReturn:
    """Runs the engine on stdin and stdout until `quit`, a signal or the end of input; ends the process."""
    defaults = _parse(arguments) if arguments else None
    _require_packages()
    if sys.stdin.isatty():  # A person, not a GUI.
        sys.stderr.write(tr("goryu: the USI engine waits for commands, such as usi, help and quit") + "\n")
    commands, output = claim_stdin(), _claim_stdout()
    _make_blocking(commands, output)
    loop = UsiLoop(commands, output, defaults=defaults)
    loop.open_log("")
    for name in ("SIGINT", "SIGTERM", "SIGBREAK", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), loop.interrupt)
    # A full collection walks the whole search graph and would interrupt a Python search for a quarter of a
    # second. Young objects are collected as usual, old ones between games.
    gc.set_threshold(700, 10, NEVER)
    loop.run()
    # Neither a native search nor a GPU driver may delay the end.
    os._exit(0)


def _parse(arguments: Sequence[str]) -> EngineConfig:
    """Returns the defaults that the command line sets; ends the process if it is wrong."""
    from argparse import ArgumentParser, RawDescriptionHelpFormatter

    lines = "\n".join(f"  {name:<11} {ALGORITHMS[name].about}" for name in USI_TRAITS)
    parser = ArgumentParser(
        prog="goryu usi",
        description="Runs the USI engine on stdin and stdout.",
        epilog=f"algorithms:\n{lines}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--algorithm", choices=USI_TRAITS, default=AlgorithmConfig().name, metavar="NAME",
        help="what chooses the moves; the default of the option Algorithm (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--preset", choices=PRESETS, default=NO_PRESET, metavar="NAME",
        help="mcts-player answers like python-dlshogi's MCTS_player; the default of the option Preset",
    )  # fmt: skip
    args = parser.parse_args(arguments)
    return EngineConfig(preset=args.preset, algorithm=AlgorithmConfig(args.algorithm))


def _require_packages() -> None:
    """Ends the process if a package is missing without which it can play no game."""
    if missing := missing_packages():
        problem = tr(
            "{path} lacks {names}; to install: {command}",
            path=sys.executable,
            names=", ".join(missing),
            command=how_to_install(),
        )
        sys.stdout.write(f"info string Error! {problem}\n")  # Some GUIs show it; few show stderr.
        sys.exit(f"goryu: {problem}")


def claim_stdin() -> int:
    """Returns a private copy of stdin, which is empty for all others from now on.

    While a thread waits for input from a pipe, Windows lets all that look at the pipe wait, too. What NumPy
    loads looks at stdin: without this, the engine would wait for the next command of the GUI before it
    answers `isready` (numpy's issue 24290).
    """
    commands = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0, inheritable=True)
    os.close(empty)
    return commands


def _claim_stdout() -> int:
    """Returns a private copy of stdout, and discards what others write to stdout and stderr from now on."""
    output = os.dup(1)
    os.set_inheritable(output, False)
    _point_standard_streams_at(os.devnull)
    return output


def _make_blocking(*descriptors: int) -> None:
    """Lets reads wait for input and writes for room.

    A descriptor may be shared with a program that has made it non-blocking; an empty input would then look
    like its end. Windows has no such flag for pipes.
    """
    for descriptor in descriptors if sys.platform != "win32" else ():
        with suppress(OSError):  # It is closed.
            os.set_blocking(descriptor, True)


def _point_standard_streams_at(path: str) -> None:
    sink = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | NONBLOCKING, 0o644)
    for descriptor in (1, 2):
        os.dup2(sink, descriptor)
    os.close(sink)


def read_lines(descriptor: int, on_long: Callable[[], None] = lambda: None) -> Iterator[bytes]:
    r"""Yields the lines of a file descriptor as they arrive, without `\n`; skips those longer than MAX_LINE.

    on_long: called for each line that it skips.

    It reads the descriptor itself: a thread that waits in `sys.stdin` holds a lock that the interpreter needs
    when it exits.
    """
    pending = b""
    is_too_long = False
    while chunk := os.read(descriptor, 1 << 16):
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            if not is_too_long:
                yield pending + part
            pending, is_too_long = b"", False
        pending = b"" if is_too_long else pending + rest
        if len(pending) > MAX_LINE:
            pending, is_too_long = b"", True
            on_long()
    if pending:
        yield pending


class UsiLoop:
    """One session: reads commands from one descriptor and writes answers to another.

    make_player: called once, in the worker thread, before its first job.
    defaults: the values of options that nothing sets.
    """

    def __init__(
        self,
        input_descriptor: int,
        output_descriptor: int,
        make_player: "Callable[[], Player] | None" = None,
        defaults: EngineConfig | None = None,
    ) -> None:
        self._input = input_descriptor
        self._output = output_descriptor
        self._make_player = make_player or _make_player
        self._player: Player | None = None
        self._engine = UsiEngine(read_model_options, *read_options_file(), defaults)
        self._events: SimpleQueue[Callable[[], list[Action]]] = SimpleQueue()
        self._jobs: SimpleQueue[Callable[[Player], Callable[[], list[Action]] | None]] = SimpleQueue()
        self._last_output_s = perf_counter()
        self._quit_at_s: float | None = None
        self._transcript: int | None = None

    def run(self) -> None:
        """Serves commands until `quit`, a signal, or the end of the input."""
        Thread(target=self._read, name="reader", daemon=True).start()
        Thread(target=self._work, name="worker", daemon=True).start()
        try:
            while not self._is_over():
                self._step()
        except OSError:
            # The GUI no longer reads the output.
            _log.exception("the output is closed")

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Ends the session; a signal handler."""
        self._events.put(self._engine.close)

    def open_log(self, path: str) -> None:
        """Writes the session and the messages of all libraries to a file from now on.

        path: "" for the file that GORYU_LOG names, or for none.
        """
        path = path or os.environ.get(LOG_VARIABLE, "")
        if self._transcript is not None:
            os.close(self._transcript)
            self._transcript = None
        try:
            _point_standard_streams_at(path or os.devnull)
            if path:
                self._transcript = os.open(path, os.O_WRONLY | os.O_APPEND | NONBLOCKING)
        except (OSError, ValueError) as error:  # A path with a null character is a ValueError.
            self._perform(self._engine.message(f"Error! cannot write the log: {error}"))

    # The main thread.

    def _step(self) -> None:
        # Waiting in short steps lets Windows deliver Ctrl-C between them.
        wait_s = 0.05 if self._quit_at_s is not None else 0.5
        try:
            event = self._events.get(timeout=wait_s)
        except Empty:
            if self._engine.is_busy and perf_counter() - self._last_output_s >= KEEP_ALIVE_S - wait_s:
                self._send("")
            return
        try:
            actions = event()
        except Exception as error:
            # A bug in one command must not end the game.
            _log.exception("an event failed")
            actions = self._engine.message(f"Error! {named(error)}")
        self._perform(actions)

    def _receive(self, line: str, received_s: float) -> list[Action]:
        self._log_line(">", line)
        return self._engine.receive(line, received_s)

    def _is_over(self) -> bool:
        if self._quit_at_s is None:
            return False
        if not self._engine.owes_answers:
            return True
        if perf_counter() < self._quit_at_s:
            return False
        self._perform(self._engine.message("Error! ended by quit before the last answer"))
        return True

    def _perform(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Write(line):
                    self._send(line)
                case Load():
                    self._jobs.put(partial(self._load, action))
                case Search(request, control):
                    self._jobs.put(partial(self._search, request, control))
                case SolveMate(request, control, limit_ms):
                    self._jobs.put(partial(self._solve_mate, request, control, limit_ms))
                case Ask(question, request, control):
                    self._jobs.put(partial(self._ask, question, request, control))
                case NewGame():
                    self._jobs.put(_forget)
                case OpenLog(path):
                    self.open_log(path)
                case Quit(needs_model):
                    self._quit_at_s = perf_counter() + (LAST_ANSWERS_S if needs_model else STOPPED_SEARCH_S)

    def _send(self, line: str) -> None:
        self._log_line("<", line)
        text = memoryview(f"{line}\n".encode("ascii", "backslashreplace"))
        while text:
            text = text[os.write(self._output, text) :]
        self._last_output_s = perf_counter()

    def _log_line(self, mark: str, line: str) -> None:
        if self._transcript is None:
            return
        text = f"{perf_counter():.3f} {mark} {line}\n".encode("utf-8", "backslashreplace")
        try:
            os.write(self._transcript, text)
        except OSError as error:  # A full disk must not end the game.
            os.close(self._transcript)
            self._transcript = None
            message = f"Error! cannot write the log: {error}"
            self._events.put(partial(self._engine.message, message))

    # The reader.

    def _read(self) -> None:
        try:
            for raw in read_lines(self._input):
                self._events.put(partial(self._receive, decode(raw).rstrip("\r"), perf_counter()))
        finally:
            self._events.put(self._engine.finish)

    # The worker. A job returns the event that reports its end.

    def _work(self) -> None:
        with speaking("en"):  # What the player reports goes to the GUI, which expects ASCII.
            self._serve_jobs()

    def _serve_jobs(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                if self._player is None:
                    self._player = self._make_player()
                event = job(self._player)
            except Exception as error:
                _log.exception("a job failed")
                message = named(error)
                if job is _forget:  # The engine does not wait for its end.
                    event = partial(self._engine.message, f"Error! {message}")
                else:
                    event = partial(self._engine.failed, message)
            if event is not None:
                self._events.put(event)

    def _load(self, action: Load, player: "Player") -> Callable[[], list[Action]]:
        def report(message: str) -> None:
            self._events.put(partial(self._engine.message, message))

        def hurries() -> bool:
            return action.control.is_stopped

        player.load(action.config, report, measures=action.measures, hurries=hurries)
        return self._engine.loaded

    def _search(
        self, request: Request, control: SearchControl, player: "Player"
    ) -> Callable[[], list[Action]]:
        answer = player.search(
            request,
            control,
            lambda result, ms: self._events.put(partial(self._engine.progressed, result, ms)),
        )
        return partial(self._engine.answered, answer)

    def _solve_mate(
        self, request: Request, control: SearchControl, limit_ms: float | None, player: "Player"
    ) -> Callable[[], list[Action]]:
        return partial(self._engine.mate_solved, player.solve_mate(request, control, limit_ms))

    def _ask(
        self, question: Command, request: Request, control: SearchControl, player: "Player"
    ) -> Callable[[], list[Action]]:
        from goryu.usi.console import ask

        return partial(self._engine.question_answered, ask(question, request, control, player))


def _forget(player: "Player") -> None:
    player.new_game()
    gc.collect()


def _make_player() -> "Player":
    from goryu.players.player import Player

    return Player()
