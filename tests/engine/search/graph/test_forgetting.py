"""Forgetting, when the root moves and when the table is full, on small graphs made by hand."""

import pytest

from goryu.search.graph.forgetting import make_room, prune, reachable
from goryu.search.graph.node import UNKNOWN, WIN, half, single
from goryu.search.graph.node_table import recompute
from goryu.search.graph.proof import proof_line
from node_tables import Graph, proven_graph


def test_only_nodes_that_the_new_root_reaches_survive() -> None:
    graph = Graph()
    for parent, i, child in (("old", 0, "new"), ("old", 1, "gone"), ("new", 0, "a"), ("new", 1, "b")):
        graph.edge(parent, i, child)
    graph.edge("a", 0, "shared")
    graph.edge("b", 0, "shared")
    graph.edge("gone", 0, "shared")
    assert reachable(graph.node("new")) == {graph.node(name) for name in ("new", "a", "b", "shared")}
    prune(graph.table, graph.node("new"))
    assert graph.names() == {"new", "a", "b", "shared"}


def test_a_new_root_takes_back_the_visits_that_ended_by_repetition() -> None:
    graph = Graph()
    graph.edge("root", 0, "child", visits=5)
    root = graph.node("root")
    for _ in range(2):
        graph.table.add_repetition(root, 0, 1.0)
    prune(graph.table, root)
    assert (root.visits[0], root.total_visits, root.repetitions) == (3, 4, {})


def test_the_least_visited_half_is_folded_and_its_descendants_are_deleted() -> None:
    """The root's children fill more than half of the table as it is, so all the other nodes are folded."""
    graph = Graph()
    graph.edge("root", 0, "a", visits=29)
    graph.edge("root", 1, "b", visits=3)
    graph.edge("a", 0, "c", visits=15)
    graph.edge("a", 1, "d", visits=13)
    graph.edge("b", 0, "e")
    graph.edge("b", 1, "f")
    graph.edge("c", 0, "g", visits=10)
    for name in ("a", "b", "c"):
        recompute(graph.node(name))
    make_room(graph.table, graph.node("root"))
    assert graph.names() == {"root", "a", "b", "c", "d"}
    b, a = graph.node("b"), graph.node("a")
    assert (b.tried, b.total_visits, b.raw_visits, b.children) == (0, 3, 3, [None, None])
    assert (a.tried, a.total_visits, a.raw_visits) == (2, 29, 1)


def test_a_folded_node_keeps_n_q_and_the_variance_behind_q() -> None:
    graph = Graph()
    graph.edge("root", 0, "a", visits=3)
    graph.edge("a", 0, "b", visits=2)
    a, b = graph.node("a", 0.5), graph.node("b")
    a.raw_value, b.value, b.variance = 0.5, -0.25, 0.1875
    recompute(a)
    value = (0.5 + 2 * 0.25) / 3
    assert a.value == pytest.approx(value)
    make_room(graph.table, graph.node("root"))
    assert graph.names() == {"root", "a"}
    assert (a.raw_value, a.value, a.total_visits) == (single(value), single(value), 3)
    variance = half((0.25 + 2 * 0.25) / 3 - value * value)
    assert a.raw_variance == pytest.approx(variance, abs=1e-3)
    assert a.variance == pytest.approx(a.raw_variance)


@pytest.mark.parametrize("in_flight", [0, 1])
def test_a_node_with_a_playout_in_flight_is_not_folded(in_flight: int) -> None:
    graph = Graph()
    graph.edge("root", 0, "a")
    graph.edge("a", 0, "b")
    graph.node("a").in_flight = in_flight
    make_room(graph.table, graph.node("root"))
    assert ("b" in graph.names()) == bool(in_flight)


def test_a_proven_node_is_folded_to_the_line_that_proves_it() -> None:
    graph = proven_graph()
    make_room(graph.table, graph.node("root"))
    a = graph.node("a")
    assert graph.names() == {"root", "a"}
    assert (a.moves, a.is_complete, a.proof, a.distance, a.value) == ([1, 1, 1], False, WIN, 3, 1.0)
    assert proof_line(a) == [1, 1, 1]
    assert graph.node("root").proof == UNKNOWN
