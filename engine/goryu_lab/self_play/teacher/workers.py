"""Plays many games of a teacher at once and appends every finished game to a file.

Every worker, a thread of this process or a worker of a cluster, owns one engine process. The number of a game
is the seed of its opening, so a run that was killed resumes with the numbers that its file lacks, and a game
that was lost with its worker is played again, the same. When an engine fails, its game is dropped and the
engine restarts with the next number.

Openings are drawn here, in the order of the numbers, so that no two games have the same first choice. Only a
game whose first three choices are unbalanced may begin where another one does.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Self

from goryu.base.errors import GoryuError
from goryu.engines.usi_client import EngineError, EngineSpec, Timeouts, UnknownOptionError, UsiClient
from goryu_lab.records.game_block import GameBlock
from goryu_lab.records.game_records import GameRecord, GameWriter, read_games
from goryu_lab.records.summary import GameSummary
from goryu_lab.self_play.teacher.game import MAX_OPENINGS, TeacherConfig, draw_opening, teacher_game
from goryu_lab.work.cluster import ClusterConfig, ClusterPool
from goryu_lab.work.driver import Workforce, run_bundles
from goryu_lab.work.seam import Bundle, Inbox, Pool, Result, Task
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


@dataclass(slots=True)
class TeacherProgress(GameSummary):
    """The games of this teacher so far, and the failures of the engine since the run was started."""

    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Failure:
    """A game that was dropped because its engine failed."""

    message: str


@dataclass(frozen=True, slots=True)
class TeacherBundle:
    """A bundle (`goryu_lab.work.seam`) of games and failures."""

    games: GameBlock | None
    failures: Sequence[Result]

    @classmethod
    def of(cls, results: Sequence[Result]) -> "TeacherBundle":
        """Returns the bundle of some results."""
        games = [result for result in results if isinstance(result[1], GameRecord)]
        failures = [result for result in results if isinstance(result[1], Failure)]
        return cls(GameBlock.of(games) if games else None, failures)

    @property
    def numbers(self) -> Sequence[int]:
        return [*(self.games.numbers if self.games else ()), *(number for number, _ in self.failures)]

    @property
    def positions(self) -> int:
        return self.games.positions if self.games else 0

    def only(self, numbers: Collection[int]) -> "TeacherBundle":
        return TeacherBundle.of([result for result in self.results() if result[0] in numbers])

    def results(self) -> Sequence[Result]:
        return [*(self.games.results() if self.games else ()), *self.failures]


@dataclass(frozen=True, slots=True)
class TeacherJob:
    """What a worker does: it runs one engine. installed: checksums of the engine's files.

    spare: engines that are started already, for workers in this process.
    """

    spec: EngineSpec
    config: TeacherConfig
    teacher: str
    timeouts: Timeouts | None = None
    installed: Mapping[str, str] = field(default_factory=dict)
    spare: list[UsiClient] = field(default_factory=list)
    at_once: int = 1
    files: Sequence[Path] = ()

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
                    yield number, Failure(str(error))
        finally:
            client.kill()

    def bundled(self, results: Sequence[Result]) -> "TeacherBundle":
        return TeacherBundle.of(results)


def run(
    spec: EngineSpec,
    config: TeacherConfig,
    path: Path,
    *,
    games: int | None = None,
    processes: int = 1,
    cluster: ClusterConfig | None = None,
    timeouts: Timeouts | None = None,
    report: Callable[[TeacherProgress], None] = lambda progress: None,
    watch: Callable[[Workforce], None] = lambda workforce: None,
) -> TeacherProgress:
    """Plays those of the games 0 to `games` - 1 that the file lacks, and appends them.

    games: None to play until an interrupt (KeyboardInterrupt, SystemExit); the file then has every finished
        game. The file may hold games of other teachers and configs.
    processes: engines of this computer, unless there is a `cluster`. The engine must be installed on all of
        its computers and on this one, which starts it once to learn its name.
    report: called whenever games have been written, and after a failure. watch: as in `run_bundles`.

    Raises TeacherError if the engine cannot be started or keeps failing.
    """
    client = UsiClient(spec, timeouts=timeouts)
    try:
        teacher = _start(client, config)
        pool: Pool
        if cluster is None:
            pool, job = ThreadPool(processes), TeacherJob(spec, config, teacher, timeouts, spare=[client])
        else:
            client.kill()
            words = (*spec.command, *(value for _, value in spec.options))
            job = TeacherJob(spec, config, teacher, timeouts, installed_files(words))
            pool = ClusterPool(cluster)
        with GameWriter(path) as writer:
            progress, done = _resume(path, teacher)
            report(progress)
            numbers = _Numbers(config, done, games)
            left = None if games is None else games - len(done & set(range(games)))
            with closing(run_bundles(pool, job, iter(numbers), left, watch)) as finished:
                _collect(finished, writer, progress, report)
            if numbers.has_no_opening:
                raise TeacherError(f"no new opening among {MAX_OPENINGS}: draw more random moves")
    finally:
        client.kill()
    return progress


def _resume(path: Path, teacher: str) -> tuple[TeacherProgress, set[int]]:
    """Returns the progress and the numbers of the games in the file."""
    progress, done = TeacherProgress(), set()
    for game in read_games(path):
        if game.teacher == teacher:
            progress.add(game, is_new=False)
            if game.number is not None:
                done.add(game.number)
    return progress, done


def _collect(
    finished: Iterator[list[Bundle]],
    writer: GameWriter,
    progress: TeacherProgress,
    report: Callable[[TeacherProgress], None],
) -> None:
    """Writes and counts the games; raises TeacherError if the engine keeps failing."""
    failures_in_a_row = 0
    for some in finished:
        bundles = [bundle for bundle in some if isinstance(bundle, TeacherBundle)]
        writer.append([bundle.games.content for bundle in bundles if bundle.games])
        for bundle in bundles:
            progress.failures += [failure.message for _, failure in bundle.failures]
            if bundle.games:
                progress.join(bundle.games.summary)
                failures_in_a_row = 0
            else:
                failures_in_a_row += len(bundle.failures)
        report(progress)
        if failures_in_a_row >= MAX_FAILURES:
            message = f"{failures_in_a_row} games in a row failed, the last one: {progress.failures[-1]}"
            raise TeacherError(message)


class _Numbers:
    """The games to play, in order, each with the draws of an opening that it must leave out."""

    def __init__(self, config: TeacherConfig, done: set[int], end: int | None) -> None:
        self._config = config
        self._done = done
        self._end = end
        self._first: set[int] = set()  # Keys of the games' first choices.
        self._others: set[int] = set()  # Keys of their second and third choices.
        self.has_no_opening = False

    def __iter__(self) -> Iterator[Task]:
        for number in count() if self._end is None else range(self._end):
            chosen = self._choose(Random(f"{self._config.seed} {number}"))
            if not chosen:
                self.has_no_opening = True
                return
            if number not in self._done:
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
    parts = (client.name, options, f"go {config.go}", f"seed {config.seed}")
    return "; ".join(part for part in parts if part)
