"""Asks `goryu analysis`: a client for programs in Python, and an example for others.

    with AnalysisClient() as client:
        future = client.submit({"moves": ["7g7f", "3c3d"], "analyze_turns": [0, 1, 2], "playouts": 400})
        for answer in future.result():
            print(answer["turn_number"], answer["win_rate"])

It needs nothing of Goryu but the program: the fields are those of `docs/analysis.md`.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self

Answer = dict[str, Any]


class AnalysisError(Exception):
    """A query was refused, a search failed, or the program has ended. field: of the query, or ""."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field


@dataclass(slots=True)
class _Open:
    future: "Future[list[Answer]]"
    left: int
    on_report: Callable[[Answer], None]
    answers: list[Answer] = field(default_factory=list)


class AnalysisClient:
    """A running `goryu analysis`, for use from any thread; as a context it ends the program."""

    def __init__(self, arguments: Sequence[str] = (), program: Sequence[str] = ()) -> None:
        """arguments: of `goryu analysis`. program: `goryu` itself; by default that of this installation."""
        command = [*(program or (sys.executable, "-m", "goryu")), "analysis", *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._numbers = count(1)
        self._open: dict[str, _Open] = {}
        self._has_ended = False
        self._lock = Lock()
        self._writing = Lock()  # The program may read no more until answers are read: `_read` must not wait.
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._process.terminate()
        self.close()

    def submit(
        self, query: Mapping[str, Any], on_report: Callable[[Answer], None] = lambda answer: None
    ) -> "Future[list[Answer]]":
        """Asks; returns the future of the final answers, in the order of their turns.

        query: without an id. on_report: takes the reports during the search, in another thread.
        The future raises AnalysisError.
        """
        number = str(next(self._numbers))
        future: Future[list[Answer]] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            if not self._has_ended:
                self._open[number] = _Open(future, len(query.get("analyze_turns", "1")), on_report)
                future.add_done_callback(lambda _: self._open.pop(number, None))
        self._write({**query, "id": number}, future)
        return future

    def terminate(self, future: "Future[list[Answer]]") -> None:
        """Ends a query; its future then gets what was found until now."""
        with self._lock:
            numbers = [number for number, entry in self._open.items() if entry.future is future]
        for number in numbers:
            self._write({"id": number, "action": "terminate", "terminate_id": number}, future)

    def close(self) -> None:
        """Waits for the answers to all queries, and ends the program."""
        assert self._process.stdin is not None
        with self._writing, suppress(OSError):  # The program may have ended.
            self._process.stdin.close()
        self._reader.join()
        self._process.wait()

    def _write(self, request: Mapping[str, Any], future: "Future[list[Answer]]") -> None:
        assert self._process.stdin is not None
        try:
            with self._writing:
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()
        except (OSError, ValueError) as error:  # It is closed.
            if not future.done():
                future.set_exception(AnalysisError(f"the program has ended: {error}"))

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._take(json.loads(line))
        with self._lock:
            self._has_ended = True
            unanswered = list(self._open.values())
        for entry in unanswered:
            entry.future.set_exception(AnalysisError("the program has ended"))
        self._process.stdout.close()

    def _take(self, answer: Answer) -> None:
        with self._lock:
            entry = self._open.get(answer["id"] or "")
        if entry is None or "action" in answer:
            return
        if "error" in answer:
            entry.future.set_exception(AnalysisError(answer["error"], answer["field"]))
        elif answer["is_during_search"]:
            entry.on_report(answer)
        else:
            entry.answers.append(answer)
            if len(entry.answers) == entry.left:
                entry.future.set_result(sorted(entry.answers, key=lambda found: found["turn_number"]))
