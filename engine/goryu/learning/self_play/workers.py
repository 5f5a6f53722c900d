"""Runs self-play or reanalysis in several processes and appends every finished game to a file.

Every process has its own network with one thread and plays many games on it at once. The number of a game is
the seed of its random numbers, so a run that was killed resumes with the numbers that its file lacks. Games
that were in progress are played again.
"""

import multiprocessing as mp
import os
import threading
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue
from pathlib import Path
from queue import Empty
from random import Random
from typing import Protocol

from goryu.errors import GoryuError
from goryu.evaluators.model_files import ModelError
from goryu.evaluators.named_networks import open_network
from goryu.evaluators.network import NetworkEvaluator
from goryu.evaluators.providers import BackendError
from goryu.learning.records.game_records import GameRecord, GameWriter, read_games
from goryu.learning.records.summary import GameSummary
from goryu.learning.self_play.batching import run_batched
from goryu.learning.self_play.config import SelfPlayConfig
from goryu.learning.self_play.game import GameSteps, self_play_game
from goryu.learning.self_play.leaf_evaluator import LeafEvaluator
from goryu.learning.self_play.reanalysis import reanalyse
from goryu.match.openings import Opening
from goryu.search.evaluator import Evaluator

CHECK_AFTER_S = 1.0
"""After this long without a game, check for processes that were killed: they send no message."""


class SelfPlayError(GoryuError, RuntimeError):
    """A process has failed; the message holds the fault of the network, the traceback or the exit status."""


class Work(Protocol):
    """Numbered pieces of work; the processes receive a copy."""

    @property
    def teacher(self) -> str:
        """The name in the records, by which a run finds the work that it has done."""
        ...

    @property
    def size(self) -> int | None:
        """The number of pieces; None if there is no end."""
        ...

    def start(self, number: int) -> GameSteps:
        """Returns the generator that does a piece."""
        ...

    def done(self, records: Iterable[GameRecord]) -> dict[int, GameRecord]:
        """Returns the records of finished pieces, by the number of the piece; all are of its teacher."""
        ...


@dataclass(frozen=True, slots=True)
class PlayWork:
    """Games of self-play, each from one of the openings, drawn at random."""

    teacher: str
    config: SelfPlayConfig
    openings: tuple[Opening, ...]
    seed: int
    size: int | None = None

    def start(self, number: int) -> GameSteps:
        rng = Random(f"{self.seed} {number}")
        return self_play_game(self.config, rng.choice(self.openings), rng, number, self.teacher)

    def done(self, records: Iterable[GameRecord]) -> dict[int, GameRecord]:
        return {record.number: record for record in records if record.number is not None}


@dataclass(frozen=True, slots=True)
class ReanalysisWork:
    """New labels for a share of the positions of old games."""

    teacher: str
    config: SelfPlayConfig
    games: tuple[GameRecord, ...]
    share: float
    keeps_scores: bool
    seed: int

    @property
    def size(self) -> int:
        return len(self.games)

    def start(self, number: int) -> GameSteps:
        rng = Random(f"{self.seed} {number}")
        game = self.games[number]
        own = number if game.number is None else game.number  # Pieces of one game keep their common number.
        return reanalyse(
            game, self.config, self.share, rng,
            keeps_scores=self.keeps_scores, teacher=self.teacher, number=own,
        )  # fmt: skip

    def done(self, records: Iterable[GameRecord]) -> dict[int, GameRecord]:
        """Returns the records, matched to the games by moves: the files may have grown since, or differ."""
        numbers: defaultdict[tuple[str, tuple[int, ...]], list[int]] = defaultdict(list)
        for number, game in enumerate(self.games):
            numbers[game.start_sfen, game.moves].append(number)
        found: dict[int, GameRecord] = {}
        for record in records:
            if same := numbers.get((record.start_sfen, record.moves)):
                found[same.pop()] = record
        return found


def run(
    work: Work,
    model: Path,
    path: Path,
    *,
    processes: int = 1,
    at_once: int = 32,
    backend: str = "cpu",
    temperature: float = 1.0,
    report: Callable[[GameSummary], None] = lambda summary: None,
) -> GameSummary:
    """Does the pieces of work that the file lacks and appends their games; runs forever if there is no end.

    model: the network, as for `open_network`. at_once: games in progress in every process. temperature: of
        the network's policy. report: called after every game.

    Raises SelfPlayError if a process fails, GameFileError if the file is something else.
    """
    context = mp.get_context("spawn")
    queue: Queue[GameRecord | str | None] = context.Queue()
    with GameWriter(path) as writer:
        summary = GameSummary()
        earlier = work.done(game for game in read_games(path) if game.teacher == work.teacher)
        for game in earlier.values():
            summary.add(game, is_new=False)
        done = set(earlier)
        report(summary)
        workers = [
            context.Process(
                target=_work,
                args=(work, model, at_once, backend, temperature, done, first, processes, queue),
                daemon=True,
            )
            for first in range(processes)
        ]
        for worker in workers:
            worker.start()
        try:
            running = len(workers)
            while running:
                event = _next_event(queue, workers)
                if event is None:
                    running -= 1
                elif isinstance(event, str):
                    raise SelfPlayError(event)
                else:
                    writer.write([event])
                    summary.add(event, is_new=True)
                    report(summary)
        finally:
            for worker in workers:
                worker.terminate()
                worker.join()
    return summary


def _next_event(
    queue: "Queue[GameRecord | str | None]", workers: Sequence[BaseProcess]
) -> GameRecord | str | None:
    """Returns the next message of a process; raises SelfPlayError if one was killed."""
    while True:
        died = [worker.exitcode for worker in workers if worker.exitcode]
        with suppress(Empty):  # A dead process may have sent games before.
            return queue.get(timeout=CHECK_AFTER_S)
        if died:
            raise SelfPlayError(f"a process died (exit code {died[0]}): perhaps the system ran out of memory")


def _work(
    work: Work,
    model: Path,
    at_once: int,
    backend: str,
    temperature: float,
    done: set[int],
    first: int,
    step: int,
    queue: "Queue[GameRecord | str | None]",
) -> None:
    """Does every `step`-th piece of work from `first` on; sends the games or the traceback of a failure."""
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    try:
        evaluator = _open(model, at_once, backend, temperature)
        numbers = range(first, work.size, step) if work.size is not None else count(first, step)
        for game in run_batched((work.start(n) for n in numbers if n not in done), evaluator, at_once):
            queue.put(game)
        queue.put(None)
    except KeyboardInterrupt:
        os._exit(130)  # The parent receives it too and reports it.
    except (BackendError, ModelError) as error:
        queue.put(str(error))
    except Exception:
        queue.put(traceback.format_exc())


def _open(model: Path, batch_size: int, backend: str, temperature: float) -> Evaluator:
    """Loads the network; raises ModelError or BackendError."""
    network = open_network(model, batch_size=batch_size, backend=backend, temperature=temperature)
    return LeafEvaluator(network) if isinstance(network, NetworkEvaluator) else network


def _exit_with_parent() -> None:
    """Ends this process when its parent has ended: no process would receive its games."""
    parent = mp.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
