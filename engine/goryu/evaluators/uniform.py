"""An evaluator that knows nothing: the search's null object."""

from collections.abc import Sequence

from goryu.games.state import State
from goryu.search.evaluator import Evaluation

__all__ = ["UniformEvaluator"]


class UniformEvaluator:
    """Every move equally likely, every position a draw."""

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order."""
        counts = (len(state.legal_moves()) for state in states)
        return [Evaluation([1.0 / n] * n, 0.0) for n in counts]
