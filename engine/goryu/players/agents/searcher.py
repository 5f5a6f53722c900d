"""A search for a session: its interface, and the frame that the searches of the textbook share.

`graph_search.py` has that of the engine's own search.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from sys import maxsize
from typing import Protocol

from goryu.games.state import Move
from goryu.implementation import Board
from goryu.players.agents.watched import InterruptedSearch
from goryu.search.result import SearchResult, SearchStats

ShouldStop = Callable[[SearchStats], bool]

UNLIMITED = maxsize
"""More playouts than any search makes."""


class Searcher(Protocol):
    """A search of one position at a time."""

    @abstractmethod
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

    @abstractmethod
    def result(self, lines: int = 1) -> SearchResult:
        """Returns the answer so far; at least the first `lines` moves have their full continuation."""

    @abstractmethod
    def stats(self) -> SearchStats:
        """Returns the counters so far."""

    def has_found_something(self, state: Board) -> bool:
        """Has the search of a position found something, so that an error need not lose it?"""
        return self.stats().playouts > 0


class TextbookSearcher(Searcher):
    """A `Searcher` around an algorithm of the textbook, which knows neither clock nor limits.

    draw_value_first: the value of a draw for black.
    """

    draw_value_first = 0.0

    def search(
        self,
        state: Board,
        should_stop: ShouldStop,
        *,
        max_playouts: int | None = None,
        root_moves: Sequence[Move] | None = None,
    ) -> SearchResult:
        """Searches as a `Searcher`; a subclass says what its playouts are."""
        moves = [move for move in state.legal_moves() if root_moves is None or move in root_moves]
        most = UNLIMITED if max_playouts is None else max_playouts
        with suppress(InterruptedSearch):
            self._search(state, moves, lambda: should_stop(self.stats()), most)
        return self.result()

    @abstractmethod
    def _search(self, state: Board, moves: list[Move], should_stop: Callable[[], bool], most: int) -> None:
        """Searches from nothing; may raise InterruptedSearch.

        moves: those to consider, in their usual order. most: the limit of playouts.
        """


def make_stats(nodes: int, *, depth: int = 0, max_depth: int = 0, is_proven: bool = False) -> SearchStats:
    """Returns the counters of a search that keeps no table of positions and no visit counts.

    nodes: what the search counts, such as positions or random games.
    """
    return SearchStats(
        playouts=nodes,
        evaluations=nodes,
        depth=depth,
        max_depth=max_depth,
        nodes=nodes,
        capacity=0,
        is_proven=is_proven,
        is_exhausted=False,
    )
