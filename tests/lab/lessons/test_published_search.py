"""The pseudocode's search on a tree: its selection against the printed formula, its visits, its targets."""

import math
from dataclasses import replace
from random import Random

import pytest

from goryu.base.errors import InputError
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.state import Move
from goryu.games.tictactoe import TicTacToe
from goryu_lab.lessons import published_search
from goryu_lab.lessons.alphazero import choose_move, self_play
from goryu_lab.lessons.pseudocode_config import SMALL_GAMES, scaled
from goryu_lab.lessons.pseudocode_games import encode

CONFIG = replace(scaled(SMALL_GAMES["tictactoe"], as_published=True).alphazero, playouts=200)
ONE_MOVE_WINS = (0, 3, 1, 4)  # Square 2 completes the top row.


def test_every_playout_visits_the_root_and_one_child() -> None:
    state = TicTacToe()
    root = published_search.search(state, UniformEvaluator(), CONFIG, Random(1), has_noise=False)
    assert root.visits == sum(child.visits for child in root.children.values()) == 200
    assert state.ply == 0, "left as it was"


def test_the_selection_is_the_printed_formula() -> None:
    root = published_search.Node(0.0)
    root.visits = 9
    for move, (prior, visits, value) in enumerate([(0.2, 4, 2.0), (0.5, 5, 1.0), (0.3, 0, 0.0)]):
        child = published_search.Node(prior)
        child.visits, child.value_sum = visits, value
        root.children[Move(move)] = child
    c = math.log((9 + 19652 + 1) / 19652) + 1.25
    scores = [2 / 4 + c * 0.2 * 3 / 5, 1 / 5 + c * 0.5 * 3 / 6, 0 + c * 0.3 * 3 / 1]
    assert root.select(CONFIG)[0] == scores.index(max(scores))


def test_a_win_is_found_and_its_target_is_the_visits_not_certainty() -> None:
    late = replace(CONFIG, sampling_plies=0)
    move, policy = choose_move(
        TicTacToe(ONE_MOVE_WINS), UniformEvaluator(), late, Random(1), is_learning=False
    )
    shares = {int(move): share for move, share in policy}
    assert move == 2 == max(shares, key=lambda square: shares[square])
    assert shares[2] < 1.0
    assert sum(shares.values()) == pytest.approx(1.0)
    proved, certain = choose_move(
        TicTacToe(ONE_MOVE_WINS), UniformEvaluator(), replace(late, search="puct"), Random(1),
        is_learning=False,
    )  # fmt: skip
    assert (proved, certain) == (2, ((2, 1.0),)), "the engine's search learns the proof"


def test_the_noise_changes_the_priors_and_the_seed_repeats_a_game() -> None:
    games = [self_play(TicTacToe(), encode, UniformEvaluator(), CONFIG, Random(7)) for _ in range(2)]
    assert games[0] == games[1]
    noisy, plain = (
        published_search.search(TicTacToe(), UniformEvaluator(), CONFIG, Random(7), has_noise=noise)
        for noise in (True, False)
    )
    assert {child.prior for child in plain.children.values()} == {1 / 9}
    assert len({child.prior for child in noisy.children.values()}) == 9


def test_the_printed_signs_look_for_the_opponents_best_moves() -> None:
    shares = {}
    for printed in (False, True):
        late = replace(CONFIG, sampling_plies=0, printed_signs=printed)
        _, policy = choose_move(
            TicTacToe(ONE_MOVE_WINS), UniformEvaluator(), late, Random(1), is_learning=False
        )
        shares[printed] = dict(policy)[Move(2)]
    assert shares[True] < 0.2 < 0.5 < shares[False]


def test_divided_noise_keeps_the_sum_of_the_priors() -> None:
    for divides in (False, True):
        config = replace(CONFIG, divides_noise=divides)
        root = published_search.search(TicTacToe(), UniformEvaluator(), config, Random(7), has_noise=True)
        total = sum(child.prior for child in root.children.values())
        assert (total == pytest.approx(1.0)) == divides


def test_as_published_has_no_symmetries_and_no_other_value_of_untried_moves() -> None:
    assert (CONFIG.search, CONFIG.symmetries) == ("published", False)
    with pytest.raises(InputError, match="'lost', as published"):
        scaled(SMALL_GAMES["tictactoe"], "reduced", as_published=True)
