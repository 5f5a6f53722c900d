"""Work in the background: one thread that does a step, waits, and does the next one.

`step` does one piece of work and says when the next one is due: 0.0 seconds after a piece that was done, some
seconds while it must look from time to time, None if there is nothing to do until `wake`. A call of `wake`
during a step counts: the next step follows at once. So whoever changes the data calls `wake` afterwards, and
no change is missed. After an error `_failed` says it to the user, and when to try again.

A long step rests by `_rest_until` while a person needs the machine, and must return soon after `is_closed`
becomes true: `close` waits for it. The thread is a daemon, so a process that ends without `close` does not
hang, and what a step writes must be whole at any time.

Tests call `step` without a thread, and give `Timing` a clock of theirs.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Event, Thread

from goryu.base.errors import GoryuError, explained
from goryu_page.dojo.timing import Timing

_log = logging.getLogger("goryu_page.dojo")


class Worker(ABC):
    """Background work of one kind. `start`, `wake` and `close` may be called from any thread."""

    def __init__(self, name: str, timing: Timing) -> None:
        """name: of the thread."""
        self._timing = timing
        self._woken, self._closed = Event(), Event()
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Looks for work now."""
        self._woken.set()

    def close(self) -> None:
        """Ends the thread and waits for it."""
        self._closed.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def is_closed(self) -> bool:
        """Must the work end?"""
        return self._closed.is_set()

    def step(self) -> float | None:
        """Does one piece of work; returns in how many seconds the next one is due, or None."""
        try:
            return self._work()
        except Exception as error:
            if not isinstance(error, GoryuError | OSError):
                _log.exception("%s cannot go on", self._thread.name)
            return self._failed(explained(error) or type(error).__name__)

    @abstractmethod
    def _work(self) -> float | None:
        """Does what `step` promises."""

    @abstractmethod
    def _failed(self, problem: str) -> float | None:
        """Takes why a step has failed, in the user's language; returns what `step` returns."""

    def _rest_until(self, is_free: Callable[[], bool]) -> bool:
        """Rests within a step while the machine is not free; returns whether the work must end instead."""
        while not is_free() and not self._closed.wait(self._timing.look_s):
            pass
        return self.is_closed

    def _run(self) -> None:
        while not self.is_closed:
            seconds = self.step()
            self._woken.wait(seconds)
            self._woken.clear()  # Before the step, which looks at everything.
