"""Answers requests of programs: `goryu analysis` without its descriptors.

A query is cut into runs of positions that follow each other, since one search of a run inherits playouts from
the last. The runs of all queries wait in one queue (`searchers.py`).

Every position of a query gets exactly one answer that is final, and a request that is refused exactly one
error. Answers are written under one lock, so that no report of a search follows its final answer. A search
that fails, as after the loss of a GPU, is an error of its position; the positions after it get new searches.

Memory: `receive` waits while `most_waiting` positions are unanswered, so a program that writes without end
has to wait, too, and its cancellations wait with it. `Searchers` bounds the graphs.

The idea of such an engine, many of the words and the meaning of the actions are KataGo's (its
docs/Analysis_Engine.md).
"""

import json
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import count
from threading import Condition, Event, Lock, RLock
from time import monotonic
from typing import Any

from goryu import __version__
from goryu.analysis.position_analysis import MoveAnalysis, PositionAnalysis
from goryu.analysis.position_searcher import PositionSearcher
from goryu.analysis.query import Configure, Query, QueryError, query_of, read_request
from goryu.analysis.searchers import WAIT_S, Searchers, runs
from goryu.base.errors import named
from goryu.implementation import Board

_log = logging.getLogger("goryu")


@dataclass(eq=False, slots=True)
class _Job:
    """A query that is being answered. open: the turns without a final answer."""

    number: int
    query: Query
    open: set[int]
    futures: "list[tuple[Future[None], range]]" = field(default_factory=list)
    cancelled: Event = field(default_factory=Event)


class AnalysisEngine:
    """Answers requests, from any thread.

    Lines go to `send`, one at a time; after its first OSError all is cancelled and nothing is sent any more.
    """

    def __init__(
        self,
        open_searchers: Callable[[], Searchers],
        configure: Configure,
        send: Callable[[str], None],
        *,
        playouts: int,
        most_waiting: int,
    ) -> None:
        """open_searchers: loads the network; called again when it is lost.

        playouts: of a query that does not say. most_waiting: positions that may be unanswered.
        """
        self._open_searchers = open_searchers
        self._searchers = open_searchers()
        self._loading = Lock()
        self._configure = configure
        self._send = send
        self._playouts = playouts
        self._most_waiting = most_waiting
        self._jobs: dict[int, _Job] = {}
        self._numbers = count()
        self._waiting = 0  # Positions without a final answer.
        self._takes_more = True
        self.fault: OSError | None = None
        """Why answers cannot be written any more: nobody reads them, or the disk is full."""
        self._changed = Condition(RLock())

    def receive(self, line: str) -> None:
        """Takes a request; waits first while too much is unanswered."""
        with self._changed:
            while self._waiting >= self._most_waiting and self._takes_more:
                self._changed.wait()
        try:
            if not self._takes_more:
                raise QueryError("the engine is ending")
            request = read_request(line)
            if "action" in request:
                self._act(request)
            else:
                self._begin(query_of(request, self._configure, self._playouts))
        except QueryError as error:
            self.refuse(_id_of(line), str(error), error.field)

    def refuse(self, request_id: str | None, message: str, place: str = "") -> None:
        """Answers a request by an error."""
        self._write({"id": request_id, "error": message, "field": place})

    def finish(self) -> None:
        """Returns when all is answered that was received."""
        with self._changed:
            while self._jobs:
                self._changed.wait(WAIT_S)

    def stop(self) -> None:
        """Cancels all queries, and takes no other."""
        with self._changed:
            self._takes_more = False
            self._cancel(self._jobs.values())
            self._changed.notify_all()

    # Requests.

    def _act(self, request: dict[str, Any]) -> None:
        if request["action"] == "version":
            description, searches = self._searchers.loaded.description, self._searchers.count
            request |= {"version": __version__, "network": description, "searches": searches}
        with self._changed:
            if request["action"] == "terminate":
                wanted = request["terminate_id"]
                self._cancel(job for job in self._jobs.values() if job.query.id == wanted)
            elif request["action"] == "terminate_all":
                self._cancel(self._jobs.values())
            self._write(request)

    def _begin(self, query: Query) -> None:
        job = _Job(next(self._numbers), query, set(query.turns))
        with self._changed:  # No answer comes before the job is noted.
            self._jobs[job.number] = job
            self._waiting += len(query.turns)
            for run in runs(query.turns):
                self._submit(job, run)

    def _submit(self, job: _Job, run: range) -> None:
        with self._changed:
            future = self._searchers.submit(partial(self._search_run, job, run), job.query.priority)
            job.futures.append((future, run))

    def _cancel(self, jobs: Iterable[_Job]) -> None:
        """Ends queries: answers at once what has not begun; the searches that run end at their next batch."""
        cancelled = list(jobs)
        for job in cancelled:
            job.cancelled.set()
        futures = [pair for job in cancelled for pair in job.futures]
        self._searchers.cancel(future for future, _ in futures)
        for job in cancelled:
            for future, run in job.futures:
                for turn in run if future.cancelled() else ():
                    if turn in job.open:  # It was not cancelled before.
                        self._finish(job, turn, _cancelled(job.query, turn))

    # Searches, each in a thread of `Searchers`.

    def _search_run(self, job: _Job, run: range, searcher: PositionSearcher) -> None:
        for turn in run:
            try:
                if searcher.loaded.lost.is_set() and not job.cancelled.is_set():
                    self._replace_lost()
                    self._submit(job, range(turn, run.stop))
                    return
                answer = self._search(job, turn, searcher)
            except Exception as error:  # One query must not end the others.
                _log.exception("a search failed")
                message = f"the search failed: {named(error)}"
                answer = {"id": job.query.id, "turn_number": turn, "error": message, "field": ""}
            self._finish(job, turn, answer)

    def _replace_lost(self) -> None:
        with self._loading:
            if self._searchers.loaded.lost.is_set():
                self._searchers = self._open_searchers()

    def _search(self, job: _Job, turn: int, searcher: PositionSearcher) -> dict[str, Any]:
        query = job.query
        if job.cancelled.is_set():
            return _cancelled(query, turn)
        began_ms = reported_ms = 1000 * monotonic()

        def should_stop() -> bool:
            nonlocal reported_ms
            now_ms = 1000 * monotonic()
            if query.report_every_ms is not None and now_ms - reported_ms >= query.report_every_ms:
                reported_ms = now_ms
                self._report(job, turn, searcher)
            return job.cancelled.is_set() or (
                query.time_ms is not None and now_ms - began_ms >= query.time_ms
            )

        searcher.configure(self._searchers.fitted(query.config))
        analysis = searcher.search(query.sfen, query.moves[:turn], query.playouts, should_stop, query.multipv)
        is_short = analysis.playouts < query.playouts and not analysis.is_final
        return _answer(
            query, turn, searcher.board, analysis, is_cancelled=is_short and job.cancelled.is_set()
        )

    def _report(self, job: _Job, turn: int, searcher: PositionSearcher) -> None:
        analysis = searcher.analysis(job.query.multipv)
        if analysis.playouts:
            self._write(_answer(job.query, turn, searcher.board, analysis, is_during_search=True))

    # Answers.

    def _finish(self, job: _Job, turn: int, answer: dict[str, Any]) -> None:
        """Sends the final answer about a position."""
        with self._changed:
            job.open.remove(turn)
            self._waiting -= 1
            self._write(answer)  # Where nobody reads, this cancels all, perhaps the rest of this job, too.
            if not job.open:
                self._jobs.pop(job.number, None)
            self._changed.notify_all()

    def _write(self, answer: dict[str, Any]) -> None:
        with self._changed:
            if self.fault is not None:
                return
            try:
                self._send(json.dumps(answer, separators=(",", ":")))
            except OSError as error:
                self.fault = error
                self.stop()


def _id_of(line: str) -> str | None:
    """Returns the id of a request that was refused, if there is one; a number of it may be too long."""
    try:
        request = json.loads(line, parse_int=str)
    except (ValueError, RecursionError):
        return None
    found = request.get("id") if isinstance(request, dict) else None
    return found if isinstance(found, str) else None


def _cancelled(query: Query, turn: int) -> dict[str, Any]:
    return {"id": query.id, "turn_number": turn, "is_during_search": False, "is_cancelled": True}


def _answer(
    query: Query,
    turn: int,
    board: Board,
    analysis: PositionAnalysis,
    *,
    is_during_search: bool = False,
    is_cancelled: bool = False,
) -> dict[str, Any]:
    return {
        "id": query.id,
        "turn_number": turn,
        "is_during_search": is_during_search,
        "is_cancelled": is_cancelled,
        "sfen": board.sfen(),
        "playouts": analysis.playouts,
        "is_final": analysis.is_final,
        "value": round(analysis.value, 5),
        "win_rate": round(analysis.win_rate, 5),
        "mate": analysis.mate,
        "ending": analysis.ending,
        "moves": list(map(_move, analysis.moves[: query.multipv])),
    }


def _move(move: MoveAnalysis) -> dict[str, Any]:
    return asdict(move) | {"win_rate": None if move.value is None else round((1 + move.value) / 2, 5)}
