"""A cache of a game's evaluations, so that no position is evaluated twice within two moves.

Each search starts at a position that the one before it has visited, and a full search of a position follows a
cheap one of the same position.
"""

from goryu.games.state import State
from goryu.search.evaluator import Evaluation
from goryu.search.gumbel import GumbelResult, Steps


class EvaluationCache:
    """Holds the evaluations of the current move and of the one before."""

    def __init__(self) -> None:
        self._now: dict[int, Evaluation] = {}
        self._before: dict[int, Evaluation] = {}

    def next_move(self) -> None:
        """Drops the evaluations that were not requested since the last call."""
        self._now, self._before = {}, self._now

    def wrap(self, search: Steps) -> Steps:
        """Returns the same search as a generator that requests only positions without a cached evaluation."""
        requested = next(search)
        while True:
            keys = [state.key for state in requested]
            unknown: dict[int, State] = {}
            for key, state in zip(keys, requested, strict=True):
                known = self._now.get(key) or self._before.get(key)
                if known is None:
                    unknown[key] = state
                else:
                    self._now[key] = known
            if unknown:
                evaluations = yield list(unknown.values())
                self._now.update(zip(unknown, evaluations, strict=True))
            try:
                requested = search.send([self._now[key] for key in keys])
            except StopIteration as finished:
                result: GumbelResult = finished.value
                return result
