"""Workers that are processes of this computer: for jobs that compute.

Every process has a pipe of its own, so one that is killed in the middle of a message harms no other. It is
replaced, and its tasks are done again; the run ends if that happens too often.
"""

import multiprocessing as mp
import os
import pickle
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from goryu.base.errors import GoryuError, explained
from goryu_lab.work.seam import Done, Event, Failed, Job, Joined, Left, LocalFile, Task, WorkError

MAX_LOSSES = 3
"""Processes that may die in one run."""

WAIT_S = 0.2
"""How long `events` waits: on Windows a wait without a limit cannot be interrupted."""


@dataclass(slots=True)
class _Process:
    process: BaseProcess
    pipe: Connection


class ProcessPool:
    """A fixed number of worker processes."""

    copies_late_tasks = False
    hold_s = 0.0

    def __init__(self, workers: int) -> None:
        self.size = workers
        self._context = mp.get_context("spawn")
        self._job: Job | None = None
        self._workers: dict[int, _Process] = {}
        self._losses = 0

    def start(self, job: Job) -> None:
        """Starts the processes; every one receives a copy of the job."""
        self._job = job
        for index in range(self.size):
            self._add(index)

    def ship(self, path: Path) -> LocalFile:
        """Returns the file itself."""
        return LocalFile(path)

    def give(self, worker: int, tasks: Sequence[Task]) -> None:
        """Gives tasks to a worker."""
        if worker in self._workers:
            with suppress(OSError):  # `events` will notice that it is dead.
                self._workers[worker].pipe.send(list(tasks))

    def events(self) -> list[Event]:
        """Returns what has happened; raises WorkError if too many processes have died."""
        pipes = {id(worker.pipe): number for number, worker in self._workers.items()}
        events: list[Event] = []
        for pipe in wait([worker.pipe for worker in self._workers.values()], WAIT_S):
            events += self._receive(pipes[id(pipe)])
        return events

    def close(self, *, breaks_off: bool) -> None:
        """Ends the processes at once: they have nothing to tidy up."""
        for worker in self._workers.values():
            worker.process.terminate()
        for worker in self._workers.values():
            worker.process.join()
            worker.pipe.close()
        self._workers.clear()

    def _add(self, index: int) -> None:
        ours, theirs = self._context.Pipe()
        place = index % self.size  # A replacement has the place of the process that died, and so its GPU.
        process = self._context.Process(target=_work, args=(self._job, place, theirs), daemon=True)
        process.start()
        theirs.close()  # The end of the process is then the end of the pipe.
        self._workers[index] = _Process(process, ours)

    def _receive(self, number: int) -> list[Event]:
        worker = self._workers[number]
        try:
            message = worker.pipe.recv()
        except (EOFError, OSError, pickle.UnpicklingError):  # Killed, perhaps within a message.
            return self._replace(number)
        if message is None:
            return [Joined(number)]
        if isinstance(message, Exception):
            return [Failed(number, message)]
        return [Done(number, message)]

    def _replace(self, number: int) -> list[Event]:
        worker = self._workers.pop(number)
        worker.process.join()
        worker.pipe.close()
        self._losses += 1
        reason = f"a process died (exit code {worker.process.exitcode}): perhaps the system ran out of memory"
        if self._losses > MAX_LOSSES:
            raise WorkError(f"{reason}; {self._losses} of this run have died")
        self._add(number + self.size)
        return [Left(number, reason)]


class PipeInbox:
    """The tasks of this process, which come through its pipe. The driver ends it by a signal."""

    is_closed = False

    def __init__(self, index: int, pipe: Connection) -> None:
        self.index = index
        self._pipe = pipe
        self._tasks: list[Task] = []

    def take(self, *, wait: bool) -> Task | None:
        """Returns the next task, as `Inbox.take`; ends this process when its driver has ended."""
        while not self._tasks and (wait or self._pipe.poll()):
            self._tasks = self._pipe.recv()[::-1]
        return self._tasks.pop() if self._tasks else None

    def on_close(self, call: Callable[[], object]) -> None:
        """Does nothing: the driver ends the process."""


def _work(job: Job, index: int, pipe: Connection) -> None:
    """Runs the job in a new process; sends None when it is ready, bundles of results, an error at the end."""
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    try:
        pipe.send(None)
        for result in job.work(PipeInbox(index, pipe)):
            pipe.send(job.bundled([result]))
    except (KeyboardInterrupt, EOFError, ConnectionError):
        os._exit(130)  # The driver receives the interrupt too, or it is gone.
    except (GoryuError, OSError) as error:
        pipe.send(WorkError(explained(error)))
    except Exception:
        pipe.send(WorkError(traceback.format_exc()))
    pipe.recv()  # The driver ends this process, when it has read the message.


def _exit_with_parent() -> None:
    """Ends this process when its parent has ended: no process would receive its results."""
    parent = mp.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
