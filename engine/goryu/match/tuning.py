"""Tuning: an engine plays pairs of games with options drawn at random; a surface is fitted to the scores.

Every pair says a little about every option at once, so a few hundred pairs show where the strength lies and
how sure that is. The surface is a quadratic of the options, each put on [-1, +1], fitted by least squares to
the scores of the pairs: Box and Wilson, "On the Experimental Attainment of Optimum Conditions", 1951.

Weakness: of many points the one that looks best is partly the luckiest. What the fit proposes needs a match.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import inf, isfinite, sqrt
from typing import Self

import numpy as np
import numpy.typing as npt

from goryu.errors import GoryuError
from goryu.match.match_statistics import Z95, elo_of_score

__all__ = ["Surface", "TunedOption", "TuningError", "draw", "parse_ranges"]

PAIRS_A_TERM = 5
"""Fewer pairs than this for each term of the surface fit noise."""

TRIALS = 20_000
"""Random points among which the best one is looked for."""

Vector = npt.NDArray[np.float64]


class TuningError(GoryuError):
    """An option to tune that cannot be."""


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
            raise TuningError(f"{text!r}: expected NAME=LOW:HIGH, whole numbers") from None
        if not name or option.low >= option.high:
            raise TuningError(f"{text!r}: expected NAME=LOW:HIGH with LOW below HIGH")
        return option

    @property
    def is_two_valued(self) -> bool:
        """Has it no value between its ends?"""
        return self.high - self.low == 1

    def place(self, value: float) -> float:
        """Returns where a value stands in the range: -1 at its low end, +1 at its high end."""
        return (2 * value - self.low - self.high) / (self.high - self.low)


def parse_ranges(texts: Sequence[str]) -> tuple[TunedOption, ...]:
    """Reads several `NAME=LOW:HIGH`, each of another option."""
    options = tuple(TunedOption.parse(text) for text in texts)
    names = [option.name.lower() for option in options]
    if len(set(names)) < len(names):
        raise TuningError(f"{' '.join(texts)!r}: expected each option once")
    return options


def draw(options: Sequence[TunedOption], seed: int, pair: int) -> dict[str, int]:
    """Returns the values of the options in a pair of games."""
    rng = random.Random(f"{seed}/{pair}")
    return {option.name: rng.randint(option.low, option.high) for option in options}


class Surface:
    """The score that the options are expected to make, fitted to pairs.

    Raises TuningError if there are too few of them.
    """

    def __init__(
        self, options: Sequence[TunedOption], pairs: Sequence[tuple[Mapping[str, int], float]]
    ) -> None:
        """pairs: the values of the options, and the score of the pair in [0, 1]."""
        self.options = options
        terms = len(self._terms([0.0] * len(options)))
        if len(pairs) < PAIRS_A_TERM * terms:
            raise TuningError(
                f"{len(pairs)} pairs: expected {PAIRS_A_TERM * terms} for {len(options)} options"
            )
        matrix = np.array([self._row(values) for values, _ in pairs])
        scores = np.array([score for _, score in pairs])
        self._weights = np.linalg.lstsq(matrix, scores)[0]
        noise = float(np.sum((scores - matrix @ self._weights) ** 2)) / (len(pairs) - terms)
        self._covariance = noise * np.linalg.pinv(matrix.T @ matrix)

    def score(self, values: Mapping[str, float]) -> tuple[float, float]:
        """Returns the expected score at some values of all options, in [0, 1], and its standard error."""
        row = self._row(values)
        return float(row @ self._weights), sqrt(max(0.0, float(row @ self._covariance @ row)))

    def best(self) -> dict[str, int]:
        """Returns the values that are expected to score most, of many in the ranges."""
        trials = [draw(self.options, 0, trial) for trial in range(TRIALS)]
        return max(trials, key=lambda values: self.score(values)[0])

    def lines(self) -> list[str]:
        """Returns the surface in words: each option alone, the others in the middle, then the best point."""
        middle = {option.name: (option.low + option.high) / 2 for option in self.options}
        lines = ["elo of engine 1 expected at low, middle and high values (the others in the middle):"]
        for option in self.options:
            found = [(value, {**middle, option.name: value}) for value in _ends_and_middle(option)]
            shown = ", ".join(f"{value:g}: {self._elo(values)}" for value, values in found)
            lines.append(f"  {option.name:24} {shown}")
        best = self.best()
        values = " ".join(f"{name}={value}" for name, value in best.items())
        lines.append(f"best of the fit: {values}, elo {self._elo(best)}; optimistic, to be tried in a match")
        return lines

    def _elo(self, values: Mapping[str, float]) -> str:
        score, error = self.score(values)
        elo, low, high = (
            elo_of_score(min(max(round(s, 9), 0.0), 1.0))
            for s in (score, score - Z95 * error, score + Z95 * error)
        )
        return f"{elo:+.0f} ± {(high - low) / 2 if isfinite(elo) else inf:.0f}"

    def _row(self, values: Mapping[str, float]) -> Vector:
        return np.array(self._terms([option.place(values[option.name]) for option in self.options]))

    def _terms(self, places: Sequence[float]) -> list[float]:
        """Returns 1, the places, and the products of every two of them, squares included.

        Of an option with two values there is no square: it would be 1 in every pair.
        """
        pairs = combinations_with_replacement(range(len(places)), 2)
        products = (places[i] * places[j] for i, j in pairs if i != j or not self.options[i].is_two_valued)
        return [1.0, *places, *products]


def _ends_and_middle(option: TunedOption) -> tuple[float, ...]:
    """Returns the values to show, without a middle that cannot be set."""
    middle = () if option.is_two_valued else ((option.low + option.high) / 2,)
    return option.low, *middle, option.high
