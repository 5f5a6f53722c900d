"""Remembers evaluations: where positions recur often, most network calls can be saved.

Tic-tac-toe has 4,520 positions to judge, and self-play asks for them hundreds of thousands of times.
The ply is part of a state's key, so an evaluator that depends on nothing but position and ply loses nothing.
"""

from collections.abc import Sequence

from goryu.games.state import State
from goryu.search.evaluator import Evaluation, Evaluator

__all__ = ["CachedEvaluator"]


class CachedEvaluator:
    """Asks the evaluator only for positions that it has not been asked for before.

    Once `capacity` evaluations are held, all are dropped: the cheapest policy there is, and good enough
    where games move on and old positions do not come back.
    """

    def __init__(self, evaluator: Evaluator, capacity: int = 100_000) -> None:
        self.evaluator = evaluator
        self.capacity = capacity
        self._known: dict[int, Evaluation] = {}

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order."""
        keys = [state.key for state in states]
        new = {key: state for key, state in zip(keys, states, strict=True) if key not in self._known}
        found = {key: self._known[key] for key in keys if key not in new}
        if new:
            found.update(zip(new, self.evaluator.evaluate(list(new.values())), strict=True))
            if len(self._known) + len(new) > self.capacity:
                self._known.clear()
            self._known.update(found)
        return [found[key] for key in keys]
