"""Whether somebody uses the machine through the page, so that background work can rest."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic

REST_S = 3.0
"""Background work rests this long after the last search of a tab: people often ask for another one."""


class Activity:
    """Counts what the tabs of the page do; any thread may use it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0
        self._ended_s = -REST_S

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
                self._ended_s = monotonic()

    @property
    def is_going_on(self) -> bool:
        """Does a person wait for something now, or has done so in the last REST_S seconds?"""
        return self._count > 0 or monotonic() - self._ended_s < REST_S
