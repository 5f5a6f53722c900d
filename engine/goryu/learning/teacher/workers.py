"""Plays many games of a teacher at once and appends every finished game to a file.

Every worker owns one engine process. The number of a game is the seed of its opening, so a run that was
killed resumes with the numbers that its file lacks; games that were in progress are played again. No two
games begin in the same position. When an engine fails, its game is dropped and the engine restarts with the
next number.
"""

import queue
import threading
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from goryu.errors import GoryuError
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.learning.records.game_records import GameRecord, GameWriter, read_games
from goryu.learning.records.summary import GameSummary
from goryu.learning.teacher.game import TeacherConfig, teacher_game
from goryu.match.usi_client import EngineError, EngineSpec, Timeouts, UnknownOptionError, UsiClient

MAX_FAILURES = 5
"""Consecutive failures after which the run ends."""

_Event = GameRecord | Exception | None
"""A message of a worker: a game, the failure of one (EngineError), an error of ours, or None at its end."""


class TeacherError(GoryuError):
    """The run cannot continue; the message names the engine's failure."""


@dataclass(slots=True)
class TeacherProgress(GameSummary):
    """The games of this teacher so far, and the failures of the engine since the run was started."""

    failures: list[str] = field(default_factory=list)


def run(
    spec: EngineSpec,
    config: TeacherConfig,
    path: Path,
    *,
    games: int | None = None,
    processes: int = 1,
    timeouts: Timeouts | None = None,
    report: Callable[[TeacherProgress], None] = lambda progress: None,
) -> TeacherProgress:
    """Plays those of the games 0 to `games` - 1 that the file lacks, and appends them.

    games: None to play until an interrupt (KeyboardInterrupt, SystemExit); the file then has every finished
        game. The file may hold games of other teachers and configs.
    report: called after every game and failure, in this thread.

    Raises TeacherError if the engine cannot be started or keeps failing.
    """
    clients = [UsiClient(spec, timeouts=timeouts) for _ in range(processes)]
    events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
    numbers, openings = _Numbers(), _Openings()
    workers: list[threading.Thread] = []
    try:
        teacher = _start(clients[0], config)
        with GameWriter(path) as writer:
            progress, done = _resume(path, teacher, openings)
            numbers.open(done, games)
            report(progress)
            for client in clients:
                arguments = (client, config, teacher, numbers, openings, events)
                workers.append(threading.Thread(target=_work, args=arguments, daemon=True))
                workers[-1].start()
            _collect(events, len(workers), writer, progress, report)
    finally:
        numbers.close()
        for client in clients:
            client.kill()
        for worker in workers:
            worker.join()
    return progress


def _resume(path: Path, teacher: str, openings: "_Openings") -> tuple[TeacherProgress, set[int | None]]:
    """Returns the progress and the numbers of the games in the file; claims their openings."""
    progress, done = TeacherProgress(), set()
    for game in read_games(path):
        if game.teacher == teacher:
            progress.add(game, is_new=False)
            done.add(game.number)
            board = Board(game.start_sfen)
            for move, score in zip(game.moves, game.evals, strict=True):
                if score is not None:
                    break
                board.push(Move(move))
            openings.claim(board.position_key)
    return progress, done


def _collect(
    events: "queue.SimpleQueue[_Event]",
    workers: int,
    writer: GameWriter,
    progress: TeacherProgress,
    report: Callable[[TeacherProgress], None],
) -> None:
    """Writes and counts the games of the workers until the last worker has ended."""
    failures_in_a_row = 0
    while workers:
        event = events.get()
        if event is None:
            workers -= 1
            continue
        if isinstance(event, GameRecord):
            writer.write([event])
            progress.add(event, is_new=True)
            failures_in_a_row = 0
        elif isinstance(event, EngineError):
            progress.failures.append(str(event))
            failures_in_a_row += 1
        else:
            raise event
        report(progress)
        if failures_in_a_row == MAX_FAILURES:
            raise TeacherError(f"{MAX_FAILURES} games in a row failed, the last one: {event}")


def _work(
    client: UsiClient,
    config: TeacherConfig,
    teacher: str,
    numbers: "_Numbers",
    openings: "_Openings",
    events: "queue.SimpleQueue[_Event]",
) -> None:
    """Plays game after game until there are no more numbers; sends None at the end."""
    try:
        while (number := numbers.next()) is not None:
            try:
                if not client.is_alive:
                    client.restart()
                events.put(teacher_game(client, number, config, teacher, openings.claim))
            except EngineError as error:
                client.kill()
                if not numbers.is_closed:
                    events.put(error)
    except Exception as error:  # `_collect` raises it in the main thread.
        events.put(error)
    finally:
        client.kill()
        events.put(None)


class _Numbers:
    """Gives the numbers of the games to several threads; none before `open` or after `close`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rest: Iterator[int] = iter(())
        self.is_closed = False

    def open(self, done: Container[int | None], end: int | None) -> None:
        """Starts giving the numbers below `end` (None: all) that are not done."""
        self._rest = (n for n in (count() if end is None else range(end)) if n not in done)

    def next(self) -> int | None:
        with self._lock:
            return None if self.is_closed else next(self._rest, None)

    def close(self) -> None:
        self.is_closed = True


class _Openings:
    """The positions in which the games of a run begin."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: set[int] = set()

    def claim(self, key: int) -> bool:
        """Returns whether no other game has claimed this position."""
        with self._lock:
            is_new = key not in self._keys
            self._keys.add(key)
            return is_new


def _start(client: UsiClient, config: TeacherConfig) -> str:
    """Starts the first engine; returns the teacher's name in the records, by which a run finds its games."""
    try:
        client.start()
    except (EngineError, UnknownOptionError) as error:
        raise TeacherError(str(error)) from error
    options = " ".join(f"{name}={value}" for name, value in client.spec.options)
    parts = (client.name, options, f"go {config.go}", f"seed {config.seed}")
    return "; ".join(part for part in parts if part)
