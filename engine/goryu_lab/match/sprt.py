"""The generalised sequential probability ratio test on pairs of games: it ends a match as soon as it can.

The test compares two hypotheses about the difference in strength, elo0 and elo1, by the logarithm of the
ratio of their likelihoods (LLR). The likelihood of a hypothesis is that of the distribution of pair scores
that explains the results best, among those with this difference in strength. The match ends when the LLR
leaves (ln(beta / (1 - alpha)), ln((1 - beta) / alpha)).

`SequentialTest` is a test in progress. Where several pairs are played at a time, they must count in the order
of their numbers. If they counted as they end, short games would count first, and the LLR could come back from
behind a bound.

Elo is *normalised* by default (in standard deviations of a game) or *logistic* (the usual rating).
Source: M. Van den Bergh, "The generalized maximum likelihood ratio for the expectation value of a
distribution" and "Comments on normalized Elo", the mathematics of fishtest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from typing import Literal

from goryu.base.config_fields import option
from goryu.base.errors import GoryuError
from goryu_lab.match.match_statistics import NORMALISED_ELO, PAIR_SCORES, MatchStatistics, score_of_elo

Hypothesis = Literal["elo0", "elo1"]

EMPTY_CELL = 1e-3
"""The count of a pair score that did not occur, so that no hypothesis is impossible (as in fastchess)."""

MAX_ELO = {"normalized": 200, "logistic": 1000}
"""With more, the iteration of `fit_t` may not converge (it failed from 250 on), and the expected score in
`fit_mean` is so close to 1 that it may be rounded to 1."""


class SprtError(GoryuError, ValueError):
    """A test with impossible numbers."""


@dataclass(frozen=True, slots=True)
class Sprt:
    """A test of elo1 against elo0.

    elo_kind: of the bounds.
    """

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = option(0.05, "chance to accept ELO1 if ELO0 is true")
    beta: float = option(0.05, "chance to accept ELO0 if ELO1 is true")
    elo_kind: Literal["normalized", "logistic"] = option("normalized", "kind of Elo of --sprt")

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise SprtError(f"SPRT of {self.elo0:g} against {self.elo1:g} Elo: expected the lower one first")
        kind = f"{self.elo_kind} Elo"
        if max(-self.elo0, self.elo1) > (most := MAX_ELO[self.elo_kind]):
            raise SprtError(f"SPRT [{self.elo0:g}, {self.elo1:g}]: expected at most {most} {kind}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise SprtError(f"alpha {self.alpha:g}, beta {self.beta:g}: expected numbers between 0 and 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """The LLRs at which elo0 and elo1 are accepted."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)

    def llr(self, statistics: MatchStatistics) -> float:
        """Returns the log-likelihood ratio of elo1 over elo0; 0 before the first pair."""
        if not statistics.pairs:
            return 0.0
        counts = [count or EMPTY_CELL for count in statistics.pentanomial]
        total = sum(counts)
        seen = [count / total for count in counts]
        if self.elo_kind == "logistic":
            fit0 = fit_mean(seen, PAIR_SCORES, score_of_elo(self.elo0))
            fit1 = fit_mean(seen, PAIR_SCORES, score_of_elo(self.elo1))
        else:
            # The deviation of a pair's score is that of a game divided by sqrt(2), so t is sqrt(2) larger.
            fit0 = fit_t(seen, self.elo0 * sqrt(2) / NORMALISED_ELO)
            fit1 = fit_t(seen, self.elo1 * sqrt(2) / NORMALISED_ELO)
        return total * sum(p * log(p1 / p0) for p, p0, p1 in zip(seen, fit0, fit1, strict=True))


@dataclass(slots=True)
class SequentialTest:
    """A test in progress.

    statistics, llr: of the pairs that have counted. verdict: the accepted hypothesis, or None while the match
        must go on.
    """

    sprt: Sprt
    statistics: MatchStatistics = field(default_factory=MatchStatistics)
    llr: float = 0.0
    verdict: Hypothesis | None = None

    def add(self, points: Sequence[float]) -> None:
        """Counts the first engine's points in the two games of the next pair, unless there is a verdict."""
        if self.verdict is not None:
            return
        self.statistics = self.statistics.with_pair(points)
        self.llr = self.sprt.llr(self.statistics)
        lower, upper = self.sprt.bounds
        self.verdict = "elo1" if self.llr >= upper else "elo0" if self.llr <= lower else None


def fit_mean(seen: Sequence[float], values: Sequence[float], mean: float) -> list[float]:
    """Returns the likeliest distribution over `values` with the given mean.

    Its probabilities are seen[i] / (1 + x (values[i] - mean)). The mean is right for one x only, the root of
    a decreasing function. Bisection finds it, in the range where no probability exceeds 1, as exactly as
    numbers can be.
    """
    offsets = [value - mean for value in values]
    low = max((p - 1) / d for p, d in zip(seen, offsets, strict=True) if d > 0)
    high = min((p - 1) / d for p, d in zip(seen, offsets, strict=True) if d < 0)
    while True:
        x = (low + high) / 2
        excess = sum(p * d / (1 + x * d) for p, d in zip(seen, offsets, strict=True))
        last = low, high
        low, high = (x, high) if excess > 0 else (low, x)
        if (low, high) == last:
            break
    return [p / (1 + x * d) for p, d in zip(seen, offsets, strict=True)]


def fit_t(seen: Sequence[float], t: float) -> list[float]:
    """Returns the likeliest distribution over the pair scores with (mean - 1/2) / deviation = t.

    The condition is not linear in the probabilities. Each round replaces it by its tangent at the last fit,
    the condition that the mean of a transformed score is 0.
    """
    fit = [1 / len(seen)] * len(seen)
    for _ in range(100):
        last = fit
        mean = sum(p * s for p, s in zip(fit, PAIR_SCORES, strict=True))
        deviation = sqrt(sum(p * (s - mean) ** 2 for p, s in zip(fit, PAIR_SCORES, strict=True)))
        tangent = [s - 0.5 - t * deviation * (1 + ((s - mean) / deviation) ** 2) / 2 for s in PAIR_SCORES]
        fit = fit_mean(seen, tangent, 0.0)
        if max(abs(p - q) for p, q in zip(fit, last, strict=True)) < 1e-12:
            break
    return fit
