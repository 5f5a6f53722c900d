"""Memory: how full a graph is, by nodes or by bytes.

Bytes are those of the packed nodes of the C++ search; the objects of Python take many times as much. So both
searches are full after the same playout and forget the same nodes.
"""

from goryu.search.graph.node import Node

__all__ = ["Memory"]

NODE_BYTES, MOVE_BYTES, EDGE_BYTES, REPETITION_BYTES = 72, 4, 16, 128
"""Of a packed node with its index entry, of a legal move, of a tried move, of a `RepetitionStats`."""


class Memory:
    """Counts the nodes of a table and their bytes. Remove a node before it changes, and add it afterwards."""

    def __init__(self, capacity: int, capacity_bytes: int) -> None:
        """capacity, capacity_bytes: the nodes or bytes at which it is full; ValueError if less than 1."""
        if min(capacity, capacity_bytes) < 1:
            raise ValueError(f"expected room for nodes, received {capacity}, {capacity_bytes} bytes")
        self.capacity = capacity
        self.capacity_bytes = capacity_bytes
        self.clear()

    def clear(self) -> None:
        """Counts nothing any more."""
        self.nodes = self.bytes_used = 0

    def add(self, node: Node, sign: int = +1) -> None:
        """Counts a node with its moves."""
        self.nodes += sign
        self.bytes_used += sign * (
            NODE_BYTES
            + MOVE_BYTES * len(node.moves)
            + EDGE_BYTES * node.tried
            + REPETITION_BYTES * len(node.repetitions)
        )

    def remove(self, node: Node) -> None:
        """Takes back what `add` counted."""
        self.add(node, -1)

    @property
    def is_full(self) -> bool:
        """Is it time to make room?"""
        return self.hashfull == 1000

    @property
    def hashfull(self) -> int:
        """How full it is, in thousandths."""
        by_nodes = 1000 * self.nodes // self.capacity
        return min(max(by_nodes, 1000 * self.bytes_used // self.capacity_bytes), 1000)
