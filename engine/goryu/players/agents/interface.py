"""The interface of a search for a session. `Puct` has it; the modules here give it to the other searches."""

from collections.abc import Callable, Sequence
from typing import Protocol

from goryu.games.state import Move
from goryu.implementation import Board
from goryu.search.result import SearchResult, SearchStats

ShouldStop = Callable[[SearchStats], bool]


class Searcher(Protocol):
    """A search of one position at a time."""

    def search(
        self,
        state: Board,
        should_stop: ShouldStop,
        *,
        max_playouts: int | None = None,
        root_moves: Sequence[Move] | None = None,
    ) -> SearchResult:
        """Searches until `should_stop` returns True, `max_playouts` are done, or nothing is left to search.

        `state` must have a legal move and is left as it was. At the root only `root_moves` are considered, if
        given.
        """
        ...

    def result(self, lines: int = 1) -> SearchResult:
        """Returns the answer so far; at least the first `lines` moves have their full continuation."""
        ...

    def stats(self) -> SearchStats:
        """Returns the counters so far."""
        ...


def make_stats(nodes: int, *, depth: int = 0, max_depth: int = 0, is_proven: bool = False) -> SearchStats:
    """Returns the counters of a search that keeps no table of positions and no visit counts.

    nodes: what the search counts, such as positions or random games.
    """
    return SearchStats(
        playouts=nodes,
        evaluations=nodes,
        best_visits=0,
        second_visits=0,
        depth=depth,
        max_depth=max_depth,
        nodes=nodes,
        capacity=0,
        is_proven=is_proven,
        is_exhausted=False,
    )


def considered_moves(state: Board, root_moves: Sequence[Move] | None) -> list[Move]:
    """Returns the legal moves that the search may play, in their usual order."""
    return [move for move in state.legal_moves() if root_moves is None or move in root_moves]
