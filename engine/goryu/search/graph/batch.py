"""A batch: the new positions that wait together for one call of the evaluator.

Evaluators are fastest on many positions at once, but each playout of a batch chooses its path without the
answers to the others. So a batch is small while the tree is small.

A *collision* is a playout that reaches a position already in the batch. It stays in flight until the batch
is full, so that later playouts avoid that path. A batch may have 4 collisions for each of its positions, but
only a quarter of the root's visits: the larger the tree, the less it minds blind choices (lc0's idea). A
small batch, all that a CPU needs, ends at the first collision.

A *free* playout ends where no evaluation is needed: at a proven position, a repetition, or a position that
other paths have visited more often than this one.
"""

from enum import Enum, auto

from goryu.games.state import State
from goryu.search.graph.node import Node

__all__ = ["Batch", "Descent", "Path"]

FREE_PLAYOUTS = 2.4
"""The most free playouts per position of a batch (lc0's number)."""

VISITS_PER_POSITION = 16
"""A batch has at most a sixteenth of the root's visits; with more, early choices would be made blindly."""

LEAST_BATCH_WITH_COLLISIONS = 8
COLLISIONS_PER_POSITION = 4
VISITS_PER_COLLISION = 4

Path = list[tuple[Node, int]]
"""The (node, move index) pairs from the root down to a leaf."""


class Descent(Enum):
    """How a walk down ended."""

    NEW = auto()  # At a position that needs an evaluation.
    FREE = auto()  # Where none is needed; the playout has been backed up.
    COLLISION = auto()  # At a position that waits already; it will be cancelled.
    STUCK = auto()  # At the root: no move is open.


class Batch:
    """The positions gathered so far, with the paths to them, and what else happened on the way."""

    def __init__(self, batch_size: int, root_visits: int) -> None:
        """batch_size: the most positions."""
        self.leaves: dict[int, tuple[State, Path]] = {}  # By key.
        self._limit = min(batch_size, max(1, root_visits // VISITS_PER_POSITION))
        self._free = 0
        self._collided: list[Path] = []
        self._collisions_allowed = 0
        if self._limit >= LEAST_BATCH_WITH_COLLISIONS:
            self._collisions_allowed = min(
                COLLISIONS_PER_POSITION * self._limit, root_visits // VISITS_PER_COLLISION
            )

    @property
    def is_full(self) -> bool:
        """May no other playout start?"""
        return (
            len(self.leaves) >= self._limit
            or self._free >= FREE_PLAYOUTS * self._limit
            or len(self._collided) > self._collisions_allowed
        )

    def note(self, descent: Descent, state: State, path: Path) -> None:
        """Notes how a walk along `path` ended, in `state`."""
        if descent is Descent.NEW:
            self.leaves[state.key] = state.copy(), path
        elif descent is Descent.FREE:
            self._free += 1
        elif descent is Descent.COLLISION:
            self._collided.append(path)

    def cancel_collisions(self) -> None:
        """Takes the playouts back that met a waiting position."""
        for path in self._collided:
            for node, i in path:
                node.pending[i] -= 1
                node.in_flight -= 1
