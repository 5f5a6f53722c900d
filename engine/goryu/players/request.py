"""A search request to a player, the control of the running search, and the answer."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

from goryu.games.state import Move
from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig
from goryu.search.result import SearchResult

if TYPE_CHECKING:  # A protocol imports this before the rules are loaded.
    from goryu.implementation import Board

OnProgress = Callable[[SearchResult, float], None]
"""A callback for a running search: its result so far, and the milliseconds since it began."""


@dataclass(frozen=True, slots=True)
class Request:
    """A search to run. started_s: when the clock was started (seconds of `perf_counter`)."""

    board: "Board"
    limits: Limits
    config: EngineConfig
    started_s: float


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request.

    move: the move to play; None to resign, or if there is no legal move.
    result: of the search, the played move first; None if there was no search.
    declares: win by declaration (入玉宣言) instead of a move.
    info_string: a message for the user, in one line.
    """

    move: Move | None
    ponder: Move | None = None
    result: SearchResult | None = None
    elapsed_ms: float = 0.0
    declares: bool = False
    info_string: str = ""


class SearchControl:
    """Lets the protocol's thread stop a search or start its clock; the search checks it between batches.

    Each search has its own, so that a `stop` that arrives before the search begins is not lost, and a late
    one does not stop the next search.
    """

    def __init__(self) -> None:
        self._signal = Event()
        self._stop_signal = Event()
        self._hit: tuple[Limits, float] | None = None

    @property
    def is_stopped(self) -> bool:
        """Has `stop` been called?"""
        return self._stop_signal.is_set()

    @property
    def hit(self) -> tuple[Limits, float] | None:
        """The limits since `ponderhit` and its time (seconds of `perf_counter`), or None before it."""
        return self._hit

    def stop(self) -> None:
        """Ends the search after the batch that is being evaluated."""
        self._stop_signal.set()
        self._signal.set()

    def ponderhit(self, limits: Limits, at_s: float) -> None:
        """Ends the pondering: from `at_s` on, the search uses our own time."""
        self._hit = (limits, at_s)
        self._signal.set()

    def wait(self) -> None:
        """Blocks until `stop` or `ponderhit`."""
        self._signal.wait()

    def wait_for_stop(self, most_s: float) -> None:
        """Blocks until `stop`, but no longer than `most_s` seconds."""
        self._stop_signal.wait(most_s)
