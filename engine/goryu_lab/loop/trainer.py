"""The training of the loop: a worker of its own, a process of the driver's computer.

It trains one candidate after another while the players play. If it dies, it is replaced. A training of shogi
then continues from its checkpoint, one of a small game begins again.
"""

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from goryu_lab.loop.adapter import LoopGame
from goryu_lab.work.seam import Done, Failed, Inbox, Job, Joined, Left, Pool, Result

TELL_EVERY = 10
"""Steps between two reports of the training."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to train: candidate `number`, from which candidate on, on which files of games."""

    number: int
    folder: Path
    previous: Path
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """The training of a candidate has taken `step` steps; the last one had the loss `loss`."""

    candidate: int
    step: int
    loss: float


@dataclass(frozen=True, slots=True)
class Trained:
    """A candidate is trained, and its network written."""

    candidate: int
    losses: dict[str, float]


@dataclass(frozen=True, slots=True)
class TrainingJob(Job):
    """The job of the worker; a task is a plan. It yields reports on the way, which are no results."""

    game: LoopGame

    def work(self, inbox: Inbox) -> Iterator[Result]:
        while (task := inbox.take(wait=True)) is not None:
            number, plan = task
            yield from _while_running(number, partial(self._train, plan))

    def _train(self, plan: Plan, report: Callable[[Step], None]) -> Trained:
        def on_step(step: int, loss: float) -> None:
            if step % TELL_EVERY == 0:
                report(Step(plan.number, step, loss))

        losses = self.game.train(plan.number, plan.folder, plan.previous, plan.files, on_step)
        return Trained(plan.number, losses)


def _while_running(number: int, train: Callable[[Callable[[Step], None]], Trained]) -> Iterator[Result]:
    """Runs a training in a thread and yields its reports as they come, then its result."""
    reports: queue.SimpleQueue[Step | Trained | Exception] = queue.SimpleQueue()

    def run() -> None:
        try:
            reports.put(train(reports.put))
        except Exception as error:  # Raised below, where the seam sees it.
            reports.put(error)

    threading.Thread(target=run, daemon=True).start()
    while True:
        report = reports.get()
        if isinstance(report, Exception):
            raise report
        yield number, report
        if isinstance(report, Trained):
            return


class Trainer:
    """The worker, as a context; `reports` never waits, because a thread of this process serves it."""

    def __init__(self, pool: Pool, game: LoopGame) -> None:
        self._pool = pool
        self._job = TrainingJob(game)
        self._plans: queue.SimpleQueue[Plan] = queue.SimpleQueue()
        self._reports: queue.SimpleQueue[Step | Trained | Exception] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the worker, whatever it does."""
        self._stop.set()
        self._thread.join()

    def train(self, plan: Plan) -> None:
        """Asks for a training."""
        self._plans.put(plan)

    def reports(self) -> Iterator[Step | Trained]:
        """Yields what has happened since the last call; raises the error of a training."""
        while not self._reports.empty():
            report = self._reports.get()
            if isinstance(report, Exception):
                raise report
            yield report

    def _serve(self) -> None:
        try:
            self._pool.start(self._job)
            try:
                self._loop()
            finally:
                self._pool.close(breaks_off=True)
        except Exception as error:  # `reports` raises it.
            self._reports.put(error)

    def _loop(self) -> None:
        worker: int | None = None
        plan: Plan | None = None
        while not self._stop.is_set():
            for event in self._pool.events():
                if isinstance(event, Joined):
                    worker = event.worker
                    if plan is not None:
                        self._pool.give(worker, [(plan.number, plan)])
                elif isinstance(event, Left):
                    worker = None
                elif isinstance(event, Failed):
                    raise event.error
                elif isinstance(event, Done):
                    for _, report in event.bundle.results():
                        self._reports.put(report)
                        plan = None if isinstance(report, Trained) else plan
            if plan is None and worker is not None and not self._plans.empty():
                plan = self._plans.get()
                self._pool.give(worker, [(plan.number, plan)])
