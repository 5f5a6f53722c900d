"""One search of a player: the limits, the reports, the answer.

Every few milliseconds the search calls the session, which checks the clock and the stop signal, and sends
progress reports.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from goryu.games.state import Move
from goryu.players.algorithms import ALGORITHMS
from goryu.players.config import EngineConfig
from goryu.players.limits import Limits
from goryu.players.position import legal_reply
from goryu.players.random_openings import choose_move
from goryu.players.request import Answer, OnProgress, Request, SearchControl
from goryu.players.searchers.interface import Searcher
from goryu.players.time_manager import TimeManager, plan
from goryu.search.result import RootMove, SearchResult, SearchStats

_log = logging.getLogger("goryu")

LEAST_REPORT_MS = 100.0
"""GUIs redraw a few times a second: each line of play is reported at most once in this time."""

ALL_MOVES = 600
"""No shogi position has this many legal moves."""

PLAYOUTS_PER_NODE = 16
"""A search limited to N evaluations makes at most this many times N playouts, to end also where nearly every
playout is free. Such playouts take little time: a usual search makes 1.3 playouts for an evaluation."""

FULL_TABLE = 950
"""Thousandths of the table: an almost full one ends a search that is limited by depth."""


class SearchSession:
    """One search, by any algorithm; `PuctSession` is the one of the engine's own.

    known: the answer is known before the search, which only shows a score until `stop` or `ponderhit`.
    ends_at_hit: does `ponderhit` end the search? Otherwise it starts the clock.
    choose: takes the result with all moves and returns the one to play; by default the best, except in a
        random opening.
    """

    def __init__(
        self,
        searcher: Searcher,
        request: Request,
        control: SearchControl,
        on_progress: OnProgress,
        time_manager: TimeManager,
        rng: Random,
        *,
        known: Answer | None = None,
        ends_at_hit: bool = False,
        choose: Callable[[SearchResult], RootMove] | None = None,
    ) -> None:
        """Starts the clock. time_manager: the player's, which remembers how long batches take."""
        self._searcher = searcher
        self._request = request
        self._config: EngineConfig = request.config
        self._algorithm = ALGORITHMS[request.config.algorithm.name]
        self._control = control
        self._on_progress = on_progress
        self._time = time_manager
        self._rng = rng
        self._known = known
        self._ends_at_hit = ends_at_hit or known is not None
        self._choose = choose or self._random_opening()
        self._has_one_move = len(request.board.legal_moves()) == 1
        self._has_begun = False
        self._reported_ms = 0.0
        self._reported_depth = 0
        interval_ms, least_ms = self._config.output.interval_ms, LEAST_REPORT_MS * self._config.output.lines
        self._interval_ms = max(interval_ms, least_ms) if interval_ms else None
        self._set_limits(request.limits, request.started_s, playouts=0)

    def run(self) -> Answer:
        """Searches, and returns the answer."""
        problem = self._search_or_problem()
        if self._known is not None:
            if self._known.declares:
                return self._known
            self._control.wait()  # The search may have ended itself, with nothing left to search.
            if not self._control.is_stopped:
                return self._known
        else:
            self._wait_until_allowed()
        return replace(self._answer(), info_string=problem)

    def search(self) -> None:
        """Searches until the limits or the control end it; `result` returns what was found."""
        limits = self._limits
        self._run(None if limits.is_open else _node_limit(limits, self._config), limits.root_moves or None)

    def _run(self, nodes: int | None, root_moves: Sequence[Move] | None) -> None:
        """Runs the search for at most this number of nodes; `_should_stop` may end it earlier."""
        board = self._request.board
        self._searcher.search(board, self._should_stop, max_playouts=nodes, root_moves=root_moves)

    def result(self, lines: int) -> SearchResult:
        """Returns what the search has found, the first `lines` moves with their continuations."""
        return self._searcher.result(lines)

    def elapsed_ms(self) -> float:
        """Returns the milliseconds since the search began, pondering included."""
        return self._time.milliseconds_since(self._request.started_s)

    # The search, and what happens between two batches.

    def _search_or_problem(self) -> str:
        """Searches; returns an error that ended the search after it had found something, or ""."""
        try:
            self.search()
        except Exception as error:
            if not self._has_found_something():
                raise  # The evaluator must be loaded again.
            _log.exception("the search was interrupted")
            return f"Error! {type(error).__name__}: {error}"
        return ""

    def _has_found_something(self) -> bool:
        """Has this search found something, so that an error need not lose it?"""
        return self._searcher.stats().playouts > 0

    def _wait_until_allowed(self) -> None:
        """After a search that ended itself, waits for `ponderhit`, and until an answer may be sent."""
        stats = self._searcher.stats()
        if self._limits.ponder and self._control.hit is None and not self._control.is_stopped:
            self._on_progress(self.result(self._config.output.lines), self.elapsed_ms())
            self._control.wait()
        self._take_hit(stats.playouts)
        self._wait_least_time(stats)

    def _wait_least_time(self, stats: SearchStats) -> None:
        """Waits until an answer may be sent; a proven move or the only one may be sent at once."""
        if not (stats.is_proven or self._has_one_move or self._limits.is_open):
            self._control.wait_for_stop(self._time.least_left_ms() / 1000)

    def _should_stop(self, stats: SearchStats) -> bool:
        """Must the search end? Called between two batches."""
        hit = self._control.hit
        if self._control.is_stopped or (self._ends_at_hit and hit is not None):
            return True
        if not self._has_begun:
            self._has_begun = True
            self._time.begin_search()  # To free the old graph and to evaluate the root is no batch.
        elif stats.playouts:
            self._report_if_due(stats)
        self._take_hit(stats.playouts)
        if self._limits.is_open:
            self._time.observe()
            return False
        if self._limits.root_moves:
            # Another move may have proven the root, or lead by far; with nothing left the search ends itself.
            stats = stats._replace(is_proven=False, best_visits=0, second_visits=0)
        # With a fixed time the user wants a search of that length.
        is_forced = self._has_one_move and self._limits.movetime_ms is None
        return self._time.should_stop(stats, is_forced) or self._has_reached_limit(stats)

    def _take_hit(self, playouts: int) -> None:
        """After `ponderhit`, makes its limits valid, once."""
        if self._limits.ponder and self._control.hit is not None:
            limits, at_s = self._control.hit
            self._set_limits(limits, at_s, playouts)

    def _set_limits(self, limits: Limits, started_s: float, playouts: int) -> None:
        """Makes `limits` valid from `started_s` on, when the search had made `playouts`."""
        if not self._algorithm.can_be_limited_by_depth:
            limits = replace(limits, depth=None)
        self._limits = limits
        board = self._request.board
        budget = plan(limits, board.turn, board.ply, self._config.time_config(), self._rng)
        if limits.is_unlimited and (self._config.nodes or self._depth_limit()):
            budget = None  # A bare `go` gets a second only if nothing else limits it.
        if budget is not None and self._config.nodes:
            # The number of playouts decides, but never past the hard end of the clock.
            budget = replace(budget, optimum_ms=budget.maximum_ms, may_stop_early=False, may_extend=False)
        self._time.start(budget, started_s, playouts)

    def _has_reached_limit(self, stats: SearchStats) -> bool:
        nodes = _node_limit(self._limits, self._config)
        depth = self._depth_limit()
        if nodes is not None and max(stats.evaluations, stats.playouts // PLAYOUTS_PER_NODE) >= nodes:
            return True
        if nodes is not None and self._config.nodes_stop_early and _is_decided(stats, nodes):
            return True
        # A search with a full table forgets and may never get deeper.
        return depth is not None and (stats.max_depth >= depth or stats.hashfull >= FULL_TABLE)

    def _depth_limit(self) -> int | None:
        """Returns the depth at which to stop: the one of `go`, or else of the option."""
        limits = self._limits
        if not self._algorithm.can_be_limited_by_depth:
            return None
        is_limited = limits.nodes is not None or limits.depth is not None
        return limits.depth if is_limited else self._config.depth or None

    def _report_if_due(self, stats: SearchStats) -> None:
        elapsed_ms = self.elapsed_ms()
        if self._interval_ms is None:
            return
        is_deeper = self._algorithm.deepens and stats.depth > self._reported_depth
        if is_deeper or elapsed_ms - self._reported_ms >= self._interval_ms:
            self._reported_ms, self._reported_depth = elapsed_ms, stats.depth
            self._on_progress(self.result(self._config.output.lines), elapsed_ms)

    # The answer.

    def _answer(self) -> Answer:
        config, board = self._config, self._request.board
        result = self.result(ALL_MOVES if self._choose else config.output.lines)
        resigns = self._may_resign() and result.moves[0].value < config.resigns_below
        if self._choose:
            result = replace(result, moves=_with_first(result.moves, self._choose(result)))
        if resigns:
            return Answer(None, result=result, elapsed_ms=self.elapsed_ms())
        best = result.moves[0]
        return Answer(best.move, legal_reply(board, best), result, self.elapsed_ms())

    def _random_opening(self) -> Callable[[SearchResult], RootMove] | None:
        """Returns what chooses the move in a random opening, or None if the best move is to be played."""
        config, ply = self._config, self._request.board.ply
        if not self._algorithm.draws_by_visits:
            return None
        if ply >= max(config.random_opening.plies, config.random_moves.plies):
            return None
        return lambda result: choose_move(result, config.random_opening, config.random_moves, ply, self._rng)

    def _may_resign(self) -> bool:
        """Is this a move of a game, not an analysis, and does the algorithm know a score?"""
        return "score" in self._algorithm.info and (
            not self._request.limits.is_open or self._control.hit is not None
        )


def _is_decided(stats: SearchStats, nodes: int) -> bool:
    """Does the most visited move stay in front even if the second gets all remaining playouts?

    Some playouts need no evaluation; their share is taken to stay as it was.
    Source: 山岡忠夫『将棋AIで学ぶディープラーニング』, 2018.
    """
    if not stats.evaluations:
        return False
    left = (nodes - stats.evaluations) * stats.playouts / stats.evaluations
    return stats.best_visits - stats.second_visits > left


def _node_limit(limits: Limits, config: EngineConfig) -> int | None:
    """Returns the number of positions to evaluate: the one of `go`, or else of the option."""
    is_limited = limits.nodes is not None or limits.depth is not None
    return limits.nodes if is_limited else config.nodes or None


def _with_first(moves: Sequence[RootMove], first: RootMove) -> tuple[RootMove, ...]:
    return (first, *(move for move in moves if move.move != first.move))
