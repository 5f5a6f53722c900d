"""The answer to `go mate`: a mate by the side to move, within time and memory."""

from collections.abc import Callable
from math import inf

from goryu.implementation import IMPLEMENTATION, solve
from goryu.players.reply_mates import SHORTENING_NODES
from goryu.players.request import Request, SearchControl
from goryu.search.mates.mate import Mate

BYTES_PER_MATE_ENTRY = {"python": 300, "native": 80}
"""Memory of an entry in the table of the mate search: 73 bytes in C++ while the table grows, then 49."""

MOST_MATE_ENTRIES = 1 << 21
"""Freeing entries of a larger table would take so long that `go mate` would answer late."""

UNLIMITED = 1 << 62
"""More positions than a mate search can expand."""

MATE_MARGIN_MS = 10.0
"""How long before the end of its time a mate search stops, to answer in time."""


def go_mate(
    request: Request, control: SearchControl, limit_ms: float | None, clock: Callable[[], float]
) -> Mate:
    """Searches for at most `limit_ms`; None for no limit. clock: seconds, as in the request."""
    deadline_s = inf if limit_ms is None else request.started_s + (limit_ms - MATE_MARGIN_MS) / 1000
    return solve(
        request.board,
        UNLIMITED,
        lambda: control.is_stopped or clock() >= deadline_s,
        SHORTENING_NODES,
        _mate_entries(request.config.hash_bytes(uses_gpu=False)),
    )


def _mate_entries(memory_bytes: int) -> int:
    """Returns the capacity of a mate search's table: a power of two, which the native table fills best."""
    entries = min(memory_bytes // BYTES_PER_MATE_ENTRY[IMPLEMENTATION], MOST_MATE_ENTRIES)
    return 1 << max(entries.bit_length() - 1, 0)
