"""Values, proofs and memory of the node table, on small graphs made by hand."""

from collections.abc import Sequence

import pytest

from goryu.games.state import Move
from goryu.search.graph.node import DRAW, LOSS, UNKNOWN, WIN, Node, half, single
from goryu.search.graph.node_table import NodeTable

VALUES = {WIN: 1.0, LOSS: -1.0, DRAW: 0.0}


def table_with(moves: int, value: float = 0.0) -> tuple[NodeTable, Node]:
    """Returns a table that holds a node with this number of moves, none of them tried."""
    table = NodeTable(1000)
    return table, table.add(Node(0, 0, [Move(i) for i in range(moves)], [1 / 8] * moves, value))


def lead(table: NodeTable, node: Node, i: int, visits: int, value: float, variance: float = 0.0) -> Node:
    """Visits move `i` and gives it a child of this value."""
    child = node.children[i] = table.add(Node(100 + i, 1, [Move(0)], [1.0], value))
    child.variance = variance
    table.try_moves(node, i + 1)
    node.visits[i] = visits
    return child


def proven(*proofs: tuple[int, int], moves: int = 0) -> tuple[NodeTable, Node]:
    """Returns a table and a node whose first moves lead to children with these proofs and distances."""
    table, node = table_with(max(moves, len(proofs)))
    for i, (proof, distance) in enumerate(proofs):
        child = lead(table, node, i, 1, 0.0)
        if proof != UNKNOWN:
            child.set_proof(proof, distance, VALUES[proof])
    table.recompute(node)
    return table, node


# Nodes.


def test_moves_are_sorted_by_prior_and_equal_ones_by_number() -> None:
    node = Node(7, 3, [Move(5), Move(2), Move(9), Move(1)], [0.25, 0.125, 0.5, 0.125], 0.1)
    assert (node.moves, node.priors) == ([9, 5, 1, 2], [0.5, 0.25, 0.125, 0.125])
    assert (node.key, node.ply, node.total_visits, node.tried, node.in_flight) == (7, 3, 1, 0, 0)
    assert (node.proof, node.distance, node.raw_visits, node.raw_variance) == (UNKNOWN, 0, 1, 0.0)
    assert node.value == node.raw_value == single(0.1)
    assert node.variance == 0.0


def test_priors_that_round_to_the_same_half_are_sorted_by_move() -> None:
    node = Node(0, 0, [Move(5), Move(2)], [0.500001, 0.5], 0.0)
    assert (node.moves, node.priors) == ([2, 5], [half(0.5)] * 2)


def test_a_proof_fixes_value_and_variance() -> None:
    node = Node(0, 0, [Move(5)], [1.0], 0.3)
    node.set_proof(LOSS, 4, -1.0)
    assert (node.proof, node.distance, node.value, node.variance) == (LOSS, 4, -1.0, 0.0)
    node.keep_line([Move(3), Move(8)])
    assert (node.moves, node.priors, node.is_complete, node.tried) == ([3, 8], [1.0, 1.0], False, 0)


# Values.


def test_q_is_the_mean_of_the_evaluation_and_of_all_playouts() -> None:
    table, node = table_with(3, value=0.5)
    lead(table, node, 0, 2, -0.25, variance=0.4375)
    lead(table, node, 1, 5, 0.5)
    table.recompute(node)
    assert node.total_visits == 8
    assert node.value == (0.5 + 2 * 0.25 - 5 * 0.5) / 8
    assert node.variance == (0.25 + 2 * 0.5 + 5 * 0.25) / 8 - node.value**2
    assert node.proof == UNKNOWN


def test_moves_that_lose_count_as_visits_but_not_in_q() -> None:
    table, node = table_with(3, value=0.5)
    lead(table, node, 0, 2, 0.0).set_proof(WIN, 3, 1.0)
    lead(table, node, 1, 1, -0.25)
    table.recompute(node)
    assert (node.total_visits, node.value) == (4, (0.5 + 0.25) / 2)


def test_an_edge_shares_its_visits_between_its_child_and_repetitions() -> None:
    table, node = table_with(2, value=0.0)
    lead(table, node, 0, 5, -0.5)
    table.add_repetition(node, 0, 1.0)
    table.add_repetition(node, 0, -0.5)
    assert table.child_visits(node, 0) == 3
    assert table.edge_value(node, 0) == (1.0 - 0.5 + 3 * 0.5) / 5
    table.recompute(node)
    assert node.value == (0.0 + 0.5 + 3 * 0.5) / 6
    assert node.variance == single((0.0 + 1.0 + 0.25 + 3 * 0.25) / 6 - node.value**2)


def test_an_edge_without_repetitions_has_the_value_of_its_child() -> None:
    table, node = table_with(2)
    lead(table, node, 1, 4, -0.5)
    assert (table.child_visits(node, 1), table.edge_value(node, 1)) == (4, 0.5)


def test_a_node_repeats_the_values_and_proofs_of_its_children_as_they_were_when_it_was_recomputed() -> None:
    table, node = table_with(3, value=0.0)
    child = lead(table, node, 0, 2, -0.1)
    lead(table, node, 1, 1, 0.5)
    table.recompute(node)
    assert (node.values, node.proofs) == ([single(0.1), -0.5, 0.0], [UNKNOWN] * 3)
    child.set_proof(WIN, 1, 1.0)  # By a playout through another parent.
    assert (node.values, node.proofs) == ([single(0.1), -0.5, 0.0], [UNKNOWN] * 3)
    table.recompute(node)
    assert (node.proofs, node.value) == ([WIN, UNKNOWN, UNKNOWN], -0.25)
    table.forget_moves(node)
    assert (node.values, node.proofs, node.tried_prior) == ([0.0] * 3, [UNKNOWN] * 3, 0.0)


def test_an_edge_that_only_repeated_has_no_child() -> None:
    table, node = table_with(2)
    table.try_moves(node, 1)
    node.visits[0] = 2
    table.add_repetition(node, 0, 1.0)
    table.add_repetition(node, 0, 0.0)
    assert (table.child_visits(node, 0), table.edge_value(node, 0)) == (0, 0.5)
    table.recompute(node)
    assert (node.total_visits, node.value, node.variance) == (3, 1 / 3, single(1 / 3 - 1 / 9))


def test_a_folded_node_counts_its_evaluation_as_often_as_it_was_visited() -> None:
    table, node = table_with(2)
    node.raw_visits, node.raw_value, node.raw_variance = 3, 0.5, 0.125
    lead(table, node, 0, 1, 0.5)
    table.recompute(node)
    assert node.total_visits == 4
    assert node.value == (3 * 0.5 - 0.5) / 4
    assert node.variance == (3 * (0.25 + 0.125) + 0.25) / 4 - node.value**2


# Proofs.


def test_a_node_is_proven_by_its_nearest_win_or_its_farthest_defence() -> None:
    for children, proof, distance in [
        ([(LOSS, 0), (LOSS, 2)], WIN, 1),
        ([(LOSS, 2), (LOSS, 0)], WIN, 1),
        ([(LOSS, 4), (WIN, 1), (DRAW, 1), (UNKNOWN, 0)], WIN, 5),
        ([(WIN, 1), (WIN, 5)], LOSS, 6),
        ([(WIN, 5), (WIN, 1)], LOSS, 6),
        ([(WIN, 7), (DRAW, 0)], DRAW, 1),
        ([(DRAW, 3), (WIN, 7), (DRAW, 6)], DRAW, 7),
        ([(WIN, 1), (UNKNOWN, 0)], UNKNOWN, 0),
        ([(UNKNOWN, 0), (DRAW, 0)], UNKNOWN, 0),
    ]:
        _, node = proven(*children)
        assert (node.proof, node.distance) == (proof, distance)
        assert node.proof == UNKNOWN or node.value == VALUES[node.proof]


def test_a_move_that_was_not_tried_may_still_save_the_node() -> None:
    assert proven((WIN, 1), (WIN, 3), moves=3)[1].proof == UNKNOWN
    assert proven((WIN, 1), (LOSS, 2), moves=3)[1].proof == WIN


def test_nothing_is_proven_behind_an_edge_with_repetitions() -> None:
    table, node = proven((LOSS, 2), (WIN, 2))
    for i in (0, 1):
        assert (table.child_proof(node, i), table.is_lost(node, i)) == ((LOSS, WIN)[i], i == 1)
        table.add_repetition(node, i, 0.0)
        assert (table.child_proof(node, i), table.is_lost(node, i)) == (UNKNOWN, False)
    assert table.proving_move(node) == -1


def test_a_nearer_win_replaces_the_proof_and_a_farther_one_does_not() -> None:
    table, node = proven((LOSS, 4), (UNKNOWN, 0), (UNKNOWN, 0))
    for i, distance, expected in ((1, 6, 5), (2, 2, 3)):
        child = node.children[i]
        assert child is not None
        child.set_proof(LOSS, distance, -1.0)
        table.recompute(node)
        assert (node.proof, node.distance, node.value) == (WIN, expected, 1.0)
    node.set_proof(WIN, 2, 1.0)  # A mate found elsewhere.
    table.recompute(node)
    assert node.distance == 2


def test_a_proven_node_keeps_its_value_while_its_visits_go_on() -> None:
    table, node = proven((LOSS, 0), (UNKNOWN, 0))
    node.visits[1] += 3
    table.recompute(node)
    assert (node.total_visits, node.value, node.variance) == (6, 1.0, 0.0)


@pytest.mark.parametrize(
    "children, best",
    [
        ([(LOSS, 4), (LOSS, 2), (LOSS, 2)], 1),
        ([(WIN, 4), (WIN, 6), (WIN, 6)], 1),
        ([(WIN, 9), (DRAW, 1), (DRAW, 5)], 2),
        ([(DRAW, 9), (LOSS, 5), (WIN, 9)], 1),
        ([(UNKNOWN, 0), (WIN, 1)], 1),
        ([(UNKNOWN, 0)], -1),
    ],
)
def test_the_proving_move_wins_soon_or_holds_out_longest(
    children: Sequence[tuple[int, int]], best: int
) -> None:
    table, node = proven(*children)
    assert table.proving_move(node) == best


def test_draws_keep_their_value_seen_from_the_other_side() -> None:
    table, node = table_with(1)
    lead(table, node, 0, 1, 0.0).set_proof(DRAW, 2, 0.25)
    table.recompute(node)
    assert (node.proof, node.distance, node.value) == (DRAW, 3, -0.25)


# Memory.


def test_the_table_counts_nodes_moves_edges_and_repetitions() -> None:
    table, node = table_with(5)
    assert table.bytes_used == 72 + 5 * 4
    for count in (1, 3, 2):
        table.try_moves(node, count)
    assert (node.tried, table.bytes_used) == (3, 72 + 5 * 4 + 3 * 16)
    table.add_repetition(node, 1, 0.5)
    table.add_repetition(node, 1, 0.5)
    assert table.bytes_used == 72 + 5 * 4 + 3 * 16 + 128
    table.add(Node(1, 0, [Move(0)], [1.0], 0.0))
    assert (len(table), table.bytes_used) == (2, 72 + 5 * 4 + 3 * 16 + 128 + 72 + 4)
    table.keep({node})
    assert (list(table), table.bytes_used) == ([node], 72 + 5 * 4 + 3 * 16 + 128)
    table.clear()
    assert (len(table), table.bytes_used, table.repetitions) == (0, 0, {})


def test_a_deleted_node_takes_its_repetitions_along() -> None:
    table, node = table_with(2)
    other = table.add(Node(1, 0, [Move(0)], [1.0], 0.0))
    table.add_repetition(node, 0, 0.0)
    table.add_repetition(other, 0, 0.0)
    table.keep({other})
    assert list(table.repetitions) == [(1, 0)]
    assert table.find(0) is None
    assert table.find(1) is other


def test_a_table_is_full_by_nodes_or_by_bytes() -> None:
    by_nodes, by_bytes = NodeTable(2), NodeTable(1000, 152)
    for key in range(2):
        for table in (by_nodes, by_bytes):
            assert not table.is_full
            table.add(Node(key, 0, [Move(0)], [1.0], 0.0))
    assert by_nodes.is_full
    assert by_bytes.is_full


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
    assert table.hashfull == hashfull


def test_a_node_that_forgets_its_moves_keeps_n_and_q() -> None:
    table, node = table_with(4, value=0.5)
    lead(table, node, 0, 3, 0.25)
    table.add_repetition(node, 0, 1.0)
    table.recompute(node)
    visits, value, others = node.total_visits, node.value, table.bytes_used - 72 - 4 * 4 - 16 - 128
    table.forget_moves(node)
    assert (node.raw_visits, node.total_visits, node.value) == (visits, visits, value)
    assert (node.tried, node.visits, node.children) == (0, [0] * 4, [None] * 4)
    assert (len(node.moves), node.is_complete, table.repetitions) == (4, True, {})
    assert table.bytes_used == others + 72 + 4 * 4
    table.forget_moves(node, [Move(2)])
    assert (node.moves, node.is_complete, table.bytes_used) == ([2], False, others + 72 + 4)
