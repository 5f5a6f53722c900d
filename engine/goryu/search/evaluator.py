"""The seam between the tree search and whatever judges a position."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from goryu.games.state import State

__all__ = ["Evaluation", "Evaluator"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluator says about one position.

    policy: probability of each legal move, in `legal_moves()` order; sums to 1.
    value: expected result for the side to move, in [-1, +1].
    """

    policy: Sequence[float]
    value: float


class Evaluator(Protocol):
    """Judges positions, many at a time because networks like batches."""

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order; no state is over.

        The states must not be kept: the search changes them afterwards.
        """
        ...
