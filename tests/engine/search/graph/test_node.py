"""Nodes by themselves."""

from goryu.games.state import Move
from goryu.search.graph.node import LOSS, UNKNOWN, Node, half, single


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
