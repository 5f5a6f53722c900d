"""What waits to be sent to one tab."""

import asyncio
from threading import Lock
from time import monotonic
from typing import Any

from goryu_page.session.messages import encode

REPORT_INTERVAL_S = 0.1
"""At most one report of each type is sent in this time: a page cannot show more."""

MOST_WAITING = 1000
"""Messages that may wait to be sent. The connection to a page that reads none of them is closed."""


class Outbox:
    """The messages that wait to be sent to one tab; all methods may be called from any thread.

    Of reports, only the newest of each kind waits, so that a fast search does not flood a slow page.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = Lock()
        self._queue: list[str] = []
        self._reports: dict[str, dict[str, Any]] = {}
        self._filled = asyncio.Event()
        self._reported_s = 0.0
        self.is_open = False

    def open(self) -> None:
        """Empties the outbox for a new connection, which begins by reading the whole state."""
        with self._lock:
            self._queue, self._reports, self.is_open = [], {}, True

    def close(self) -> None:
        """Discards the messages from now on."""
        with self._lock:
            self._queue, self._reports, self.is_open = [], {}, False

    def put(self, message: dict[str, Any]) -> None:
        """Adds a message that must arrive."""
        text = encode(message)
        with self._lock:
            if self.is_open:
                self._queue.append(text)
        self._wake()

    def put_report(self, message: dict[str, Any]) -> None:
        """Adds a message that the next one of its type replaces."""
        with self._lock:
            if not self.is_open:
                return
            self._reports[message["type"]] = message
        self._wake()

    async def next(self) -> list[str]:
        """Returns the messages to send now; waits until there is one.

        Raises ConnectionError if more than MOST_WAITING wait: the page reads nothing.
        """
        while True:
            self._filled.clear()
            with self._lock:
                if len(self._queue) > MOST_WAITING:
                    raise ConnectionError("the page reads no messages")
                texts, self._queue = self._queue, []
                is_due = monotonic() - self._reported_s >= REPORT_INTERVAL_S
                reports: list[dict[str, Any]] = []
                if is_due and self._reports:
                    reports, self._reports = list(self._reports.values()), {}
                    self._reported_s = monotonic()
                has_waiting = bool(self._reports)
            texts += [encode(report) for report in reports]
            if texts:
                return texts
            delay = self._reported_s + REPORT_INTERVAL_S - monotonic() if has_waiting else None
            try:
                await asyncio.wait_for(self._filled.wait(), delay)
            except TimeoutError:
                continue

    def _wake(self) -> None:
        self._loop.call_soon_threadsafe(self._filled.set)
