"""Boltzmann choice: a move drawn at random, the more often the better it looks.

A search that always plays its best move plays the same game again and again. For self-play and for variety
the move is drawn with probability proportional to visits^(1/T). T = 1 plays each move as often as the search
visited it; T -> 0 plays the most visited one; T -> infinity plays anything.

Weakness: it does not distinguish a harmless variation from a blunder that the search tried. At T = 1 it plays
a blunder with 1 % of the visits once in a hundred times.
Source: D. Silver et al., "Mastering the game of Go without human knowledge", Nature, 2017 (the softmax is
Boltzmann's distribution with energies -ln visits).
"""

from collections.abc import Sequence
from random import Random

__all__ = ["boltzmann_choice", "boltzmann_distribution"]


def boltzmann_distribution(visits: Sequence[float], temperature: float) -> list[float]:
    """Returns probabilities proportional to visits^(1/temperature); at least one visit is needed.

    temperature: 0 or more; at 0 the first of the most visited moves gets everything.

    >>> boltzmann_distribution([1, 3], 1.0)
    [0.25, 0.75]
    >>> boltzmann_distribution([3, 1, 3], 0.0)
    [1.0, 0.0, 0.0]
    """
    most = max(visits)
    if most <= 0:
        raise ValueError(f"visits {list(visits)!r}: expected at least one visit")
    if temperature < 0.0:
        raise ValueError(f"temperature {temperature!r}: expected 0 or more")
    if temperature == 0.0:
        best = visits.index(most)
        return [1.0 if i == best else 0.0 for i in range(len(visits))]
    weights = [(n / most) ** (1.0 / temperature) for n in visits]  # At most 1: no overflow.
    total = 0.0
    for weight in weights:
        total += weight
    return [weight / total for weight in weights]


def boltzmann_choice(visits: Sequence[float], temperature: float, rng: Random) -> int:
    """Returns an index drawn from `boltzmann_distribution`."""
    remaining = rng.random()
    probabilities = boltzmann_distribution(visits, temperature)
    chosen = 0
    for i, probability in enumerate(probabilities):
        if probability > 0.0:
            chosen = i
            remaining -= probability
            if remaining < 0.0:
                break
    return chosen
