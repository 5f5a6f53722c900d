"""Depth-limited minimax: look a few plies ahead, then let a heuristic judge.

Where the game is too large to finish, the search stops after `depth` plies and asks a
heuristic what the position is worth. A sure result (the game is over) is used as it is.

Weakness: what lies one ply beyond the horizon does not exist for it, and it is
deterministic: two such players repeat one game for ever. Against the second, `epsilon_greedy`
plays a random move now and then, which a learner also needs to see anything new.
Sources: C. E. Shannon, 1950 (the horizon and the evaluation function); R. S. Sutton,
A. G. Barto, "Reinforcement Learning", 2nd ed., 2018, section 2.2 (epsilon-greedy).
"""

from collections.abc import Callable, Iterator
from math import inf
from random import Random

from goryu.games.state import Move, State
from goryu.search.random_move import random_move

__all__ = ["Heuristic", "best_move", "depth_limited", "epsilon_greedy", "leaf_states", "move_from_leaves"]

Heuristic = Callable[[State], float]
"""A guess at the result for the side to move, in [-1, +1], for a position that is not over."""


def depth_limited(
    state: State, depth: int, heuristic: Heuristic, alpha: float = -1.0, beta: float = +1.0
) -> float:
    """Returns the value for the side to move after `depth` plies, fail-soft as in `alpha_beta`."""
    outcome = state.outcome()
    if outcome is not None:
        return outcome.value
    if depth == 0:
        return heuristic(state)
    best = -inf
    for move in state.legal_moves():
        state.push(move)
        value = -depth_limited(state, depth - 1, heuristic, -beta, -max(alpha, best))
        state.pop()
        best = max(best, value)
        if best >= beta:
            break
    return best


def best_move(state: State, depth: int, heuristic: Heuristic) -> Move:
    """Returns the move of greatest value at `depth` >= 1 plies, the first one if several tie."""
    best, chosen = -inf, None
    for move in state.legal_moves():
        state.push(move)
        value = -depth_limited(state, depth - 1, heuristic, -1.0, -max(best, -1.0))
        state.pop()
        if value > best:
            best, chosen = value, move
    assert chosen is not None, "there is no legal move"
    return chosen


def epsilon_greedy(state: State, greedy: Callable[[State], Move], epsilon: float, rng: Random) -> Move:
    """Returns a random legal move with probability `epsilon`, else the greedy player's move."""
    return random_move(state, rng) if rng.random() < epsilon else greedy(state)


def leaf_states(state: State, depth: int) -> list[State]:
    """Returns copies of the positions at the horizon that are not over, in the order of the search.

    A network judges a hundred positions in one call about as fast as one. So the same
    search without pruning comes in two halves: collect the leaves, have all of them judged
    together, and hand the values to `move_from_leaves`.
    """
    if state.outcome() is not None:
        return []
    if depth == 0:
        return [state.copy()]
    leaves = []
    for move in state.legal_moves():
        state.push(move)
        leaves += leaf_states(state, depth - 1)
        state.pop()
    return leaves


def move_from_leaves(state: State, depth: int, values: Iterator[float]) -> tuple[Move, float]:
    """Returns the best move and its value, for the side to move, given what the leaves are worth.

    values: for the side to move at each leaf, in the order of `leaf_states(state, depth)`.
    """

    def value(depth: int) -> float:
        outcome = state.outcome()
        if outcome is not None:
            return outcome.value
        if depth == 0:
            return next(values)
        best = -inf
        for move in state.legal_moves():
            state.push(move)
            best = max(best, -value(depth - 1))
            state.pop()
        return best

    best, chosen = -inf, None
    for move in state.legal_moves():
        state.push(move)
        move_value = -value(depth - 1)
        state.pop()
        if move_value > best:
            best, chosen = move_value, move
    assert chosen is not None, "there is no legal move"
    return chosen, best
