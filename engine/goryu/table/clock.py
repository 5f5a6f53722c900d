"""The clocks of a game: main time, byoyomi (秒読み) and increment for each side, in seconds."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from goryu.players.clock.limits import Limits


@dataclass(frozen=True, slots=True)
class ClockConfig:
    """Seconds of main time, for each move after it (byoyomi), and added after each move (Fischer)."""

    main_s: float
    byoyomi_s: float = 0.0
    increment_s: float = 0.0


class Clocks:
    """The clocks of both sides.

    left_s: the main time of each side when its clock last stood still. After a pause in byoyomi it is
        negative: what was used of the byoyomi stays used.
    now: returns seconds, monotonic.
    """

    def __init__(self, config: ClockConfig, now: Callable[[], float] = monotonic) -> None:
        self.config = config
        self.left_s = (config.main_s, config.main_s)
        self.running: int | None = None
        """The side whose time runs, or None."""
        self._now = now
        self._started_s = 0.0

    def start(self, side: int) -> None:
        """Lets a side's time run, unless a clock runs already."""
        if self.running is None:
            self.running, self._started_s = side, self._now()

    def stop(self) -> None:
        """Stops the time without a move; what was used counts."""
        self.left_s = self.main_left_s()
        self.running = None

    def press(self) -> None:
        """Ends the move of the side whose time runs: byoyomi begins anew, and the increment is added."""
        side = self.running
        self.stop()
        if side is not None:
            left_s = list(self.left_s)
            left_s[side] = max(0.0, left_s[side]) + self.config.increment_s
            self.left_s = left_s[0], left_s[1]

    def main_left_s(self) -> tuple[float, float]:
        """Returns the main time that both sides have left at this moment; negative while byoyomi runs."""
        used_s = 0.0 if self.running is None else self._now() - self._started_s
        black, white = (left - used_s * (side == self.running) for side, left in enumerate(self.left_s))
        return black, white

    def budget_s(self, side: int) -> float:
        """Returns the seconds after which the side loses on time."""
        return self.main_left_s()[side] + self.config.byoyomi_s

    def limits(self, side: int) -> Limits:
        """Returns the limits of a search for a side whose clock has just started, as a GUI sends them."""
        black_ms, white_ms = (1000 * max(0.0, left) for left in self.left_s)
        increment_ms = 1000 * self.config.increment_s
        byoyomi_s = self.config.byoyomi_s + min(0.0, self.left_s[side])
        return Limits((black_ms, white_ms), (increment_ms, increment_ms), 1000 * max(0.0, byoyomi_s))
