"""What is asked of a player, how it is held in check meanwhile, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

from goryu.games.state import Move
from goryu.players.config import EngineConfig
from goryu.players.limits import Limits
from goryu.search.result import SearchResult

if TYPE_CHECKING:  # A protocol can speak of searches before the rules are loaded.
    from goryu.implementation import Board

__all__ = ["Answer", "Report", "Request", "SearchControl"]

Report = Callable[[SearchResult, float], None]
"""Called with what a running search has found and the milliseconds since it began."""


@dataclass(frozen=True, slots=True)
class Request:
    """One search to be made. started_s: when the clock began to run (seconds, monotonic)."""

    board: "Board"
    limits: Limits
    config: EngineConfig
    started_s: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What to answer.

    move: the move to play; None to resign, or if there is no legal move.
    result: what the search found, the played move first; None if there was no search.
    declares: win by declaration (入玉宣言) instead of a move.
    remark: a message for the user, in one line.
    """

    move: Move | None
    ponder: Move | None = None
    result: SearchResult | None = None
    elapsed_ms: float = 0.0
    declares: bool = False
    remark: str = ""


class SearchControl:
    """The reins of one search: held by the protocol's thread, felt by the search between two batches.

    Each search has its own, so that a `stop` that arrives before the search has begun is not lost
    and one that arrives too late cannot hurt the next search.
    """

    def __init__(self) -> None:
        self._signal = Event()
        self._is_stopped = False
        self._hit: tuple[Limits, float] | None = None

    @property
    def is_stopped(self) -> bool:
        """Has the search been told to stop?"""
        return self._is_stopped

    @property
    def hit(self) -> tuple[Limits, float] | None:
        """The limits in force since `ponderhit` and the time of it (seconds, monotonic), or None before."""
        return self._hit

    def stop(self) -> None:
        """Ends the search as soon as the batch in flight is back."""
        self._is_stopped = True
        self._signal.set()

    def ponderhit(self, limits: Limits, at_s: float) -> None:
        """Ends the pondering: from `at_s` on, the search runs on our own clock."""
        self._hit = (limits, at_s)
        self._signal.set()

    def wait(self) -> None:
        """Blocks until `stop` or `ponderhit`."""
        self._signal.wait()
