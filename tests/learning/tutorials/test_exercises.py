"""The exercises of the reversi tutorial: opponents, targets and the measurements of corners."""

from collections.abc import Sequence
from random import Random

import pytest

from goryu.games.reversi import Reversi
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe

pytest.importorskip("torch")

from goryu.learning.tutorials.exercises import (
    CORNER_DISCS,
    NEXT_TO_CORNERS,
    VARIANTS,
    corner_taking,
    disc_value,
)
from goryu.learning.tutorials.experiments import match_of_openings
from goryu.learning.tutorials.value_learner import CORNERS, ValueLearner
from goryu.players.agents.agents import make_agent


def count_discs(boards: Sequence[tuple[int, int]]) -> list[float]:
    return [(own.bit_count() - opponent.bit_count()) / 64 for own, opponent in boards]


def count_discs_and_corners(boards: Sequence[tuple[int, int]]) -> list[float]:
    mask = sum(1 << corner for corner in CORNERS)
    corners = count_discs([(own & mask, opponent & mask) for own, opponent in boards])
    return [discs + CORNER_DISCS * c for discs, c in zip(count_discs(boards), corners, strict=True)]


def test_a_bonus_for_corners_is_found_on_corners_alone() -> None:
    found = [
        disc_value("discs", count_discs_and_corners, squares, Random(1), count=20).value
        for squares in (CORNERS, NEXT_TO_CORNERS)
    ]
    assert found == pytest.approx([1.0 + CORNER_DISCS, 1.0])


def test_corner_taking_is_1_for_a_corner_player_and_0_for_one_that_avoids_them() -> None:
    def lover(states: Sequence[Reversi]) -> list[Move]:
        return [max(state.legal_moves(), key=lambda move: move in CORNERS) for state in states]

    def hater(states: Sequence[Reversi]) -> list[Move]:
        return [min(state.legal_moves(), key=lambda move: move in CORNERS) for state in states]

    assert corner_taking("lover", lover, Random(1), count=20).value == 1.0
    assert corner_taking("hater", hater, Random(1), count=20).value == 0.0


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_plays_its_opponents_in_turn_with_less_and_less_randomness(variant) -> None:  # type: ignore[no-untyped-def]
    opponents = variant.new_opponents(Random(1))
    assert len(opponents) == len(variant.opponents)
    assert len(set(map(id, opponents))) == len(set(variant.opponents))
    learner = ValueLearner(variant.config(300), opponents, seed=1)
    learner.played = 300
    assert learner.epsilon < 0.01


def test_each_opening_of_a_match_is_played_from_both_sides() -> None:
    seen: list[tuple[int, tuple[Move, ...]]] = []

    def agent(state: State) -> Move:
        assert isinstance(state, TicTacToe)
        if state.ply < 4:  # Its first move of the game.
            seen.append((state.turn, tuple(state.move_stack[:2])))
        return state.legal_moves()[0]

    score = match_of_openings(agent, make_agent("alpha-beta"), TicTacToe, 6, 2, Random(1))
    assert score.games == 6
    assert [turn for turn, _ in seen] == [0, 1] * 3
    openings = [opening for _, opening in seen]
    assert openings[::2] == openings[1::2]
    assert len(set(openings)) > 1
