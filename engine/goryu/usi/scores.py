"""Values of the search, in [-1, +1], as the protocol's scores: win rates, centipawns, mates.

The formula is the one of dlshogi and YaneuraOu: cp = a * ln(p / (1 - p)) for a win rate p.
GUIs turn centipawns back into a win rate with a coefficient of their own, so `a` is an option (Eval_Coef).
"""

from math import exp, log

__all__ = ["MAXIMUM_CP", "centipawns", "score", "value_from_centipawns", "win_rate"]

MAXIMUM_CP = 30_000
"""Centipawns are clamped to this; a certain win or loss would be infinite."""


def win_rate(value: float) -> float:
    """Returns the win rate in [0, 1] of a value in [-1, +1]."""
    return min(1.0, max(0.0, 0.5 * (value + 1.0)))


def centipawns(value: float, coefficient: float) -> int:
    """Returns a value in centipawns, in [-MAXIMUM_CP, MAXIMUM_CP].

    >>> centipawns(0.0, 600), centipawns(0.5, 600), centipawns(-1.0, 600)
    (0, 659, -30000)
    """
    rate = win_rate(value)
    if rate <= 0.0:
        return -MAXIMUM_CP
    if rate >= 1.0:
        return MAXIMUM_CP
    return round(min(MAXIMUM_CP, max(-MAXIMUM_CP, coefficient * log(rate / (1.0 - rate)))))


def value_from_centipawns(cp: float, coefficient: float) -> float:
    """Returns the value in [-1, +1] that is worth so many centipawns: the inverse of `centipawns`."""
    return 2.0 / (1.0 + exp(-cp / coefficient)) - 1.0


def score(value: float, mate: int | None, coefficient: float) -> str:
    """Returns the score as the protocol wants it, seen from the side to move.

    mate: plies to the proven end, positive if the side to move wins. A `mate 0` does not exist
    here, nor a sign without a number: parsers disagree on both.

    >>> score(0.0, None, 600), score(1.0, 3, 600), score(-1.0, -2, 600)
    ('cp 0', 'mate 3', 'mate -2')
    """
    return f"mate {mate}" if mate else f"cp {centipawns(value, coefficient)}"
