"""Counts the positions that a search visits, to compare what searches save."""

from collections.abc import Callable

from goryu.games.state import Move, Outcome, State


class Counted:
    """Stands in for a position and counts those that a search visits, this one included.

    It has what minimax, one-bound and alpha-beta ask of a `State`.
    order: sorts the legal moves of a position, the promising ones first; without it they come as they are.
    """

    def __init__(self, state: State, order: Callable[[State], list[Move]] | None = None) -> None:
        self.state = state.copy()
        self.visited = 1
        self._order = order

    def push(self, move: Move) -> None:
        """Plays a move, and counts its position."""
        self.visited += 1
        self.state.push(move)

    def legal_moves(self) -> list[Move]:
        """Returns the legal moves in the wanted order."""
        return self._order(self.state) if self._order else self.state.legal_moves()

    def pop(self) -> Move:
        """Takes the last move back."""
        return self.state.pop()

    def outcome(self) -> Outcome | None:
        """Returns the result if the game is over."""
        return self.state.outcome()
