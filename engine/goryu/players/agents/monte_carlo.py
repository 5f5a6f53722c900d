"""Flat Monte Carlo and UCT within limits: both play random games until they are stopped."""

from collections.abc import Callable
from heapq import nlargest
from random import Random
from sys import maxsize

from goryu.games.state import Move
from goryu.implementation import Board
from goryu.players.agents.searcher import TextbookSearcher, make_stats
from goryu.players.agents.watched import Ticker, Watched
from goryu.search import uct
from goryu.search.flat_monte_carlo import playout
from goryu.search.result import RootMove, SearchResult, SearchStats

BYTES_PER_NODE = 250
"""Memory of a node of UCT's tree with its entry in the dictionary of its parent."""


class FlatMonteCarloSearcher(TextbookSearcher):
    """Plays random games after each move in turn, so that every move gets the same number.

    A playout is a random game.
    """

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._moves: list[Move] = []
        self._visits: list[int] = []
        self._sums: list[float] = []

    def _search(self, state: Board, moves: list[Move], should_stop: Callable[[], bool], most: int) -> None:
        self._moves, self._visits, self._sums = moves, [0] * len(moves), [0.0] * len(moves)
        ticker = Ticker(should_stop)
        for game in range(most):
            i = game % len(moves)
            position = Watched(state.copy(), ticker, self.draw_value_first)
            position.push(moves[i])
            self._sums[i] -= playout(position, self._rng)
            self._visits[i] += 1

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


class UctSearcher(TextbookSearcher):
    """Grows a new tree for every position; a playout is an iteration with its random game.

    capacity_bytes: the memory at which the tree stops growing; the random games go on.
    """

    def __init__(self, rng: Random, *, capacity_bytes: int = 1 << 30) -> None:
        self._rng = rng
        self._capacity = max(1, capacity_bytes // BYTES_PER_NODE)
        self._root = uct.Node()
        self._nodes = self._max_depth = self._depth_sum = 0

    def _search(self, state: Board, moves: list[Move], should_stop: Callable[[], bool], most: int) -> None:
        self._root = uct.Node()
        self._root.children = {move: uct.Node() for move in moves}
        self._nodes, self._max_depth, self._depth_sum = 1 + len(moves), 0, 0
        ticker = Ticker(should_stop)
        while self._root.visits < most:
            leaf = Watched(state.copy(), ticker, self.draw_value_first)
            expand_at = 1 if self._nodes < self._capacity else maxsize
            uct.simulate(self._root, leaf, self._rng, uct.UCB1_CONSTANT, expand_at)
            self._nodes += leaf.generated  # Only a new leaf generates moves; the game is a copy's.
            self._depth_sum += leaf.ply - state.ply
            self._max_depth = max(self._max_depth, leaf.ply - state.ply)

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
            depth=round(self._depth_sum / max(1, playouts)),
            max_depth=self._max_depth,
            nodes=self._nodes,
            capacity=self._capacity,
            is_proven=False,
            is_exhausted=False,
            lead=best - second,
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
