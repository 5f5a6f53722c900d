"""Bugs that other engines have or had, as facts that hold here; the protocol has a file of its own."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from goryu.evaluators.formats.dlshogi import DlshogiFormat
from goryu.evaluators.formats.value_scale import from_probability
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.softmax import softmax
from goryu.games.shogi import Board, Rules
from goryu.games.state import Outcome
from goryu.players.clock.limits import Limits
from goryu.players.clock.time_manager import TimeConfig, TimeManager, plan
from goryu.search.graph.config import Formula, PuctConfig
from goryu.search.graph.puct import Puct
from goryu.search.graph.selection import untried_value
from goryu.search.result import SearchStats
from goryu.usi.output import centipawns, score

MATED_SOON = "4k4/9/4G4/9/9/9/9/9/4K4 w G 1"


def never(stats: SearchStats) -> bool:
    return False


BYOYOMI = Limits(time_ms=(0, 0), byoyomi_ms=10_000)


class Clock:
    """Returns the same time until it is set."""

    now_s = 0.0

    def read(self) -> float:
        return self.now_s


def stats_after(playouts: int, is_proven: bool = False) -> SearchStats:
    """A search whose second move cannot catch up any more."""
    return SearchStats(playouts, playouts, 5000, 5, 3, 9, 1000, 10_000, is_proven, False)


def searched(playouts: int, config: PuctConfig | None = None, board: Board | None = None) -> Puct:
    puct = Puct(HashedEvaluator(), config or PuctConfig())
    puct.search(board or Board(), never, max_playouts=playouts)
    return puct


def test_a_proven_move_that_is_played_keeps_its_subtree() -> None:
    """dlshogi and FukauraOu throw the tree away when the edge of the played move is proven."""
    board = Board(MATED_SOON)
    puct = searched(600, board=board)
    proven = next(move for move in puct.result().moves if move.mate is not None)
    board.push(proven.move)
    below = puct.table.find(board.key)
    assert below is not None
    inherited = below.total_visits
    assert inherited > 1
    puct.search(board, never, max_playouts=0)
    assert puct.root is below
    assert below.total_visits == inherited


def test_priors_are_finite_for_logits_of_minus_1000() -> None:
    """dlshogi and FukauraOu normalise by a sum of exponentials that has become 0."""
    policy = softmax([-1000.0, -1001.0, -1000.5])
    assert all(0.0 < probability < 1.0 for probability in policy)
    assert sum(policy) == pytest.approx(1.0)


def test_the_prior_of_a_tried_move_counts_once() -> None:
    """dlshogi and FukauraOu add a move's prior to the tried mass at every visit: the sum passes 1."""
    puct = searched(500)
    root = puct.root
    assert root is not None
    tried = sum(prior for prior, visits in zip(root.priors, root.visits, strict=True) if visits)
    assert tried <= 1.001  # They are rounded to halves.
    expected = max(-1.0, root.value - 0.3 * tried**0.5)
    assert untried_value(root, Formula(fpu_reduction=0.3)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("value", [-1.0, 1.0])
def test_a_win_rate_of_exactly_0_or_1_has_a_finite_score(value: float) -> None:
    """python-dlshogi fails at 0, nshogi at 1."""
    assert centipawns(value, 600) == 30_000 * value
    assert score(value, None, 600) == f"cp {int(30_000 * value)}"


def test_more_than_ten_pieces_in_the_camp_have_the_planes_of_the_trainer() -> None:
    """FukauraOu's 119 planes differ from dlshogi's trainer there, and where there are points to spare."""
    cshogi = pytest.importorskip("cshogi")
    dlshogi = pytest.importorskip("cshogi.dlshogi")
    sfen = "1K1+R1+R3/PPPPPPPPP/1S1B1B3/9/9/9/9/9/4k4 b 2G2S4N4L 100"
    model_format = DlshogiFormat(from_probability, sees_nyugyoku=True)
    rows = [np.zeros(spec.shape, np.uint8) for spec in model_format.inputs]
    model_format.fill(Board(sfen), rows)
    expected = [np.zeros((62, 9, 9), np.float32), np.zeros((119, 9, 9), np.float32)]
    dlshogi.use_nyugyoku_features(True)
    try:
        dlshogi.make_input_features(cshogi.Board(sfen), *expected)
    finally:
        dlshogi.use_nyugyoku_features(False)
    assert np.array_equal(rows[1], expected[1])
    assert [plane for plane in range(57, 88) if rows[1][plane].any()] == [57], "the king's plane, no other"


def test_every_kept_node_is_found_after_deletion() -> None:
    """python-dlshogi's table frees slots in the middle of its probe chains."""
    board = Board()
    puct = searched(600)
    rng = Random(7)
    for _ in range(4):
        board.push(rng.choice(puct.result().moves[:3]).move)
        puct.search(board, never, max_playouts=200)
        for node in puct.table:
            assert puct.table.find(node.key) is node


@pytest.mark.parametrize("plies, seen", [(16, True), (18, False)])
def test_a_cycle_of_16_plies_is_seen_at_once_and_a_longer_one_the_fourth_time(plies: int, seen: bool) -> None:
    """dlshogi and FukauraOu miss long cycles altogether."""
    circle = "5i 4i 3i 2i 2h 3h 4h 5h" if plies == 16 else "5i 4i 3i 2i 1i 1h 2h 3h 4h"
    black = circle.split()
    white = [f"{10 - int(name[0])}{chr(ord('a') + ord('i') - ord(name[1]))}" for name in black]
    board = Board("4k4/9/9/9/9/9/9/9/4K4 b - 1")
    results: list[Outcome | None] = []
    for turn in range(3 * len(black)):
        here, there = turn % len(black), (turn + 1) % len(black)
        for squares in (black, white):
            board.push_usi(squares[here] + squares[there])
            results.append(board.repetition())
    assert (results[plies - 1] is not None) == seen
    assert results[-1] == Outcome(0.0, "fourfold repetition")


def test_unequal_draw_values_stay_zero_sum() -> None:
    """dlshogi has a draw value for each colour: both can prefer the same draw."""
    config = PuctConfig(draw_value=0.5)
    board = Board("4k4/9/9/9/9/9/9/9/4K4 b - 1", replace(Rules(), max_ply=3))
    puct = searched(200, config, board)
    drawn = [node for node in puct.table if node.ply == 3]
    assert drawn
    assert {node.value for node in drawn} == {-0.5}  # White is to move; a draw has the value 0.5 for black.
    assert puct.root is not None
    assert puct.root.value == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("stops_early, taken_s", [(True, 1.0), (False, 9.9)])
def test_a_decided_search_in_byoyomi_stops_early_with_the_option(stops_early: bool, taken_s: float) -> None:
    """dlshogi always uses its byoyomi up."""
    clock = Clock()
    manager = TimeManager(clock.read)
    config = TimeConfig(stops_early_in_byoyomi=stops_early)
    manager.start(plan(BYOYOMI, 0, 0, config, Random(0)), 0.0)
    while not manager.should_stop(stats_after(int(100 * clock.now_s))):
        clock.now_s += 0.01
    assert clock.now_s == pytest.approx(taken_s, abs=0.1)


def test_a_proven_position_is_answered_at_once_in_byoyomi() -> None:
    manager = TimeManager(Clock().read)
    manager.start(plan(BYOYOMI, 0, 0, TimeConfig(), Random(0)), 0.0)
    assert manager.should_stop(stats_after(10, is_proven=True))
