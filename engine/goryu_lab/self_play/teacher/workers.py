"""Plays many games of a teacher at once and appends every finished game to a file.

Every worker, a thread of this process or a worker of a cluster, owns one engine process. The number of a game
is the seed of its opening, so a run that was killed resumes with the numbers that its file lacks, and a game
that was lost with its worker is played again, the same. When an engine fails, its game is dropped and the
engine restarts with the next number.

Openings are drawn here, in the order of the numbers, so that no two games have the same first choice. Only a
game whose first three choices are unbalanced may begin where another one does.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import count
from pathlib import Path
from random import Random
from typing import Self

from goryu.base.errors import GoryuError
from goryu.engines.usi_client import EngineError, EngineSpec, Timeouts, UnknownOptionError, UsiClient
from goryu_lab.records.game_block import GameBlock
from goryu_lab.records.game_records import GameRecord
from goryu_lab.records.summary import GameSummary
from goryu_lab.self_play import workers
from goryu_lab.self_play.teacher.game import MAX_OPENINGS, TeacherConfig, draw_opening, teacher_game
from goryu_lab.self_play.workers import Pieces
from goryu_lab.work.cluster import ClusterConfig, ClusterPool
from goryu_lab.work.driver import Workforce
from goryu_lab.work.seam import Inbox, Job, Pool, Result, Task
from goryu_lab.work.shipping import check_installed, installed_files
from goryu_lab.work.threads import ThreadPool

MAX_FAILURES = 5
"""Consecutive failures after which the run ends."""

CHOICES = 3
"""Openings that are reserved for a game: the first balanced one begins it."""

DRAWS = 16
"""Openings drawn for a game before it also takes those that are other games' second or third choice."""


class TeacherError(GoryuError):
    """The run cannot continue; the message names the engine's failure."""


@dataclass(frozen=True, slots=True)
class TeacherJob(Job):
    """What a worker does: it runs one engine. installed: checksums of the engine's files.

    spare: engines that are started already, for workers in this process.
    """

    spec: EngineSpec
    config: TeacherConfig
    teacher: str
    timeouts: Timeouts | None = None
    installed: Mapping[str, str] = field(default_factory=dict)
    spare: list[UsiClient] = field(default_factory=list)

    def prepared(self, place: Callable[[Path], Path]) -> Self:
        check_installed(self.installed)
        return self

    def work(self, inbox: Inbox) -> Iterator[Result]:
        client = self.spare.pop() if self.spare else UsiClient(self.spec, timeouts=self.timeouts)
        inbox.on_close(client.kill)
        try:
            while (task := inbox.take(wait=True)) is not None:
                number, barred = task
                try:
                    if not client.is_alive:
                        client.restart()
                    if inbox.is_closed:  # The engine was killed, and then started again here.
                        return
                    yield number, teacher_game(client, number, self.config, self.teacher, barred)
                except EngineError as error:
                    client.kill()
                    yield number, str(error)
        finally:
            client.kill()

    def bundled(self, results: Sequence[Result]) -> GameBlock:
        """A game whose engine failed is dropped; its result is the message."""
        games = [(number, [found] if isinstance(found, GameRecord) else []) for number, found in results]
        failures = {number: found for number, found in results if isinstance(found, str)}
        return GameBlock.of_several(games, failures)


def run(
    spec: EngineSpec,
    config: TeacherConfig,
    path: Path,
    *,
    games: int | None = None,
    processes: int = 1,
    cluster: ClusterConfig | None = None,
    timeouts: Timeouts | None = None,
    report: Callable[[GameSummary], None] = lambda summary: None,
    watch: Callable[[Workforce], None] = lambda workforce: None,
) -> GameSummary:
    """Plays those of the games 0 to `games` - 1 that the file lacks, and appends them.

    games: None to play until an interrupt (KeyboardInterrupt, SystemExit); the file then has every finished
        game. The file may hold games of other teachers and configs.
    processes: engines of this computer, unless there is a `cluster`. The engine must be installed on all of
        its computers and on this one, which starts it once to learn its name.
    report: called whenever games have been written, and after a failure. watch: as in `run_bundles`.

    Raises TeacherError if the engine cannot be started or keeps failing.
    """
    client = UsiClient(spec, timeouts=timeouts)

    def new_pool() -> Pool:
        return ThreadPool(processes) if cluster is None else ClusterPool(cluster)

    def checked(summary: GameSummary) -> None:
        report(summary)
        if summary.failed_in_a_row >= MAX_FAILURES:
            failed = f"{summary.failed_in_a_row} games in a row failed"
            raise TeacherError(f"{failed}, the last one: {summary.failures[-1]}")

    try:
        teacher = _start(client, config)
        job = TeacherJob(spec, config, teacher, timeouts, spare=[client])
        if cluster is not None:
            client.kill()
            words = (*spec.command, *(value for _, value in spec.options))
            job = TeacherJob(spec, config, teacher, timeouts, installed_files(words))
        work = TeacherWork(teacher, config, games)
        summary = workers.run(job, work, path, new_pool, checked, watch)
        if work.has_no_opening:
            raise TeacherError(f"no new opening among {MAX_OPENINGS}: draw more random moves")
    finally:
        client.kill()
    return summary


class TeacherWork(Pieces):
    """The games to play, in order, each with the draws of an opening that it must leave out."""

    def __init__(self, teacher: str, config: TeacherConfig, size: int | None) -> None:
        self.teacher = teacher
        self._config = config
        self._size = size
        self._first: set[int] = set()  # Keys of the games' first choices.
        self._others: set[int] = set()  # Keys of their second and third choices.
        self.has_no_opening = False

    @property
    def size(self) -> int | None:
        return self._size

    def tasks(self, done: Collection[int]) -> Iterator[Task]:
        for number in count() if self.size is None else range(self.size):
            chosen = self._choose(Random(f"{self._config.seed} {number}"))
            if not chosen:
                self.has_no_opening = True
                return
            if number not in done:
                yield number, frozenset(range(max(chosen))) - set(chosen)

    def _choose(self, rng: Random) -> list[int]:
        """Reserves the openings of the next game; returns which of its draws they are."""
        chosen: list[int] = []
        keys: list[int] = []
        for draw in range(MAX_OPENINGS):
            opening = draw_opening(self._config, rng)
            is_taken = opening.key in self._first or (draw < DRAWS and opening.key in self._others)
            if not opening.is_over and not is_taken and opening.key not in keys:
                chosen.append(draw)
                keys.append(opening.key)
            if len(chosen) == CHOICES or (chosen and draw >= DRAWS):
                break
        self._first.update(keys[:1])
        self._others.update(keys[1:])
        return chosen


def _start(client: UsiClient, config: TeacherConfig) -> str:
    """Starts the first engine; returns the teacher's name in the records, by which a run finds its games."""
    try:
        client.start()
    except (EngineError, UnknownOptionError) as error:
        raise TeacherError(str(error)) from error
    options = " ".join(f"{name}={value}" for name, value in client.spec.options)
    others = blake2b(repr(replace(config, seed=0)).encode(), digest_size=3).hexdigest()
    parts = (client.name, options, f"go {config.go}", f"options {others}", f"seed {config.seed}")
    return "; ".join(part for part in parts if part)
