"""Root pruning: near the end of a search, moves that cannot matter any more get no playouts.

A root move that cannot reach a certain share of the visits of the most visited one, even if it got all
remaining playouts, will not be played. What it would get goes to the moves that still compete. With a share
of 0.15 no move is pruned that the lower confidence bound could choose, because such a move has at least
`final_move.LCB_SHARE` (0.2) of the most visits.

Nothing is final: the remaining playouts are estimated anew all the time, and a search that is extended opens
moves again. Limits: where neither a number of playouts nor a time ends the search, nothing is pruned.
Source: KataGo's `futileVisitsThreshold`; lc0's "smart pruning" prunes moves that cannot become the first.
"""

from collections.abc import Set

from goryu.search.graph.node import Node
from goryu.search.graph.node_table import NodeTable

__all__ = ["least_visits", "pruned"]


def least_visits(table: NodeTable, root: Node, masked: Set[int], share: float, playouts_left: float) -> float:
    """Returns the number of visits below which a root move is pruned; it may be negative.

    masked: indices of moves that must not be played. They and moves of a certain value do not compete.
    """
    most = 0
    for i in range(root.tried):
        if i not in masked and not table.is_certain(root, i):
            most = max(most, root.visits[i])
    return share * most - playouts_left


def pruned(root: Node, least: float) -> Set[int]:
    """Returns the indices of the root moves that have fewer visits, those in flight included."""
    return {i for i in range(len(root.moves)) if root.visits[i] + root.pending[i] < least}
