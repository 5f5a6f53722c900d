"""Gives tasks to the workers of a pool and yields every result once.

Workers get new tasks as they finish old ones, so a fast worker does more of them. What a lost worker held is
given out again. When there are no new tasks, idle workers of a cluster receive copies of those that others
hold, oldest first, and the first answer counts: nobody waits for a slow computer. (MapReduce calls these
backup tasks: Dean and Ghemawat, OSDI 2004.)

Every step costs the same however many workers there are, because one driver serves thousands of them.
"""

import heapq
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

from goryu.work.seam import Done, Failed, Job, Joined, Left, Notice, Pool, Result, Task, WorkError

MAX_LOSSES = 4
"""A task that was lost with this many workers ends the run: it seems to kill them."""


@dataclass(slots=True)
class Workforce:
    """The workers of a run as `watch` sees them. nodes: workers by computer. done: results by computer."""

    nodes: dict[str, int] = field(default_factory=dict)
    done: dict[str, int] = field(default_factory=dict)
    losses: int = 0
    notices: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    """A task that somebody holds, or that waits to be done again."""

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

    Closes the pool at the end.

    tasks: their numbers differ. It is read one by one as workers get room, so it may end early or never.
    total: how many tasks there are, if known; they are then shared evenly.
    watch: called when a worker joins or leaves, and with every notice.

    Use it under `contextlib.closing`, so that an error in between ends the workers.

    Raises the error of the job, or WorkError if workers die again and again.
    """
    driver = _Driver(pool, job, tasks, total)
    breaks_off = True
    try:
        pool.start(job)
        while not driver.is_finished:
            results: list[Result] = []
            for event in pool.events():
                if isinstance(event, Done):
                    if driver.accept(event):
                        results.append((event.number, event.result))
                elif isinstance(event, Failed):
                    raise event.error
                else:
                    driver.note(event)
                    watch(driver.workforce)
            if results:
                yield results  # First: what is done with them may end `tasks`.
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
        self._held: dict[int, set[int]] = {}  # Numbers of the tasks of every worker.
        self._nodes: dict[int, str] = {}
        self._room: set[int] = set()  # Workers that may take more.
        self._lost: deque[int] = deque()  # Numbers of tasks that nobody holds any more.
        self._late: deque[int] | None = (
            None  # Numbers to be copied, oldest first; made when there are no more.
        )

    @property
    def is_finished(self) -> bool:
        """Has every task a result?"""
        return not self._open and self._next_is_missing()

    def accept(self, done: Done) -> bool:
        """Notes a result; returns whether it is the first one of its task."""
        held = self._held.get(done.worker)
        if held is not None:
            held.discard(done.number)
            self._room.add(done.worker)
        opened = self._open.pop(done.number, None)
        if opened is None:
            return False
        node = self._nodes.get(done.worker, "")
        self.workforce.done[node] = self.workforce.done.get(node, 0) + 1
        return True

    def note(self, event: Joined | Left | Notice) -> None:
        """Notes that a worker has joined or left; raises WorkError if one task was lost too often."""
        nodes = self.workforce.nodes
        if isinstance(event, Joined):
            self._held[event.worker] = set()
            self._nodes[event.worker] = event.node
            self._room.add(event.worker)
            nodes[event.node] = nodes.get(event.node, 0) + 1
        elif isinstance(event, Notice):
            self.workforce.notices.append(event.text)
        elif (held := self._held.pop(event.worker, None)) is not None:
            self._room.discard(event.worker)
            node = self._nodes.pop(event.worker)
            nodes[node] -= 1
            if not nodes[node]:
                del nodes[node]
            self.workforce.losses += 1
            self._take_back(event, held)
            self._room.update(self._held)  # The others' shares have grown.

    def _take_back(self, event: Left, held: set[int]) -> None:
        for number in sorted(held):
            if (opened := self._open.get(number)) is None:
                continue  # A copy elsewhere was faster.
            opened.holders.discard(event.worker)
            opened.losses += 1
            if opened.losses >= MAX_LOSSES:
                raise WorkError(f"task {number} was lost with {opened.losses} workers: {event.reason}")
            if not opened.holders:
                self._lost.append(number)
            elif self._late is not None:
                self._late.append(number)

    def give(self) -> None:
        """Gives tasks to all workers with room, one at a time to the one that holds fewest."""
        if not self._room or not self._has_work():
            return
        gifts: dict[int, list[Task]] = {}
        most = self._most()
        order = [(len(self._held[worker]), worker) for worker in self._room]
        heapq.heapify(order)
        while order:
            held, worker = heapq.heappop(order)
            if held >= most:
                self._room.discard(worker)
            elif (task := self._next_for(worker)) is not None:
                gifts.setdefault(worker, []).append(task)
                heapq.heappush(order, (held + 1, worker))
        for worker, tasks in gifts.items():
            self._pool.give(worker, tasks)

    def _has_work(self) -> bool:
        """Is there a task to give, or to copy?"""
        if self._lost or self._late or not self._next_is_missing():
            return True
        return self._pool.copies_late_tasks and self._late is None and bool(self._open)

    def _most(self) -> int:
        """Returns how many tasks a worker may hold now: near the end, no more than its share."""
        if self._left is None:
            return self._job.at_once
        workers = max(1, self._pool.size, len(self._held))
        share = -(-(self._left + len(self._open)) // workers)
        return max(1, min(self._job.at_once, share))

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
        own = self._held[worker]
        if any(number in self._open and len(self._open[number].holders) == 1 for number in own):
            return None  # It has work that counts.
        while self._late:
            number = self._late.popleft()
            opened = self._open.get(number)
            if opened is not None and worker not in opened.holders and len(opened.holders) == 1:
                return self._assign(number, worker)
        return None

    def _assign(self, number: int, worker: int) -> Task:
        opened = self._open[number]
        opened.holders.add(worker)
        self._held[worker].add(number)
        return opened.task

    def _next_is_missing(self) -> bool:
        """Reads one task ahead; returns whether there is none."""
        if self._pending is None and not self._has_all:
            self._pending = next(self._tasks, None)
            self._has_all = self._pending is None
        return self._pending is None
