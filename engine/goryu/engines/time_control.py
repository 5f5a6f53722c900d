"""The limits of an engine in a match, its clock, and the `go` command with its times.

Times are milliseconds, measured by the referee. Sources of the forms of `go`: the USI draft; shogitest and
cshogi, which add the increment after the move, as this referee does. (ShogiHome adds it before the move, and
sends the time without it.)
"""

from dataclasses import dataclass, fields, replace

from goryu.base.config_fields import MOST_WHOLE, ranged
from goryu.base.errors import GoryuError

MOST_NODES = (1 << 63) - 1
"""Other engines search more than `MOST_WHOLE` nodes in a minute."""


class TimeControlError(GoryuError, ValueError):
    """A time control that cannot be read or played."""


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The limits of one engine; None for no limit.

    time, inc, byoyomi: main time, increment after each move, time for each move after the main time; in ms.
    movetime, nodes, depth: for every move; movetime in ms.
    """

    time: int | None = ranged(None, "main time of a game", least=0, most=MOST_WHOLE)
    inc: int | None = ranged(None, "increment after each move", least=0, most=MOST_WHOLE)
    byoyomi: int | None = ranged(None, "time for each move after the main time", least=0, most=MOST_WHOLE)
    movetime: int | None = ranged(None, "time for every move", least=1, most=MOST_WHOLE)
    nodes: int | None = ranged(None, "nodes for every move", least=1, most=MOST_NODES)
    depth: int | None = ranged(None, "depth of every search", least=1, most=MOST_WHOLE)

    @classmethod
    def parse(cls, text: str) -> "TimeControl":
        """Reads `name=value,...`.

        >>> TimeControl.parse("nodes=400,byoyomi=1000")
        TimeControl(time=None, inc=None, byoyomi=1000, movetime=None, nodes=400, depth=None)
        """
        names = [field.name for field in fields(cls)]
        values: dict[str, int] = {}
        for part in filter(None, text.split(",")):
            name, _, value = part.strip().partition("=")
            if name not in names or not value.isdecimal():
                known = ", ".join(names)
                raise TimeControlError(f"limits {text!r}: expected NAME=NUMBER, NAME one of {known}")
            values[name] = int(value)
        return cls(**values)

    def merged(self, other: "TimeControl") -> "TimeControl":
        """Returns these limits, replaced by those of `other` that are not None."""
        values = {field.name: getattr(other, field.name) for field in fields(other)}
        return replace(self, **{name: value for name, value in values.items() if value is not None})

    @property
    def has_clock(self) -> bool:
        """Does a clock run while the engine searches?"""
        return any(value is not None for value in (self.time, self.inc, self.byoyomi))

    @property
    def is_empty(self) -> bool:
        """Is there no limit at all?"""
        return all(getattr(self, field.name) is None for field in fields(self))

    def check(self, engine: str) -> None:
        """Raises TimeControlError if the engine of this name could not play a move."""
        if self.is_empty:
            raise TimeControlError(f"{engine} has no limit: expected --nodes, --byoyomi, --time or the like")
        if 0 in (self.movetime, self.nodes, self.depth):
            raise TimeControlError(f"{engine} ({self}) may do nothing: expected at least 1")
        if self.has_clock and not self.time and not self.byoyomi:
            raise TimeControlError(
                f"{engine} ({self}) has no time for its first move: expected time or byoyomi"
            )

    def __str__(self) -> str:
        parts = ((field.name, getattr(self, field.name)) for field in fields(self))
        return ",".join(f"{name}={value}" for name, value in parts if value is not None)


class Clock:
    """One engine's clock in one game."""

    def __init__(self, limits: TimeControl) -> None:
        self.limits = limits
        self.remaining_ms = limits.time or 0

    @property
    def budget_ms(self) -> int | None:
        """The most time that the next move may take, or None without a limit of time."""
        limits = self.limits
        clock = self.remaining_ms + (limits.byoyomi or 0) if limits.has_clock else None
        times = [time for time in (clock, limits.movetime) if time is not None]
        return min(times, default=None)

    def spend(self, elapsed_ms: int) -> int:
        """Takes the time of a move off the clock; returns by how many ms it exceeded the budget, or 0."""
        budget = self.budget_ms
        if self.limits.has_clock:
            self.remaining_ms = max(0, self.remaining_ms - elapsed_ms) + (self.limits.inc or 0)
        return max(0, elapsed_ms - budget) if budget is not None else 0


def go_command(turn: int, clocks: tuple[Clock, Clock]) -> str:
    """Returns the `go` line for the side to move (0 black, 1 white).

    If the opponent has no clock, the command gives it the same time as the side to move.

    >>> go_command(1, (Clock(TimeControl(time=60000)), Clock(TimeControl(time=5000, byoyomi=100))))
    'go btime 60000 wtime 5000 byoyomi 100'
    """
    own, opponent = clocks[turn], clocks[1 - turn]
    limits = own.limits
    words = ["go"]
    if limits.has_clock:
        other = opponent if opponent.limits.has_clock else own
        black, white = (own, other) if turn == 0 else (other, own)
        words += [f"btime {black.remaining_ms}", f"wtime {white.remaining_ms}"]
        if limits.inc is not None:
            words += [f"binc {black.limits.inc or 0}", f"winc {white.limits.inc or 0}"]
        if limits.byoyomi is not None or limits.inc is None:
            words.append(f"byoyomi {limits.byoyomi or 0}")
    for name in ("nodes", "depth", "movetime"):
        if (value := getattr(limits, name)) is not None:
            words.append(f"{name} {value}")
    return " ".join(words)
