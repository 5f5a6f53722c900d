"""Self-play or reanalysis in several processes, kept as it ends; a run that was killed goes on.

Every process has a network of its own with one thread and plays many games on it at once. Games have
numbers, and what a game draws is drawn from its number, so a run goes on with the numbers that its file
lacks: what was in progress is done again, and nothing twice.
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
from goryu.learning.records.summary import GameTally
from goryu.learning.self_play.batching import play_together
from goryu.learning.self_play.game import GameSteps, SelfPlaySettings, play_game
from goryu.learning.self_play.leaf_evaluator import LeafNetwork
from goryu.learning.self_play.reanalysis import reanalyse
from goryu.match.openings import Opening
from goryu.search.evaluator import Evaluator

__all__ = ["PlayWork", "ReanalysisWork", "SelfPlayError", "Work", "run"]

LOOK_S = 1.0
"""After this long without a game the processes are looked at: one that was killed says nothing."""


class SelfPlayError(GoryuError, RuntimeError):
    """A process has failed; the message says what is wrong with the network, or holds the traceback of
    anything else, or the status of a process that had no time for one.
    """


class Work(Protocol):
    """What is to be done; it is sent to the processes."""

    @property
    def teacher(self) -> str:
        """The name in the records, by which a run finds what it has done."""
        ...

    @property
    def size(self) -> int | None:
        """How many pieces of work there are; None for no end."""
        ...

    def start(self, number: int) -> GameSteps:
        """Returns the generator that does the piece of a number."""
        ...

    def done(self, records: Iterable[GameRecord]) -> dict[int, GameRecord]:
        """Returns which pieces these records of its teacher are, by number."""
        ...


@dataclass(frozen=True, slots=True)
class PlayWork:
    """Games from openings, one of which is drawn for every game."""

    teacher: str
    settings: SelfPlaySettings
    openings: tuple[Opening, ...]
    seed: int
    size: int | None = None

    def start(self, number: int) -> GameSteps:
        rng = Random(f"{self.seed} {number}")
        return play_game(self.settings, rng.choice(self.openings), rng, number, self.teacher)

    def done(self, records: Iterable[GameRecord]) -> dict[int, GameRecord]:
        return {record.number: record for record in records if record.number is not None}


@dataclass(frozen=True, slots=True)
class ReanalysisWork:
    """New labels for a share of the positions of old games."""

    teacher: str
    settings: SelfPlaySettings
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
        own = number if game.number is None else game.number  # Pieces of one game stay together so.
        return reanalyse(
            game, self.settings, self.share, rng,
            keeps_scores=self.keeps_scores, teacher=self.teacher, number=own,
        )  # fmt: skip

    def done(self, records: Iterable[GameRecord]) -> dict[int, GameRecord]:
        """By their moves: the games may be those of other files, or of files that have grown."""
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
    report: Callable[[GameTally], None] = lambda tally: None,
) -> GameTally:
    """Does the work that the file does not hold yet, and appends its games; for ever if it has no end.

    model: the network, as of `open_network`. at_once: games in progress in every process. temperature: of the
    network's policy. report: called after every game.
    Raises SelfPlayError if a process fails, GameFileError if the file is something else.
    """
    context = mp.get_context("spawn")
    queue: Queue[GameRecord | str | None] = context.Queue()
    with GameWriter(path) as writer:
        tally = GameTally()
        earlier = work.done(game for game in read_games(path) if game.teacher == work.teacher)
        for game in earlier.values():
            tally.add(game, is_new=False)
        done = set(earlier)
        report(tally)
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
                    tally.add(event, is_new=True)
                    report(tally)
        finally:
            for worker in workers:
                worker.terminate()
                worker.join()
    return tally


def _next_event(
    queue: "Queue[GameRecord | str | None]", workers: Sequence[BaseProcess]
) -> GameRecord | str | None:
    """Returns what the next process has sent; raises SelfPlayError if one has died in silence."""
    while True:
        died = [worker.exitcode for worker in workers if worker.exitcode]
        with suppress(Empty):  # What a dead process has sent before still counts.
            return queue.get(timeout=LOOK_S)
        if died:
            raise SelfPlayError(f"a process died (exit code {died[0]}): was it killed for its memory?")


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
    """Does every `step`-th piece of work from `first` on; sends the games, or the traceback of a failure."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        evaluator = _open(model, at_once, backend, temperature)
        numbers = range(first, work.size, step) if work.size is not None else count(first, step)
        for game in play_together((work.start(n) for n in numbers if n not in done), evaluator, at_once):
            queue.put(game)
        queue.put(None)
    except KeyboardInterrupt:
        os._exit(130)  # The parent has it too, and says so.
    except (BackendError, ModelError) as error:
        queue.put(str(error))
    except Exception:
        queue.put(traceback.format_exc())


def _open(model: Path, batch_size: int, backend: str, temperature: float) -> Evaluator:
    """Loads the network; raises ModelError or BackendError."""
    network = open_network(model, batch_size=batch_size, backend=backend, temperature=temperature)
    return LeafNetwork(network) if isinstance(network, NetworkEvaluator) else network


def _leave_with_parent() -> None:
    """Ends this process when the one that started it is gone: nobody would take its games."""
    parent = mp.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
