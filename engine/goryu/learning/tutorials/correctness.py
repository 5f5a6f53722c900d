"""Eleven tic-tac-toe positions whose correct replies are known: the tutorial's test of a player.

They are the replies to each corner, to the centre and to each edge as the first move, and to the
two diagonal traps, in which a corner loses. A reply is correct if it keeps the draw.
"""

from collections.abc import Callable

from goryu.agents.agents import Agent
from goryu.games.tictactoe import TicTacToe

__all__ = ["CORRECT_REPLIES", "correctness", "mean_correctness"]

CORRECT_REPLIES: dict[tuple[int, ...], frozenset[int]] = {
    (0,): frozenset({4}),
    (2,): frozenset({4}),
    (6,): frozenset({4}),
    (8,): frozenset({4}),
    (4,): frozenset({0, 2, 6, 8}),
    (1,): frozenset({0, 2, 4, 7}),
    (3,): frozenset({0, 4, 5, 6}),
    (5,): frozenset({2, 3, 4, 8}),
    (7,): frozenset({1, 4, 6, 8}),
    (0, 4, 8): frozenset({1, 3, 5, 7}),
    (2, 4, 6): frozenset({1, 3, 5, 7}),
}
"""Moves played -> correct replies; squares 0 to 8, row by row."""


def correctness(agent: Agent) -> int:
    """Returns how many of the eleven positions the agent answers correctly."""
    return sum(agent(TicTacToe(moves)) in replies for moves, replies in CORRECT_REPLIES.items())


def mean_correctness(new_agent: Callable[[], Agent], runs: int) -> tuple[float, float]:
    """Returns the mean and its standard error over several runs, for agents that draw random numbers."""
    scores = [correctness(new_agent()) for _ in range(runs)]
    mean = sum(scores) / runs
    variance = sum((score - mean) ** 2 for score in scores) / max(1, runs - 1)
    return mean, (variance / runs) ** 0.5
