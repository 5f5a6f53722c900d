"""The engine's own search as a session sees it: with a limit of nodes, a known mate, and a kept graph."""

from collections.abc import Sequence
from dataclasses import replace

from goryu.games.state import Move
from goryu.implementation import Board, Puct
from goryu.players.agents.searcher import Searcher, ShouldStop
from goryu.players.kept_graph import is_root
from goryu.players.search_end import PLAYOUTS_PER_NODE
from goryu.search.result import SearchResult, SearchStats

MOST_VISITS = 1 << 31
"""The native graph counts visits in 32 bits; an analysis of a solved position gets there in an hour."""


class GraphSearch(Searcher):
    """A search of the graph for one session.

    mating_line: a mate at the root that is not the answer by itself; the result shows it whole.
    """

    def __init__(self, puct: Puct) -> None:
        self.puct = puct
        self.mating_line: tuple[Move, ...] = ()

    def search(
        self,
        state: Board,
        should_stop: ShouldStop,
        *,
        max_playouts: int | None = None,
        root_moves: Sequence[Move] | None = None,
    ) -> SearchResult:
        """Searches as a `Searcher`; `max_playouts` is a number of evaluations."""
        node = self.puct.table.find(state.key)
        inherited = node.total_visits if node is not None else 0
        is_mate_added = not self.mating_line

        def must_stop(stats: SearchStats) -> bool:
            nonlocal is_mate_added
            if stats.playouts and not is_mate_added:
                # Before the first playout there is no root. While another thread evaluates the position after
                # the mate's first move it cannot be added: a later batch tries again.
                is_mate_added = self.puct.add_mate(state, self.mating_line)
            return inherited + stats.playouts >= MOST_VISITS or should_stop(stats)

        return self.puct.search(
            state,
            must_stop,
            max_playouts=None if max_playouts is None else max_playouts * PLAYOUTS_PER_NODE,
            max_evaluations=max_playouts,
            root_moves=root_moves,
        )

    def result(self, lines: int = 1) -> SearchResult:
        """Returns the answer so far, the first `lines` moves with their continuations."""
        result, line = self.puct.result(lines), self.mating_line
        moves = (replace(move, pv=line) if line[:1] == (move.move,) else move for move in result.moves)
        return replace(result, moves=tuple(moves))

    def stats(self) -> SearchStats:
        """Returns the counters so far."""
        return self.puct.stats()

    def has_found_something(self, state: Board) -> bool:
        """Has this search found something? An earlier search of the position does not count."""
        return is_root(self.puct, state) and self.puct.stats().evaluations > 0
