"""Agents and matches: every algorithm through one interface."""

import sys
from pathlib import Path
from random import Random

import pytest

from goryu.evaluators.board_network import BOARD_GAMES, BoardNetwork, Planes, encode, load
from goryu.evaluators.cached import CachedEvaluator
from goryu.evaluators.material import MaterialEvaluator
from goryu.evaluators.network.providers import BackendError
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.reversi import Reversi
from goryu.games.shogi import move_to_usi
from goryu.games.state import Move
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Board
from goryu.players.agents.agents import AGENTS, AgentError, AgentSetup, make_agent
from goryu.players.agents.arena import Score, match, paired_match, play_game
from goryu.players.agents.catalogue import ALGORITHMS
from goryu.players.agents.usi_traits import USI_TRAITS
from goryu.search.alpha_beta import alpha_beta
from goryu_lab.lessons.experiments import CORRECT_REPLIES, correctness, mean_correctness
from goryu_page.microscope.observed import OBSERVED


def test_the_catalogue_names_what_plays_and_what_can_be_observed() -> None:
    assert set(ALGORITHMS) == {*AGENTS, *USI_TRAITS, *OBSERVED}


def test_every_agent_plays_tictactoe_to_the_end_and_leaves_the_position_alone() -> None:
    for name in AGENTS:
        agent, rng = make_agent(name, rng=Random(1)), Random(2)
        state = TicTacToe([rng.randrange(9)])
        while state.outcome() is None:
            before = (state.own, state.opponent, state.key, state.move_stack[:])
            move = agent(state)
            assert (state.own, state.opponent, state.key, state.move_stack) == before
            assert move in state.legal_moves()
            state.push(move)


def test_every_agent_for_large_games_plays_reversi_to_the_end() -> None:
    for name in [
        "random", "depth-limited:2", "flat-mc:1", "uct:20", "puct-tree:20", "puct:20", "gumbel:8",
        "value:1",
    ]:  # fmt: skip
        agent = make_agent(name, rng=Random(1))
        assert play_game(agent, agent, Reversi(6)).outcome() is not None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("chess", "expected one of random"),
        ("uct:", "positive number of at most 9 digits, as in uct:100,"),
        ("puct:99999999999999999999", "at most 9 digits"),
        (f"puct:{'9' * 5000}", "at most 9 digits"),
        ("uct:-5", "positive number"),
        ("uct:0", "positive number"),
        ("random:3", "expected no number"),
        ("greedy:1.5", "a number from 0 to 1, as in greedy:0.1"),
        ("greedy:nan", "a number from 0 to 1"),
    ],
)
def test_a_wrong_name_is_refused_with_the_expected_names(name: str, expected: str) -> None:
    with pytest.raises(AgentError, match=expected):
        make_agent(name)


def test_the_share_of_random_moves_of_greedy_can_be_named() -> None:
    state = Reversi()
    state.push(state.legal_moves()[0])
    fixed, varied = make_agent("greedy:0"), make_agent("greedy:1", rng=Random(1))
    assert len({fixed(state) for _ in range(20)}) == 1
    assert {varied(state) for _ in range(60)} == set(state.legal_moves())


def test_puct_on_a_tree_plays_shogi() -> None:
    board = Board("4k4/9/4P4/9/9/9/9/9/4K4 b G 1")  # G*5b mates.
    setup = AgentSetup(evaluator=MaterialEvaluator())
    assert move_to_usi(make_agent("puct-tree:300", setup)(board)) == "G*5b"


def test_the_same_seed_gives_the_same_game() -> None:
    games = [TicTacToe(), TicTacToe()]
    for state in games:
        play_game(make_agent("uct:30", rng=Random(5)), make_agent("flat-mc:2", rng=Random(6)), state)
    assert games[0].move_stack == games[1].move_stack


def test_the_eleven_positions_have_exactly_the_replies_that_keep_the_draw() -> None:
    for moves, replies in CORRECT_REPLIES.items():
        state, keeping = TicTacToe(moves), set()
        for move in state.legal_moves():
            state.push(move)
            if alpha_beta(state) == 0.0:
                keeping.add(move)
            state.pop()
        assert keeping == replies


def test_alpha_beta_answers_all_eleven_positions_correctly() -> None:
    assert correctness(make_agent("alpha-beta")) == 11


def test_the_mean_of_correct_answers_has_its_standard_error() -> None:
    agents = iter([make_agent("alpha-beta"), lambda state: Move(9)])  # 11 and 0 of 11.
    assert mean_correctness(lambda: next(agents), 2) == pytest.approx((5.5, 5.5))


@pytest.mark.slow
def test_a_tree_that_grows_answers_more_positions_than_one_that_does_not() -> None:
    rng = Random(11)
    growing, _ = mean_correctness(lambda: make_agent("uct:400", rng=rng), 8)
    flat, _ = mean_correctness(lambda: make_agent("uct-flat:400", rng=rng), 8)
    assert growing > flat + 0.5


def test_a_match_counts_from_the_agents_side() -> None:
    rng = Random(3)
    perfect, random = make_agent("alpha-beta"), make_agent("random", rng=rng)
    as_first = match(perfect, random, TicTacToe, 4)
    as_second = match(perfect, random, TicTacToe, 4, side=1)
    assert as_first.losses == as_second.losses == 0
    assert match(random, perfect, TicTacToe, 4).wins == 0
    both = paired_match(perfect, random, TicTacToe, 5)
    assert both.games == 5
    assert Score(1, 0, 1).counts == "1 win, 0 draws, 1 loss"
    assert as_first + as_second == Score(as_first.wins + as_second.wins, as_first.draws + as_second.draws, 0)


def test_the_margin_is_seen_from_the_agents_side() -> None:
    rng = Random(4)

    def discs(state: object) -> float:
        assert isinstance(state, Reversi)
        return state.disc_difference()

    searcher = make_agent("uct:40", rng=rng)
    random = make_agent("random", rng=rng)
    for side in (0, 1):
        score = match(searcher, random, lambda: Reversi(4), 12, side=side, margin=discs)
        reverse = match(random, searcher, lambda: Reversi(4), 12, side=1 - side, margin=discs)
        assert score.margin is not None
        assert reverse.margin is not None
        assert score.margin > reverse.margin


def test_planes_have_own_and_opponents_stones_on_their_squares() -> None:
    state = TicTacToe([0, 4, 2])  # X on 0 and 2, O on 4, O to move
    planes = encode([(state.own, state.opponent)], 3)
    assert planes.shape == (1, 2, 3, 3)
    assert planes[0].tolist() == [[[0, 0, 0], [0, 1, 0], [0, 0, 0]], [[1, 0, 1], [0, 0, 0], [0, 0, 0]]]
    last = encode([(1 << 63, 1)], 8)
    assert (last[0, 0, 7, 7], last[0, 1, 0, 0], last.sum()) == (1, 1, 2)


def test_a_network_gives_probabilities_of_the_legal_moves_only() -> None:
    def forward(planes: Planes) -> tuple[Planes, Planes]:
        logits = planes[:, 0].reshape(len(planes), 9) * 100.0  # wants to play where own stones are
        return logits, planes[:, 0, 0, 0]

    network = BoardNetwork(BOARD_GAMES["tictactoe"], forward)
    (evaluation,) = network.evaluate([TicTacToe([0, 4])])
    assert evaluation.policy == pytest.approx([1 / 7] * 7)
    assert evaluation.value == 1.0


def test_without_onnxruntime_the_advice_is_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(BackendError, match=r"setup cpu|goryu\[cpu\]"):
        load(Path("tictactoe.onnx"), BOARD_GAMES["tictactoe"])


def test_a_cache_evaluates_each_position_once_and_keeps_to_its_capacity() -> None:
    requested: list[int] = []

    class Counting(UniformEvaluator):
        def evaluate(self, states):  # type: ignore[no-untyped-def]
            requested.extend(state.key for state in states)
            return super().evaluate(states)

    cache = CachedEvaluator(Counting(), capacity=3)
    a, b, c, d = (TicTacToe([square]) for square in range(4))
    assert len(cache.evaluate([a, b, a])) == 3
    cache.evaluate([b, a])
    assert requested == [a.key, b.key]
    (first, second, third) = cache.evaluate([a, c, d])
    assert list(first.policy) == list(second.policy) == list(third.policy) == [1 / 8] * 8
    assert len(cache._known) <= 3
