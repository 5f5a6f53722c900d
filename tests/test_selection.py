"""The PUCT formula, written down a second time, and the moves that a playout takes by it."""

from collections.abc import Set
from dataclasses import replace
from math import inf, log, sqrt
from random import Random

import pytest

from goryu.games.state import Move
from goryu.search.config import Formula
from goryu.search.node import WIN, Node
from goryu.search.node_table import NodeTable
from goryu.search.selection import exploration, select, stdev_factor, untried_value

FORMULA = Formula(c_init=1.5, c_base=100.0, c_factor=3.0, fpu_reduction=0.25)


def parent_of(visits: list[int], values: list[float], pending: list[int], priors: list[float]) -> Node:
    """Returns a node whose visited moves lead to children of these values; the tried moves come first."""
    node = Node(0, 0, [Move(i) for i in range(len(priors))], priors, 0.0)
    for i, (count, value) in enumerate(zip(visits, values, strict=True)):
        node.children[i] = Node(i + 1, 1, [], [], value) if count else None
    node.visits[: len(visits)], node.pending[: len(pending)] = visits, pending
    node.total_visits, node.in_flight, node.tried = 1 + sum(visits), sum(pending), len(visits)
    return node


def expected(node: Node, formula: Formula, closed: Set[int]) -> int:
    """Selects by the formula, without the shortcut for moves that were never tried."""
    n = node.total_visits + node.in_flight
    c = formula.c_init + formula.c_factor * log((n + formula.c_base + 1) / formula.c_base)
    if node.total_visits > 1:
        # The variance of the values and of two more ones that are 0.22 from the mean.
        of_all = (node.total_visits * node.mean_square + 2 * (node.value**2 + 0.22**2)) / (
            node.total_visits + 1
        )
        c *= 1 + formula.stdev_scale * (sqrt(max(0.0, of_all - node.value**2)) / 0.22 - 1)
    counts = [done + waiting for done, waiting in zip(node.visits, node.pending, strict=True)]
    mass = sum(prior for prior, count in zip(node.priors, counts, strict=True) if count)
    best, best_score = -1, -inf
    for i, child in enumerate(node.children):
        if i in closed or (child is not None and child.proof == WIN):
            continue
        base = node.value * min(1, mass**2) + node.raw_value * (1 - min(1, mass**2))
        base = formula.fpu_own_share * base + (1 - formula.fpu_own_share) * node.value
        q = max(-1.0, base - formula.fpu_reduction * sqrt(mass)) if child is None else -child.value
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
        node.value, node.raw_value = rng.uniform(-1, 1), rng.uniform(-1, 1)
        node.mean_square = rng.uniform(node.value**2, 1)
        for child in node.children:
            if child is not None and rng.random() < 0.2:
                child.set_proof(WIN, 1, 1.0)
        closed = {i for i in range(moves) if rng.random() < 0.2}
        formula = Formula(rng.uniform(0, 3), rng.choice((5.0, 500.0)), rng.uniform(0, 3), rng.uniform(0, 0.5))
        if rng.random() < 0.5:
            formula = replace(formula, stdev_scale=rng.uniform(0, 1), fpu_own_share=rng.uniform(0, 1))
        chosen.add(select(NodeTable(9), node, formula, closed))
        assert select(NodeTable(9), node, formula, closed) == expected(node, formula, closed)
    assert chosen == set(range(-1, 8))


def test_playouts_in_flight_count_in_n_of_the_node() -> None:
    """Q is 0.6 behind; the greater prior is worth sqrt(N) / 4: 0.43 for N = 3, 0.75 for N = 9."""
    node = parent_of([1, 1], [0.0, -0.6], [0, 0], [0.75, 0.25])
    formula = Formula(c_init=1.0, c_factor=0.0)
    assert select(NodeTable(9), node, formula) == 1
    node.in_flight = 6
    assert select(NodeTable(9), node, formula) == 0


def test_playouts_in_flight_count_as_visits_of_their_move() -> None:
    node = parent_of([1, 1], [0.0, 0.0], [0, 0], [0.5, 0.5])
    assert select(NodeTable(9), node, FORMULA) == 0, "the first of equals"
    node.pending[0] = node.in_flight = 1
    assert select(NodeTable(9), node, FORMULA) == 1


def test_without_an_open_move_none_is_selected() -> None:
    node = parent_of([1], [1.0], [0], [0.5, 0.5])
    assert select(NodeTable(9), node, FORMULA, {0, 1}) == -1
    lost = node.children[0]
    assert lost is not None
    lost.set_proof(WIN, 1, 1.0)
    assert select(NodeTable(9), node, FORMULA) == 1
    assert select(NodeTable(9), node, FORMULA, {1}) == -1


@pytest.mark.parametrize(
    "visits, pending, mass", [([0, 0], [0, 0], 0.0), ([1, 0], [0, 0], 0.5), ([1, 0], [0, 2], 0.75)]
)
def test_an_untried_move_has_a_lower_value_the_more_prior_mass_was_tried(
    visits: list[int], pending: list[int], mass: float
) -> None:
    node = parent_of(visits, [0.0, 0.0], pending, [0.5, 0.25, 0.25])
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


def with_spread(stdev: float, visits: int, mean: float = 0.1) -> Node:
    """Returns a node with `visits` visits, whose values have this mean and this standard deviation."""
    node = Node(0, 0, [Move(1)], [1.0], 0.0)
    node.total_visits, node.value, node.mean_square = visits, mean, mean * mean + stdev * stdev
    return node


@pytest.mark.parametrize(("stdev", "factor"), [(0.22, 1.0), (0.44, 1.85), (0.11, 0.575), (0.0, 0.15)])
def test_after_many_visits_exploration_grows_with_the_spread_of_the_values(
    stdev: float, factor: float
) -> None:
    formula = replace(FORMULA, stdev_scale=0.85)
    assert stdev_factor(with_spread(stdev, 10_000_000), formula) == pytest.approx(factor, abs=1e-3)
    assert stdev_factor(with_spread(stdev, 10_000_000), FORMULA) == 1.0, "off unless asked for"


@pytest.mark.parametrize("visits", [1, 2, 5, 40])
def test_the_spread_of_few_values_is_mixed_with_the_usual_one(visits: int) -> None:
    """As if two more values had been seen, 0.22 above and 0.22 below the mean; one of all is the mean's."""
    formula = replace(FORMULA, stdev_scale=1.0)
    values = [0.3 + 0.05 * (-1) ** i for i in range(visits)]
    mean = sum(values) / visits
    node = with_spread(0.0, visits, mean)
    node.mean_square = sum(value * value for value in values) / visits
    seen = [*values, mean - 0.22, mean + 0.22]
    spread = sqrt(sum(value * value for value in seen) / (len(seen) - 1) - mean * mean)
    assert stdev_factor(node, formula) == pytest.approx(spread / 0.22 if visits > 1 else 1.0)


def test_a_mean_square_that_rounding_made_too_small_is_no_spread() -> None:
    node = with_spread(0.0, 1_000_000_000, 0.1)
    node.mean_square -= 1e-17
    assert stdev_factor(node, replace(FORMULA, stdev_scale=1.0)) == pytest.approx(0.0, abs=1e-4)


def test_a_greater_spread_lets_a_playout_take_the_move_that_was_tried_less() -> None:
    node = parent_of([30, 1], [0.0, 0.3], [0, 0], [0.5, 0.5])
    formula = Formula(c_init=0.2, c_factor=0.0, stdev_scale=0.85)
    node.value, node.mean_square = 0.0, 0.0
    assert select(NodeTable(9), node, formula) == 0
    node.mean_square = 0.4
    assert select(NodeTable(9), node, formula) == 1


@pytest.mark.parametrize(
    ("share", "visits", "value"),
    [(1.0, [0, 0], -0.4), (1.0, [1, 0], -0.25), (1.0, [1, 1], 0.2), (0.5, [0, 0], -0.1), (0.0, [0, 0], 0.2)],
)
def test_an_untried_move_starts_from_the_nodes_own_value_until_its_moves_are_visited(
    share: float, visits: list[int], value: float
) -> None:
    """V is -0.4 and Q 0.2; half of the prior mass counts a quarter."""
    node = parent_of(visits, [0.0, 0.0], [0, 0], [0.5, 0.5])
    node.raw_value, node.value = -0.4, 0.2
    formula = replace(FORMULA, fpu_reduction=0.0, fpu_own_share=share)
    assert untried_value(node, formula) == pytest.approx(value)
