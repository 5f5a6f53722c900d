"""The PUCT formula, written down a second time, and the moves that a playout takes by it."""

from collections.abc import Set
from math import inf, log, sqrt
from random import Random

import pytest

from goryu.games.state import Move
from goryu.search.graph.config import Formula
from goryu.search.graph.node import WIN, Node, single
from goryu.search.graph.node_table import NodeTable, recompute
from goryu.search.graph.selection import exploration, select, untried_value

FORMULA = Formula(c_init=1.5, c_base=100.0, c_factor=3.0, fpu_reduction=0.25)


def parent_of(visits: list[int], values: list[float], pending: list[int], priors: list[float]) -> Node:
    """Returns a node whose visited moves have these values; the tried moves come first."""
    table, node = NodeTable(9), Node(0, 0, [Move(i) for i in range(len(priors))], priors, 0.0)
    table.try_moves(node, len(visits))
    for i, (count, value) in enumerate(zip(visits, values, strict=True)):
        node.children[i] = Node(i + 1, 1, [], [], -value) if count else None
    node.visits[: len(visits)], node.pending[: len(pending)] = visits, pending
    recompute(node)
    node.in_flight = sum(pending)
    return node


def expected(node: Node, formula: Formula, closed: Set[int]) -> int:
    """Selects by the formula, without the shortcut for moves that were never tried."""
    n = node.total_visits + node.in_flight
    c = formula.c_init + formula.c_factor * log((n + formula.c_base + 1) / formula.c_base)
    counts = [done + waiting for done, waiting in zip(node.visits, node.pending, strict=True)]
    mass = sum(node.priors[: node.tried])
    best, best_score = -1, -inf
    for i, child in enumerate(node.children):
        if i in closed or node.proofs[i] == WIN:
            continue
        q = (
            max(-1.0, node.value - formula.fpu_reduction * sqrt(mass))
            if child is None
            else single(-child.value)
        )
        score = q + c * node.priors[i] * sqrt(n) / (1 + counts[i])
        if score > best_score:
            best, best_score = i, score
    return best


def test_a_playout_takes_the_move_with_the_greatest_score() -> None:
    rng = Random(1)
    chosen = set()
    for _ in range(2000):
        moves = rng.randint(1, 8)
        priors = sorted((rng.randint(1, 64) / 256 for _ in range(moves)), reverse=True)
        tried = rng.randint(0, moves)
        visits = [rng.choice((0, 1, 2, 30)) for _ in range(tried)]
        pending = [rng.choice((0, 0, 1, 5)) for _ in range(tried)]
        node = parent_of(visits, [rng.uniform(-1, 1) for _ in visits], pending, priors)
        node.value = rng.uniform(-1, 1)
        node.proofs = [WIN if child is not None and rng.random() < 0.2 else 0 for child in node.children]
        closed = {i for i in range(moves) if rng.random() < 0.2}
        formula = Formula(rng.uniform(0, 3), rng.choice((5.0, 500.0)), rng.uniform(0, 3), rng.uniform(0, 0.5))
        chosen.add(select(node, formula, closed))
        assert select(node, formula, closed) == expected(node, formula, closed)
    assert chosen == set(range(-1, 8))


def test_playouts_in_flight_count_in_n_of_the_node() -> None:
    """Q is 0.6 behind; the greater prior is worth sqrt(N) / 4: 0.43 for N = 3, 0.75 for N = 9."""
    node = parent_of([1, 1], [0.0, 0.6], [0, 0], [0.75, 0.25])
    formula = Formula(c_init=1.0, c_factor=0.0)
    assert select(node, formula) == 1
    node.in_flight = 6
    assert select(node, formula) == 0


def test_playouts_in_flight_count_as_visits_of_their_move() -> None:
    node = parent_of([1, 1], [0.0, 0.0], [0, 0], [0.5, 0.5])
    assert select(node, FORMULA) == 0, "the first of equals"
    node.pending[0] = node.in_flight = 1
    assert select(node, FORMULA) == 1


def test_without_an_open_move_none_is_selected() -> None:
    node = parent_of([1], [1.0], [0], [0.5, 0.5])
    assert select(node, FORMULA, {0, 1}) == -1
    node.proofs[0] = WIN
    assert select(node, FORMULA) == 1
    assert select(node, FORMULA, {1}) == -1


@pytest.mark.parametrize(
    "visits, pending, mass", [([], [], 0.0), ([1], [0], 0.5), ([1, 0], [0, 2], 0.75), ([1, 0], [0, 0], 0.75)]
)
def test_an_untried_move_has_a_lower_value_the_more_prior_mass_was_tried(
    visits: list[int], pending: list[int], mass: float
) -> None:
    node = parent_of(visits, [0.0] * len(visits), pending, [0.5, 0.25, 0.25])
    node.value = 0.5
    assert untried_value(node, FORMULA) == pytest.approx(0.5 - 0.25 * sqrt(mass))


def test_an_untried_move_has_at_least_the_value_of_a_loss() -> None:
    node = parent_of([1], [0.9], [0], [0.5, 0.5])
    node.value = -0.9
    assert untried_value(node, FORMULA) == -1.0


def test_exploration_grows_with_the_visits() -> None:
    """c(N) sqrt(N) for N = 99: (1.5 + 3 ln 2) sqrt 99."""
    assert exploration(99, FORMULA) == pytest.approx((1.5 + 3 * 0.693147180559945) * 9.949874371066)
    assert exploration(0, FORMULA) == 0.0
