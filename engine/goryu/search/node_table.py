"""The node table: positions that different move orders reach flow into one node (合流).

A node belongs to a position, not to a path; the visit counts belong to its edges, the
moves. A node's value is recomputed from its children whenever a playout passes, so it
does not matter which parent brought them up to date, and a shared child never counts
with visits that another parent made.
    N = 1 + sum of N(a)
    Q = (V + sum of N(a) * -Q(child a)) / (1 + sum of N(a))
Both sums of Q leave out the moves that are proven to lose: they will not be played, and
would go on pulling the average down.
Weakness it cures: a running sum of playout results, once paths merge, is wrong at every
parent but the one that the playout came through.

What a *path* decides (repetition) must not be kept in a node. A playout that ends so is
kept as a `RepetitionStats` beside the edge that it ended on, and forgotten when the root moves.

Keys carry the ply, so the graph has no cycle. Entries that the new root cannot reach
are deleted when it advances.
Sources: KataGo, docs/GraphSearch.md (these formulas); Czech et al., "Monte-Carlo Graph Search
for AlphaZero", 2021 (arXiv:2012.11045; there the sums run, and are corrected where paths meet);
Kishimoto and Mueller, "A General Solution to the Graph History Interaction Problem", 2004.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from struct import pack, unpack

from goryu.games.state import Move
from goryu.search.table_memory import EDGE_BYTES, MOVE_BYTES, NODE_BYTES, REPETITION_BYTES, Blocks, room_for

__all__ = ["DRAW", "LOSS", "UNKNOWN", "WIN", "Node", "NodeTable", "RepetitionStats", "half", "single"]

UNKNOWN, WIN, LOSS, DRAW = range(4)
"""What is proven of a node, for its side to move, whatever the path to it."""


FREED_AT_A_TIME = 4
"""Deleted nodes that are freed when one is added. All at once would take a third of a second for 100,000, in
which no `stop` would be heard. Parents go first, so that no whole subtree falls with them."""


def half(x: float) -> float:
    """Returns `x` rounded to the nearest IEEE half, as the native twin stores priors."""
    return float(unpack("<e", pack("<e", x))[0])


def single(x: float) -> float:
    """Returns `x` rounded to the nearest IEEE single, as the native twin stores values."""
    return float(unpack("<f", pack("<f", x))[0])


class Node:
    """One position: its evaluation, and the statistics of each of its moves.

    Values are for the side to move here. Moves are sorted by falling prior, ties by
    the move; since all untried moves share one assumed value, the best of them is
    always the first.
    """

    __slots__ = (
        "children",
        "distance",
        "in_flight",
        "is_complete",
        "key",
        "mean_square",
        "moves",
        "pending",
        "ply",
        "priors",
        "proof",
        "raw_value",
        "room",
        "total_visits",
        "tried",
        "value",
        "visits",
    )

    def __init__(
        self, key: int, ply: int, moves: Sequence[Move], policy: Sequence[float], value: float
    ) -> None:
        rounded = [half(p) for p in policy]
        order = sorted(range(len(moves)), key=lambda i: (-rounded[i], moves[i]))
        self.key = key
        self.ply = ply
        self.moves = [moves[i] for i in order]
        self.priors = [rounded[i] for i in order]
        self.visits = [0] * len(order)  # N(a): completed playouts through each move.
        self.pending = [0] * len(order)  # Playouts through each move that await their evaluation.
        self.children: list[Node | None] = [None] * len(order)
        self.tried = 0  # Moves at this index and beyond were never started.
        self.room = 0  # So many tried moves have memory in the native twin.
        self.in_flight = 0  # The sum of `pending`.
        self.total_visits = 1  # N: 1 for the node's own evaluation, plus the visits of its moves.
        self.raw_value = single(value)  # V
        self.value = self.raw_value  # Q
        self.mean_square = self.raw_value * self.raw_value  # Mean of the squared values behind Q.
        self.proof = UNKNOWN
        self.distance = 0  # Plies to the end that is proven.
        self.is_complete = True  # Does `moves` hold every move? Not after a mate search: then only the mate.

    def settle(self, proof: int, distance: int, value: float) -> None:
        """Marks the node as proven."""
        self.proof, self.distance = proof, distance
        self.value, self.mean_square = value, value * value


@dataclass(slots=True)
class RepetitionStats:
    """Playouts that ended on an edge because of their path; values for the side that moved there."""

    visits: int = 0
    value_sum: float = 0.0
    square_sum: float = 0.0


class NodeTable:
    """Finds nodes by key; holds at most `capacity` of them, in `capacity_bytes` of the native twin's memory.

    Beyond 7/8 of the bytes no node is stored; the rest is for the edges and path ends of those that are.
    With `merge=False` equal positions get nodes of their own: the plain tree, for comparison.
    """

    def __init__(self, capacity: int, merge: bool = True, capacity_bytes: int = 1 << 60) -> None:
        self.capacity = capacity
        self.capacity_bytes = capacity_bytes
        self.merge = merge
        self.nodes: dict[int, Node] = {}
        self.repetitions: dict[tuple[int, int], RepetitionStats] = {}
        self._serial = 0
        self._places = 0  # The most nodes there ever were: the native pool does not shrink.
        self._blocks = Blocks()
        self._deleted: list[Node] = []  # Still to be freed, the last ones first.

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes.values())

    @property
    def is_full(self) -> bool:
        """Is there no room for another node?"""
        return len(self.nodes) >= self.capacity or 8 * self.bytes_used >= 7 * self.capacity_bytes

    @property
    def is_exhausted(self) -> bool:
        """Is there no room even for what is known of the nodes that are stored?"""
        return self.bytes_used >= self.capacity_bytes

    @property
    def bytes_used(self) -> int:
        """Memory that the native table would hold."""
        return NODE_BYTES * self._places + self._blocks.bytes + REPETITION_BYTES * len(self.repetitions)

    @property
    def hashfull(self) -> int:
        """How full the table is, in thousandths, by nodes or by bytes."""
        by_nodes = 1000 * len(self.nodes) // self.capacity
        return min(max(by_nodes, 1000 * self.bytes_used // self.capacity_bytes), 1000)

    def find(self, key: int, ply: int) -> Node | None:
        """Returns the node of this position, if it is known."""
        node = self.nodes.get(key) if self.merge else None
        return node if node is not None and node.ply == ply else None

    def add(self, node: Node) -> Node:
        """Stores and returns a new node."""
        if not self.merge:
            self._serial += 1
            node.key = self._serial
        self.nodes[node.key] = node
        del self._deleted[-FREED_AT_A_TIME:]
        self._places = max(self._places, len(self.nodes))
        self._blocks.allocate(MOVE_BYTES * len(node.moves))
        return node

    def clear(self) -> None:
        """Forgets everything."""
        self._deleted += reversed(self.nodes.values())
        self.nodes = {}
        self.repetitions.clear()
        self._places, self._blocks = 0, Blocks()

    def try_moves(self, node: Node, count: int) -> None:
        """Makes the first `count` moves of `node` tried."""
        if count <= node.tried:
            return
        node.tried = count
        room = room_for(count, node.room, len(node.moves))
        if room != node.room:
            self._blocks.allocate(EDGE_BYTES * room)
            self._blocks.release(EDGE_BYTES * node.room)
            node.room = room

    def add_repetition(self, node: Node, i: int, value: float) -> None:
        """Books one playout that ended on edge `i` with `value` for the side that moved."""
        end = self.repetitions.setdefault((node.key, i), RepetitionStats())
        end.visits += 1
        end.value_sum += value
        end.square_sum += value * value

    def edge_value(self, node: Node, i: int) -> float:
        """Returns Q(a) of a visited move, for the side to move at `node`."""
        child, end, visits = node.children[i], self.repetitions.get((node.key, i)), node.visits[i]
        if end is None:
            assert child is not None, "a visited edge without an end has a child"
            return -child.value
        if child is None:
            return end.value_sum / visits
        return (end.value_sum + (visits - end.visits) * -child.value) / visits

    def child_visits(self, node: Node, i: int) -> int:
        """Returns how many of the visits of move `i` went on into its child."""
        end = self.repetitions.get((node.key, i))
        return node.visits[i] - end.visits if end is not None else node.visits[i]

    def recompute(self, node: Node) -> None:
        """Brings N, Q and the mean square of `node` up to date with its children."""
        total, weight, value_sum, square_sum = 1, 1, node.raw_value, node.raw_value * node.raw_value
        for i in range(node.tried):
            visits = node.visits[i]
            if visits == 0:
                continue
            total += visits
            if self.is_lost(node, i):
                continue
            weight += visits
            child, end = node.children[i], self.repetitions.get((node.key, i))
            if end is not None:
                value_sum += end.value_sum
                square_sum += end.square_sum
                visits -= end.visits
            if child is not None:
                value_sum += visits * -child.value
                square_sum += visits * child.mean_square
        node.total_visits = total
        if node.proof == UNKNOWN:
            node.value = value_sum / weight
            node.mean_square = square_sum / weight
        self._prove(node)

    def _prove(self, node: Node) -> None:
        """Proves `node` from proven children: won if one reply is lost, lost if all are won.

        An edge on which a path ended proves nothing: another path might have gone on.
        """
        winning = losing = drawing = 0  # Plies to the shortest win, the longest loss and draw; 0 for none.
        draw_value, decided = 0.0, node.tried == len(node.moves)
        for i in range(node.tried):
            child = node.children[i]
            if child is None or child.proof == UNKNOWN or (node.key, i) in self.repetitions:
                decided = False
            elif child.proof == LOSS:
                winning = min(winning or child.distance + 1, child.distance + 1)
            elif child.proof == WIN:
                losing = max(losing, child.distance + 1)
            else:
                drawing, draw_value = max(drawing, child.distance + 1), -child.value
        if winning and not (node.proof == WIN and node.distance <= winning):
            node.settle(WIN, winning, +1.0)
        elif decided and node.proof == UNKNOWN and not winning:
            if drawing:
                node.settle(DRAW, drawing, draw_value)
            else:
                node.settle(LOSS, losing, -1.0)

    def is_lost(self, node: Node, i: int) -> bool:
        """Is move `i` proven to lose?"""
        child = node.children[i]
        return child is not None and child.proof == WIN and (node.key, i) not in self.repetitions

    def is_won(self, node: Node, i: int) -> bool:
        """Is move `i` proven to win?"""
        child = node.children[i]
        return child is not None and child.proof == LOSS and (node.key, i) not in self.repetitions

    def prune(self, root: Node) -> None:
        """Deletes every node that `root` cannot reach, and what earlier paths decided.

        The visits of forgotten path ends are taken back; a node's value follows at its next visit.
        """
        reached = {id(root)}
        waiting = [root]
        while waiting:
            node = waiting.pop()
            for child in node.children[: node.tried]:
                if child is not None and id(child) not in reached:
                    reached.add(id(child))
                    waiting.append(child)
        for node in reversed(self.nodes.values()):
            if id(node) not in reached:
                self._deleted.append(node)
                self._blocks.release(MOVE_BYTES * len(node.moves))
                self._blocks.release(EDGE_BYTES * node.room)
        self.nodes = {key: node for key, node in self.nodes.items() if id(node) in reached}
        for (key, i), end in self.repetitions.items():
            if kept := self.nodes.get(key):
                kept.visits[i] -= end.visits
                kept.total_visits -= end.visits
        self.repetitions.clear()
        if 4 * self.bytes_used > self.capacity_bytes:
            self._compact()

    def _compact(self) -> None:
        """Closes the gaps between the blocks in use: what is free suits nobody who asks for another size."""
        sizes = (size for n in self for size in (MOVE_BYTES * len(n.moves), EDGE_BYTES * n.room))
        self._blocks = Blocks(sizes)
