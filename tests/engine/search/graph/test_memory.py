"""What a graph takes, and when it is full."""

import pytest

from goryu.games.state import Move
from goryu.search.graph.node import Node
from goryu.search.graph.node_table import NodeTable
from node_tables import table_with


def test_the_table_counts_nodes_moves_edges_and_repetitions() -> None:
    table, node = table_with(5)
    assert table.memory.bytes_used == 72 + 5 * 4
    for count in (1, 3, 2):
        table.try_moves(node, count)
    assert (node.tried, table.memory.bytes_used) == (3, 72 + 5 * 4 + 3 * 16)
    table.add_repetition(node, 1, 0.5)
    table.add_repetition(node, 1, 0.5)
    assert table.memory.bytes_used == 72 + 5 * 4 + 3 * 16 + 128
    table.add(Node(1, 0, [Move(0)], [1.0], 0.0))
    assert (len(table), table.memory.bytes_used) == (2, 72 + 5 * 4 + 3 * 16 + 128 + 72 + 4)
    table.keep({node})
    assert (list(table), table.memory.bytes_used) == ([node], 72 + 5 * 4 + 3 * 16 + 128)
    table.clear()
    assert (len(table), table.memory.bytes_used) == (0, 0)


def test_a_table_is_full_by_nodes_or_by_bytes() -> None:
    by_nodes, by_bytes = NodeTable(2), NodeTable(1000, 152)
    for key in range(2):
        for table in (by_nodes, by_bytes):
            assert not table.memory.is_full
            table.add(Node(key, 0, [Move(0)], [1.0], 0.0))
    assert by_nodes.memory.is_full
    assert by_bytes.memory.is_full


@pytest.mark.parametrize(
    "capacity, capacity_bytes, hashfull",
    [(4, 10_000, 750), (1000, 912, 250), (8, 456, 500), (1000, 10, 1000)],
)
def test_hashfull_is_the_greater_share_in_thousandths(
    capacity: int, capacity_bytes: int, hashfull: int
) -> None:
    table = NodeTable(capacity, capacity_bytes)
    for key in range(3):
        table.add(Node(key, 0, [Move(0)], [1.0], 0.0))
    assert table.memory.hashfull == hashfull
