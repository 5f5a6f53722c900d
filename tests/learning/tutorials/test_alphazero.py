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
from goryu.evaluators.board_network import BOARD_GAMES, encode, load
from goryu.evaluators.network.model_files import models_folder
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.reversi import PASS, Reversi
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.learning.tutorials.alphazero import AlphaZero, Example, RootNoise, choose_move
from goryu.learning.tutorials.alphazero_config import PUBLISHED, TICTACTOE, AlphaZeroConfig, puct_config
from goryu.learning.tutorials.experiments import correctness
from goryu.players.agents.agents import AgentSetup, make_agent
from goryu.players.agents.arena import Score, match
from goryu.players.agents.presets import SMALL_PUCT
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.graph.selection import exploration

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


class TestWithTorch:
    """Training and export, which need PyTorch."""

    @pytest.fixture(autouse=True)
    def _needs_torch(self) -> None:
        torch = pytest.importorskip("torch")
        torch.set_num_threads(1)  # On a busy machine the threads of a tiny network wait for each other.

    def test_an_exported_network_computes_the_same_as_the_trained_one(self, tmp_path: Path) -> None:
        import torch

        from goryu.evaluators.board_network import BoardNetwork, Planes
        from goryu.learning.tutorials.networks import BoardNet, ValueNet, export, forward_values

        for game in BOARD_GAMES.values():
            net = BoardNet(game, 1, 8)
            path = tmp_path / f"{game.name}.onnx"
            export(net, game, path)
            states = [game.new()]
            exported = load(path, game).evaluate(states)[0]

            def forward(planes: Planes, net: BoardNet = net) -> tuple[Planes, Planes]:
                with torch.inference_mode():
                    policy, values = net.eval()(torch.from_numpy(planes))
                return policy.numpy(), values.numpy()

            trained = BoardNetwork(game, forward).evaluate(states)[0]
            assert exported.policy == pytest.approx(trained.policy, abs=1e-5)
            assert exported.value == pytest.approx(trained.value, abs=1e-5)
            with pytest.raises(ValueError, match=f"made for '{game.name}', expected"):
                load(path, next(other for other in BOARD_GAMES.values() if other is not game))
        reversi, values = BOARD_GAMES["reversi"], ValueNet(4, 8)
        export(values, reversi, tmp_path / "values.onnx")
        state = Reversi(moves=[19])
        evaluation = load(tmp_path / "values.onnx", reversi).evaluate([state])[0]
        assert evaluation.policy == pytest.approx([1 / 3] * 3)
        planes = encode([(state.own, state.opponent)], 8)
        assert evaluation.value == pytest.approx(forward_values(values, planes)[0], abs=1e-5)

    def test_a_full_disk_leaves_the_earlier_network(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from goryu.learning.tutorials.networks import BoardNet, export

        def no_space(path: Path, content: bytes) -> None:
            with path.open("wb") as file:
                file.write(content[:1000])
            raise OSError("no space left on device")

        game, path = BOARD_GAMES["tictactoe"], tmp_path / "network.onnx"
        export(BoardNet(game, 1, 8), game, path)
        before = path.read_bytes()
        monkeypatch.setattr(Path, "write_bytes", no_space)
        with pytest.raises(OSError, match="no space"):
            export(BoardNet(game, 1, 8), game, path)
        assert path.read_bytes() == before

    def test_the_eight_symmetries_turn_stones_and_policy_alike(self) -> None:
        from goryu.learning.tutorials.board_learner import BoardLearner
        from goryu.learning.tutorials.networks import symmetric

        learner = BoardLearner(BOARD_GAMES["reversi"], 1, 4, seed=1)
        square = 11
        planes = encode([(1 << square, 0)], 8)
        policy = np.zeros((1, 65), dtype=np.float32)
        policy[0, square], policy[0, PASS] = 0.75, 0.25
        seen = set()
        for turns in range(4):
            for is_mirrored in (False, True):
                board = symmetric(planes, turns, is_mirrored)[0, 0].reshape(64)
                turned = learner._symmetric_policies(policy, turns, is_mirrored)[0]
                assert turned[PASS] == 0.25
                assert turned[:64].argmax() == board.argmax()
                seen.add(int(board.argmax()))
        assert len(seen) == 8

    def test_training_learns_its_positions(self) -> None:
        from goryu.learning.tutorials.board_learner import BoardLearner

        learner = BoardLearner(BOARD_GAMES["tictactoe"], 1, 16, seed=1)
        config = replace(TICTACTOE, steps_per_cycle=40, batch=16)
        corner = Example((0, 1 << 4), ((Move(0), 0.5), (Move(8), 0.5)), -1.0)
        first = learner.train([[corner]], config, Random(1))
        second = learner.train([[corner]], config, Random(1))
        assert second[0] < first[0]
        assert second[1] < first[1]
        evaluation: Evaluation = learner.evaluator().evaluate([TicTacToe([4])])[0]
        assert evaluation.value < -0.8
        # Eight legal moves; by symmetry every corner was shown, no edge ever.
        corners = [
            p
            for m, p in zip(TicTacToe([4]).legal_moves(), evaluation.policy, strict=True)
            if m in (0, 2, 6, 8)
        ]
        assert sum(corners) > 0.9

    def test_value_targets_shrink_with_the_own_turns_to_come(self) -> None:
        from goryu.learning.tutorials.value_config import ValueLearnerConfig
        from goryu.learning.tutorials.value_learner import ValueLearner

        learner = ValueLearner(ValueLearnerConfig(), [make_agent("random")], seed=1)
        final = Reversi(moves=[19])  # White to move, black leads 4 to 1.
        examples = learner._examples(final, 0, [(1, 2), (3, 4), (5, 6)])
        assert [e[:2] for e in examples] == [(5, 6), (3, 4), (1, 2)]
        assert [e[2] for e in examples] == pytest.approx([3 / 64, 0.8 * 3 / 64, 0.64 * 3 / 64])
        drawn = learner._examples(Reversi(), 1, [(1, 2)])
        assert drawn[0][2] == pytest.approx(0.1 / 64)

    def test_a_network_and_its_optimizer_go_on_where_they_stopped(self) -> None:
        from goryu.learning.tutorials.board_learner import BoardLearner

        config = replace(TICTACTOE, steps_per_cycle=5, batch=8)
        game = [Example((0, 1 << 4), ((Move(0), 0.5), (Move(8), 0.5)), -1.0)]
        learner, other = (BoardLearner(BOARD_GAMES["tictactoe"], 1, 8, seed=seed) for seed in (1, 2))
        learner.train([game], config, Random(1))
        other.load_state_dict(learner.state_dict())
        assert learner.train([game], config, Random(2)) == other.train([game], config, Random(2))

    def test_a_resumed_value_learner_plays_the_same_games(self) -> None:
        from goryu.learning.tutorials.value_config import ValueLearnerConfig
        from goryu.learning.tutorials.value_learner import ValueLearner

        config = ValueLearnerConfig(games=6, games_together=3, updates=2, batch=32, depth=1)
        rng, other_rng = Random(1), Random(2)
        learner = ValueLearner(config, [make_agent("random", rng=rng)], seed=1)
        other = ValueLearner(config, [make_agent("random", rng=other_rng)], seed=2)
        learner.step()
        other.load_state_dict(learner.state_dict())
        other_rng.setstate(rng.getstate())
        assert learner.step() == other.step()
        assert learner.games == other.games

    def test_a_bonus_for_corners_enters_the_target_and_keeps_it_in_range(self) -> None:
        from goryu.learning.tutorials.value_config import ValueLearnerConfig
        from goryu.learning.tutorials.value_learner import ValueLearner

        final = Reversi()
        final.own, final.opponent = 1 | 1 << 7 | 1 << 20, 1 << 63 | 1 << 30  # Two corners to one.
        for bonus, target in ((0.0, 1 / 64), (8.0, 9 / 64), (100.0, 1.0)):
            learner = ValueLearner(ValueLearnerConfig(corner_bonus=bonus), [make_agent("random")], seed=1)
            assert learner._examples(final, 0, [(1, 2)])[0][2] == pytest.approx(target)
            assert learner._examples(final, 1, [(1, 2)])[0][2] == pytest.approx(-target)

    @pytest.mark.parametrize("side", [0, 1])
    def test_the_value_learners_match_counts_as_every_other_match(self, side: int) -> None:
        from goryu.learning.tutorials.value_config import ValueLearnerConfig
        from goryu.learning.tutorials.value_learner import ValueLearner

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

    def test_the_value_learner_records_the_positions_of_its_side(self) -> None:
        from goryu.learning.tutorials.value_learner import play_games

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

    def test_the_value_learner_learns_a_position_and_its_images(self) -> None:
        from goryu.learning.tutorials.value_config import ValueLearnerConfig
        from goryu.learning.tutorials.value_learner import ValueLearner

        config = ValueLearnerConfig(games=1, updates=200, learning_rate=5e-3, filters=8, hidden=32)
        learner = ValueLearner(config, [make_agent("random")], seed=1)
        learner.games = [[(1, 2, 0.7), (2, 1, -0.7)]]
        learner._train()
        assert learner.values([(1, 2), (2, 1)]) == pytest.approx([0.7, -0.7], abs=0.15)
        # The corner h8 with its neighbour g8, and h8 with h7: half a turn, and its reflection.
        assert learner.values([(1 << 63, 1 << 62), (1 << 63, 1 << 55)]) == pytest.approx([0.7, 0.7], abs=0.15)

    def test_the_value_learners_rate_falls_to_its_last_share(self) -> None:
        from goryu.learning.tutorials.value_config import ValueLearnerConfig
        from goryu.learning.tutorials.value_learner import ValueLearner

        config = ValueLearnerConfig(games=4, learning_rate=1e-2, final_rate=0.1, updates=1, batch=1)
        learner = ValueLearner(config, [make_agent("random")], seed=1)
        learner.games = [[(1, 2, 0.7)]]
        rates = []
        for learner.played in (0, 2, 4):
            learner._train()
            rates.append(learner.optimizer.param_groups[0]["lr"])
        assert rates == pytest.approx([1e-2, 5.5e-3, 1e-3])

    def test_every_second_game_is_played_as_the_second_player(self) -> None:
        from goryu.learning.tutorials.value_config import ValueLearnerConfig
        from goryu.learning.tutorials.value_learner import ValueLearner

        sides = []

        def opponent(state: State) -> Move:
            if state.ply < 2:  # The opponent's first move: ply 0 if the learner is the second player.
                sides.append(1 - state.ply)
            return state.legal_moves()[0]

        config = ValueLearnerConfig(games=4, games_together=1, both_sides=True, updates=1, batch=8, depth=1)
        learner = ValueLearner(config, [opponent], seed=1)
        while learner.played < config.games:
            learner.step()
        assert sides == [0, 1, 0, 1]

    def test_the_value_learner_plays_its_games_and_randomness_fades(self) -> None:
        from goryu.learning.tutorials.value_config import ValueLearnerConfig
        from goryu.learning.tutorials.value_learner import ValueLearner

        config = ValueLearnerConfig(games=6, games_together=3, updates=2, batch=32, depth=1, epsilon_every=3)
        learner = ValueLearner(config, [make_agent("random", rng=Random(1))], seed=1)
        assert learner.epsilon == pytest.approx(0.9)
        while learner.played < config.games:
            assert learner.step() >= 0.0
        assert learner.played == 6
        assert learner.epsilon == pytest.approx(0.9**3)
        assert all(25 <= len(game) <= 32 for game in learner.games)
        assert learner.match(make_agent("random", rng=Random(2)), 4).games == 4

    def test_the_best_value_network_that_competed_comes_back(self) -> None:
        import torch

        from goryu.learning.tutorials.value_config import ValueLearnerConfig
        from goryu.learning.tutorials.value_learner import ValueLearner

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
