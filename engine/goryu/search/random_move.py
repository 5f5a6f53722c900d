"""Random play: the baseline that every other search must beat.

The weakness is plain: it looks at nothing. As a way to finish a game quickly and without
prejudice it is the heart of the Monte Carlo methods.
"""

from random import Random

from goryu.games.state import Move, State

__all__ = ["random_move"]


def random_move(state: State, rng: Random) -> Move:
    """Returns one of the legal moves, each equally likely; there must be one."""
    return rng.choice(state.legal_moves())
