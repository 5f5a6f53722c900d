"""Gumbel search within limits.

Sequential halving has to know the number of its playouts before it begins. If nothing prescribes it, a short
search measures the speed, and a second one has as many playouts as fit into the time. Without a clock each
search has twice the playouts of the one before.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import exp, inf
from time import perf_counter

from goryu.games.state import Move, State
from goryu.implementation import Board
from goryu.players.agents.searcher import UNLIMITED, TextbookSearcher, make_stats
from goryu.players.agents.watched import Ticker, Watched
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.gumbel import GumbelConfig, Node, search_steps
from goryu.search.result import RootMove, SearchResult, SearchStats

FIRST_PLAYOUTS = 16
"""Of the search that measures the speed: one round of all candidates."""

BYTES_PER_PLAYOUT = 8000
"""Memory of a node of the tree, most of it for the numbers of some 80 moves."""

CONFIG = GumbelConfig()


class GumbelSearcher(TextbookSearcher):
    """Runs `gumbel.search_steps`, without noise.

    time_left_ms: returns the milliseconds that are left for this move; infinite without a clock.
    capacity_bytes: the memory that limits the number of playouts.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        time_left_ms: Callable[[], float] = lambda: inf,
        capacity_bytes: int = 1 << 30,
    ) -> None:
        self._evaluator = evaluator
        self._time_left_ms = time_left_ms
        self._most_playouts = max(FIRST_PLAYOUTS, capacity_bytes // BYTES_PER_PLAYOUT)
        self._finished: Node | None = None  # The root of the longest search that has ended.
        self._running: Node | None = None  # The root of the search that runs.
        self._finished_playouts = 0  # Of all searches that have ended.
        self._root_ply = self._max_depth = 0

    def _search(self, state: Board, moves: list[Move], should_stop: Callable[[], bool], most: int) -> None:
        self._finished, self._finished_playouts = None, 0
        self._root_ply, self._max_depth = state.ply, 0
        only = moves if len(moves) < len(state.legal_moves()) else ()
        position = Watched(state, Ticker(lambda: False), self.draw_value_first, only)
        playouts: int | None = FIRST_PLAYOUTS if most == UNLIMITED else max(1, most)
        while playouts is not None:
            start_s = perf_counter()
            playouts = min(playouts, self._most_playouts)
            is_whole = self._run(position, playouts, should_stop)
            if not is_whole or most != UNLIMITED or playouts == self._most_playouts:
                break
            playouts = self._next_playouts(playouts, 1000 * (perf_counter() - start_s))

    def _next_playouts(self, made: int, taken_ms: float) -> int | None:
        """Returns the playouts of the next search, or None if there is no time for a longer one."""
        left_ms = self._time_left_ms()
        if left_ms == inf:
            return 2 * made
        playouts = int(made * left_ms / max(taken_ms, 1.0))
        return playouts if playouts > made else None

    def _run(self, position: Watched, playouts: int, should_stop: Callable[[], bool]) -> bool:
        """Searches with a new tree; returns whether it made all its playouts."""
        is_whole = True

        def stops(root: Node) -> bool:
            nonlocal is_whole
            self._running = root
            is_whole = not should_stop()
            return not is_whole

        steps = search_steps(position, playouts, CONFIG, None, stops)
        leaves = next(steps)
        with suppress(StopIteration):
            while True:
                leaves = steps.send(self._evaluate(leaves))
        root = self._root
        self._finished_playouts += sum(self._running.visits) if self._running is not None else 0
        self._finished, self._running = root, None
        return is_whole

    def _evaluate(self, leaves: Sequence[State]) -> list[Evaluation]:
        positions = [leaf for leaf in leaves if isinstance(leaf, Watched)]
        evaluations = self._evaluator.evaluate([position.board for position in positions])
        plies = max(position.ply for position in positions) - self._root_ply
        self._max_depth = max(self._max_depth, plies)
        root = positions[0]
        return [_restricted(evaluations[0], root.board, root.only)] if root.only else evaluations

    @property
    def _root(self) -> Node:
        """The root of the search with the most playouts."""
        roots = [root for root in (self._running, self._finished) if root is not None]
        return max(roots, key=lambda root: sum(root.visits))

    def result(self, lines: int = 1) -> SearchResult:
        """Returns all moves: the best first, then by visits."""
        root = self._root
        values, scores = root.completed_values(), root.scores([0.0] * len(root.moves), CONFIG)
        order = sorted(range(len(root.moves)), key=lambda i: (-root.visits[i], -scores[i]))
        moves = tuple(
            RootMove(root.moves[i], exp(root.logits[i]), root.visits[i], values[i], None, _line(root, i))
            for i in order
        )
        return SearchResult(moves, moves[0].value, self.stats())

    def stats(self) -> SearchStats:
        """Returns the counters, of all searches of the position together."""
        running = sum(self._running.visits) if self._running is not None else 0
        return make_stats(self._finished_playouts + running, max_depth=self._max_depth)


def _restricted(evaluation: Evaluation, board: Board, only: Sequence[Move]) -> Evaluation:
    """Returns the evaluation with the policy of some moves only."""
    pairs = zip(board.legal_moves(), evaluation.policy, strict=True)
    policy = [probability for move, probability in pairs if move in only]
    total = sum(policy) or 1.0
    return Evaluation([probability / total for probability in policy], evaluation.value)


def _line(root: Node, i: int) -> tuple[Move, ...]:
    """Returns the root's move `i` and the most visited moves after it."""
    line, node = [root.moves[i]], root.children[i]
    while isinstance(node, Node) and any(node.visits):
        i = node.visits.index(max(node.visits))
        line.append(node.moves[i])
        node = node.children[i]
    return tuple(line)
