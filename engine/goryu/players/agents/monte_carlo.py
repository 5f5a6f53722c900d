"""Flat Monte Carlo and UCT within limits: both play random games until they are stopped."""

from collections.abc import Sequence
from heapq import nlargest
from random import Random
from sys import maxsize

from goryu.games.state import Move
from goryu.implementation import Board
from goryu.players.agents.interface import ShouldStop, considered_moves, make_stats
from goryu.players.agents.watched import InterruptedSearch, Ticker, Watched
from goryu.search import uct
from goryu.search.flat_monte_carlo import playout
from goryu.search.result import RootMove, SearchResult, SearchStats

BYTES_PER_NODE = 250
"""Memory of a node of UCT's tree with its entry in the dictionary of its parent."""


class FlatMonteCarloSearcher:
    """Plays random games after each move in turn, so that every move gets the same number.

    draw_value_first: the value of a draw for black.
    """

    def __init__(self, rng: Random, *, draw_value_first: float = 0.0) -> None:
        self._rng = rng
        self._draw_value_first = draw_value_first
        self._moves: list[Move] = []
        self._visits: list[int] = []
        self._sums: list[float] = []

    def search(
        self,
        state: Board,
        should_stop: ShouldStop,
        *,
        max_playouts: int | None = None,
        root_moves: Sequence[Move] | None = None,
    ) -> SearchResult:
        """Searches as a `Searcher`; a playout is a random game."""
        self._moves = considered_moves(state, root_moves)
        self._visits, self._sums = [0] * len(self._moves), [0.0] * len(self._moves)
        ticker = Ticker(lambda: should_stop(self.stats()))
        games = 0
        try:
            while max_playouts is None or games < max_playouts:
                i = games % len(self._moves)
                position = Watched(state.copy(), ticker, self._draw_value_first)
                position.push(self._moves[i])
                self._sums[i] -= playout(position, self._rng)
                self._visits[i] += 1
                games += 1
        except InterruptedSearch:
            pass
        return self.result()

    def result(self, lines: int = 1) -> SearchResult:
        """Returns all moves, those with the best average first, those without a game last."""
        moves = [
            RootMove(move, 0.0, visits, total / visits if visits else 0.0, None, (move,))
            for move, visits, total in zip(self._moves, self._visits, self._sums, strict=True)
        ]
        moves.sort(key=lambda move: (move.visits == 0, -move.value))
        return SearchResult(tuple(moves), moves[0].value, self.stats())

    def stats(self) -> SearchStats:
        """Returns the counters."""
        return make_stats(sum(self._visits), depth=1, max_depth=1)


class UctSearcher:
    """Grows a new tree for every position.

    capacity_bytes: the memory at which the tree stops growing; the random games go on.
    draw_value_first: the value of a draw for black.
    """

    def __init__(self, rng: Random, *, capacity_bytes: int = 1 << 30, draw_value_first: float = 0.0) -> None:
        self._rng = rng
        self._capacity = max(1, capacity_bytes // BYTES_PER_NODE)
        self._draw_value_first = draw_value_first
        self._root = uct.Node()
        self._nodes = self._max_depth = self._depth_sum = 0

    def search(
        self,
        state: Board,
        should_stop: ShouldStop,
        *,
        max_playouts: int | None = None,
        root_moves: Sequence[Move] | None = None,
    ) -> SearchResult:
        """Searches as a `Searcher`; a playout is an iteration with its random game."""
        self._root = uct.Node()
        self._root.children = {move: uct.Node() for move in considered_moves(state, root_moves)}
        self._nodes, self._max_depth, self._depth_sum = 1 + len(self._root.children), 0, 0
        ticker = Ticker(lambda: should_stop(self.stats()))
        try:
            while max_playouts is None or self._root.visits < max_playouts:
                leaf = Watched(state.copy(), ticker, self._draw_value_first)
                expand_at = 1 if self._nodes < self._capacity else maxsize
                uct.simulate(self._root, leaf, self._rng, uct.UCB1_CONSTANT, expand_at)
                self._nodes += leaf.generated  # Only a new leaf generates moves; the game is a copy's.
                self._depth_sum += leaf.ply - state.ply
                self._max_depth = max(self._max_depth, leaf.ply - state.ply)
        except InterruptedSearch:
            pass
        return self.result()

    def result(self, lines: int = 1) -> SearchResult:
        """Returns all moves, the most visited first."""
        children = sorted(self._root.children.items(), key=lambda pair: -pair[1].visits)
        moves = tuple(
            RootMove(move, 0.0, node.visits, _mean(node), None, (move, *_line(node)))
            for move, node in children
        )
        return SearchResult(moves, moves[0].value, self.stats())

    def stats(self) -> SearchStats:
        """Returns the counters; nodes are those of the tree."""
        visits = (node.visits for node in self._root.children.values())
        best, second = nlargest(2, [*visits, 0, 0])
        playouts = self._root.visits
        return SearchStats(
            playouts=playouts,
            evaluations=playouts,
            best_visits=best,
            second_visits=second,
            depth=round(self._depth_sum / max(1, playouts)),
            max_depth=self._max_depth,
            nodes=self._nodes,
            capacity=self._capacity,
            is_proven=False,
            is_exhausted=False,
            hashfull=min(1000, 1000 * self._nodes // self._capacity),
        )


def _mean(node: uct.Node) -> float:
    return node.value_sum / node.visits if node.visits else 0.0


def _line(node: uct.Node) -> list[Move]:
    """Returns the most visited moves after a node."""
    line: list[Move] = []
    while node.children:
        move = max(node.children, key=lambda move: node.children[move].visits)
        node = node.children[move]
        if not node.visits:
            break
        line.append(move)
    return line
