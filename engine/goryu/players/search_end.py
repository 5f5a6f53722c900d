"""When a search ends: by the limits of `go`, by those of the options, or by the clock."""

from dataclasses import replace
from random import Random

from goryu.implementation import Board
from goryu.players.clock.limits import Limits
from goryu.players.clock.time_manager import TimeManager, plan
from goryu.players.config import EngineConfig
from goryu.search.result import SearchStats

PLAYOUTS_PER_NODE = 16
"""A search limited to N evaluations makes at most this many times N playouts, to end also where nearly every
playout is free. Such playouts take little time: a usual search makes 1.3 playouts for an evaluation."""

FULL_TABLE = 950
"""Thousandths of the table: an almost full one ends a search that is limited by depth."""


class SearchEnd:
    """The limits of one search, which `ponderhit` may replace.

    has_depth: does the search get deeper with time, so that a depth can limit it?
    limits: the present ones of `go`. has_one_move: is there only one move to choose?
    """

    def __init__(
        self, board: Board, config: EngineConfig, time_manager: TimeManager, rng: Random, *, has_depth: bool
    ) -> None:
        self._board = board
        self._config = config
        self._time = time_manager
        self._rng = rng
        self._has_depth = has_depth
        self.has_one_move = len(board.legal_moves()) == 1
        self.limits = Limits()

    def set_limits(self, limits: Limits, started_s: float, playouts: int) -> None:
        """Makes `limits` valid from `started_s` on, when the search had made `playouts`."""
        self.limits = limits if self._has_depth else replace(limits, depth=None)
        board, config = self._board, self._config
        budget = plan(self.limits, board.turn, board.ply, config.time_config(), self._rng)
        if self.limits.is_unlimited and (config.nodes or self.depth):
            budget = None  # A bare `go` gets a second only if nothing else limits it.
        if budget is not None and config.nodes and self.nodes is not None:
            # The number of evaluations decides, but never past the hard end of the clock.
            budget = replace(budget, optimum_ms=budget.maximum_ms, may_stop_early=False, may_extend=False)
        self._time.start(budget, started_s, playouts)

    @property
    def nodes(self) -> int | None:
        """The number of positions to evaluate: the one of `go`, or else of the option."""
        return self.limits.nodes if self._is_limited else self._config.nodes or None

    @property
    def depth(self) -> int | None:
        """The depth at which to stop: the one of `go`, or else of the option."""
        if not self._has_depth:
            return None
        return self.limits.depth if self._is_limited else self._config.depth or None

    @property
    def _is_limited(self) -> bool:
        """Does `go` itself limit the positions?"""
        return self.limits.nodes is not None or self.limits.depth is not None

    def is_due(self, stats: SearchStats) -> bool:
        """Must a search end that is not open? Called between two batches."""
        if self.limits.root_moves:
            # Another move may have proven the root; with nothing left the search ends itself.
            stats = stats._replace(is_proven=False)
        # With a fixed time the user wants a search of that length.
        is_forced = self.has_one_move and self.limits.movetime_ms is None
        if is_forced and self.limits.is_unlimited and self._config.nodes and stats.playouts:
            return True  # As with a clock: the option's number is for the choice of a move.
        return self._time.should_stop(stats, is_forced) or self.is_reached(stats)

    def is_reached(self, stats: SearchStats) -> bool:
        """Has the search evaluated or seen as much as the limits allow, whatever the clock says?"""
        nodes, depth = self.nodes, self.depth
        if nodes is not None:
            spent = max(stats.evaluations, stats.playouts // PLAYOUTS_PER_NODE)
            if self._config.algorithm.traits.counts_playouts:
                spent = stats.playouts
            if spent >= nodes or (self._config.nodes_stop_early and _is_decided(stats, nodes, spent)):
                return True
        # A search with a full table forgets and may never get deeper.
        return depth is not None and (stats.max_depth >= depth or stats.hashfull >= FULL_TABLE)


def _is_decided(stats: SearchStats, nodes: int, spent: int) -> bool:
    """Can no other move become the one that we play with the remaining playouts?

    nodes: the limit, of which `spent` are used up. The playouts for each node are taken to stay as many.
    Source: 山岡忠夫『将棋AIで学ぶディープラーニング』, 2018.
    """
    if not spent or stats.lead is None:
        return False
    return stats.lead > (nodes - spent) * stats.playouts / spent
