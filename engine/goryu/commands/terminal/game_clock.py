"""A clock for a game at the terminal: main time, byoyomi (秒読み) and increment for each side."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from goryu.base.language import tr
from goryu.players.clock.limits import Limits


@dataclass(frozen=True, slots=True)
class ClockConfig:
    """The times of each side in seconds; byoyomi is for every move after the main time."""

    main_s: float
    byoyomi_s: float = 0.0
    increment_s: float = 0.0


class GameClock:
    """Counts down for the side to move.

    now: returns seconds, monotonic.
    """

    def __init__(self, config: ClockConfig, now: Callable[[], float] = monotonic) -> None:
        self.config = config
        self._now = now
        self._left_s = [config.main_s, config.main_s]
        self._side = 0
        self._started_s: float | None = None
        self.seconds = 0.0  # That the last move took.

    def start(self, side: int) -> None:
        """Starts the clock of a side."""
        self._side, self._started_s = side, self._now()

    def stop(self) -> bool:
        """Stops the clock after a move; returns whether the move came in time."""
        if self._started_s is None:
            return True
        self.seconds = self._now() - self._started_s
        over_s = self.seconds - self._left_s[self._side]
        self._started_s = None
        self._left_s[self._side] = max(0.0, -over_s)
        if over_s > self.config.byoyomi_s:
            return False
        self._left_s[self._side] += self.config.increment_s
        return True

    def limits(self) -> Limits:
        """Returns the limits of a search, as a GUI sends them."""
        black_ms, white_ms = (1000 * left for left in self._left_s)
        increment_ms = 1000 * self.config.increment_s
        return Limits(
            time_ms=(black_ms, white_ms),
            increment_ms=(increment_ms, increment_ms),
            byoyomi_ms=1000 * self.config.byoyomi_s,
        )

    def text(self, side: int) -> str:
        """Returns the time that a side has left for this move, such as `9:58` or `byoyomi 30 s`."""
        left_s = self._left_s[side]
        if left_s < 1 and self.config.byoyomi_s:
            return tr("byoyomi {seconds:g} s", seconds=self.config.byoyomi_s)
        minutes, seconds = divmod(int(left_s), 60)
        return f"{minutes}:{seconds:02}"
