"""Looks for a mate of the opponent after the move that the search would play.

The mate search at a leaf is short, and a deeper mate behind a good-looking move can escape all playouts. So
df-pn searches the position after the best move before the engine sends it. A mate enters the graph as a
proof: the move is lost, the search closes it, another move is the best, and df-pn looks behind that one.

This happens shortly before the time is up, so that the search can use the rest for the other moves, and when
the search would end: because its move is decided, or because its nodes are used up.

Limits: df-pn knows checks only, so a win by quiet moves stays unseen, and so does a mate beyond its nodes. A
move without a playout has no node in the graph that could be proven. Late positions that lose to such a mate
are often lost anyway.
Source: the mate threads of dlshogi and FukauraOu along the principal variation; here only its first move.
"""

from collections.abc import Callable

from goryu.games.state import Move
from goryu.implementation import IMPLEMENTATION, Board, Puct, solve
from goryu.search.mates.mate import MateVerdict

__all__ = ["SHORTENING_NODES", "ReplyMates"]

SHORTENING_NODES = {"python": 1_000, "native": 50_000}[IMPLEMENTATION]
"""Budget for shortening a mate that is shown: 80 ms in C++. Of 151 mates of 5 to 33 plies from games, 93 were
longer than the shortest known; after 10,000 nodes 15 were, after 50,000 nodes 3."""


class ReplyMates:
    """Looks for mates after the best moves of one search, with one mate search for each move."""

    def __init__(self, puct: Puct, board: Board, nodes: int) -> None:
        """nodes: the budget of df-pn for each move."""
        self._puct = puct
        self._board = board
        self._nodes = nodes
        self._lines: dict[Move, tuple[Move, ...]] = {}  # The mate after each examined move, or none.

    def refute(self, should_stop: Callable[[], bool]) -> bool:
        """Looks at the best move, and at the next one if that loses; returns whether another is best now.

        should_stop: ends a mate search, which then has found nothing. Call this between two batches, from
        `should_stop` of the search, or while no search runs.
        """
        is_other = False
        while True:
            best = self._puct.result().moves[0]
            if best.mate is not None:
                return False  # It wins, or every move loses.
            if best.is_certain or not self._examine(best.move, should_stop):
                return is_other
            is_other = True

    def _examine(self, move: Move, should_stop: Callable[[], bool]) -> bool:
        """Does the opponent mate after this move, and has the graph only now learnt it?

        It cannot learn it while another thread evaluates the position after the first move of the mate.
        Then the next call tries again.
        """
        if move not in self._lines:
            self._lines[move] = self._mate_after(move, should_stop)
        line = self._lines[move]
        return bool(line) and self._puct.add_mate(self._after(move), line)

    def _mate_after(self, move: Move, should_stop: Callable[[], bool]) -> tuple[Move, ...]:
        board = self._after(move)
        if board.outcome() is not None:
            return ()
        mate = solve(board, self._nodes, should_stop)
        return tuple(mate.moves) if mate.verdict is MateVerdict.MATE else ()

    def _after(self, move: Move) -> Board:
        board = self._board.copy()
        board.push(move)
        return board
