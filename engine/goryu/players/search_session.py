"""What stands between two batches of a search: the clock, the reins and the reports."""

from dataclasses import replace
from random import Random

from goryu.implementation import Puct
from goryu.players.config import EngineConfig
from goryu.players.limits import Limits
from goryu.players.pv_mates import PvMates
from goryu.players.request import OnProgress, Request, SearchControl
from goryu.players.time_manager import TimeManager, plan
from goryu.search.mate import Mate
from goryu.search.result import SearchResult, SearchStats

LEAST_REPORT_MS = 100.0
"""GUIs redraw a few times a second: each line of play is reported at most once in this time."""

MOST_VISITS = 1 << 31
"""The native graph counts visits in 32 bits; an analysis of a solved position gets there in an hour."""


class SearchSession:
    """Watches over one search.

    is_forced: the move is known already, and searched only to have a score.
    ends_at_hit: `ponderhit` ends this search instead of starting its clock.
    """

    def __init__(
        self,
        puct: Puct,
        request: Request,
        control: SearchControl,
        report: OnProgress,
        time_manager: TimeManager,
        rng: Random,
    ) -> None:
        self.puct = puct
        self.request = request
        self.is_forced = False
        self.ends_at_hit = False
        self._control = control
        self._report = report
        self._time = time_manager
        self._rng = rng
        config = request.config
        self._mates = PvMates(puct, request.board, config.mate.pv_threads, config.mate.pv_nodes)
        self._inherited_visits = 0
        self._reported_ms = 0.0
        interval_ms = request.config.output.interval_ms
        least_ms = LEAST_REPORT_MS * request.config.output.lines
        self._interval_ms = max(interval_ms, least_ms) if interval_ms else None
        self._start(request.limits, request.started_s, playouts=0)

    def add_mate(self, mate: Mate) -> None:
        """Lets the search know, once it has begun, of a mate in the position that it is asked about."""
        self._mates.add(self.request.board, mate.moves)

    def search(self) -> None:
        """Searches until the limits or the control end it; the result is the search's."""
        board, limits = self.request.board, self.request.limits
        known = self.puct.table.find(board.key, board.ply)
        self._inherited_visits = known.total_visits if known is not None else 0
        self._time.begin()
        with self._mates:
            self.puct.search(
                board,
                self.should_stop,
                max_playouts=None if limits.is_open else _playout_limit(limits, self.request.config),
                root_moves=limits.root_moves or None,
            )

    def result(self, lines: int) -> SearchResult:
        """Returns what the search has found, the first `lines` moves with their continuations."""
        return self._mates.completed(self.puct.result(lines))

    def elapsed_ms(self) -> float:
        """The milliseconds since the search began, pondering included."""
        return self._time.milliseconds_since(self.request.started_s)

    def should_stop(self, stats: SearchStats) -> bool:
        """Is it time to answer? Asked by the search between two batches."""
        hit = self._control.hit
        if self._control.is_stopped or (self.ends_at_hit and hit is not None):
            return True
        if self._inherited_visits + stats.playouts >= MOST_VISITS:
            return True
        if stats.playouts:
            self._mates.look(self.elapsed_ms())
            self._report_if_due()
        if self._limits.ponder and hit is not None:
            limits, at_s = hit
            self._start(limits, at_s, stats.playouts)
        if self._limits.is_open:
            self._time.observe()
            return False
        if self._limits.root_moves:
            # Another move may have proven the root, or lead by far; with nothing left the search ends itself.
            stats = stats._replace(is_proven=False, best_visits=0, second_visits=0)
        # Who names the time wants the score that comes of it.
        is_forced = self.is_forced and self._limits.movetime_ms is None
        return self._time.should_stop(stats, is_forced) or self._has_reached_limit(stats)

    def _start(self, limits: Limits, started_s: float, playouts: int) -> None:
        """Lets limits come into force, after so many playouts of this search."""
        self._limits = limits
        board, config = self.request.board, self.request.config
        budget = plan(limits, board.turn, board.ply, config.time_config(), self._rng)
        if limits.is_unlimited and (config.playouts or config.depth):
            budget = None  # The second of a bare `go` is for want of a limit.
        if budget is not None and config.playouts:
            # So many playouts, whatever the clock says; but never past its hard end.
            budget = replace(budget, optimum_ms=budget.maximum_ms, may_stop_early=False, may_extend=False)
        self._time.start(budget, started_s, playouts)

    def _has_reached_limit(self, stats: SearchStats) -> bool:
        nodes = _playout_limit(self._limits, self.request.config)
        depth = _depth_limit(self._limits, self.request.config)
        return (nodes is not None and stats.playouts >= nodes) or (depth is not None and stats.depth >= depth)

    def _report_if_due(self) -> None:
        elapsed_ms = self.elapsed_ms()
        if self._interval_ms is not None and elapsed_ms - self._reported_ms >= self._interval_ms:
            self._reported_ms = elapsed_ms
            self._report(self.result(self.request.config.output.lines), elapsed_ms)


def _playout_limit(limits: Limits, config: EngineConfig) -> int | None:
    """Returns the playouts to make: what `go` says counts more than the option."""
    is_limited = limits.nodes is not None or limits.depth is not None
    return limits.nodes if is_limited else config.playouts or None


def _depth_limit(limits: Limits, config: EngineConfig) -> int | None:
    """Returns the depth at which to stop: what `go` says counts more than the option."""
    is_limited = limits.nodes is not None or limits.depth is not None
    return limits.depth if is_limited else config.depth or None
