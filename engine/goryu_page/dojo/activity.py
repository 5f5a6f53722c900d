"""Whether somebody uses the machine through the page, so that background work can rest."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from goryu_page.dojo.timing import TIMING, Timing


class Activity:
    """Counts what the tabs of the page do; any thread may use it."""

    def __init__(self, timing: Timing = TIMING) -> None:
        self._timing = timing
        self._lock = Lock()
        self._count = 0
        self._rests_until_s = timing.clock()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Counts the block as something that a person waits for."""
        with self._lock:
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1
                self._rests_until_s = self._timing.clock() + self._timing.rest_s

    @property
    def is_going_on(self) -> bool:
        """Does a person wait for something now, or has done so a short while ago?"""
        return self._count > 0 or self._timing.clock() < self._rests_until_s
