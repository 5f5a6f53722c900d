"""Pi by random points: the smallest Monte Carlo method.

Of random points in a square, the share pi / 4 falls into the circle that touches its sides. Counting them
estimates pi as a search estimates the value of a move by counting won games.

Weakness: the error falls with the square root of the number: a digit more takes a hundred times the points.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from random import Random


@dataclass(frozen=True, slots=True)
class Estimate:
    """Pi from some points, and its standard error."""

    points: int
    pi: float
    error: float


def estimates(points: int, rng: Random) -> Iterator[Estimate]:
    """Yields the estimate after 10, 100, 1,000, ... points and after the last one."""
    inside, report_at = 0, 10
    for count in range(1, points + 1):
        inside += rng.random() ** 2 + rng.random() ** 2 < 1.0
        if count in (report_at, points):
            share = inside / count
            yield Estimate(count, 4.0 * share, 4.0 * sqrt(share * (1.0 - share) / count))
            report_at = 10 * count
