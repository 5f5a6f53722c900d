"""The lines of an engine or a server between the thread that reads them and the one that waits for them.

The other program may print without end: the beginning of each line is kept, and a bounded number of lines.
Control characters are escaped, so that names, errors and moves are safe to print on a terminal and to write
into logs.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import IO

from goryu.base.printable import printable

MOST_BYTES = 1 << 14
"""Of a line; the rest is dropped. The longest variation of a real engine has some hundred moves."""

ANSWERS = ("bestmove", "readyok", "usiok")
MOST_ANSWERS = 64
"""Lines with an answer are kept before others. So many that nobody waits for come from no real engine."""

Line = tuple[float, str | None]
"""When the line arrived, by `time.perf_counter`, and its text; None for the end of the output."""


class LineQueue:
    """A queue of at most `size` lines: then the oldest that is no answer makes room for the newest.

    An engine may print faster than anybody reads. Of a search the last lines count: the final score is there.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lines: deque[Line] = deque()
        self._has_changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._lines)

    def put(self, line: Line) -> None:
        """Adds a line at the end."""
        with self._has_changed:
            if len(self._lines) >= self._size:
                self._drop_oldest()
            self._lines.append(line)
            self._has_changed.notify()

    def get(self, deadline: float) -> Line | None:
        """Takes the first line; returns None if none comes until `deadline`, by `time.perf_counter`."""
        with self._has_changed:
            left = min(deadline - time.perf_counter(), threading.TIMEOUT_MAX)
            self._has_changed.wait_for(lambda: self._lines, max(0.0, left))
            return self._lines.popleft() if self._lines else None

    def _drop_oldest(self) -> None:
        for index, (_, text) in enumerate(islice(self._lines, MOST_ANSWERS)):
            if text is not None and not text.startswith(ANSWERS):
                del self._lines[index]
                return
        if len(self._lines) >= MOST_ANSWERS:
            self._lines.popleft()


def arriving_lines(stream: IO[bytes]) -> Iterator[Line]:
    """Yields each line of a stream as soon as it has arrived, without blanks around it, and at last the end.

    A stream that fails has ended.
    """
    is_rest = False
    while part := _read_part(stream):
        if not is_rest:
            yield time.perf_counter(), shown_line(part)
        is_rest = not part.endswith(b"\n")
    yield time.perf_counter(), None


def shown_line(raw: bytes) -> str:
    """Returns a line without blanks around it and with escapes for control characters."""
    return printable(raw.decode("utf-8", "replace").strip())


def _read_part(stream: IO[bytes]) -> bytes:
    try:
        return stream.readline(MOST_BYTES)
    except (OSError, ValueError):  # A connection was reset, or closed by this program.
        return b""
