"""Which games the training reads: a window that grows with the run, by KataGo's rule.

Early games are bad games and should be forgotten soon; later the games improve slowly, and more of them make
better networks. So the window grows, but by a power below 1 of all positions played so far.

The training also waits for its share of games: if it took more samples than `reuse` for each position played,
it would learn the games by heart.

Source: D. Wu, "Accelerating Self-Play Learning in Go", 2019 (the window), and the option
`-max-train-bucket-per-new-data` of KataGo's train.py (the share).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from goryu.base.errors import InputError


@dataclass(frozen=True, slots=True)
class WindowRule:
    """The numbers of the rule; the defaults are KataGo's. Raises InputError for impossible numbers.

    start: positions of the first window (KataGo's c). growth: how much of every new position the window gains
    at first (beta). exponent: the power by which it grows later, above 0 and at most 1 (alpha).
    """

    start: int = 250_000
    growth: float = 0.4
    exponent: float = 0.75

    def __post_init__(self) -> None:
        if self.start < 1:
            raise InputError(f"window_start: expected at least 1 position, received {self.start}")
        if not 0.0 <= self.growth <= 1.0:
            raise InputError(f"window_growth: expected a number from 0 to 1, received {self.growth:g}")
        if not 0.0 < self.exponent <= 1.0:
            raise InputError(f"window_exponent: expected more than 0, at most 1: {self.exponent:g}")

    def size(self, positions: int) -> int:
        """Returns the size of the window, in positions, after `positions` positions were played.

        >>> WindowRule().size(250_000), WindowRule().size(1_000_000)
        (250000, 493790)
        """
        if positions <= self.start:
            return self.start
        grown = ((positions / self.start) ** self.exponent - 1.0) / self.exponent
        return int(self.start * (1.0 + self.growth * grown))


def newest(sizes: Sequence[int], wanted: int) -> int:
    """Returns how many of the last files make a window of at least `wanted` positions (or all of them).

    sizes: the positions of the files, oldest first.

    >>> newest([50, 20, 40, 30], 60), newest([10, 10], 60)
    (2, 2)
    """
    held = count = 0
    for size in reversed(sizes):
        if held >= wanted:
            break
        held += size
        count += 1
    return count


def positions_needed(number: int, samples: int, reuse: float, start: int) -> int:
    """Returns the positions that must have been played before candidate `number` (from 1) is trained.

    samples: positions that the training of one candidate draws. reuse: most samples for each position.

    >>> positions_needed(1, 1000, 4.0, 600), positions_needed(5, 1000, 4.0, 600)
    (600, 1250)
    """
    return max(start, -int(-number * samples // reuse))
