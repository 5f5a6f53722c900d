"""Flat Monte Carlo: play random games after every move and keep the best average.

It needs no knowledge of the game but the rules: good moves win more random games.

Weakness: it builds no tree, so the opponent's replies stay random however long it runs. A trap that a random
opponent misses eight times in nine looks like a good move.
Source: B. Abramson, "Expected-Outcome: A General Model of Static Evaluation", IEEE PAMI, 1990.
"""

from collections.abc import Callable
from random import Random

from goryu.games.state import Move, State
from goryu.search.random_move import random_move

__all__ = ["Playout", "averages", "best_move", "playout"]

Playout = Callable[[State, Random], float]
"""Plays a game to its end and returns the result for the side to move; leaves the position as it is."""


def playout(state: State, rng: Random) -> float:
    """Plays random moves to the end; returns the result for the side to move now.

    `state` itself is left as it is.
    """
    state, sign = state.copy(), 1.0
    while (outcome := state.outcome() or state.repetition()) is None:
        state.push(random_move(state, rng))
        sign = -sign
    return sign * outcome.value


def averages(state: State, playouts: int, rng: Random, play: Playout | None = None) -> dict[Move, float]:
    """Returns the average result of `playouts` games after each move, for the side to move.

    play: plays these games; None: at random.
    """
    found = {}
    for move in state.legal_moves():
        state.push(move)
        value = 0.0
        for _ in range(playouts):
            value -= (play or playout)(state, rng)
        state.pop()
        found[move] = value / playouts
    return found


def best_move(state: State, playouts: int, rng: Random) -> Move:
    """Returns the move with the best average over `playouts` random games each, the first if several tie."""
    values = averages(state, playouts, rng)
    return max(values, key=lambda move: values[move])
