"""Screening: one match tests several changes of an engine at once.

In every pair of games a coin decides for each change which of the two engines has it; the other engine plays
without it. So every game says something about every change: 1,000 games measure six changes as exactly as
six matches of 1,000 games would, one for each change. The effects are fitted to the scores of the pairs by
least squares: F. Yates, "The Design and Analysis of Factorial Experiments", 1937; G. Box, J. Hunter and
W. Hunter, "Statistics for Experimenters", 1978.

Weaknesses: the effect of a change is its mean over the other changes, each on or off, so two changes that do
the same look better than they are together. And the best of many effects is partly the luckiest. Test the
changes that look good in a match.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Self

import numpy as np

from goryu.base.language import plural
from goryu_lab.match.least_squares import ExperimentError, least_squares, require, require_once
from goryu_lab.match.match_statistics import elo_with_interval, format_elo

PAIRS_PER_CHANGE = 10
"""With fewer pairs than this for each change, the effects are mostly noise."""


@dataclass(frozen=True, slots=True)
class Change:
    """Options that change together.

    options: for each its name, its value without the change, and its value with it.
    """

    options: tuple[tuple[str, str, str], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads `NAME=OLD:NEW`, or several of them with commas between them.

        >>> Change.parse("Final_Move=lcb:visits").values(True)
        {'Final_Move': 'visits'}
        """
        options = []
        for part in text.split(","):
            name, _, values = part.strip().partition("=")
            old, _, new = values.partition(":")
            if not (name and old and new) or ":" in new or old == new:
                raise ExperimentError(f"{text!r}: expected NAME=OLD:NEW,... with two different values")
            options.append((name, old, new))
        return cls(tuple(options))

    def __str__(self) -> str:
        return ",".join(f"{name}={old}:{new}" for name, old, new in self.options)

    def values(self, is_made: bool) -> dict[str, str]:
        """Returns the values of the options with the change, or without it."""
        return {name: new if is_made else old for name, old, new in self.options}


def parse_changes(texts: Sequence[str]) -> tuple[Change, ...]:
    """Reads several changes; raises ExperimentError if two of them set the same option."""
    changes = tuple(map(Change.parse, texts))
    require_once([name for change in changes for name, _, _ in change.options], texts)
    return changes


def toss(changes: Sequence[Change], seed: int, pair: int) -> tuple[bool, ...]:
    """Returns for each change whether engine 1 has it in a pair of games; engine 2 has the others."""
    rng = random.Random(f"{seed}/{pair}")
    return tuple(rng.random() < 0.5 for _ in changes)


def require_pairs(changes: Sequence[Change], pairs: int) -> None:
    """Raises ExperimentError if the effects of these changes cannot be fitted to so few pairs."""
    require(pairs, PAIRS_PER_CHANGE * (len(changes) + 1), plural(len(changes), "change"))


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change brings.

    score: the expected score in [0, 1] with it against without it. error: its standard error.
    """

    score: float
    error: float

    def __str__(self) -> str:
        elo, low, high = elo_with_interval(self.score, self.error)
        if isfinite(low) and isfinite(high):
            return f"{format_elo(elo)} ± {(high - low) / 2:.0f}"
        return f"{format_elo(elo)} [{format_elo(low)}, {format_elo(high)}]"


def effects(changes: Sequence[Change], pairs: Sequence[tuple[Sequence[bool], float]]) -> list[Effect]:
    """Fits score = 1/2 + constant + sum over the changes of ±effect to the pairs, by least squares.

    pairs: for each, which changes engine 1 has, and its score in [0, 1]. The constant is the difference of
    the two programs without their changes. Raises ExperimentError if there are too few pairs.
    """
    require_pairs(changes, len(pairs))
    matrix = np.array([[1.0, *(1.0 if made else -1.0 for made in has)] for has, _ in pairs])
    scores = np.array([score for _, score in pairs]) - 0.5
    found, covariance = least_squares(matrix, scores)
    return [
        Effect(0.5 + float(found[i]), sqrt(max(0.0, float(covariance[i, i])))) for i in range(1, len(found))
    ]


def report_lines(changes: Sequence[Change], found: Sequence[Effect]) -> list[str]:
    """Returns the report: the Elo of each change, the best first."""
    ordered = sorted(zip(changes, found, strict=True), key=lambda item: -item[1].score)
    width = max(len(str(change)) for change in changes)
    lines = [f"  {change!s:{width}}  {effect}" for change, effect in ordered]
    return ["Elo of each change, with it against without it (95 %):", *lines]
