"""What a game's searches have asked for already, so that no position is judged twice within two moves.

The next search begins at a position that the last one has looked at, and a full search comes after a cheap
one of the same position.
"""

from goryu.games.state import State
from goryu.search.evaluator import Evaluation
from goryu.search.gumbel import GumbelResult, Steps

__all__ = ["Memory"]


class Memory:
    """Remembers the evaluations of this move and of the one before."""

    def __init__(self) -> None:
        self._now: dict[int, Evaluation] = {}
        self._before: dict[int, Evaluation] = {}

    def next_move(self) -> None:
        """Forgets what has not been asked for since the last call."""
        self._now, self._before = {}, self._now

    def steps(self, search: Steps) -> Steps:
        """Returns the same search as a generator that asks only for what is not known yet."""
        asked = next(search)
        while True:
            keys = [state.key for state in asked]
            unknown: dict[int, State] = {}
            for key, state in zip(keys, asked, strict=True):
                known = self._now.get(key) or self._before.get(key)
                if known is None:
                    unknown[key] = state
                else:
                    self._now[key] = known
            if unknown:
                evaluations = yield list(unknown.values())
                self._now.update(zip(unknown, evaluations, strict=True))
            try:
                asked = search.send([self._now[key] for key in keys])
            except StopIteration as finished:
                result: GumbelResult = finished.value
                return result
