"""Tic-tac-toe without the moves that a rotation or a reflection makes equal to another.

The empty board has nine moves, but only three kinds: a corner, an edge and the centre. The value of a move is
that of its images, so one of each kind is enough, and every search becomes cheaper without a change to it.

Weakness: the images must be computed at every position, and after a few moves no symmetry is left.
"""

from functools import cache

from goryu.games.state import Move
from goryu.games.tictactoe import TicTacToe

__all__ = ["SymmetricTicTacToe"]

TURN = (6, 3, 0, 7, 4, 1, 8, 5, 2)
"""Where a rotation by 90 degrees takes each square."""
FLIP = (2, 1, 0, 5, 4, 3, 8, 7, 6)
"""Where a reflection left to right takes each square."""


@cache
def images(board: int) -> tuple[int, ...]:
    """Returns the eight images of a 9-bit board under rotations and reflections."""
    found = []
    for mirrored in (board, moved(board, FLIP)):
        for _ in range(4):
            found.append(mirrored)
            mirrored = moved(mirrored, TURN)
    return tuple(found)


def moved(board: int, squares: tuple[int, ...]) -> int:
    return sum(1 << squares[square] for square in range(9) if board >> square & 1)


class SymmetricTicTacToe(TicTacToe):
    """A game whose legal moves are the first of each kind.

    >>> SymmetricTicTacToe().legal_moves()
    [0, 1, 4]
    >>> SymmetricTicTacToe([4, 0]).legal_moves()
    [1, 2, 5, 8]
    """

    def legal_moves(self) -> list[Move]:
        kinds: dict[tuple[int, int], Move] = {}
        for move in super().legal_moves():
            pairs = zip(images(self.own | 1 << move), images(self.opponent), strict=True)
            kinds.setdefault(min(pairs), move)
        return [*kinds.values()]
