"""Tuning: an engine plays pairs of games with options drawn at random; a surface is fitted to the scores.

Every pair gives a little information about all options at once, so a few hundred pairs show which values are
strong, and with which error. The surface is quadratic in the options, each scaled to [-1, +1], and fitted to
the scores of the pairs by least squares: Box and Wilson, "On the Experimental Attainment of Optimum
Conditions", 1951.

Weakness: the best of many points is partly the luckiest. Test the values that the fit proposes in a match.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, inf, isfinite, sqrt
from typing import Self

import numpy as np

from goryu.base.language import plural
from goryu_lab.match.least_squares import (
    ExperimentError,
    Vector,
    least_squares,
    require,
    require_once,
)
from goryu_lab.match.match_statistics import elo_with_interval

PAIRS_PER_TERM = 5
"""With fewer pairs than this for each term of the surface, the fit shows mostly noise."""

TRIALS = 20_000
"""How many random points are compared to find the best one."""


@dataclass(frozen=True, slots=True)
class TunedOption:
    """A numeric USI option and the range, ends included, from which its values are drawn."""

    name: str
    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads `NAME=LOW:HIGH`.

        >>> TunedOption.parse("C_init=60:180")
        TunedOption(name='C_init', low=60, high=180)
        """
        name, _, values = text.partition("=")
        low, _, high = values.partition(":")
        try:
            option = cls(name, int(low), int(high))
        except ValueError:
            raise ExperimentError(f"{text!r}: expected NAME=LOW:HIGH, whole numbers") from None
        if not name or option.low >= option.high:
            raise ExperimentError(f"{text!r}: expected NAME=LOW:HIGH with LOW below HIGH")
        return option

    @property
    def is_two_valued(self) -> bool:
        """Is there no value between the ends of the range?"""
        return self.high - self.low == 1

    def scale(self, value: float) -> float:
        """Returns a value scaled to the range: -1 at its low end, +1 at its high end."""
        return (2 * value - self.low - self.high) / (self.high - self.low)


def parse_ranges(texts: Sequence[str]) -> tuple[TunedOption, ...]:
    """Reads several `NAME=LOW:HIGH`, each for a different option."""
    options = tuple(TunedOption.parse(text) for text in texts)
    require_once([option.name for option in options], texts)
    return options


def draw(options: Sequence[TunedOption], seed: int, pair: int) -> dict[str, int]:
    """Returns the values of the options in a pair of games."""
    rng = random.Random(f"{seed}/{pair}")
    return {option.name: rng.randint(option.low, option.high) for option in options}


def require_pairs(options: Sequence[TunedOption], pairs: int) -> None:
    """Raises ExperimentError if a surface of these options cannot be fitted to so few pairs."""
    require(pairs, PAIRS_PER_TERM * _count_terms(options), plural(len(options), "option"))


class Surface:
    """The expected score as a function of the options, fitted to pairs.

    Raises ExperimentError if there are too few pairs.
    """

    def __init__(
        self, options: Sequence[TunedOption], pairs: Sequence[tuple[Mapping[str, int], float]]
    ) -> None:
        """pairs: the values of the options, and the score of the pair in [0, 1]."""
        require_pairs(options, len(pairs))
        self.options = options
        matrix = np.array([self._row(values) for values, _ in pairs])
        scores = np.array([score for _, score in pairs])
        self._weights, self._covariance = least_squares(matrix, scores)

    def score(self, values: Mapping[str, float]) -> tuple[float, float]:
        """Returns the expected score in [0, 1] at these values of all options, and its standard error."""
        row = self._row(values)
        return float(row @ self._weights), sqrt(max(0.0, float(row @ self._covariance @ row)))

    def best(self) -> dict[str, int]:
        """Returns the values with the greatest expected score, of `TRIALS` random ones."""
        trials = [draw(self.options, -1, trial) for trial in range(TRIALS)]  # No match has this seed.
        return max(trials, key=lambda values: self.score(values)[0])

    def lines(self) -> list[str]:
        """Returns the report: the Elo at three values of each option, and the best values."""
        middle = {option.name: (option.low + option.high) / 2 for option in self.options}
        lines = ["expected Elo of engine 1 at the low, middle and high value (other options in the middle):"]
        for option in self.options:
            found = [(value, {**middle, option.name: value}) for value in _ends_and_middle(option)]
            shown = ", ".join(f"{value:g}: {self._elo(values)}" for value, values in found)
            lines.append(f"  {option.name:24} {shown}")
        best = self.best()
        values = " ".join(f"{name}={value}" for name, value in best.items())
        lines.append(f"best of the fit: {values}, Elo {self._elo(best)}; optimistic, so test it in a match")
        return lines

    def _elo(self, values: Mapping[str, float]) -> str:
        score, error = self.score(values)
        elo, low, high = elo_with_interval(score, error)
        return f"{elo:+.0f} ± {(high - low) / 2 if isfinite(elo) else inf:.0f}"

    def _row(self, values: Mapping[str, float]) -> Vector:
        """Returns the terms: 1, the scaled values, and the products of any two of them, squares included.

        An option with two values has no square: it would be 1 in every pair.
        """
        x = [option.scale(values[option.name]) for option in self.options]
        pairs = combinations_with_replacement(range(len(x)), 2)
        products = (x[i] * x[j] for i, j in pairs if i != j or not self.options[i].is_two_valued)
        return np.array([1.0, *x, *products])


def _count_terms(options: Sequence[TunedOption]) -> int:
    """Returns the number of terms of a surface: the constant, the options, their squares and products."""
    squares = sum(not option.is_two_valued for option in options)
    return 1 + len(options) + squares + comb(len(options), 2)


def _ends_and_middle(option: TunedOption) -> tuple[float, ...]:
    """Returns the values to show; the middle only if it can be set."""
    middle = () if option.is_two_valued else ((option.low + option.high) / 2,)
    return option.low, *middle, option.high
