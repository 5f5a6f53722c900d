"""The interface between a search and the evaluators of positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from goryu.games.state import State

__all__ = ["Evaluation", "Evaluator"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The evaluation of one position.

    policy: probability of each legal move, in `legal_moves()` order; sums to 1.
    value: expected result for the side to move, in [-1, +1].
    """

    policy: Sequence[float]
    value: float


class Evaluator(Protocol):
    """Evaluates positions, many in one call because networks are fastest on batches."""

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order; no state is over.

        The evaluator must not keep the states: the search changes them afterwards.
        """
        ...
