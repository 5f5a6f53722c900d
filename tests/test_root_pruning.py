"""Root moves that cannot catch up any more get no playouts."""

from itertools import pairwise
from math import inf
from typing import Any

import pytest

from goryu.evaluators.hashed import HashedEvaluator
from goryu.games.reversi import Reversi
from goryu.games.state import Move
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.node import DRAW, Node
from goryu.search.graph.node_table import NodeTable
from goryu.search.graph.progress import Progress
from goryu.search.graph.puct import Puct
from goryu.search.graph.root_pruning import least_visits, pruned
from goryu.search.result import SearchStats


def root_of(visits: list[int], pending: list[int]) -> Node:
    root = Node(0, 0, [Move(i) for i in range(len(visits) + 2)], [0.1] * (len(visits) + 2), 0.0)
    root.visits[: len(visits)], root.pending[: len(visits)], root.tried = visits, pending, len(visits)
    for i in range(len(visits)):
        root.children[i] = Node(i + 1, 1, [], [], 0.0)
    return root


@pytest.mark.parametrize(
    ("share", "left", "expected"),
    [
        (0.15, 105, set()),
        (0.15, 100, {4, 5}),
        (0.15, 40, {3, 4, 5}),
        (0.15, 0, {2, 3, 4, 5}),
        (0.5, 310, {4, 5}),
        (1.0, 0, {1, 2, 3, 4, 5}),
        (1.0, inf, set()),
    ],
)
def test_a_move_is_pruned_if_all_remaining_playouts_are_too_few_for_it(
    share: float, left: float, expected: set[int]
) -> None:
    """Those in flight count: move 2 has 101 visits, move 3 has 40, and 4 and 5 were never tried."""
    root = root_of([700, 350, 100, 38], [0, 0, 1, 2])
    least = least_visits(NodeTable(9), root, set(), share, left)
    assert pruned(root, least) == expected


def test_moves_that_are_masked_or_certain_do_not_compete() -> None:
    root = root_of([700, 350, 100], [0, 0, 0])
    child = root.children[0]
    assert child is not None
    assert least_visits(NodeTable(9), root, set(), 0.5, 10) == 340
    assert least_visits(NodeTable(9), root, {0}, 0.5, 10) == 165
    child.set_proof(DRAW, 2, 0.0)
    assert least_visits(NodeTable(9), root, set(), 0.5, 10) == 165
    assert least_visits(NodeTable(9), root, {1}, 0.5, 10) == 40


def test_the_playouts_left_follow_from_each_limit_and_from_the_plan() -> None:
    assert Progress().playouts_left() == inf
    assert Progress(max_playouts=100, playouts=30).playouts_left() == 70
    # Two playouts for an evaluation so far.
    assert Progress(max_evaluations=60, playouts=80, evaluations=40).playouts_left() == 40
    assert Progress(50, 60, playouts=40, evaluations=20).playouts_left() == 10
    assert Progress(50, planned_playouts=45, playouts=40).playouts_left() == 5
    assert Progress(50, planned_playouts=30, playouts=40).playouts_left() == 0


class Watch:
    """Notes the visits of the root's moves before each batch."""

    def __init__(self, puct: Puct, plan: int = 0) -> None:
        self._puct, self._plan = puct, plan
        self.seen: list[list[int]] = []

    def __call__(self, stats: SearchStats) -> bool:
        assert self._puct.root is not None
        self.seen.append(list(self._puct.root.visits))
        if self._plan:
            self._puct.plan_playouts(self._plan)
        return stats.playouts >= 400


def wasted(seen: list[list[int]], playouts: int, share: float) -> int:
    """Returns how many playouts went to moves that could not reach the share any more."""
    count = 0
    for n, (before, after) in enumerate(pairwise(seen)):
        for i, visits in enumerate(before):
            count += after[i] > visits and visits + playouts - n < share * max(before)
    return count


LIMITS: dict[str, tuple[dict[str, Any], int]] = {
    "by the limit": ({"max_playouts": 400}, 0),
    "by the plan": ({}, 400),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_no_playout_is_wasted_on_a_move_that_cannot_catch_up(limit: str) -> None:
    limits, plan = LIMITS[limit]
    found = []
    for share in (0.0, 0.5):
        puct = Puct(HashedEvaluator(), PuctConfig(pruned_share=share))
        watch = Watch(puct, plan)
        puct.search(Reversi(), watch, **limits)
        assert puct.root is not None
        found.append((wasted([*watch.seen, list(puct.root.visits)], 400, 0.5), max(puct.root.visits)))
    (usual, usual_most), (pruning, pruning_most) = found
    assert pruning == 0 < usual
    assert pruning_most > usual_most, "they go to the moves that compete"


def test_without_an_end_in_sight_nothing_is_pruned() -> None:
    results = [
        Puct(HashedEvaluator(), PuctConfig(pruned_share=share)).search(
            Reversi(), lambda stats: stats.playouts >= 300
        )
        for share in (0.0, 1.0)
    ]
    assert results[0] == results[1]


def test_a_search_that_is_extended_opens_its_moves_again() -> None:
    puct = Puct(HashedEvaluator(), PuctConfig(pruned_share=1.0))
    seen: list[list[int]] = []

    def look(stats: SearchStats) -> bool:
        assert puct.root is not None
        puct.plan_playouts(stats.playouts if 200 <= stats.playouts < 250 else inf)
        if stats.playouts in (200, 250, 400):
            seen.append(list(puct.root.visits))
        return stats.playouts >= 400

    puct.search(Reversi(), look)
    grown = [{i for i, visits in enumerate(before) if after[i] > visits} for before, after in pairwise(seen)]
    assert len(grown[0]) == 1, "without playouts left only the most visited move is open"
    assert len(grown[1]) > 1
