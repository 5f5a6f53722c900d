"""Runs self-play, reanalysis, leaves or teachers' games with many workers; appends every game to a file.

Every worker, a process of this computer or of a cluster, has its own network with one thread and plays many
games on it at once. The number of a game is the seed of its random numbers, so a run that was killed resumes
with the numbers that its file lacks, and a game that was lost with its worker is played again, the same.
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Self

from goryu.evaluators.network.named_networks import open_network
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.state import State
from goryu.search.evaluator import Evaluation
from goryu_lab.match.openings import Opening
from goryu_lab.records.game_block import GameBlock
from goryu_lab.records.game_records import GameRecord, GameWriter, pack_games, read_games
from goryu_lab.records.summary import GameSummary
from goryu_lab.self_play.batching import run_batched
from goryu_lab.self_play.config import SelfPlayConfig
from goryu_lab.self_play.game import GameSteps, self_play_game
from goryu_lab.self_play.leaf_evaluator import LeafEvaluator, PairedEvaluator
from goryu_lab.self_play.reanalysis import reanalyse
from goryu_lab.work.driver import Workforce, run_bundles
from goryu_lab.work.processes import ProcessPool
from goryu_lab.work.seam import Inbox, Job, Pool, Result, Task


class Pieces:
    """Numbered pieces of work, and which of them a file has.

    teacher: the name in the records, by which a run finds the work that it has done.
    """

    __slots__ = ()

    teacher: str

    @property
    def size(self) -> int | None:
        """The number of pieces; None if there is no end."""
        return None

    def payload(self, number: int) -> Any:
        """Returns what a worker needs for one piece besides its number."""
        return None

    def tasks(self, done: Collection[int]) -> Iterator[Task]:
        """Yields the pieces that are not done."""
        numbers = count() if self.size is None else range(self.size)
        return ((number, self.payload(number)) for number in numbers if number not in done)

    def done(self, records: Iterable[GameRecord]) -> Iterator[tuple[int, GameRecord]]:
        """Yields the records of finished pieces with the number of the piece, by default that of the record.

        records: all are of its teacher. A second record of a piece that makes one is left out.
        """
        seen: set[int] = set()
        for record in records:
            if record.number is not None and record.number not in seen:
                seen.add(record.number)
                yield record.number, record


class Work(Pieces, ABC):
    """Pieces of one game each, played with a network that many games share; the workers receive a copy."""

    __slots__ = ()

    def bare(self) -> Self:
        """Returns what every worker needs: all but the `payload` of the pieces."""
        return self

    @abstractmethod
    def start(self, number: int, payload: GameRecord | None = None) -> GameSteps:
        """Returns the generator that does a piece."""


@dataclass(frozen=True, slots=True)
class PlayWork(Work):
    """Games of self-play, each from one of the openings, drawn at random."""

    teacher: str
    config: SelfPlayConfig
    openings: tuple[Opening, ...]
    seed: int
    size: int | None = None

    def start(self, number: int, payload: GameRecord | None = None) -> GameSteps:
        rng = Random(f"{self.seed} {number}")
        return self_play_game(self.config, rng.choice(self.openings), rng, number, self.teacher)


@dataclass(frozen=True, slots=True)
class ReanalysisWork(Work):
    """New labels for a share of the positions of old games, if their `danger` is large enough."""

    teacher: str
    config: SelfPlayConfig
    games: tuple[GameRecord, ...]
    share: float
    keeps_scores: bool
    seed: int
    least_danger: int = 0

    @property
    def size(self) -> int:
        return len(self.games)

    def bare(self) -> Self:
        return replace(self, games=())

    def payload(self, number: int) -> GameRecord:
        return self.games[number]

    def start(self, number: int, payload: GameRecord | None = None) -> GameSteps:
        rng = Random(f"{self.seed} {number}")
        game = self.games[number] if payload is None else payload
        own = number if game.number is None else game.number  # Pieces of one game keep their common number.
        return reanalyse(
            game, self.config, self.share, rng,
            keeps_scores=self.keeps_scores, teacher=self.teacher, number=own, least_danger=self.least_danger,
        )  # fmt: skip

    def done(self, records: Iterable[GameRecord]) -> Iterator[tuple[int, GameRecord]]:
        """Yields the records, matched to the games by moves: the files may have grown since, or differ."""
        numbers: defaultdict[tuple[str, tuple[int, ...]], list[int]] = defaultdict(list)
        for number, game in enumerate(self.games):
            numbers[game.start_sfen, game.moves].append(number)
        for record in records:
            if same := numbers.get((record.start_sfen, record.moves)):
                yield same.pop(), record


@dataclass(frozen=True, slots=True)
class GamesJob(Job):
    """What a worker of self-play does: it opens the network and plays several games on it."""

    pieces: Work
    model: Path
    at_once: int = 32
    backend: str = "cpu"
    temperature: float = 1.0
    gpus: tuple[int, ...] = (0,)

    @property
    def files(self) -> Sequence[Path]:
        return [self.model]

    def prepared(self, place: Callable[[Path], Path]) -> "GamesJob":
        return replace(self, model=place(self.model))

    def work(self, inbox: Inbox) -> Iterator[Result]:
        evaluator = open_evaluator(
            self.model, self.at_once, self.backend, self.temperature, gpus=self.gpus, worker=inbox.index
        )
        playing = 0

        def pieces() -> Iterator[Generator[list[State], list[Evaluation], Result] | None]:
            nonlocal playing
            while True:
                if (task := inbox.take(wait=not playing)) is not None:
                    playing += 1
                    yield self._numbered(*task)
                elif playing:
                    yield None
                else:
                    return

        for result in run_batched(pieces(), evaluator, self.at_once):
            playing -= 1
            yield result

    def bundled(self, results: Sequence[Result]) -> GameBlock:
        return GameBlock.of(results)

    def _numbered(
        self, number: int, payload: GameRecord | None
    ) -> Generator[list[State], list[Evaluation], Result]:
        return number, (yield from self.pieces.start(number, payload))


def open_evaluator(
    model: Path,
    at_once: int,
    backend: str = "cpu",
    temperature: float = 1.0,
    *,
    gpus: Sequence[int] = (0,),
    worker: int = 0,
) -> PairedEvaluator:
    """Loads a network for many games at once; the arguments and errors are those of `open_network`."""
    size = max(2, at_once)
    network = open_network(
        model, batch_size=size, backend=backend, temperature=temperature, gpus=gpus, worker=worker
    )
    leaves = LeafEvaluator(network) if isinstance(network, NetworkEvaluator) else network
    return PairedEvaluator(leaves, size)


def run(
    job: Job,
    work: Pieces,
    path: Path,
    new_pool: Callable[[], Pool] = lambda: ProcessPool(1),
    report: Callable[[GameSummary], None] = lambda summary: None,
    watch: Callable[[Workforce], None] = lambda workforce: None,
) -> GameSummary:
    """Does the pieces of work that the file lacks and appends their games; runs forever if there is no end.

    At the end it packs the file, in which a game has a block of its own until then.

    job: its results travel as `GameBlock`. new_pool: returns the workers.
    report: called whenever games have been written. watch: as in `run_bundles`.

    Raises WorkError if the workers fail, ClusterError, and GameFileError if the file is something else.
    """
    with GameWriter(path) as writer:
        summary, done = resumed(work, path)
        report(summary)
        missing = None if work.size is None else work.size - len(done.intersection(range(work.size)))
        with closing(run_bundles(new_pool(), job, work.tasks(done), missing, watch)) as finished:
            for bundles in finished:
                blocks = [bundle for bundle in bundles if isinstance(bundle, GameBlock)]
                writer.append([block.content for block in blocks if block.summary.games])
                for block in blocks:
                    summary.join(block.summary)
                report(summary)
    if summary.new_positions:
        pack_games(path)
    return summary


def resumed(work: Pieces, path: Path) -> tuple[GameSummary, set[int]]:
    """Returns the counts and the numbers of the pieces that a file has."""
    summary, done = GameSummary(), set[int]()
    for number, game in work.done(game for game in read_games(path) if game.teacher == work.teacher):
        done.add(number)
        summary.add(game, is_new=False)
    summary.tasks = len(done)
    return summary, done
