"""Rollouts: evaluate a position by playing random games from it.

Monte Carlo tree search did this before there were value networks. It needs only the rules of the game.

Weakness: random players of shogi hardly ever mate, so the games are long and their results mean little; use
it for the small games.
Source: B. Brügmann, "Monte Carlo Go", 1993.
"""

from collections.abc import Sequence
from random import Random

from goryu.games.state import State
from goryu.search.evaluator import Evaluation
from goryu.search.flat_monte_carlo import playout


class RolloutEvaluator:
    """Every move equally likely; the value is the mean result of `games` random games."""

    def __init__(self, rng: Random, games: int = 1) -> None:
        self._rng = rng
        self._games = games

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order."""
        return [self._evaluate(state) for state in states]

    def _evaluate(self, state: State) -> Evaluation:
        total = 0.0
        for _ in range(self._games):
            total += playout(state, self._rng)
        n = len(state.legal_moves())
        return Evaluation([1.0 / n] * n, total / self._games)
