"""Heavy playouts: random games in which a player takes a win and blocks a loss.

A random opponent overlooks a win in one move most of the time, so plain random games say little about
threats. Here a player wins at once if it can, and else does not let the opponent win with the next move if it
can help it. The rest stays random.

`heavy_playout` is a `Playout`: give it to `flat_monte_carlo` or `uct` as `play`.

Weakness: every move costs a search of two plies. What is better for one game can be worse on the whole:
playouts must be balanced rather than strong.
Sources: B. Bouzy, "Associating domain-dependent knowledge and Monte Carlo approaches within a Go program",
2005; D. Silver, G. Tesauro, "Monte-Carlo Simulation Balancing", 2009.
"""

from random import Random

from goryu.games.state import Move, State

__all__ = ["heavy_move", "heavy_playout"]


def heavy_playout(state: State, rng: Random) -> float:
    """Plays such moves to the end; returns the result for the side to move now. `state` is left as it is."""
    state, sign = state.copy(), 1.0
    while (outcome := state.outcome() or state.repetition()) is None:
        state.push(heavy_move(state, rng))
        sign = -sign
    return sign * outcome.value


def heavy_move(state: State, rng: Random) -> Move:
    """Returns a move that wins at once, or one after which the opponent cannot, or any; there must be one."""
    moves = state.legal_moves()
    safe = []
    for move in moves:
        state.push(move)
        wins, loses = has_lost(state), can_win(state)
        state.pop()
        if wins:
            return move
        if not loses:
            safe.append(move)
    return rng.choice(safe or moves)


def can_win(state: State) -> bool:
    """Has the side to move a move that wins at once?"""
    for move in state.legal_moves():
        state.push(move)
        wins = has_lost(state)
        state.pop()
        if wins:
            return True
    return False


def has_lost(state: State) -> bool:
    outcome = state.outcome()
    return outcome is not None and outcome.value < 0.0
