"""The interface between a search and the evaluators of positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from goryu.games.state import State

__all__ = ["GREATEST_WEIGHT", "LEAST_WEIGHT", "Evaluation", "Evaluator"]


LEAST_WEIGHT, GREATEST_WEIGHT = 0.001, 1000.0
"""The bounds of the weight of a value."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The evaluation of one position.

    policy: probability of each legal move, in `legal_moves()` order; sums to 1.
    value: expected result for the side to move, in [-1, +1].
    weight: how much the value counts among others; 1 for all if the evaluator does not say how sure it is.
    """

    policy: Sequence[float]
    value: float
    weight: float = 1.0


class Evaluator(Protocol):
    """Evaluates positions, many in one call because networks are fastest on batches."""

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order; no state is over.

        The evaluator must not keep the states: the search changes them afterwards.
        """
        ...
