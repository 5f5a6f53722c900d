"""The idea behind a right answer: the opponent replies, and the user finds the next moves, too."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from goryu.analysis.description import board_after
from goryu.implementation import Board
from goryu_page.dojo.problems import Problem

MOVES = 3
"""The user's moves of an idea, the answer included, at most."""


@dataclass(slots=True)
class Idea:
    """How far a problem has been played on after its answer.

    moves: from the problem's position, in USI; while the idea goes on, the opponent's is the last one.
    expected: those that should follow, the user's first.
    """

    problem: Problem
    moves: list[str] = field(default_factory=list)
    expected: Sequence[str] = ()

    @property
    def found(self) -> int:
        """The user's moves so far."""
        return (len(self.moves) + 1) // 2

    @property
    def way(self) -> tuple[str, ...]:
        """The moves from the start of the game."""
        return (*self.problem.moves, *self.moves)

    @property
    def board(self) -> Board:
        """The position that has been reached."""
        return board_after(self.problem.start, self.way)

    def play(self, move: str, following: Sequence[str]) -> str | None:
        """Plays a move of the user and the reply; returns the reply, or None if the idea ends here.

        following: the moves that should come after `move`. The idea goes on while one of them is the user's.
        """
        self.moves.append(move)
        if self.found == MOVES or len(following) < 2:
            return None
        reply, *self.expected = following
        self.moves.append(reply)
        return reply
