"""Forgetting: how the search frees memory, when a move is played and when its table is full.

When the root moves, `prune` deletes what it cannot reach. When the table is full, `make_room` folds the least
visited nodes: a folded node forgets the statistics of its moves, but keeps its N and Q as if its evaluation
counted as N visits. In the formulas of `node_table.py` 1 and V become N and Q:

    N = N' + sum of N(a)
    Q = (N' * Q' + sum of N(a) * -Q(child a)) / (N' + sum of N(a))      N', Q': when the node was folded

`raw_variance` is then the variance of the values behind Q'. A later playout selects among its moves as at a
new node. A proven node keeps the line that proves it instead.
The parents' counts and values stay right, and the search goes on for as long as it likes.
"""

from collections import Counter
from collections.abc import Set

from goryu.search.graph.node import UNKNOWN, Node, half, single
from goryu.search.graph.node_table import NodeTable, recompute
from goryu.search.graph.proof import proof_line

__all__ = ["make_room", "prune", "reachable"]


def prune(table: NodeTable, root: Node) -> None:
    """Deletes every node that `root` cannot reach, and forgets repetitions.

    A repetition belongs to the path from the old root. Its visits are taken back; the value of a node follows
    at its next visit.
    """
    nodes = reachable(root)
    for node in nodes:
        for i, repeated in node.repetitions.items():
            node.visits[i] -= repeated.visits
            node.total_visits -= repeated.visits
        node.repetitions.clear()
    table.keep(nodes)


def make_room(table: NodeTable, root: Node) -> None:
    """Folds the least visited nodes and deletes what `root` cannot reach any more, about half of the table.

    The root, and with it its children, stay; so do nodes with playouts in flight.
    """
    limit = _fold_limit(table)
    for node in table:
        if node.total_visits < limit and node.tried and not node.in_flight and node is not root:
            _fold(table, node)
    table.keep(reachable(root))


def _fold_limit(table: NodeTable) -> int:
    """Returns the smallest limit such that the nodes with at least this many visits have tried, all together,
    at most half as many moves as the table has nodes.

    A node that stays is the root or the child of such a move. Visits are rounded down to three significant
    bits, so that there are few numbers to compare.
    """
    tried = Counter[int]()  # Tried moves, by the rounded visits of their node.
    for node in table:
        bits = max(node.total_visits.bit_length() - 3, 0)
        tried[node.total_visits >> bits << bits] += node.tried
    limit, kept = 1 << 32, 0  # No node has so many visits.
    for visits in sorted(tried, reverse=True):
        kept += tried[visits]
        if 2 * kept > len(table):
            break
        limit = visits
    return limit


def _fold(table: NodeTable, node: Node) -> None:
    """Forgets the statistics of the moves of `node`."""
    if node.proof == UNKNOWN:
        node.raw_value = single(node.value)
        node.raw_variance = half(node.variance)
        table.forget_moves(node)
        recompute(node)
    else:
        table.forget_moves(node, proof_line(node))


def reachable(root: Node) -> Set[Node]:
    """Returns `root` and every node that its moves lead to."""
    reached, waiting = {root}, [root]
    while waiting:
        for child in waiting.pop().children:
            if child is not None and child not in reached:
                reached.add(child)
                waiting.append(child)
    return reached
