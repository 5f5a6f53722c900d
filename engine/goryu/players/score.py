"""Values as people and programs read them: win rates and centipawns."""

from math import log

MAX_CP = 30_000
"""Centipawns are clamped to this: a certain win or loss would be infinite."""


def win_rate(value: float) -> float:
    """Returns the win rate in [0, 1] of a value in [-1, +1]."""
    return min(1.0, max(0.0, 0.5 * (value + 1.0)))


def centipawns(value: float, coefficient: float, most: int = MAX_CP) -> int:
    """Returns a value in [-1, +1] as centipawns in [-most, most].

    The formula is that of dlshogi and YaneuraOu, coefficient * ln(p / (1 - p)) for a win rate p. GUIs convert
    centipawns back into a win rate with their own coefficient, so it is an option (Eval_Coef).

    >>> centipawns(0.0, 600), centipawns(0.5, 600), centipawns(-1.0, 600)
    (0, 659, -30000)
    """
    if abs(value) >= 1.0:
        return most if value > 0.0 else -most
    return round(min(most, max(-most, coefficient * log((1.0 + value) / (1.0 - value)))))
