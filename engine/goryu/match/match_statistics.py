"""What a match says about the strength of two engines, from pairs of games with colours swapped.

The two games of a pair share an opening, so their results are correlated: the unit of the statistics is
the *pair*, and its variance already holds what the openings contribute. A pair scores 0, 1/4, 1/2, 3/4 or 1;
the five counts are called the pentanomial. Half a pair never counts.

Sources: the pentanomial model of fishtest (M. Van den Bergh); normalised Elo from his "Normalized Elo", where
strength is measured in standard deviations of a game, so that different draw rates compare.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import copysign, erfc, inf, log, log10, sqrt

__all__ = ["PAIR_SCORES", "Z95", "MatchStatistics", "elo_of_score", "format_elo", "score_of_elo"]

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
Z95 = 1.959963984540054
NORMALISED_ELO = 800 / log(10)
"""Normalised Elo for one standard deviation of a game."""


def elo_of_score(score: float) -> float:
    """Returns the Elo difference that expects `score` in [0, 1]; infinite at the ends.

    >>> round(elo_of_score(0.64), 2)
    99.95
    """
    if score <= 0.0:
        return -inf
    if score >= 1.0:
        return inf
    return 400 * log10(score / (1 - score))


def score_of_elo(elo: float) -> float:
    """Returns the expected score in [0, 1] of the engine that is `elo` stronger."""
    return float(1 / (1 + 10 ** (-elo / 400)))


def format_elo(elo: float) -> str:
    """Returns a signed Elo for people, such as `+19.4` or `-inf`."""
    return f"{elo:+.1f}" if abs(elo) != inf else ("+inf" if elo > 0 else "-inf")


@dataclass(frozen=True, slots=True)
class MatchStatistics:
    """The five counts of a match, seen from the first engine, and what follows from them.

    pentanomial: pairs that scored 0, 1/2, 1, 3/2 and 2 points for the first engine: LL, LD, DD or WL, WD, WW.
    """

    pentanomial: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)

    @classmethod
    def from_pairs(cls, pairs: Iterable[Sequence[float]]) -> "MatchStatistics":
        """Counts pairs of game scores (1, 1/2 or 0 for the first engine).

        >>> MatchStatistics.from_pairs([(1, 1), (1, 0), (0.5, 0)]).pentanomial
        (0, 1, 1, 0, 1)
        """
        counts = [0, 0, 0, 0, 0]
        for first, second in pairs:
            counts[round(2 * (first + second))] += 1
        return cls((counts[0], counts[1], counts[2], counts[3], counts[4]))

    @property
    def pairs(self) -> int:
        """Complete pairs counted."""
        return sum(self.pentanomial)

    @property
    def score(self) -> float:
        """Mean score of a pair, in [0, 1]; 1/2 before the first pair."""
        if not self.pairs:
            return 0.5
        return sum(count * s for count, s in zip(self.pentanomial, PAIR_SCORES, strict=True)) / self.pairs

    @property
    def variance(self) -> float:
        """Variance of one pair's score."""
        if not self.pairs:
            return 0.0
        squares = (c * (s - self.score) ** 2 for c, s in zip(self.pentanomial, PAIR_SCORES, strict=True))
        return sum(squares) / self.pairs

    @property
    def score_interval(self) -> tuple[float, float]:
        """The 95 % interval of the score: Wilson's (1927), for pairs.

        The variance of a pair is a share of the greatest that its mean allows, s (1 - s); that share is taken
        to hold for every true score of the interval. To take the variance itself for the true one, as is
        usual, promises too much where one side wins nearly everything: of simulated matches of 50 pairs in
        which it wins 97 % of the games, such intervals hold the truth in 86 %, these in 96 %.

        Where every pair came out alike the sample variance is 0 and says nothing. Then the interval holds
        every distribution of pairs that shows n like pairs at least once in forty times: any other result
        has a probability of at most q = 1 - 0.025^(1/n), and may score anything.
        """
        if not self.pairs:
            return 0.0, 1.0
        if self.variance == 0.0:
            q = 1 - 0.025 ** (1 / self.pairs)
            return self.score * (1 - q), self.score + (1 - self.score) * q
        z2 = Z95**2 * self.variance / (self.score * (1 - self.score)) / self.pairs
        middle = (self.score + z2 / 2) / (1 + z2)
        margin = sqrt(z2 * self.score * (1 - self.score) + z2**2 / 4) / (1 + z2)
        return middle - margin, middle + margin

    @property
    def elo(self) -> float:
        """Elo difference, first engine minus second."""
        return elo_of_score(self.score)

    @property
    def elo_interval(self) -> tuple[float, float]:
        """The 95 % interval of `elo`; an end is infinite where the score's interval leaves (0, 1)."""
        low, high = self.score_interval
        return elo_of_score(low), elo_of_score(high)

    @property
    def elo_error(self) -> float:
        """Half the width of `elo_interval`, the number after the ± sign; may be infinite."""
        low, high = self.elo_interval
        return (high - low) / 2

    @property
    def normalised_elo(self) -> float:
        """Elo in units that do not depend on the draw rate; infinite where every pair came out alike, unless
        they were all even.
        """
        if self.variance == 0.0:
            return 0.0 if self.score == 0.5 else copysign(inf, self.score - 0.5)
        return (self.score - 0.5) / sqrt(2 * self.variance) * NORMALISED_ELO

    @property
    def normalised_elo_error(self) -> float:
        """Half the width of the 95 % interval of `normalised_elo`; infinite while the variance is 0."""
        return Z95 / sqrt(2 * self.pairs) * NORMALISED_ELO if self.variance else inf

    @property
    def los(self) -> float:
        """Likelihood of superiority: probability that the first engine is the stronger one, in [0, 1].

        The normal approximation, except where every pair came out alike: then the sign test, 1 - 2^-(n+1).
        """
        if self.variance == 0.0:
            if self.score == 0.5:
                return 0.5
            unlucky = 0.5 ** (self.pairs + 1)
            return 1 - unlucky if self.score > 0.5 else unlucky
        z = (self.score - 0.5) / sqrt(self.variance / self.pairs)
        return 0.5 * erfc(-z / sqrt(2))
