"""Values, and what the node table forgets, on small graphs made by hand."""

from goryu.games.state import Move
from goryu.search.graph.node import UNKNOWN, WIN, Node, single
from goryu.search.graph.node_table import recompute
from node_tables import lead, table_with


def test_q_is_the_mean_of_the_evaluation_and_of_all_playouts() -> None:
    table, node = table_with(3, value=0.5)
    lead(table, node, 0, 2, -0.25, variance=0.4375)
    lead(table, node, 1, 5, 0.5)
    recompute(node)
    assert node.total_visits == 8
    assert node.value == (0.5 + 2 * 0.25 - 5 * 0.5) / 8
    assert node.variance == (0.25 + 2 * 0.5 + 5 * 0.25) / 8 - node.value**2
    assert node.proof == UNKNOWN


def test_moves_that_lose_count_as_visits_but_not_in_q() -> None:
    table, node = table_with(3, value=0.5)
    lead(table, node, 0, 2, 0.0).set_proof(WIN, 3, 1.0)
    lead(table, node, 1, 1, -0.25)
    recompute(node)
    assert (node.total_visits, node.value) == (4, (0.5 + 0.25) / 2)


def test_an_edge_shares_its_visits_between_its_child_and_repetitions() -> None:
    table, node = table_with(2, value=0.0)
    lead(table, node, 0, 5, -0.5)
    table.add_repetition(node, 0, 1.0)
    table.add_repetition(node, 0, -0.5)
    assert node.child_visits(0) == 3
    assert node.edge_value(0) == (1.0 - 0.5 + 3 * 0.5) / 5
    recompute(node)
    assert node.value == (0.0 + 0.5 + 3 * 0.5) / 6
    assert node.variance == single((0.0 + 1.0 + 0.25 + 3 * 0.25) / 6 - node.value**2)


def test_an_edge_without_repetitions_has_the_value_of_its_child() -> None:
    table, node = table_with(2)
    lead(table, node, 1, 4, -0.5)
    assert (node.child_visits(1), node.edge_value(1)) == (4, 0.5)


def test_a_node_repeats_the_values_and_proofs_of_its_children_as_they_were_when_it_was_recomputed() -> None:
    table, node = table_with(3, value=0.0)
    child = lead(table, node, 0, 2, -0.1)
    lead(table, node, 1, 1, 0.5)
    recompute(node)
    assert (node.values, node.proofs) == ([single(0.1), -0.5, 0.0], [UNKNOWN] * 3)
    child.set_proof(WIN, 1, 1.0)  # By a playout through another parent.
    assert (node.values, node.proofs) == ([single(0.1), -0.5, 0.0], [UNKNOWN] * 3)
    recompute(node)
    assert (node.proofs, node.value) == ([WIN, UNKNOWN, UNKNOWN], -0.25)
    table.forget_moves(node)
    assert (node.values, node.proofs, node.tried_prior) == ([0.0] * 3, [UNKNOWN] * 3, 0.0)


def test_an_edge_that_only_repeated_has_no_child() -> None:
    table, node = table_with(2)
    table.try_moves(node, 1)
    node.visits[0] = 2
    table.add_repetition(node, 0, 1.0)
    table.add_repetition(node, 0, 0.0)
    assert (node.child_visits(0), node.edge_value(0)) == (0, 0.5)
    recompute(node)
    assert (node.total_visits, node.value, node.variance) == (3, 1 / 3, single(1 / 3 - 1 / 9))


def test_a_folded_node_counts_its_evaluation_as_often_as_it_was_visited() -> None:
    table, node = table_with(2)
    node.raw_visits, node.raw_value, node.raw_variance = 3, 0.5, 0.125
    lead(table, node, 0, 1, 0.5)
    recompute(node)
    assert node.total_visits == 4
    assert node.value == (3 * 0.5 - 0.5) / 4
    assert node.variance == (3 * (0.25 + 0.125) + 0.25) / 4 - node.value**2


def test_a_deleted_node_takes_its_repetitions_along() -> None:
    table, node = table_with(2)
    other = table.add(Node(1, 0, [Move(0)], [1.0], 0.0))
    table.add_repetition(node, 0, 0.0)
    table.add_repetition(other, 0, 0.0)
    table.keep({other})
    assert table.memory.bytes_used == 72 + 4 + 128
    assert table.find(0) is None
    assert table.find(1) is other


def test_a_node_that_forgets_its_moves_keeps_n_and_q() -> None:
    table, node = table_with(4, value=0.5)
    lead(table, node, 0, 3, 0.25)
    table.add_repetition(node, 0, 1.0)
    recompute(node)
    visits, value, others = node.total_visits, node.value, table.memory.bytes_used - 72 - 4 * 4 - 16 - 128
    table.forget_moves(node)
    assert (node.raw_visits, node.total_visits, node.value) == (visits, visits, value)
    assert (node.tried, node.visits, node.children) == (0, [0] * 4, [None] * 4)
    assert (len(node.moves), node.is_complete, node.repetitions) == (4, True, {})
    assert table.memory.bytes_used == others + 72 + 4 * 4
    table.forget_moves(node, [Move(2)])
    assert (node.moves, node.is_complete, table.memory.bytes_used) == ([2], False, others + 72 + 4)
