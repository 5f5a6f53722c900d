"""The value learner of the reversi tutorial: targets, updates, sides and matches."""

from collections.abc import Sequence
from random import Random

import pytest

from goryu.games.reversi import Reversi
from goryu.games.state import Move, State
from goryu.players.agents.agents import make_agent
from goryu.players.agents.arena import match

pytest.importorskip("torch")

import torch

from goryu_lab.lessons.value_config import ValueLearnerConfig
from goryu_lab.lessons.value_learner import ValueLearner, play_games

torch.set_num_threads(1)


def test_value_targets_shrink_with_the_own_turns_to_come() -> None:
    learner = ValueLearner(ValueLearnerConfig(), [make_agent("random")], seed=1)
    final = Reversi(moves=[19])  # White to move, black leads 4 to 1.
    examples = learner._examples(final, 0, [(1, 2), (3, 4), (5, 6)])
    assert [e[:2] for e in examples] == [(5, 6), (3, 4), (1, 2)]
    assert [e[2] for e in examples] == pytest.approx([3 / 64, 0.8 * 3 / 64, 0.64 * 3 / 64])
    drawn = learner._examples(Reversi(), 1, [(1, 2)])
    assert drawn[0][2] == pytest.approx(0.1 / 64)


def test_a_bonus_for_corners_enters_the_target_and_keeps_it_in_range() -> None:
    final = Reversi()
    final.own, final.opponent = 1 | 1 << 7 | 1 << 20, 1 << 63 | 1 << 30  # Two corners to one.
    for bonus, target in ((0.0, 1 / 64), (8.0, 9 / 64), (100.0, 1.0)):
        learner = ValueLearner(ValueLearnerConfig(corner_bonus=bonus), [make_agent("random")], seed=1)
        assert learner._examples(final, 0, [(1, 2)])[0][2] == pytest.approx(target)
        assert learner._examples(final, 1, [(1, 2)])[0][2] == pytest.approx(-target)


@pytest.mark.parametrize("side", [0, 1])
def test_the_value_learners_match_counts_as_every_other_match(side: int) -> None:
    def first(state: State) -> Move:
        return state.legal_moves()[0]

    def last(state: State) -> Move:
        return state.legal_moves()[-1]

    def discs(state: State) -> float:
        assert isinstance(state, Reversi)
        return state.disc_difference()

    learner = ValueLearner(ValueLearnerConfig(), [last], seed=1)
    learner.choose = lambda states: list(map(first, states))  # type: ignore[method-assign]
    expected = match(first, last, Reversi, 2, side=side, margin=discs)
    assert expected.draws == 0
    assert learner.match(last, 2, side) == expected


def test_the_value_learner_records_the_positions_of_its_side() -> None:
    chosen: list[list[tuple[int, int]]] = [[], []]
    states = [Reversi(), Reversi()]

    def choose(asked: Sequence[Reversi]) -> list[Move]:
        for state in asked:
            chosen[states.index(state)].append((state.own, state.opponent))
        return [state.legal_moves()[0] for state in asked]

    def opponent(state: State) -> Move:
        return state.legal_moves()[-1]

    seen = play_games(states, [0, 1], choose, [opponent, opponent])
    assert seen == chosen
    assert seen[0][0] == (Reversi().own, Reversi().opponent)
    assert all(state.outcome() for state in states)


def test_the_value_learner_learns_a_position_and_its_images() -> None:
    config = ValueLearnerConfig(games=1, updates=200, learning_rate=5e-3, filters=8, hidden=32)
    learner = ValueLearner(config, [make_agent("random")], seed=1)
    learner.games = [[(1, 2, 0.7), (2, 1, -0.7)]]
    learner._train()
    assert learner.values([(1, 2), (2, 1)]) == pytest.approx([0.7, -0.7], abs=0.15)
    # The corner h8 with its neighbour g8, and h8 with h7: half a turn, and its reflection.
    assert learner.values([(1 << 63, 1 << 62), (1 << 63, 1 << 55)]) == pytest.approx([0.7, 0.7], abs=0.15)


def test_the_value_learners_rate_falls_to_its_last_share() -> None:
    config = ValueLearnerConfig(games=4, learning_rate=1e-2, final_rate=0.1, updates=1, batch=1)
    learner = ValueLearner(config, [make_agent("random")], seed=1)
    learner.games = [[(1, 2, 0.7)]]
    rates = []
    for learner.played in (0, 2, 4):
        learner._train()
        rates.append(learner.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([1e-2, 5.5e-3, 1e-3])


def test_the_value_learner_plays_its_games_and_randomness_fades() -> None:
    config = ValueLearnerConfig(games=6, games_together=3, updates=2, batch=32, depth=1, epsilon_every=3)
    learner = ValueLearner(config, [make_agent("random", rng=Random(1))], seed=1)
    assert learner.epsilon == pytest.approx(0.9)
    while learner.played < config.games:
        assert learner.step() >= 0.0
    assert learner.played == 6
    assert learner.epsilon == pytest.approx(0.9**3)
    assert all(25 <= len(game) <= 32 for game in learner.games)
    assert learner.match(make_agent("random", rng=Random(2)), 4).games == 4


def test_the_best_value_network_that_competed_comes_back() -> None:
    learner = ValueLearner(ValueLearnerConfig(depth=1), [make_agent("random", rng=Random(1))], seed=1)
    learner.restore_best()  # Nothing has competed: nothing changes.
    best = learner.compete(4)
    weights = [p.detach().clone() for p in learner.net.parameters()]
    with torch.no_grad():
        for parameter in learner.net.parameters():
            parameter.zero_()
    learner._best_points = max(best, 1.0)  # Nothing beats this.
    learner.compete(4)
    learner.restore_best()
    assert all(torch.equal(a, b) for a, b in zip(weights, learner.net.parameters(), strict=True))
