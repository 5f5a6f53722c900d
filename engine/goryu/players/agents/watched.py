"""A position that can interrupt the search that plays on it.

The searches of the textbook are plain functions that run to their end. They all play their moves with `push`,
so a position whose `push` may raise `InterruptedSearch` can stop each of them, at any depth.
"""

from collections.abc import Callable, Sequence
from math import inf
from time import perf_counter
from typing import Self

from goryu.games.state import Move, Outcome
from goryu.implementation import Board

SHORTEST_S, LONGEST_S = 0.002, 0.008
"""The ticker doubles or halves its interval to check about this often."""


class InterruptedSearch(Exception):  # noqa: N818 (it is no error)
    """The search must end now."""


class Ticker:
    """Counts the moves that are played, and raises `InterruptedSearch` when the search must end.

    should_stop: called every few milliseconds. limit: the most moves.
    """

    def __init__(self, should_stop: Callable[[], bool], limit: float = inf) -> None:
        self.count = 0
        self._should_stop = should_stop
        self._limit = limit
        self._interval = 1
        self._check_at = 0
        self._checked_s = perf_counter()

    def tick(self) -> None:
        """Counts a move."""
        if self.count >= self._check_at or self.count >= self._limit:
            self._check()
        self.count += 1

    def release(self) -> None:
        """Forgets what asks whether to stop, which holds the search, and it the ticker; the count stays."""
        self._should_stop = lambda: True

    def _check(self) -> None:
        if self.count >= self._limit or self._should_stop():
            raise InterruptedSearch
        now_s = perf_counter()
        if now_s - self._checked_s < SHORTEST_S:
            self._interval *= 2
        elif now_s - self._checked_s > LONGEST_S:
            self._interval = max(1, self._interval // 2)
        self._check_at, self._checked_s = self.count + self._interval, now_s


class Watched:
    """A shogi position as a `State`: it ticks at every move, and repetitions end the game.

    draw_value_first: the value of a draw for black.
    only: the only moves to consider, until one of them is played; empty for all.
    generated: the number of moves that `legal_moves` has returned so far, those of copies not included.
    """

    def __init__(
        self, board: Board, ticker: Ticker, draw_value_first: float, only: Sequence[Move] = ()
    ) -> None:
        self.board = board
        self.only = only
        self.generated = 0
        self._ticker = ticker
        self._draw_value_first = draw_value_first

    @property
    def turn(self) -> int:
        return self.board.turn

    @property
    def ply(self) -> int:
        return self.board.ply

    @property
    def key(self) -> int:
        return self.board.key

    def legal_moves(self) -> list[Move]:
        moves = [*self.only] if self.only else self.board.legal_moves()
        self.generated += len(moves)
        return moves

    def push(self, move: Move) -> None:
        self._ticker.tick()
        self.only = ()
        self.board.push(move)

    def pop(self) -> Move:
        return self.board.pop()

    def outcome(self) -> Outcome | None:
        end = self.board.outcome() or self.board.repetition()
        if end is None or end.value:
            return end
        return Outcome(-self._draw_value_first if self.turn else self._draw_value_first, end.reason)

    def repetition(self) -> Outcome | None:
        return None  # It is an outcome already.

    def copy(self) -> Self:
        return type(self)(self.board.copy(), self._ticker, self._draw_value_first, self.only)
