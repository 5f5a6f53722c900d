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
from goryu.search.graph.node import DRAW, LOSS, UNKNOWN, WIN, Node, RepetitionStats, single

__all__ = ["NodeTable"]

NODE_BYTES, MOVE_BYTES, EDGE_BYTES, REPETITION_BYTES = 72, 4, 16, 128
"""Memory of a packed node with its index entry, of a legal move, of a tried move, of a `RepetitionStats`."""


class NodeTable:
    """Finds nodes by key, and computes their values."""

    def __init__(self, capacity: int, capacity_bytes: int = 1 << 60) -> None:
        """capacity, capacity_bytes: the nodes or bytes at which it is full; ValueError if less than 1."""
        if min(capacity, capacity_bytes) < 1:
            raise ValueError(f"expected room for nodes, received {capacity}, {capacity_bytes} bytes")
        self.capacity = capacity
        self.capacity_bytes = capacity_bytes
        self.clear()

    def clear(self) -> None:
        """Forgets everything."""
        self.nodes: dict[int, Node] = {}
        self.repetitions: dict[tuple[int, int], RepetitionStats] = {}
        self._node_bytes = 0

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes.values())

    @property
    def bytes_used(self) -> int:
        """Memory in use, if every node were packed."""
        return self._node_bytes + REPETITION_BYTES * len(self.repetitions)

    @property
    def is_full(self) -> bool:
        """Is it time to `make_room`?"""
        return self.hashfull == 1000

    @property
    def hashfull(self) -> int:
        """How full the table is, in thousandths, by nodes or by bytes."""
        by_nodes = 1000 * len(self.nodes) // self.capacity
        return min(max(by_nodes, 1000 * self.bytes_used // self.capacity_bytes), 1000)

    def find(self, key: int) -> Node | None:
        """Returns the node of this position, if it is known."""
        return self.nodes.get(key)

    def add(self, node: Node) -> Node:
        """Stores and returns a new node."""
        self.nodes[node.key] = node
        self._node_bytes += _bytes_of(node)
        return node

    def try_moves(self, node: Node, count: int) -> None:
        """Marks the first `count` moves of `node` as tried."""
        while node.tried < count:
            node.tried_prior = single(node.tried_prior + node.priors[node.tried])
            node.tried += 1
            self._node_bytes += EDGE_BYTES

    def forget_moves(self, node: Node, line: Sequence[Move] | None = None) -> None:
        """Forgets the statistics of the moves of `node`; N and Q stay as they are.

        line: the moves that prove the node, to be kept instead of its legal moves.
        """
        self._node_bytes -= _bytes_of(node)
        for i in range(node.tried):
            self.repetitions.pop((node.key, i), None)
        node.raw_visits = node.total_visits
        if line is None:
            node.set_moves(node.moves, node.priors)
        else:
            node.keep_line(line)
        self._node_bytes += _bytes_of(node)

    def add_repetition(self, node: Node, i: int, value: float) -> None:
        """Counts a playout that ended on edge `i` with `value` for the side that moved."""
        self.repetitions.setdefault((node.key, i), RepetitionStats()).add(value)

    def edge_value(self, node: Node, i: int) -> float:
        """Returns Q(a) of a visited move, for the side to move at `node`."""
        child, repeated = node.children[i], self.repetitions.get((node.key, i))
        if repeated is None:
            assert child is not None, "a visited edge without repetition has a child"
            return -child.value
        if child is None:
            return repeated.value_sum / node.visits[i]
        return (repeated.value_sum + (node.visits[i] - repeated.visits) * -child.value) / node.visits[i]

    def child_visits(self, node: Node, i: int) -> int:
        """Returns how many playouts through move `i` went on into its child."""
        repeated = self.repetitions.get((node.key, i))
        return node.visits[i] - repeated.visits if repeated is not None else node.visits[i]

    def recompute(self, node: Node) -> None:
        """Brings N, Q, the variance, `values` and `proofs` of `node` up to date with its children."""
        total = counted = node.raw_visits
        value_sum = counted * node.raw_value
        square_sum = counted * (node.raw_value * node.raw_value + node.raw_variance)
        for i in range(node.tried):
            visits = node.visits[i]
            total += visits
            node.proofs[i] = self.child_proof(node, i)
            if visits == 0 or node.proofs[i] == WIN:  # Nobody plays a move that is proven to lose.
                continue
            counted += visits
            node.values[i] = single(self.edge_value(node, i))
            child, repeated = node.children[i], self.repetitions.get((node.key, i))
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
        self._prove(node)

    def _prove(self, node: Node) -> None:
        """Proves `node` as won if a move is proven to win, as drawn or lost if all its moves are proven."""
        child = node.children[i] if (i := self.proving_move(node)) >= 0 else None
        if child is None:
            return
        if child.proof == LOSS:
            if node.proof != WIN or child.distance + 1 < node.distance:
                node.set_proof(WIN, child.distance + 1, +1.0)
        elif node.proof == UNKNOWN and all(self.child_proof(node, i) for i in range(len(node.moves))):
            node.set_proof(LOSS if child.proof == WIN else DRAW, child.distance + 1, -child.value)

    def proving_move(self, node: Node) -> int:
        """Returns the first of the best proven moves: nearest win, farthest draw, farthest loss; else -1."""

        def preference(i: int) -> tuple[int, int]:
            child = node.children[i]
            assert child is not None
            sign = -1 if child.proof == LOSS else +1
            return (WIN, DRAW, LOSS).index(child.proof), sign * child.distance

        return max(filter(lambda i: self.child_proof(node, i), range(node.tried)), key=preference, default=-1)

    def child_proof(self, node: Node, i: int) -> int:
        """Returns what is proven of the child behind move `i`.

        Behind an edge with repetitions nothing is: on another path its playouts might have gone on.
        """
        child = node.children[i]
        return UNKNOWN if child is None or (node.key, i) in self.repetitions else child.proof

    def is_certain(self, node: Node, i: int) -> bool:
        """Is the value of move `i` of a root certain: is it proven, or does it repeat a position?

        Other nodes are reached by several paths, and a move may repeat a position of one and not of another.
        """
        return self.child_proof(node, i) != UNKNOWN or (node.key, i) in self.repetitions

    def is_lost(self, node: Node, i: int) -> bool:
        """Is move `i` proven to lose?"""
        return self.child_proof(node, i) == WIN

    def keep(self, nodes: Set[Node]) -> None:
        """Deletes all nodes but these."""
        self.nodes = {key: node for key, node in self.nodes.items() if node in nodes}
        self.repetitions = {edge: r for edge, r in self.repetitions.items() if edge[0] in self.nodes}
        self._node_bytes = sum(map(_bytes_of, self))


def _bytes_of(node: Node) -> int:
    return NODE_BYTES + MOVE_BYTES * len(node.moves) + EDGE_BYTES * node.tried
