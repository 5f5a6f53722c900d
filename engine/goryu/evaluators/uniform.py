"""An evaluator without any knowledge: every move is equally likely, every position a draw."""

from collections.abc import Sequence

from goryu.games.state import State
from goryu.search.evaluator import Evaluation


class UniformEvaluator:
    """Every move equally likely, every position a draw."""

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order."""
        counts = (len(state.legal_moves()) for state in states)
        return [Evaluation([1.0 / n] * n, 0.0) for n in counts]
