"""A job that only pretends to work: it sleeps and answers with bytes.

It shows what the driver, the seam and the network between the computers cost, without the work itself.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import shake_128

from goryu_lab.work.seam import Inbox, Job, Result


@dataclass(frozen=True, slots=True)
class Rehearsal(Job):
    """Tasks of `seconds` each, whose result is `size` bytes that follow from the number."""

    seconds: float = 0.0
    size: int = 16
    at_once: int = 1

    def work(self, inbox: Inbox) -> Iterator[Result]:
        while (task := inbox.take(wait=True)) is not None:
            time.sleep(self.seconds)
            yield task[0], self.answer(task[0])

    def answer(self, number: int) -> bytes:
        """Returns the result of a task."""
        return shake_128(str(number).encode()).digest(self.size)
