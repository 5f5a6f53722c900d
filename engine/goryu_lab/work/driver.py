"""Gives tasks to the workers of a pool and yields every result once.

Workers get new tasks as they finish old ones, so a fast worker does more of them. What a lost worker held is
given out again. When there are no new tasks, idle workers of a cluster receive copies of those that others
hold, oldest first, and the first answer counts: nobody waits for a slow computer. (MapReduce calls these
backup tasks: Dean and Ghemawat, OSDI 2004.)

Results travel in bundles. A worker that may keep results back holds more tasks than it works on: as many as
it has done, on average, in that time.

Every step costs the same however many workers there are, because one driver serves thousands of them.
"""

import heapq
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from goryu_lab.work.seam import (
    Bundle,
    Done,
    Failed,
    Job,
    Joined,
    Left,
    NodeLeft,
    Notice,
    Pool,
    Result,
    Task,
    WorkError,
)

MAX_LOSSES = 4
"""A task that was lost with this many workers ends the run: it seems to kill them.

Workers that were lost with their computers do not count, as soon as that is known: computers come and go,
whatever they work on.
"""

SHORT_S = 1.0
"""A worker's rate is first taken over this time."""


@dataclass(slots=True)
class Workforce:
    """The workers of a run as `watch` sees them.

    nodes: workers by computer. done, positions: results, and their positions, by computer.
    losses: workers that are gone. repeated: tasks that were given out again because of that.
    copies: tasks that were also given to an idle worker, at the end.
    """

    nodes: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    positions: Counter[str] = field(default_factory=Counter)
    losses: int = 0
    repeated: int = 0
    copies: int = 0
    notices: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Worker:
    """A worker, the numbers of the tasks that it holds, and its rate."""

    node: str
    joined_s: float
    held: set[int] = field(default_factory=set)
    done: int = 0


@dataclass(slots=True)
class _Open:
    """A task that somebody holds, or that waits to be done again.

    losses: workers that died while they held it, though their computers live as far as is known.
    """

    task: Task
    holders: set[int]
    losses: int = 0


def run_tasks(
    pool: Pool,
    job: Job,
    tasks: Iterator[Task],
    total: int | None = None,
    watch: Callable[[Workforce], None] = lambda workforce: None,
) -> Generator[list[Result], None, None]:
    """Yields the number and the result of every task, in any order, those together that came together.

    The arguments and errors are those of `run_bundles`.
    """
    with closing(run_bundles(pool, job, tasks, total, watch)) as finished:
        for bundles in finished:
            yield [result for bundle in bundles for result in bundle.results()]


def run_bundles(
    pool: Pool,
    job: Job,
    tasks: Iterator[Task],
    total: int | None = None,
    watch: Callable[[Workforce], None] = lambda workforce: None,
) -> Generator[list[Bundle], None, None]:
    """Yields the results of every task once, in the bundles in which they came, those together that came.

    Closes the pool at the end.

    tasks: their numbers differ. It is read one by one as workers get room, so it may end early or never.
    total: how many tasks there are, if known; they are then shared evenly.
    watch: called when a worker joins or leaves, with every notice, and before results are yielded.

    Use it under `contextlib.closing`, so that an error in between ends the workers.

    Raises the error of the job, or WorkError if workers die again and again.
    """
    driver = _Driver(pool, job, tasks, total)
    breaks_off = True
    try:
        pool.start(job)
        while not driver.is_finished:
            bundles: list[Bundle] = []
            for event in pool.events():
                if isinstance(event, Done):
                    if (bundle := driver.accept(event)) is not None:
                        bundles.append(bundle)
                elif isinstance(event, Failed):
                    raise event.error
                else:
                    driver.note(event)
                    watch(driver.workforce)
            if bundles:
                watch(driver.workforce)
                yield bundles  # First: what is done with them may end `tasks`.
            driver.give()
        breaks_off = False
    finally:
        pool.close(breaks_off=breaks_off)


class _Driver:
    """Which worker holds which task."""

    def __init__(self, pool: Pool, job: Job, tasks: Iterator[Task], total: int | None) -> None:
        self.workforce = Workforce()
        self._pool = pool
        self._job = job
        self._tasks = tasks
        self._left = total  # Tasks that were not given out yet, if known.
        self._has_all = False  # Has `tasks` ended?
        self._pending: Task | None = None  # Read from `tasks`, not given yet.
        self._open: dict[int, _Open] = {}
        self._workers: dict[int, _Worker] = {}
        self._room: set[int] = set()  # Workers that may take more.
        self._lost: deque[int] = deque()  # Numbers of tasks that nobody holds any more.
        self._suspected: dict[int, list[int]] = {}  # Open tasks that were lost with a worker.
        self._late: deque[int] | None = (
            None  # Numbers to be copied, oldest first; made when there are no more.
        )

    @property
    def is_finished(self) -> bool:
        """Has every task a result?"""
        return not self._open and self._next_is_missing()

    def accept(self, done: Done) -> Bundle | None:
        """Notes results; returns those that are the first ones of their tasks."""
        bundle, numbers = done.bundle, done.bundle.numbers
        new = [number for number in numbers if self._open.pop(number, None) is not None]
        worker = self._workers.get(done.worker)
        if worker is not None:
            worker.held.difference_update(numbers)
            worker.done += len(numbers)
            self._room.add(done.worker)
        if len(new) < len(numbers):
            if not new:
                return None
            bundle = bundle.only(frozenset(new))
        node = "" if worker is None else worker.node
        self.workforce.done[node] += len(new)
        self.workforce.positions[node] += bundle.positions
        return bundle

    def note(self, event: Joined | Left | NodeLeft | Notice) -> None:
        """Notes that a worker has joined or left; raises WorkError if one task was lost too often."""
        nodes = self.workforce.nodes
        if isinstance(event, Joined):
            self._workers[event.worker] = _Worker(event.node, time.monotonic())
            self._room.add(event.worker)
            nodes[event.node] += 1
        elif isinstance(event, Notice):
            self.workforce.notices.append(event.text)
        elif isinstance(event, NodeLeft):
            for number in self._suspected.pop(event.worker, ()):
                if (opened := self._open.get(number)) is not None:
                    opened.losses -= 1
        elif (worker := self._workers.pop(event.worker, None)) is not None:
            self._room.discard(event.worker)
            nodes[worker.node] -= 1
            if not nodes[worker.node]:
                del nodes[worker.node]
            self.workforce.losses += 1
            self._take_back(event, worker.held)
            self._room.update(self._workers)  # The others' shares have grown.

    def _take_back(self, event: Left, held: set[int]) -> None:
        suspected = self._suspected[event.worker] = []
        for number in sorted(held):
            if (opened := self._open.get(number)) is None:
                continue  # A copy elsewhere was faster.
            opened.holders.discard(event.worker)
            opened.losses += 1
            suspected.append(number)
            if opened.losses >= MAX_LOSSES:
                raise WorkError(f"task {number} was lost with {opened.losses} workers: {event.reason}")
            if not opened.holders:
                self._lost.append(number)
                self.workforce.repeated += 1
            elif self._late is not None:
                self._late.append(number)

    def give(self) -> None:
        """Gives tasks to all workers with room, one at a time to the one that holds fewest."""
        if not self._room or not self._has_work():
            return
        gifts: dict[int, list[Task]] = {}
        now_s, share = time.monotonic(), self._share()
        order = [(len(self._workers[worker].held), worker) for worker in self._room]
        heapq.heapify(order)
        while order:
            held, worker = heapq.heappop(order)
            task = self._next_for(worker) if held < self._most(worker, share, now_s) else None
            if task is None:
                self._room.discard(worker)  # Until it has done something, or another one leaves.
            else:
                gifts.setdefault(worker, []).append(task)
                heapq.heappush(order, (held + 1, worker))
        for worker, tasks in gifts.items():
            self._pool.give(worker, tasks)

    def _has_work(self) -> bool:
        """Is there a task to give, or to copy?"""
        if self._lost or self._late or not self._next_is_missing():
            return True
        return self._pool.copies_late_tasks and self._late is None and bool(self._open)

    def _share(self) -> float:
        """Returns how many tasks are left for each worker."""
        if self._left is None:
            return math.inf
        workers = max(1, self._pool.size, len(self._workers))
        return -(-(self._left + len(self._open)) // workers)

    def _most(self, index: int, share: float, now_s: float) -> float:
        """Returns how many tasks a worker may hold now: near the end, no more than its share.

        Otherwise those that it does at once, and those that it will do before it sends the next results.
        """
        worker = self._workers[index]
        rate = worker.done / max(now_s - worker.joined_s, SHORT_S)
        return max(1, min(self._job.at_once + round(self._pool.hold_s * rate), share))

    def _next_for(self, worker: int) -> Task | None:
        """Returns a task for a worker, noted as its own: a lost one, a new one or a copy of a late one."""
        while self._lost:
            number = self._lost.popleft()
            if number in self._open:
                return self._assign(number, worker)
        if not self._next_is_missing():
            task, self._pending = self._pending, None
            assert task is not None
            number = task[0]
            self._open[number] = _Open(task, set())
            if self._left is not None:
                self._left -= 1
            return self._assign(number, worker)
        return self._copy_for(worker)

    def _copy_for(self, worker: int) -> Task | None:
        """Returns a task that one other worker holds, if this one has nothing of its own to do."""
        if not self._pool.copies_late_tasks:
            return None
        if self._late is None:
            self._late = deque(self._open)
        own = self._workers[worker].held
        if any(number in self._open and len(self._open[number].holders) == 1 for number in own):
            return None  # It has work that counts.
        while self._late:
            number = self._late.popleft()
            opened = self._open.get(number)
            if opened is not None and worker not in opened.holders and len(opened.holders) == 1:
                self.workforce.copies += 1
                return self._assign(number, worker)
        return None

    def _assign(self, number: int, worker: int) -> Task:
        opened = self._open[number]
        opened.holders.add(worker)
        self._workers[worker].held.add(number)
        return opened.task

    def _next_is_missing(self) -> bool:
        """Reads one task ahead; returns whether there is none."""
        if self._pending is None and not self._has_all:
            self._pending = next(self._tasks, None)
            self._has_all = self._pending is None
        return self._pending is None
