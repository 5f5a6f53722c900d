"""The course of a search: does the move deserve more or less than its usual time?

    soft end = optimum * falling * instability * share

A search whose value falls has found a problem, and one whose best move changes is undecided: both go on. A
search whose best move has most of the visits seldom changes its mind: it ends.

    falling     = 1 + 40 * (mean of the values seen - value), in [0.6, 1.8]
    instability = 1 + ln(1 + 0.3 * changes of the best move), in [1, 3.2]
    share       = 2.5 - 4 * ln(1 + 0.55 * (share of the visits + 0.3)), in [0.55, 1.5]

Both memories fade: at each sample, twenty times in the optimum, the mean of the values moves half of the way
to the last one, and the changes count half. Monty looks at fixed numbers of playouts instead, and at
centipawns: 40 for a value in [-1, +1] is its 0.05 for a centipawn of an even position.

Limits: the numbers are those of a chess engine and were not tuned for shogi.
Sources: Monty's `soft_time_cutoff`; Stockfish's falling evaluation and best-move instability.
"""

from math import log1p

from goryu.search.result import SearchStats

__all__ = ["Course", "falling_factor", "instability_factor", "share_factor"]

SAMPLES = 20
"""Looks at the search in the optimum."""


def falling_factor(fall: float) -> float:
    """Returns the factor for a value that has fallen by `fall`, in [-2, +2], from its mean.

    >>> falling_factor(0.0), falling_factor(0.01), falling_factor(-1.0)
    (1.0, 1.4, 0.6)
    """
    return min(max(1.0 + 40.0 * fall, 0.6), 1.8)


def instability_factor(changes: float) -> float:
    """Returns the factor for a best move that has changed so often.

    >>> instability_factor(0)
    1.0
    """
    return min(1.0 + log1p(0.3 * changes), 3.2)


def share_factor(share: float) -> float:
    """Returns the factor for a best move with this share of the visits, in [0, 1].

    >>> [round(share_factor(share), 2) for share in (0.0, 0.3, 0.5, 0.7, 1.0)]
    [1.5, 1.36, 1.04, 0.75, 0.55]
    """
    return min(max(2.5 - 4.0 * log1p(0.55 * (share + 0.3)), 0.55), 1.5)


class Course:
    """Follows one search, from batch to batch."""

    def __init__(self, optimum_ms: float) -> None:
        """optimum_ms: the usual time of the move."""
        self._interval_ms = optimum_ms / SAMPLES
        self._next_ms = self._interval_ms
        self._mean_value: float | None = None
        self._best_move = -1
        self._changes = 0.0
        self._factor = 1.0

    def factor(self, stats: SearchStats, elapsed_ms: float) -> float:
        """Returns by what to multiply the optimum, after a batch; 1 before the first sample.

        stats: of the search; without visits of the root they change nothing.
        """
        if stats.visits == 0:
            return self._factor
        if self._best_move not in (stats.best_move, -1):
            self._changes += 1.0
        self._best_move = stats.best_move
        if elapsed_ms >= self._next_ms:
            self._next_ms = elapsed_ms + self._interval_ms
            self._sample(stats)
        return self._factor

    def _sample(self, stats: SearchStats) -> None:
        mean = stats.value if self._mean_value is None else self._mean_value
        self._factor = (
            falling_factor(mean - stats.value)
            * instability_factor(self._changes)
            * share_factor(stats.best_visits / stats.visits)
        )
        self._mean_value = (mean + stats.value) / 2
        self._changes /= 2
