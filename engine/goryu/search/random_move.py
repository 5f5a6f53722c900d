"""Random play: the baseline that every other search must beat.

Weakness: it uses no knowledge at all. As a quick and unbiased way to finish a game it is the heart of the
Monte Carlo methods.
"""

from random import Random

from goryu.games.state import Move, State

__all__ = ["random_move"]


def random_move(state: State, rng: Random) -> Move:
    """Returns one of the legal moves, each equally likely; there must be one."""
    return rng.choice(state.legal_moves())
