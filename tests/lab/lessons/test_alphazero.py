"""AlphaZero's loop and the value learner of the reversi tutorial: examples, training and promotion."""

import hashlib
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log, sqrt
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from goryu.base.errors import InputError
from goryu.evaluators.board_network import BOARD_GAMES, load
from goryu.evaluators.network.model_files import models_folder
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.players.agents.agents import AgentSetup, make_agent
from goryu.players.agents.arena import Score
from goryu.players.agents.presets import SMALL_PUCT
from goryu.search.evaluator import Evaluator
from goryu.search.graph.selection import exploration
from goryu_lab.lessons.alphazero import AlphaZero, Example, RootNoise, choose_move
from goryu_lab.lessons.alphazero_config import (
    PUBLISHED,
    TICTACTOE,
    TICTACTOE_PUBLISHED,
    AlphaZeroConfig,
    puct_config,
)
from goryu_lab.lessons.experiments import correctness

SMALL = AlphaZeroConfig(playouts=16, cycles=2, games_per_cycle=3, evaluation_games=4)


class FakeLearner:
    """Learns nothing; its n-th network is an evaluator with the number n."""

    def __init__(self) -> None:
        self.count = 0

    def new_game(self) -> State:
        return TicTacToe()

    def encode(self, state: State) -> tuple[Move, ...]:
        assert isinstance(state, TicTacToe)
        return tuple(state.move_stack)

    def evaluator(self) -> Evaluator:
        self.count += 1
        evaluator = UniformEvaluator()
        evaluator.number = self.count  # type: ignore[attr-defined]
        return evaluator

    def train(
        self,
        games: Sequence[Sequence[Example[tuple[Move, ...]]]],
        config: AlphaZeroConfig,
        rng: Random,
        on_step: Callable[[int], None] = lambda step: None,
    ) -> tuple[float, float]:
        return 0.0, 0.0

    def state_dict(self) -> dict[str, Any]:
        return {"count": self.count}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        self.count = saved["count"]


def test_the_learning_rate_falls_at_the_published_steps() -> None:
    steps = (0, 99_999, 100_000, 300_000, 500_000, 699_999)
    rates = [PUBLISHED["chess"].learning_rate(step) for step in steps]
    assert rates == [0.2, 0.2, 0.02, 0.002, 0.0002, 0.0002]


def test_a_low_temperature_plays_the_most_visited_move_and_gumbel_has_none() -> None:
    config = replace(TICTACTOE, search="published", temperature=0.01, playouts=30)
    moves = {
        choose_move(TicTacToe([0]), UniformEvaluator(), config, Random(seed), is_learning=False)[0]
        for seed in range(5)
    }
    assert len(moves) == 1
    with pytest.raises(InputError, match="expected none with the search gumbel"):
        replace(TICTACTOE, temperature=0.5)


def test_the_tutorials_config_has_the_numbers_of_its_programs() -> None:
    config = TICTACTOE_PUBLISHED
    assert (config.cycles, config.games_per_cycle, config.playouts, config.temperature) == (10, 500, 20, 1.0)
    assert (config.window_positions, config.epochs, config.batch) == (5000, 100, 100)
    assert (config.evaluation_games, config.promotion) == (100, 0.5)
    training = config.for_window(4990)
    assert training.steps_per_cycle == 5000
    rates = [training.learning_rate(step) for step in (0, 2499, 2500, 3749, 3750, 4999)]
    assert rates == [0.001, 0.001, 0.0005, 0.0005, 0.00025, 0.00025]


def test_the_tutorials_search_spends_one_evaluation_on_the_root_and_learns_the_visits() -> None:
    """Computed by the text's `node` with a uniform policy."""
    state, visits = TicTacToe([0, 3, 1]), [9, 2, 2, 2, 2, 2]
    _, policy = choose_move(state, UniformEvaluator(), TICTACTOE_PUBLISHED, Random(1), is_learning=True)
    assert policy == tuple((move, n / 19) for move, n in zip((2, 4, 5, 6, 7, 8), visits, strict=True))
    with pytest.raises(InputError, match="at least 2 with the search tree"):
        replace(TICTACTOE_PUBLISHED, playouts=1)


@pytest.mark.parametrize("visits", [1, 100, 100_000])
def test_the_search_explores_by_the_published_formula(visits: int) -> None:
    """It was published for values in [0, 1]; our range is twice as long, so the bonus doubles."""
    published = (log((visits + 19652 + 1) / 19652) + 1.25) * sqrt(visits)
    for is_root in (False, True):
        config = puct_config(PUBLISHED["shogi"])
        found = exploration(visits, config.root_formula if is_root else config.formula)
        assert found == pytest.approx(2.0 * published)


@pytest.mark.parametrize("search", ["puct", "gumbel"])
def test_self_play_records_every_position_with_the_result_for_its_side(search: str) -> None:
    loop = AlphaZero(FakeLearner(), replace(SMALL, search=search), Random(1))  # type: ignore[arg-type]
    seen = set()
    for _ in range(12):
        game = loop.self_play()
        for ply, example in enumerate(game):
            assert len(example.position) == ply
            assert sum(p for _, p in example.policy) == pytest.approx(1.0)
            legal = TicTacToe(example.position).legal_moves()
            assert {move for move, _ in example.policy} <= set(legal)
            assert example.value == (game[0].value if ply % 2 == 0 else -game[0].value)
        assert game[-1].value >= 0  # No player loses by its own move.
        seen.add(game[-1].position)
    assert len(seen) > 6


def test_the_challenger_is_promoted_only_with_more_points_than_required() -> None:
    for promotion, expected in ((0.0, [2, 3]), (1.0, [1, 1])):
        loop = AlphaZero(FakeLearner(), replace(SMALL, promotion=promotion), Random(3))
        champions = []
        for cycle in loop.run():
            assert cycle.score is not None
            assert cycle.score.games == 4
            assert cycle.is_promoted == (cycle.score.points > promotion)
            champions.append(loop.champion.number)  # type: ignore[attr-defined]
        assert champions == expected


def test_the_games_of_the_match_are_as_long_as_those_of_self_play() -> None:
    loop = AlphaZero(FakeLearner(), replace(SMALL, max_plies=4), Random(3))
    assert loop.compare(UniformEvaluator()) == Score(0, 4, 0)


def test_without_a_match_the_newest_network_always_plays() -> None:
    loop = AlphaZero(FakeLearner(), replace(SMALL, evaluation_games=0), Random(3))
    assert [(cycle.is_promoted, cycle.score) for cycle in loop.run()] == [(True, None)] * 2


def test_a_resumed_run_plays_the_same_games() -> None:
    config = replace(SMALL, cycles=3, evaluation_games=0, window=100)
    whole = AlphaZero(FakeLearner(), config, Random(4))
    list(whole.run())
    first = AlphaZero(FakeLearner(), config, Random(4))
    next(first.run())
    second = AlphaZero(FakeLearner(), config, Random(99))
    second.load_state_dict(first.state_dict())
    assert [cycle.number for cycle in second.run()] == [2, 3]
    assert second.games == whole.games


def test_a_resumed_run_keeps_the_promoted_champion() -> None:
    loop = AlphaZero(FakeLearner(), replace(SMALL, promotion=1.0), Random(3))  # No challenger is promoted.
    next(loop.run())
    saved = loop.state_dict()
    assert (saved["champion"], saved["learner"]) == ({"count": 1}, {"count": 2})
    learner = FakeLearner()
    resumed = AlphaZero(learner, loop.config, Random(3))
    learner.count = 7
    resumed.load_state_dict(saved)
    assert resumed.champion.number == 2  # type: ignore[attr-defined]  # Made from state 1, not from state 2.
    assert learner.count == 2


def test_the_window_keeps_the_newest_games() -> None:
    loop = AlphaZero(FakeLearner(), replace(SMALL, cycles=4, evaluation_games=0, window=5), Random(3))
    list(loop.run())
    assert len(loop.games) == 5
    loop = AlphaZero(
        FakeLearner(), replace(SMALL, cycles=4, evaluation_games=0, window_positions=20), Random(3)
    )
    list(loop.run())
    assert 1 <= sum(map(len, loop.games)) <= 20


def test_root_noise_changes_the_policy_of_the_root_alone() -> None:
    root, other = TicTacToe(), TicTacToe([4])
    noise = RootNoise(UniformEvaluator(), root.key, 0.3, 0.25, Random(1))
    first, second = noise.evaluate([root, other])
    assert list(second.policy) == [1 / 8] * 8
    assert sum(first.policy) == pytest.approx(1.0)
    assert min(first.policy) >= 0.75 / 9
    assert max(first.policy) > 1 / 9


def test_dirichlet_noise_has_its_mean_and_variance() -> None:
    # A Dirichlet(alpha, ..., alpha) of n parts: mean 1/n, variance (n-1) / (n^2 (n alpha + 1)).
    noise = RootNoise(UniformEvaluator(), TicTacToe().key, 0.3, 1.0, Random(2))
    draws = np.array([noise.evaluate([TicTacToe()])[0].policy for _ in range(4000)])
    assert draws.mean(axis=0) == pytest.approx(np.full(9, 1 / 9), abs=0.01)
    assert draws.var() == pytest.approx(8 / (81 * (9 * 0.3 + 1)), rel=0.05)


@pytest.mark.parametrize("search", ["puct", "gumbel"])
def test_only_the_first_plies_of_a_match_are_drawn(search: str) -> None:
    for sampling_plies, distinct in ((0, False), (9, True)):
        config = replace(TICTACTOE, search=search, sampling_plies=sampling_plies)  # type: ignore[arg-type]
        moves = {
            choose_move(TicTacToe(), UniformEvaluator(), config, Random(seed), is_learning=False)[0]
            for seed in range(10)
        }
        assert (len(moves) > 1) == distinct


def test_a_proven_win_is_played_and_learned() -> None:
    config = replace(TICTACTOE, search="puct", sampling_plies=9)
    for seed in range(5):
        found = choose_move(
            TicTacToe([0, 3, 1, 4]), UniformEvaluator(), config, Random(seed), is_learning=True
        )
        assert found == (2, ((2, 1.0),))


def test_proven_draws_are_played_and_learned_in_proportion_to_their_priors() -> None:
    """The search stops visiting them. X must block at 5; later two moves lead to a draw."""
    config = replace(TICTACTOE, search="puct", sampling_plies=9, playouts=40)
    for moves, drawn in (([0, 1, 2, 4, 7, 3], {5}), ([0, 2, 5, 7, 6, 3, 1], {4, 8})):
        for seed in range(5):
            state = TicTacToe([Move(n) for n in moves])
            move, policy = choose_move(state, UniformEvaluator(), config, Random(seed), is_learning=False)
            assert move in drawn
            assert {m: p for m, p in policy if p} == pytest.approx({m: 1 / len(drawn) for m in drawn})


def shipped(name: str) -> Path:
    path = models_folder() / f"{name}.onnx"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    return path


def test_the_shipped_tictactoe_network_finds_all_eleven_correct_replies() -> None:
    network = load(shipped("tictactoe"), BOARD_GAMES["tictactoe"])
    for name in ("puct:20", "gumbel:20"):
        assert correctness(make_agent(name, AgentSetup(evaluator=network, puct=SMALL_PUCT))) == 11


def test_every_shipped_network_has_a_manifest_entry_and_a_card() -> None:
    folder = models_folder()
    entries = tomllib.loads((folder / "manifest.toml").read_text(encoding="utf-8"))["model"]
    assert {entry["file"] for entry in entries} == {path.name for path in folder.glob("*.onnx")}
    for entry in entries:
        assert hashlib.sha256((folder / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]
        assert entry["sha256"] in (folder / entry["card"]).read_text(encoding="utf-8")
