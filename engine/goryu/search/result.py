"""What a search reports: its counters (`SearchStats`) and its answer (`SearchResult`)."""

from dataclasses import dataclass
from typing import NamedTuple

from goryu.games.state import Move

__all__ = ["RootMove", "SearchResult", "SearchStats"]


class SearchStats(NamedTuple):
    """The counters of a search, between two batches. A tuple, because each batch makes one.

    playouts: playouts completed by this search (visits inherited from earlier searches are not counted).
    evaluations: positions that this search sent to the evaluator, without a new root. USI calls them nodes.
    depth, max_depth: mean (rounded) and greatest length of this search's playouts, in plies.
    nodes, capacity: nodes in the table, and how many it may hold.
    is_proven: is the root's value certain?
    is_exhausted: has the root no move left that is worth a playout?
    hashfull: how full the table is, in thousandths, by nodes or by bytes.
    best_index: index among all moves of the root of the one that would be played now, if those whose value is
        certain are left out; -1 if none has visits, or if the search does not know it.
    lead: how many of the next playouts another move would need to be played instead (`final_move.contest`);
        None if the search does not know it.
    """

    playouts: int
    evaluations: int
    depth: int
    max_depth: int
    nodes: int
    capacity: int
    is_proven: bool
    is_exhausted: bool
    hashfull: int = 0
    best_index: int = -1
    lead: int | None = None


@dataclass(frozen=True, slots=True)
class RootMove:
    """One move of the root.

    prior: the policy's probability, in [0, 1].
    visits: playouts through this move, inherited ones included.
    value: expected result for the side to move at the root, in [-1, +1].
    mate: plies to the proven end, +n if the side to move at the root wins, -n if it loses
        (n counts this move); None while nothing is proven.
    pv: the expected continuation; pv[0] is `move`.
    is_certain: is the value proven, or does the move repeat a position? Then it gets no more playouts.
    """

    move: Move
    prior: float
    visits: int
    value: float
    mate: int | None
    pv: tuple[Move, ...]
    is_certain: bool = False


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer of a search.

    moves: the root's moves (only the searched ones if `root_moves` was given), the best first;
        empty if the root has no legal move. Only the first `lines` of them carry a full pv.
    value: expected result for the side to move at the root, in [-1, +1].
    """

    moves: tuple[RootMove, ...]
    value: float
    stats: SearchStats

    @property
    def move(self) -> Move | None:
        """The best move, or None if there is no legal move."""
        return self.moves[0].move if self.moves else None

    @property
    def ponder(self) -> Move | None:
        """The expected reply to the best move, if the search saw one."""
        return self.moves[0].pv[1] if self.moves and len(self.moves[0].pv) > 1 else None
