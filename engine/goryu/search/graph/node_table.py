"""The node table: a position that several move orders reach is one node, where they merge (合流).

A node belongs to a position, not to a path; visit counts belong to its edges, the moves. A node recomputes
its value from its children whenever a playout passes. So it does not matter which parent brought the
children up to date, and visits that another parent made to a shared child never count here.

    N = 1 + sum of N(a)
    Q = (V + sum of N(a) * -Q(child a)) / (1 + sum of N(a))

where V is `raw_value` and 1 is `raw_visits`, which is greater only in a folded node (`forgetting.py`). Moves
proven to lose count in N alone. Nobody will play them, so they must not lower Q. Running sums of playout
results would be wrong as soon as paths merge: only the parent that a playout came through would see its
result.

A node must not store a result that depends on the *path* (repetition). `RepetitionStats` counts playouts that
ended so on their edge, and is forgotten when the root moves. Keys include the ply, so the graph has no cycle.

Sources: KataGo, docs/GraphSearch.md (the formulas); Czech et al., "Monte-Carlo Graph Search for AlphaZero",
2021 (arXiv:2012.11045; running sums, corrected where paths meet); Kishimoto and Mueller, "A General Solution
to the Graph History Interaction Problem", 2004.
"""

from collections.abc import Iterator, Sequence, Set

from goryu.games.state import Move
from goryu.search.graph.memory import Memory
from goryu.search.graph.node import UNKNOWN, WIN, Node, RepetitionStats, single
from goryu.search.graph.proof import child_proof, prove_by_children

__all__ = ["NodeTable", "recompute"]


class NodeTable:
    """The nodes of a graph, by their keys."""

    def __init__(self, capacity: int, capacity_bytes: int = 1 << 60) -> None:
        """capacity, capacity_bytes: as `Memory` takes them."""
        self.nodes: dict[int, Node] = {}
        self.memory = Memory(capacity, capacity_bytes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes.values())

    def clear(self) -> None:
        """Forgets everything."""
        self.keep(frozenset())

    def keep(self, nodes: Set[Node]) -> None:
        """Deletes all nodes but these."""
        self.nodes = {key: node for key, node in self.nodes.items() if node in nodes}
        self.memory.clear()
        for node in self:
            self.memory.add(node)

    def find(self, key: int) -> Node | None:
        """Returns the node of this position, if it is known."""
        return self.nodes.get(key)

    def add(self, node: Node) -> Node:
        """Stores and returns a new node."""
        self.nodes[node.key] = node
        self.memory.add(node)
        return node

    def try_moves(self, node: Node, count: int) -> None:
        """Marks the first `count` moves of `node` as tried; the size of a node depends on their number."""
        if node.tried >= count:
            return
        self.memory.remove(node)
        for i in range(node.tried, count):
            node.tried_prior = single(node.tried_prior + node.priors[i])
        node.tried = count
        self.memory.add(node)

    def add_repetition(self, node: Node, i: int, value: float) -> None:
        """Counts a playout that ended on edge `i` with `value` for the side that moved."""
        self.memory.remove(node)
        node.repetitions.setdefault(i, RepetitionStats()).add(value)
        self.memory.add(node)

    def forget_moves(self, node: Node, line: Sequence[Move] | None = None) -> None:
        """Forgets the statistics of the moves of `node`; N stays as it is, and Q until it is recomputed.

        line: the moves that prove the node, to be kept instead of its legal moves.
        """
        self.memory.remove(node)
        node.raw_visits = node.total_visits
        if line is None:
            node.set_moves(node.moves, node.priors)
        else:
            node.keep_line(line)
        self.memory.add(node)


def recompute(node: Node) -> None:
    """Brings N, Q, the variance, `values`, `proofs` and the proof of `node` up to date with its children."""
    total = counted = node.raw_visits
    value_sum = counted * node.raw_value
    square_sum = counted * (node.raw_value * node.raw_value + node.raw_variance)
    for i in range(node.tried):
        visits = node.visits[i]
        total += visits
        node.proofs[i] = child_proof(node, i)
        if visits == 0 or node.proofs[i] == WIN:  # Nobody plays a move that is proven to lose.
            continue
        counted += visits
        node.values[i] = single(node.edge_value(i))
        child, repeated = node.children[i], node.repetitions.get(i)
        if repeated is not None:
            value_sum += repeated.value_sum
            square_sum += repeated.square_sum
            visits -= repeated.visits
        if child is not None:
            value_sum += visits * -child.value
            square_sum += visits * (child.value * child.value + child.variance)
    node.total_visits = total
    if node.proof == UNKNOWN:
        node.value = value_sum / counted
        node.variance = single(max(0.0, square_sum / counted - node.value * node.value))
    prove_by_children(node)
