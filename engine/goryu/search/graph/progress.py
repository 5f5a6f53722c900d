"""The counters of one search."""

from dataclasses import dataclass
from math import inf

from goryu.search.graph.node import UNKNOWN, Node
from goryu.search.graph.node_table import NodeTable
from goryu.search.result import SearchStats

__all__ = ["Progress"]


@dataclass(slots=True)
class Progress:
    """Counts playouts and evaluations, up to `max_playouts` and `max_evaluations`."""

    max_playouts: float = inf
    max_evaluations: float = inf
    playouts: int = 0
    evaluations: int = 0
    depth_sum: int = 0
    max_depth: int = 0
    is_exhausted: bool = False

    def has_room(self, waiting: int) -> bool:
        """May one more playout start while `waiting` others wait for their evaluation?"""
        return (
            self.playouts + waiting < self.max_playouts and self.evaluations + waiting < self.max_evaluations
        )

    def add(self, depth: int) -> None:
        """Counts a completed playout of `depth` plies."""
        self.playouts += 1
        self.depth_sum += depth
        self.max_depth = max(self.max_depth, depth)

    def stats(self, table: NodeTable, root: Node | None) -> SearchStats:
        """Returns the counters, with the state of the table and the root, but without its moves."""
        return SearchStats(
            playouts=self.playouts,
            evaluations=self.evaluations,
            depth=int(self.depth_sum / max(1, self.playouts) + 0.5),
            max_depth=self.max_depth,
            nodes=len(table),
            capacity=table.memory.capacity,
            is_proven=root is not None and root.proof != UNKNOWN,
            is_exhausted=self.is_exhausted,
            hashfull=table.memory.hashfull,
        )
