"""What an evaluator may read of a shogi position; both implementations of `Board` offer it."""

from collections.abc import Sequence
from typing import Protocol

from goryu.games.state import State

__all__ = ["ShogiState"]


class ShogiState(State, Protocol):
    """A `State` that shows its pieces."""

    @property
    def pieces(self) -> Sequence[int]:
        """The piece code of every square, 1a 1b ... 9i; see `games/shogi/pieces.py`."""
        ...

    @property
    def hands(self) -> tuple[Sequence[int], Sequence[int]]:
        """Black's and white's hand, each seven counts P L N S G B R."""
        ...

    def is_check(self) -> bool:
        """Is the side to move in check?"""
        ...
