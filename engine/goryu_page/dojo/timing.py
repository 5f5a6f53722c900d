"""How long the page waits for what, and its clocks; one value for all tabs, which tests choose themselves."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic

from goryu.engines.usi_client import Timeouts

ENGINES = Timeouts(grace_s=5.0, quit_s=0.5)


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Timing:
    """The clocks, and the times in seconds.

    clock: never runs backwards. now: the time with its date.
    rest_s: background work rests so long after the last search of a tab: people often ask for another one.
    look_s: between two looks whether the machine is free, or another process has changed games or settings.
    folders_s: between two looks at the folders whose games are imported.
    settled_s: a file that has not changed for so long is whole.
    least_reply_s: an engine that answers at once moves its piece while the person's is still moving.
    thinking_s: for a move at full strength in a game without a clock.
    judge_s: a teaching game goes on without a judgement that takes longer.
    engines: of the user's engines. stop_s: one that does not answer `stop` in this time is killed.
    """

    clock: Callable[[], float] = monotonic
    now: Callable[[], datetime] = _now
    rest_s: float = 3.0
    look_s: float = 1.0
    folders_s: float = 5.0
    settled_s: float = 5.0
    least_reply_s: float = 0.35
    thinking_s: float = 5.0
    judge_s: float = 30.0
    engines: Timeouts = ENGINES
    stop_s: float = 1.0


TIMING = Timing()
