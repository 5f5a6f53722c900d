"""Depth-limited minimax: search a few plies ahead and estimate the rest.

Where the game is too large to finish, the search stops after `depth` plies and takes a heuristic's value of
the position. Where the game is over, it takes the result.

Weakness: the search is blind one ply beyond this horizon. It is also deterministic: two such players repeat
one game for ever, and a learner sees nothing new. `epsilon_greedy` cures that with a random move now and
then.
Sources: C. E. Shannon, 1950 (the horizon and the evaluation function); R. S. Sutton, A. G. Barto,
"Reinforcement Learning", 2nd ed., 2018, section 2.2 (epsilon-greedy).
"""

from collections.abc import Callable, Iterator
from math import inf
from random import Random

from goryu.games.state import Move, State
from goryu.search.random_move import random_move

__all__ = ["Heuristic", "best_move", "epsilon_greedy", "leaf_states", "move_from_leaves", "search"]

Heuristic = Callable[[State], float]
"""An estimate of the result for the side to move, in [-1, +1], for a position that is not over."""


def search(
    state: State,
    depth: int,
    heuristic: Heuristic,
    alpha: float = -1.0,
    beta: float = +1.0,
    prunes: bool = True,
) -> tuple[float, Move | None]:
    """Returns the value for the side to move after `depth` plies, fail-soft as in `alpha_beta`, and the first
    move that reaches it (None where the search ends).

    prunes: False evaluates every position at the horizon, in the order of the moves.
    """
    outcome = state.outcome()
    if outcome is not None:
        return outcome.value, None
    if depth == 0:
        return heuristic(state), None
    best, chosen = -inf, None
    for move in state.legal_moves():
        state.push(move)
        value = -search(state, depth - 1, heuristic, -beta, -max(alpha, best), prunes)[0]
        state.pop()
        if value > best:
            best, chosen = value, move
        if prunes and best >= beta:
            break
    return best, chosen


def best_move(state: State, depth: int, heuristic: Heuristic) -> Move:
    """Returns the move of greatest value at `depth` >= 1 plies, the first one if several tie."""
    _, move = search(state, depth, heuristic)
    assert move is not None, "there is no legal move"
    return move


def epsilon_greedy(state: State, greedy: Callable[[State], Move], epsilon: float, rng: Random) -> Move:
    """Returns a random legal move with probability `epsilon`, else the greedy player's move."""
    return random_move(state, rng) if rng.random() < epsilon else greedy(state)


def leaf_states(state: State, depth: int) -> list[State]:
    """Returns copies of the positions at the horizon that are not over, in the order of the search.

    A network evaluates a hundred positions in one call about as fast as one. So the search without pruning
    comes in two halves: collect the leaves, evaluate them together, pass the values to `move_from_leaves`.
    """
    leaves: list[State] = []

    def collect(leaf: State) -> float:
        leaves.append(leaf.copy())
        return 0.0

    search(state, depth, collect, prunes=False)
    return leaves


def move_from_leaves(state: State, depth: int, values: Iterator[float]) -> tuple[Move, float]:
    """Returns the best move and its value, for the side to move, given the values of the leaves.

    values: for the side to move at each leaf, in the order of `leaf_states(state, depth)`.
    """
    value, move = search(state, depth, lambda _: next(values), prunes=False)
    assert move is not None, "there is no legal move"
    return move, value
