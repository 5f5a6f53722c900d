"""A cache of evaluations: it saves most network calls where positions recur often.

Tic-tac-toe has 4,520 positions to evaluate, and self-play needs them hundreds of thousands of times.
A state's key includes the ply, so the cache is exact for an evaluator that depends on position and ply only.
"""

from collections.abc import Sequence

from goryu.games.state import State
from goryu.search.evaluator import Evaluation, Evaluator


class CachedEvaluator:
    """Calls the evaluator only for positions that are not in the cache.

    When there are `capacity` evaluations, all are dropped: the cheapest policy, and good enough because
    positions of old games rarely come back.
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
