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

from goryu.base.config_fields import check_ranges, ranged


@dataclass(frozen=True, slots=True)
class WindowRule:
    """KataGo's c, beta and alpha; KataGo's c is 250,000. Raises InputError for impossible numbers."""

    window_start: int = ranged(20_000, "positions of the first window, and before the first training")
    window_growth: float = ranged(
        0.4, "how much the window gains for every new position at first", least=0, most=1
    )
    window_exponent: float = ranged(0.75, "power of all positions by which the window grows later", most=1)

    def __post_init__(self) -> None:
        check_ranges(self)

    def size(self, positions: int) -> int:
        """Returns the size of the window, in positions, after `positions` positions were played.

        >>> WindowRule(250_000).size(250_000), WindowRule(250_000).size(1_000_000)
        (250000, 493790)
        """
        if positions <= self.window_start:
            return self.window_start
        grown = ((positions / self.window_start) ** self.window_exponent - 1.0) / self.window_exponent
        return int(self.window_start * (1.0 + self.window_growth * grown))


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
