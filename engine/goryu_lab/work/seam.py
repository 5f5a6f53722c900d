"""The terms of split work, and what a pool of workers must do.

A *job* says how to do tasks. A *task* is a number and what the job needs for it; the same task has the same
result wherever and however often it is done. A *worker* runs one copy of the job. The driver never waits for
one worker, and a task of a lost worker is done again, so a lost worker costs time and nothing else.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from goryu.base.errors import GoryuError

Task = tuple[int, Any]
"""The number of a task, and what the job needs for it besides the number."""

Result = tuple[int, Any]
"""The number of a task and its result."""


class WorkError(GoryuError, RuntimeError):
    """The work cannot go on; the message has the fault of the job or of its workers."""


class RefusedError(GoryuError):
    """This worker must not do the job: a file or a program differs from the driver's. Others may do it."""


class Bundle(Protocol):
    """Results of one worker that travel together, in the form that the job has given them there."""

    @property
    def numbers(self) -> Sequence[int]:
        """The numbers of their tasks."""
        ...

    @property
    def positions(self) -> int:
        """How many positions the results have, for the display; 0 if nobody counts them."""
        ...

    def only(self, numbers: Collection[int]) -> "Bundle":
        """Returns a bundle of these results alone."""
        ...

    def results(self) -> Sequence[Result]:
        """Returns the results one by one."""
        ...


@dataclass(frozen=True, slots=True)
class Results:
    """A bundle of results as they are. A part of it has that share of the positions."""

    items: Sequence[Result]
    positions: int = 0

    @property
    def numbers(self) -> Sequence[int]:
        return [number for number, _ in self.items]

    def only(self, numbers: Collection[int]) -> "Results":
        kept = [item for item in self.items if item[0] in numbers]
        return Results(kept, round(self.positions * len(kept) / max(1, len(self.items))))

    def results(self) -> Sequence[Result]:
        return self.items


class Inbox(Protocol):
    """Where a worker finds its tasks."""

    @property
    def index(self) -> int:
        """The number of this worker among the workers of its pool, from 0."""
        ...

    @property
    def is_closed(self) -> bool:
        """Has the work been broken off? Nobody wants its results."""
        ...

    def take(self, *, wait: bool) -> Task | None:
        """Returns the next task.

        wait: wait for a task, and return None only when there will be no more. Otherwise return None if there
            is none at present.
        """
        ...

    def on_close(self, call: Callable[[], object]) -> None:
        """Registers a function that ends what the job waits for when the work is broken off.

        It may be called from another thread; at once if the work has been broken off already.
        """
        ...


class Job(ABC):
    """How tasks are done. Workers in other processes receive a copy, so it must be picklable."""

    __slots__ = ()

    @property
    def at_once(self) -> int:
        """The most tasks that one worker does at the same time."""
        return 1

    @property
    def files(self) -> Sequence[Path]:
        """The files that the job reads; the cluster takes them to its workers."""
        return ()

    def prepared(self, place: Callable[[Path], Path]) -> Self:
        """Returns the job for a worker on another computer, where each of `files` has another place.

        Raises RefusedError if something there differs, so that results would differ.
        """
        return self

    @abstractmethod
    def work(self, inbox: Inbox) -> Iterator[Result]:
        """Takes tasks until there are no more and yields their results in any order."""

    def bundled(self, results: Sequence[Result]) -> Bundle:
        """Returns some results for the journey; called in the worker, perhaps in another thread."""
        return Results(results)


class Shipment(Protocol):
    """A file that a task names: it travels to each computer once, however many tasks name it."""

    def path(self) -> Path:
        """Returns where the file is on this computer; called by workers."""
        ...


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file that every worker can read where it is."""

    place: Path

    def path(self) -> Path:
        return self.place


@dataclass(frozen=True, slots=True)
class Joined:
    """A worker is ready for tasks. node: the name of its computer."""

    worker: int
    node: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """A worker has done tasks."""

    worker: int
    bundle: Bundle


@dataclass(frozen=True, slots=True)
class Left:
    """A worker is gone, and the tasks that it held with it."""

    worker: int
    reason: str


@dataclass(frozen=True, slots=True)
class NodeLeft:
    """The computer of a worker that has left is gone, too: its tasks did not kill it.

    It may come some seconds after `Left`: a cluster notices the end of a process first.
    """

    worker: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The job raised an error: on another worker it would do the same."""

    worker: int
    error: Exception


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the user should read."""

    text: str


Event = Joined | Done | Left | NodeLeft | Failed | Notice


class Pool(Protocol):
    """A set of workers. Numbers of workers are never used twice."""

    @property
    def size(self) -> int:
        """How many workers the pool has or expects to have soon."""
        ...

    @property
    def copies_late_tasks(self) -> bool:
        """Shall an idle worker, at the end, do the tasks that others have not finished?"""
        ...

    @property
    def hold_s(self) -> float:
        """How long a worker may keep results back, to send several together.

        The driver gives it more tasks ahead, as many as it does in this time.
        """
        ...

    def start(self, job: Job) -> None:
        """Starts the workers; each one is announced by `Joined`."""
        ...

    def ship(self, path: Path) -> Shipment:
        """Returns what tasks name instead of a file of the driver, such as a network that is new."""
        ...

    def give(self, worker: int, tasks: Sequence[Task]) -> None:
        """Gives tasks to a worker; does nothing if it has just been lost."""
        ...

    def events(self) -> list[Event]:
        """Returns what has happened since the last call; waits a little if nothing has."""
        ...

    def close(self, *, breaks_off: bool) -> None:
        """Ends all workers. breaks_off: what they are doing is dropped; otherwise they have nothing to do."""
        ...
