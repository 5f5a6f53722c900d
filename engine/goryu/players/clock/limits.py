"""The limits of a search that the parameters of `go` can set, in milliseconds."""

from dataclasses import dataclass

from goryu.games.state import Move

DEFAULT_MOVETIME_MS = 1000.0
"""The time for a `go` without any limit: its sender would wait for ever for an endless search."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one search; if there are several, the first one reached ends it.

    time_ms: the time left to (black, white), or None if no clock was sent.
    increment_ms: the time that each clock gains for each move. With some GUIs (Shogidokoro, ShogiHome) it is
        available for this move in addition to `time_ms`; match programs and servers add it after the move.
    byoyomi_ms: byoyomi (秒読み): the time for every move once the main time is used up.
    movetime_ms: exactly this time; rtime_ms: a random time between one and three times this.
    nodes: positions that this search evaluates. depth: plies of its longest playout.
    infinite: until `stop`. ponder: on the opponent's time, until `ponderhit` or `stop`.
    root_moves: the only moves to consider; empty for all.
    """

    time_ms: tuple[float, float] | None = None
    increment_ms: tuple[float, float] = (0.0, 0.0)
    byoyomi_ms: float = 0.0
    movetime_ms: float | None = None
    rtime_ms: float | None = None
    nodes: int | None = None
    depth: int | None = None
    infinite: bool = False
    ponder: bool = False
    root_moves: tuple[Move, ...] = ()

    @property
    def is_open(self) -> bool:
        """Must the answer wait for `stop` or `ponderhit`?"""
        return self.infinite or self.ponder

    @property
    def is_timed(self) -> bool:
        """Does a clock, ours or the GUI's, end this search?"""
        return self.time_ms is not None or self.movetime_ms is not None or self.rtime_ms is not None

    @property
    def is_unlimited(self) -> bool:
        """Is there no limit that would ever end this search?"""
        return not (self.is_timed or self.infinite or self.nodes is not None or self.depth is not None)
