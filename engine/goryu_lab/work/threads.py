"""Workers that are threads of this process: for jobs that wait for other programs, such as USI engines."""

import queue
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from goryu_lab.work.seam import Done, Event, Failed, Job, Joined, LocalFile, Task

WAIT_S = 0.2
"""How long `events` waits: on Windows a wait without a limit cannot be interrupted."""


class ThreadInbox:
    """The tasks of one worker in a thread."""

    def __init__(self, index: int) -> None:
        self.index = index
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._calls: list[Callable[[], object]] = []
        self._lock = threading.Lock()
        self.is_closed = False

    def put(self, task: Task) -> None:
        """Adds a task."""
        self._tasks.put(task)

    def take(self, *, wait: bool) -> Task | None:
        """Returns the next task, as `Inbox.take`."""
        if self.is_closed:
            return None
        try:
            return self._tasks.get(block=wait)
        except queue.Empty:
            return None

    def on_close(self, call: Callable[[], object]) -> None:
        """Registers what `close` calls; calls it at once if the inbox is closed."""
        with self._lock:
            if not self.is_closed:
                self._calls.append(call)
                return
        call()

    def end(self) -> None:
        """Gives no more tasks."""
        self._tasks.put(None)

    def close(self) -> None:
        """Breaks the work off: gives no more tasks, and calls what was registered."""
        with self._lock:
            self.is_closed = True
            calls, self._calls = self._calls, []
        self.end()
        for call in calls:
            call()


class ThreadPool:
    """A fixed number of workers in threads of this process."""

    copies_late_tasks = False
    hold_s = 0.0

    def __init__(self, workers: int) -> None:
        self.size = workers
        self._inboxes = [ThreadInbox(index) for index in range(workers)]
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def start(self, job: Job) -> None:
        """Starts the threads; every one uses the same job."""
        for inbox in self._inboxes:
            thread = threading.Thread(target=self._work, args=(job, inbox), daemon=True)
            self._threads.append(thread)
            self._events.put(Joined(inbox.index))
            thread.start()

    def ship(self, path: Path) -> LocalFile:
        """Returns the file itself."""
        return LocalFile(path)

    def give(self, worker: int, tasks: Sequence[Task]) -> None:
        """Gives tasks to a worker."""
        for task in tasks:
            self._inboxes[worker].put(task)

    def events(self) -> list[Event]:
        """Returns what has happened."""
        try:
            return [self._events.get(timeout=WAIT_S)]
        except queue.Empty:
            return []

    def close(self, *, breaks_off: bool) -> None:
        """Ends the jobs, through `Inbox.on_close` if they are broken off, and waits for the threads."""
        for inbox in self._inboxes:
            if breaks_off:
                inbox.close()
            else:
                inbox.end()
        for thread in self._threads:
            thread.join()

    def _work(self, job: Job, inbox: ThreadInbox) -> None:
        try:
            for result in job.work(inbox):
                self._events.put(Done(inbox.index, job.bundled([result])))
        except Exception as error:  # The driver raises it.
            self._events.put(Failed(inbox.index, error))
