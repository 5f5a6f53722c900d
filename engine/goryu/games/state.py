"""The interface of a game: everything that a search needs of it."""

from dataclasses import dataclass
from typing import NewType, Protocol, Self

__all__ = ["Move", "Outcome", "State"]

Move = NewType("Move", int)
"""A move is an integer in [0, 65535]; each game defines its meaning."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a finished game.

    value: the result for the side to move: -1.0, 0.0 or +1.0. In a tree of given numbers it is any number
        between; the proofs of the graph search (`search/graph/proof.py`) are for the three results only.
    reason: one lower-case English phrase, such as "checkmate" or "fourfold repetition". The mate search and
        the game records compare it.
    """

    value: float
    reason: str


class State(Protocol):
    """A two-player, zero-sum, perfect-information game in progress.

    A state is mutable: `push` plays a move, `pop` takes it back. Every value is in [-1, +1] and seen from the
    side to move: +1 win, 0 draw, -1 loss.
    """

    @property
    def turn(self) -> int:
        """The side to move: 0 for the player who usually moves first (in shogi black), else 1."""
        ...

    @property
    def ply(self) -> int:
        """Moves played so far, counted from the start of the game."""
        ...

    @property
    def key(self) -> int:
        """64-bit hash (a Zobrist key) of the position, the side to move and the ply: all that decides the
        future of the game, except repetition.

        The ply is mixed in, so that no sequence of moves leads back to an equal key and the graph of keys has
        no cycle.
        """
        ...

    def legal_moves(self) -> list[Move]:
        """Returns the legal moves in ascending order (empty once the game is over on the board).

        A game may leave out moves that a player need not consider: shogi those that only fail to promote.
        """
        ...

    def push(self, move: Move) -> None:
        """Plays a legal move; legality is the caller's responsibility."""
        ...

    def pop(self) -> Move:
        """Takes back the last move and returns it."""
        ...

    def outcome(self) -> Outcome | None:
        """Returns the result if the game is over by its rules, or None while it goes on.

        The rules may end it by repetition, so a search whose paths share nodes asks `repetition` first.
        """
        ...

    def repetition(self) -> Outcome | None:
        """Returns the result that the *path* to this position causes, or None.

        A search whose paths share nodes ends a playout here, before it looks up the node: an equal position
        on another path need not have this result, so it is never stored with the position. Random games and
        trees end here, too, to save time; minimax and alpha-beta play on until `outcome` ends the game.
        Games without repetition return None.
        """
        ...

    def copy(self) -> Self:
        """Returns an independent state with the same position and history."""
        ...
