"""Alpha-beta within limits: it searches one ply, then two, and so on, until it is stopped.

The order of the moves decides how much is cut. Each depth begins with the best moves of the one before;
elsewhere captures come first, which saves a third to nine tenths of the positions at four plies. A depth that
is interrupted counts as far as it has come.

Weakness: it searches all moves equally deeply and stops in the middle of exchanges.
Source: D. J. Slate, L. R. Atkin, "CHESS 4.5", 1977 (iterative deepening).
"""

from collections.abc import Callable, Sequence

from goryu.games.shogi import move_to
from goryu.games.shogi.pieces import EMPTY
from goryu.games.state import Move, State
from goryu.implementation import Board
from goryu.players.agents.searcher import TextbookSearcher, make_stats
from goryu.players.agents.watched import Ticker, Watched
from goryu.search.depth_limited import search
from goryu.search.result import RootMove, SearchResult, SearchStats

DEEPEST = 100
"""Plies. A deeper search would need too much of Python's stack."""

WIDTH = 1e-9
"""Half of the window around a known value; results of material and of networks differ by more."""


class CapturesFirst(Watched):
    """A position whose legal moves begin with the captures."""

    def legal_moves(self) -> list[Move]:
        pieces = self.board.pieces
        return sorted(super().legal_moves(), key=lambda move: pieces[move_to(move)] == EMPTY)


class AlphaBetaSearcher(TextbookSearcher):
    """Iterative deepening around `depth_limited.search`; a playout is a visited position.

    evaluate: the value of a position for its side to move. lines: how many of the best moves get their exact
    value.
    """

    def __init__(self, evaluate: Callable[[Board], float], *, lines: int = 1) -> None:
        self._evaluate = evaluate
        self._lines = lines
        self._moves: list[RootMove] = []  # Those whose value is exact, the best first.
        self._depth = 0
        self._leaves = 0
        self._is_proven = False

    def _search(self, state: Board, moves: list[Move], should_stop: Callable[[], bool], most: int) -> None:
        self._ticker = Ticker(should_stop, most)
        try:
            self._deepen(state, moves, should_stop)
        finally:
            self._ticker.release()

    def _deepen(self, state: Board, moves: list[Move], should_stop: Callable[[], bool]) -> None:
        self._depth, self._is_proven = 0, False
        self._moves = [RootMove(moves[0], 0.0, 1, self._evaluate(state), None, (moves[0],))]
        while self._depth < DEEPEST and not self._is_proven:
            position = CapturesFirst(state.copy(), self._ticker, self.draw_value_first)
            leaves = self._leaves
            self._search_depth(position, self._depth + 1, moves)
            self._depth += 1
            if should_stop() or self._leaves == leaves:
                break  # Without a leaf every line has come to the end of the game.
            best_first = [move.move for move in self._moves]
            moves = best_first + [move for move in moves if move not in best_first]

    def _search_depth(self, position: Watched, depth: int, order: Sequence[Move]) -> None:
        """Searches all moves; `_moves` gets the best so far as soon as there are enough of them."""
        found: list[RootMove] = []
        for move in order:
            # Only a move above the last of the best ones needs its exact value.
            bound = found[self._lines - 1].value if len(found) >= self._lines else -1.0
            before = self._ticker.count
            position.push(move)
            value = -search(position, depth - 1, self._value, -1.0, -bound)[0]
            position.pop()
            if value > bound or len(found) < self._lines:
                visited = self._ticker.count - before
                found.append(RootMove(move, 0.0, visited, value, _mate(value, depth), (move,)))
                found.sort(key=lambda known: -known.value)
                found = found[: self._lines]
            if len(found) == min(self._lines, len(order)):
                self._moves = found
        self._is_proven = abs(found[0].value) == 1.0
        self._moves = [self._with_line(position, move, depth) for move in found]

    def _value(self, position: State) -> float:
        assert isinstance(position, Watched)
        self._leaves += 1
        return self._evaluate(position.board)

    def _with_line(self, position: Watched, known: RootMove, depth: int) -> RootMove:
        """Returns the move with the line that leads to its value.

        The value is known, so a window just around it finds each move of the line quickly.
        """
        line, value = [known.move], -known.value
        position.push(known.move)
        for rest in range(depth - 1, 0, -1):
            _, reply = search(position, rest, self._value, value - WIDTH, value + WIDTH)
            if reply is None:
                break
            position.push(reply)
            line.append(reply)
            value = -value
        is_mate = known.mate is not None and position.board.outcome() is not None
        for _ in line:
            position.pop()
        # An illegal repetition, such as perpetual check, loses without a mate.
        return RootMove(
            known.move, 0.0, known.visits, known.value, known.mate if is_mate else None, tuple(line)
        )

    def result(self, lines: int = 1) -> SearchResult:
        """Returns the moves whose value is exact, the best first."""
        return SearchResult(tuple(self._moves), self._moves[0].value, self.stats())

    def stats(self) -> SearchStats:
        """Returns the counters; nodes are visited positions, the depth is that of the last full search."""
        depth = self._depth
        return make_stats(self._ticker.count, depth=depth, max_depth=depth, is_proven=self._is_proven)


def _mate(value: float, depth: int) -> int | None:
    """Returns the signed plies to the end of a game whose result is first seen at this depth."""
    return None if abs(value) < 1.0 else round(value * depth)
