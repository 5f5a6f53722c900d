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
    turns: int
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
        The future raises AnalysisError, or what on_report has raised.
        """
        number = str(next(self._numbers))
        line = _line({**query, "id": number})
        future: Future[list[Answer]] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            has_ended = self._has_ended
            if not has_ended:
                self._open[number] = _Open(future, len(query.get("analyze_turns", "1")), on_report)
        if has_ended:
            future.set_exception(AnalysisError("the program has ended"))
        else:
            self._write(number, line)
        return future

    def terminate(self, future: "Future[list[Answer]]") -> None:
        """Ends a query; its future then gets what was found until now."""
        with self._lock:
            numbers = [number for number, entry in self._open.items() if entry.future is future]
        for number in numbers:
            self._write(number, _line({"id": number, "action": "terminate", "terminate_id": number}))

    def close(self) -> None:
        """Waits for the answers to all queries, and ends the program."""
        assert self._process.stdin is not None
        with self._writing, suppress(OSError):  # The program may have ended.
            self._process.stdin.close()
        self._reader.join()
        self._process.wait()

    def _write(self, number: str, line: bytes) -> None:
        """Writes a line about a query, which fails if the program reads no more."""
        assert self._process.stdin is not None
        try:
            with self._writing:
                self._process.stdin.write(line)
                self._process.stdin.flush()
        except (OSError, ValueError) as error:  # It is closed.
            self._fail(number, AnalysisError(f"the program has ended: {error}"))

    def _fail(self, number: str, error: Exception) -> None:
        if entry := self._closed(number):
            entry.future.set_exception(error)

    def _closed(self, number: str) -> _Open | None:
        """Forgets a query; returns it to the one thread that may end its future."""
        with self._lock:
            return self._open.pop(number, None)

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._take(json.loads(line))
        finally:
            with self._lock:
                self._has_ended = True
                unanswered = list(self._open)
            for number in unanswered:
                self._fail(number, AnalysisError("the program has ended"))
            self._process.stdout.close()

    def _take(self, answer: Answer) -> None:
        number = answer["id"] or ""
        with self._lock:
            entry = self._open.get(number)
        if entry is None or "action" in answer:
            return
        if "error" in answer:
            self._fail(number, AnalysisError(answer["error"], answer["field"]))
        elif answer["is_during_search"]:
            try:
                entry.on_report(answer)
            except Exception as error:  # Of the caller, who learns of it by the future.
                self._fail(number, error)
        else:
            entry.answers.append(answer)
            if len(entry.answers) == entry.turns and self._closed(number):
                entry.future.set_result(sorted(entry.answers, key=lambda found: found["turn_number"]))


def _line(request: Mapping[str, Any]) -> bytes:
    return json.dumps(request).encode() + b"\n"
