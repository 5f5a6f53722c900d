"""The interface of a shogi position for evaluators; both implementations of `Board` have it."""

from collections.abc import Sequence
from typing import Protocol

from goryu.games.shogi import Rules
from goryu.games.state import Move, State


class ShogiState(State, Protocol):
    """A `State` with pieces, hands and rules."""

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        ...

    @property
    def position_key(self) -> int:
        """A key of the position and the side to move, the same whenever they recur."""
        ...

    @property
    def move_stack(self) -> Sequence[Move]:
        """The moves since the position that the game was set up with; `pop` takes back that many."""
        ...

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
