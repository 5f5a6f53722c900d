"""One search of a player: its reports, its end, its answer.

Before each batch the search calls the session, which checks the clock and the stop signal, sends
progress reports, and before the end looks for a mate behind the move that it would play.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from random import Random

from goryu.base.errors import named
from goryu.evaluators.network.providers import RUN_ERRORS
from goryu.players.agents.searcher import Searcher
from goryu.players.clock.time_manager import TimeManager
from goryu.players.position import legal_reply
from goryu.players.random_openings import choose_move
from goryu.players.recovery import InterruptedSearchError
from goryu.players.reply_mates import ReplyMates
from goryu.players.request import Answer, OnProgress, Request, SearchControl
from goryu.players.search_end import SearchEnd
from goryu.search.result import RootMove, SearchResult, SearchStats

_log = logging.getLogger("goryu")

LEAST_REPORT_MS = 100.0
"""GUIs redraw a few times a second: each line of play is reported at most once in this time."""

ALL_MOVES = 600
"""No shogi position has this many legal moves."""

Choose = Callable[[SearchResult], RootMove]
"""Chooses the move to play from a result with all moves."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a session has to do, and with what.

    time_manager: the player's, which remembers how long batches take.
    known: the answer is known before the search, which shows a score until `ponderhit`. After `stop` the
        answer is the move that the search has shown.
    """

    request: Request
    control: SearchControl
    on_progress: OnProgress
    time_manager: TimeManager
    rng: Random
    known: Answer | None = None

    def after_hit(self) -> "Task":
        """Returns what is to be done after `ponderhit`."""
        assert self.control.hit is not None
        limits, at_s = self.control.hit
        return replace(self, request=replace(self.request, limits=limits, started_s=at_s))


class Session:
    """One search, by any algorithm.

    choose: the move to play; None for the best, or in a random opening one that is drawn.
    reply_mates: looks for the opponent's mates after the move to be played; None to look for none.
    ends_at_hit: does `ponderhit` end the search, and not start the clock?
    """

    def __init__(
        self,
        searcher: Searcher,
        task: Task,
        *,
        choose: Choose | None = None,
        reply_mates: ReplyMates | None = None,
        ends_at_hit: bool = False,
    ) -> None:
        """Starts the clock."""
        self.searcher = searcher
        self.task = task
        self._request, self._control, self._time = task.request, task.control, task.time_manager
        self._config = task.request.config
        self._traits = self._config.algorithm.traits
        self._end = SearchEnd(
            task.request.board,
            self._config,
            self._time,
            task.rng,
            has_depth=self._traits.can_be_limited_by_depth,
        )
        self._choose = choose or self._random_opening()
        self._reply_mates = reply_mates
        self._examined_move = -1  # The index of the one to be played when mates behind it were looked for.
        self._ends_at_hit = ends_at_hit or task.known is not None
        self._has_begun = False
        self._reported_ms = 0.0
        self._reported_depth = 0
        interval_ms, least_ms = self._config.output.interval_ms, LEAST_REPORT_MS * self._config.output.lines
        self._interval_ms = max(interval_ms, least_ms) if interval_ms else None
        self._end.set_limits(task.request.limits, task.request.started_s, playouts=0)

    def run(self) -> Answer:
        """Searches, and returns the answer.

        Raises InterruptedSearchError, or whatever error ended a search that had found nothing.
        """
        (problem, is_lost), known = self._search_or_problem(), self.task.known
        if problem and known is None and not self._control.is_stopped:
            found = replace(self._answer(), info_string=problem)
            raise InterruptedSearchError(found, self._left_ms(), is_lost=is_lost)
        if known is not None:
            if known.declares:
                return known
            self._control.wait()  # The search may have ended itself, with nothing left to search.
            if not self._control.is_stopped:
                return known
        else:
            self._wait_until_allowed()
        return replace(self._answer(), info_string=problem)

    def search(self) -> None:
        """Searches until the limits or the control end it; the searcher has what was found."""
        limits = self._end.limits
        self.searcher.search(
            self._request.board,
            self._should_stop,
            max_playouts=None if limits.is_open else self._end.nodes,
            root_moves=limits.root_moves or None,
        )
        if self._may_look_behind():  # A limit of nodes ends a search without asking `_should_stop`.
            self._look_behind()

    def elapsed_ms(self) -> float:
        """Returns the milliseconds since the search began, pondering included."""
        return self._time.milliseconds_since(self._request.started_s)

    def _search_or_problem(self) -> tuple[str, bool]:
        """Searches; returns an error that ended the search after it had found something, or "".

        Also returns whether the network has failed.
        """
        try:
            self.search()
        except Exception as error:
            if not self.searcher.has_found_something(self._request.board):
                raise
            _log.exception("the search was interrupted")
            return f"Error! {named(error)}", isinstance(error, RUN_ERRORS)
        return "", False

    # Between two batches.

    def _should_stop(self, stats: SearchStats) -> bool:
        """Must the search end? Called between two batches."""
        stops = self._after_batch(stats)
        if self._must_look_behind(stats, stops):
            self._examined_move = stats.best_index
            if self._look_behind():
                stops = stops and not self._goes_on()
            self._time.begin_batch()  # The mate search was no batch.
        return stops

    def _after_batch(self, stats: SearchStats) -> bool:
        """Do the control, the limits or the clock end the search? Also reports and takes `ponderhit`."""
        hit = self._control.hit
        if self._control.is_stopped or (self._ends_at_hit and hit is not None):
            return True
        if not self._has_begun:
            self._has_begun = True
            self._time.begin_first_batch()  # To free the old graph and to evaluate the root is no batch.
        elif stats.playouts:
            self._report_if_due(stats)
        self._take_hit(stats.playouts)
        if self._end.limits.is_open:
            self._time.observe()
            return False
        return self._end.is_due(stats)

    def _take_hit(self, playouts: int) -> None:
        """After `ponderhit`, makes its limits valid, once."""
        if self._end.limits.ponder and self._control.hit is not None:
            limits, at_s = self._control.hit
            self._end.set_limits(limits, at_s, playouts)

    def _report_if_due(self, stats: SearchStats) -> None:
        elapsed_ms = self.elapsed_ms()
        if self._interval_ms is None:
            return
        is_deeper = self._traits.deepens and stats.depth > self._reported_depth
        if is_deeper or elapsed_ms - self._reported_ms >= self._interval_ms:
            self._reported_ms, self._reported_depth = elapsed_ms, stats.depth
            self._report(elapsed_ms)

    def _report(self, elapsed_ms: float) -> None:
        self.task.on_progress(self.searcher.result(self._config.output.lines), elapsed_ms)

    # Mates after the move to be played.

    def _must_look_behind(self, stats: SearchStats, stops: bool) -> bool:
        """Is it time to look behind the best move: at the end, or shortly before it?"""
        if stats.playouts == 0 or not self._may_look_behind():
            return False
        return stops or (self._time.is_nearly_over and stats.best_index != self._examined_move)

    def _may_look_behind(self) -> bool:
        """Is there a move to be played, and time to look behind it?"""
        is_wanted = self._reply_mates is not None and self.task.known is None and not self._end.has_one_move
        return is_wanted and not self._end.limits.is_open and not self._must_answer()

    def _look_behind(self) -> bool:
        """Does the opponent mate after the best move, so that another one is the best now?"""
        assert self._reply_mates is not None
        return self._reply_mates.refute(self._must_answer)

    def _must_answer(self) -> bool:
        # A batch of another thread may have to end first.
        return self._control.is_stopped or self._time.hard_left_ms() <= self._time.latency_ms

    def _goes_on(self) -> bool:
        """After a refutation: may a search go on that would have ended?"""
        self._time.begin_batch()
        stats = self.searcher.stats()
        if self._end.is_reached(stats) or self._must_answer():
            return False
        return not self._after_batch(stats) or self._time.extend()

    # After the search.

    def _left_ms(self) -> float:
        """Returns the milliseconds until the hard end; infinite while the opponent's clock runs."""
        self._take_hit(self.searcher.stats().playouts)
        is_waiting = self._end.limits.ponder and self._control.hit is None
        return inf if is_waiting else self._time.hard_left_ms()

    def _wait_until_allowed(self) -> None:
        """After a search that ended itself, waits for `ponderhit`, and until an answer may be sent."""
        stats = self.searcher.stats()
        if stats.is_exhausted:  # Nothing is left to search: the caller holds the answer back.
            return
        if self._end.limits.ponder and self._control.hit is None and not self._control.is_stopped:
            self._report(self.elapsed_ms())
            self._control.wait()
        self._take_hit(stats.playouts)
        if not (stats.is_proven or self._end.has_one_move or self._end.limits.is_open):
            self._control.wait_for_stop(self._time.least_left_ms() / 1000)

    def _answer(self) -> Answer:
        config, board = self._config, self._request.board
        result = self.searcher.result(ALL_MOVES if self._choose else config.output.lines)
        resigns = self._may_resign() and result.moves[0].value < config.resigns_below
        if self._choose:
            result = replace(result, moves=_with_first(result.moves, self._choose(result)))
        if resigns:
            return Answer(None, result=result, elapsed_ms=self.elapsed_ms())
        best = result.moves[0]
        return Answer(best.move, legal_reply(board, best), result, self.elapsed_ms())

    def _random_opening(self) -> Choose | None:
        """Returns what chooses the move in a random opening, or None if the best move is to be played."""
        config, ply, rng = self._config, self._request.board.ply, self.task.rng
        if not self._traits.draws_by_visits:
            return None
        if ply >= config.random_opening.plies:
            return None
        return lambda result: choose_move(result, config.random_opening, ply, rng)

    def _may_resign(self) -> bool:
        """Is this a move of a game, not an analysis, and does the algorithm know a score?"""
        return "score" in self._traits.info and (
            not self._request.limits.is_open or self._control.hit is not None
        )


def _with_first(moves: Sequence[RootMove], first: RootMove) -> tuple[RootMove, ...]:
    return (first, *(move for move in moves if move.move != first.move))
