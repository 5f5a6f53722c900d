"""The algorithms of the option Algorithm: what each plays, and that each ends when it is told to."""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from random import Random

import pytest

from boards import played
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.material import material_value
from goryu.games.shogi import START_SFEN, Rules, move_from_usi, move_to_usi
from goryu.games.state import State
from goryu.implementation import Board
from goryu.players.agents.alpha_beta import AlphaBetaSearcher
from goryu.players.agents.gumbel import GumbelSearcher
from goryu.players.agents.monte_carlo import FlatMonteCarloSearcher, UctSearcher
from goryu.players.agents.single_step import PolicySearcher, ValueSearcher
from goryu.players.agents.usi_traits import USI_TRAITS
from goryu.players.clock.limits import Limits
from goryu.players.config import (
    AlgorithmConfig,
    EngineConfig,
    EvaluatorConfig,
    OutputConfig,
    with_fields,
)
from goryu.players.player import Player
from goryu.players.request import Answer, Request, SearchControl
from goryu.search import depth_limited
from goryu.search.evaluator import Evaluation
from goryu.search.gumbel import Gumbel
from goryu.search.result import SearchResult
from playing import loaded, never
from present import present

OTHERS = [name for name in USI_TRAITS if name != "puct"]
MIDDLE_GAME = "lnsgkg1nl/1r5s1/pppppp1pp/6p2/5B3/2P6/PP1PPPPPP/7R1/LNSGKGSNL w b 6"
MATE_IN_3 = "2l2kgnl/4s4/np2Ss1pp/3+B2p2/5p3/8P/1P1PPPPP1/3G2SR1/+b+r3GKNL b G3Pnl3p 1"
MATE_IN_1 = "4k4/9/4G4/9/9/9/9/9/4K4 b G 1"


def player_of(name: str, **fields: object) -> tuple[Player, EngineConfig]:
    config = EngineConfig(EvaluatorConfig(kind="hashed"), AlgorithmConfig(name, **fields))  # type: ignore[arg-type]
    return loaded(config)[0], config


def search(
    player: Player,
    config: EngineConfig,
    board: Board | None = None,
    limits: Limits | None = None,
    control: SearchControl | None = None,
) -> Answer:
    request = Request(board or Board(), limits or Limits(movetime_ms=20), config, time.monotonic())
    return player.search(request, control or SearchControl(), lambda result, ms: None)


# Limits.


@pytest.mark.parametrize("name", OTHERS)
def test_every_algorithm_plays_a_legal_move_in_time_and_leaves_the_board(name: str) -> None:
    player, config = player_of(name)
    for sfen in (MIDDLE_GAME, MATE_IN_1, MATE_IN_3):
        board = Board(sfen)
        answer = search(player, config, board)
        assert answer.move in board.legal_moves()
        assert board.sfen() == Board(sfen).sfen()
        assert present(answer.result).moves[0].pv[0] == answer.move


@pytest.mark.parametrize("name", OTHERS)
def test_every_algorithm_plays_only_the_root_moves(name: str) -> None:
    player, config = player_of(name)
    only = tuple(map(move_from_usi, ("9g9f", "1g1f")))
    for _ in range(3):
        answer = search(player, config, limits=Limits(movetime_ms=20, root_moves=only))
        assert answer.move in only
        assert {move.move for move in present(answer.result).moves} <= set(only)


@pytest.mark.parametrize("name", OTHERS)
def test_a_stop_before_the_search_still_gives_a_legal_move(name: str) -> None:
    player, config = player_of(name)
    control = SearchControl()
    control.stop()
    assert search(player, config, control=control).move in Board().legal_moves()


@pytest.mark.parametrize("name", OTHERS)
def test_a_pondering_search_answers_only_after_the_hit_and_may_resign_then(name: str) -> None:
    player, config = player_of(name)
    config = replace(config, resign_value=1.5)  # Every value is below.
    control = SearchControl()
    hit_s = []

    def hit() -> None:
        hit_s.append(time.monotonic())
        control.ponderhit(Limits(movetime_ms=50), hit_s[0])

    threading.Timer(0.1, hit).start()
    answer = search(player, config, limits=Limits(ponder=True, movetime_ms=50), control=control)
    assert hit_s, "it answered before the hit"
    assert time.monotonic() >= hit_s[0]
    assert (answer.move is None) == ("score" in USI_TRAITS[name].info)


@pytest.mark.parametrize("name", ["uct", "flat-mc", "gumbel", "alpha-beta"])
def test_a_limit_of_nodes_is_exact(name: str) -> None:
    player, config = player_of(name)
    for nodes in (1, 7, 20):
        answer = search(player, config, limits=Limits(nodes=nodes))
        assert present(answer.result).stats.playouts == nodes


@pytest.mark.parametrize(("name", "nodes", "depth"), [("random", 0, 0), ("puct", 5, 0), ("puct", 0, 2)])
def test_the_least_thinking_time_holds_without_a_search_and_when_nodes_or_depth_end_it(
    name: str, nodes: int, depth: int
) -> None:
    player, config = player_of(name)
    config = replace(config, clock=replace(config.clock, minimum_ms=300.0), nodes=nodes, depth=depth)
    start_s = time.monotonic()
    search(player, config, limits=Limits(time_ms=(60_000, 60_000)))
    assert time.monotonic() - start_s >= 0.29


@pytest.mark.parametrize("name", OTHERS)
def test_every_algorithm_declares_a_win(name: str) -> None:
    board = Board("K+R+B6/+P+P+P+P5/+P+P+P+P5/9/9/9/9/9/8k b RB2G2S 1")
    assert board.declaration()
    player, config = player_of(name)
    assert search(player, config, board).declares


@pytest.mark.parametrize("name", OTHERS)
def test_every_algorithm_plays_from_the_book(name: str, tmp_path: Path) -> None:
    book = tmp_path / "book.db"
    book.write_text(f"#YANEURAOU-DB2016 1.00\nsfen {START_SFEN}\n9g9f 3c3d 60 20 1\n")
    player, config = player_of(name)
    config = with_fields(config, {"book_file.path": str(book)})
    player.load(config, lambda message: None)
    assert search(player, config).move == move_from_usi("9g9f")


@pytest.mark.parametrize("name", OTHERS)
def test_a_mated_player_has_no_move(name: str) -> None:
    player, config = player_of(name)
    assert search(player, config, Board("4k4/4G4/4G4/9/9/9/9/9/4K4 w - 1")).move is None


def test_without_an_evaluator_only_those_that_need_it_resign() -> None:
    for name in OTHERS:
        evaluator = EvaluatorConfig(model="/no/such.onnx", allows_fallback=False)
        config = EngineConfig(evaluator, AlgorithmConfig(name))
        needs = name in ("gumbel", "value", "policy", "mcts-player")
        assert (search(loaded(config)[0], config).move is None) == needs, name


# Alpha-beta.


def test_alpha_beta_finds_the_value_of_minimax() -> None:
    board = Board(MIDDLE_GAME)
    for depth in (1, 2, 3):
        searcher = AlphaBetaSearcher(material_value)
        found = searcher.search(board, lambda stats, depth=depth: stats.depth >= depth)  # type: ignore[misc]
        expected, _ = depth_limited.search(board.copy(), depth, lambda state: material_value(state))  # type: ignore[arg-type]
        assert found.moves[0].value == pytest.approx(expected)
        assert found.stats.depth == depth


def test_the_line_of_alpha_beta_leads_to_its_value() -> None:
    board = Board(MIDDLE_GAME)
    found = AlphaBetaSearcher(material_value).search(board, lambda stats: stats.depth >= 3).moves[0]
    assert len(found.pv) == 3
    for move in found.pv:
        assert move in board.legal_moves()
        board.push(move)
    assert material_value(board) == pytest.approx(-found.value)


def test_alpha_beta_gives_every_line_its_exact_value() -> None:
    board = Board(MIDDLE_GAME)
    lines = AlphaBetaSearcher(material_value, lines=4).search(board, lambda stats: stats.depth >= 2).moves
    assert len(lines) == 4
    values = []
    for move in board.legal_moves():
        board.push(move)
        values.append(-depth_limited.search(board, 1, lambda state: material_value(state), -inf, inf)[0])  # type: ignore[arg-type]
        board.pop()
    assert [line.value for line in lines] == pytest.approx(sorted(values, reverse=True)[:4])


def test_an_interrupted_depth_of_alpha_beta_leaves_all_lines_in_order() -> None:
    for nodes in range(100, 3000, 290):
        searcher = AlphaBetaSearcher(material_value, lines=3)
        values = [move.value for move in searcher.search(Board(MIDDLE_GAME), never, max_playouts=nodes).moves]
        assert len(values) == 3
        assert values == sorted(values, reverse=True)


def test_alpha_beta_finds_the_shortest_mate() -> None:
    found = AlphaBetaSearcher(material_value).search(Board(MATE_IN_3), never)
    assert found.moves[0].mate == 3
    assert len(found.moves[0].pv) == 3
    assert found.stats.is_proven


def test_alpha_beta_sees_that_it_is_mated() -> None:
    found = AlphaBetaSearcher(material_value).search(Board("7lk/7p1/8G/9/9/9/9/9/K8 w GP 1"), never)
    assert present(found.moves[0].mate) < 0


def test_alpha_beta_counts_a_repetition_as_a_draw_of_the_option_s_value() -> None:
    board = played(Board("4k4/9/9/9/9/9/9/9/R3K4 b - 1", Rules()), "9i8i 5a4a 8i9i")
    # White may repeat the position; with a rook less it should.
    searcher = AlphaBetaSearcher(material_value)
    searcher.draw_value_first = -0.25
    found = searcher.search(board, lambda stats: stats.depth >= 1)
    assert move_to_usi(found.moves[0].move) == "4a5a"
    assert found.moves[0].value == 0.25


# Random games.


def test_flat_monte_carlo_gives_every_move_the_same_number_of_games() -> None:
    board = Board()
    result = FlatMonteCarloSearcher(Random(1)).search(board, never, max_playouts=60)
    assert [move.visits for move in result.moves] == [2] * 30
    values = [move.value for move in result.moves]
    assert values == sorted(values, reverse=True)


def test_uct_is_the_search_of_the_textbook() -> None:
    from goryu.search import uct

    board = Board(MATE_IN_1)
    root = uct.search(board, 200, Random(3))
    result = UctSearcher(Random(3)).search(board, never, max_playouts=200)
    assert {move.move: move.visits for move in result.moves} == {
        move: node.visits for move, node in root.children.items()
    }


def test_the_tree_of_uct_stops_growing_when_its_memory_is_full() -> None:
    searcher = UctSearcher(Random(1), capacity_bytes=250 * 1000)
    result = searcher.search(Board(), never, max_playouts=100)
    assert result.stats.playouts == 100
    assert 1000 <= result.stats.nodes < 1600
    assert result.stats.hashfull == 1000


# With an evaluator.


def test_gumbel_is_the_search_of_the_textbook() -> None:
    board = Board(MIDDLE_GAME)
    expected = Gumbel(HashedEvaluator()).search(board, 50)
    found = GumbelSearcher(HashedEvaluator()).search(board, never, max_playouts=50)
    assert found.moves[0].move == expected.move
    visits = dict(zip(expected.moves, expected.visits, strict=True))
    assert {move.move: move.visits for move in found.moves} == visits


def test_gumbel_uses_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now_ms = 0.0

    class Slow(HashedEvaluator):
        def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
            nonlocal now_ms
            now_ms += 5.0
            return super().evaluate(states)

    monkeypatch.setattr("goryu.players.agents.gumbel.perf_counter", lambda: now_ms / 1000)
    searcher = GumbelSearcher(Slow(), time_left_ms=lambda: 1000.0 - now_ms)
    result = searcher.search(Board(), lambda stats: now_ms >= 1000.0)
    assert result.stats.playouts > 32
    assert 0 < sum(move.visits for move in result.moves) <= result.stats.playouts - 16
    assert 900.0 < now_ms <= 1000.0


def test_value_plays_the_move_after_which_the_opponent_is_worst_off() -> None:
    board, evaluator = Board(MIDDLE_GAME), HashedEvaluator()
    result = ValueSearcher(evaluator, 4).search(board, never)
    values = {}
    for move in board.legal_moves():
        board.push(move)
        values[move] = -evaluator.evaluate([board])[0].value
        board.pop()
    assert {move.move: move.value for move in result.moves} == values
    assert result.moves[0].value == max(values.values())


class Skewed:
    """The first move has the probability 0.75, the others share the rest."""

    temperature = 2.0

    def evaluate(self, states: list[State]) -> list[Evaluation]:
        count = len(states[0].legal_moves())
        return [Evaluation([0.75] + [0.25 / (count - 1)] * (count - 1), 0.2)]


def test_policy_plays_the_favourite() -> None:
    result = PolicySearcher(Skewed(), Random(1)).search(Board(), never)  # type: ignore[arg-type]
    assert result.moves[0].move == Board().legal_moves()[0]
    assert result.moves[0].value == 0.2


@pytest.mark.parametrize("temperature, share", [(1.0, 0.75), (0.5, 0.987), (100.0, 1 / 30)])
def test_policy_draws_at_a_temperature(temperature: float, share: float) -> None:
    policy, board = PolicySearcher(Skewed(), Random(1), temperature), Board()  # type: ignore[arg-type]
    first = sum(policy.search(board, never).move == board.legal_moves()[0] for _ in range(1000))
    assert first / 1000 == pytest.approx(share, abs=0.04)


def test_a_policy_temperature_of_one_means_the_network_s_own_probabilities() -> None:
    from goryu.players.agents.making import make_searcher
    from goryu.players.set_up.loading import LoadedEvaluator

    config = EngineConfig(algorithm=AlgorithmConfig("policy", temperature=1.0))
    loaded = LoadedEvaluator(Skewed(), "", 1, config.evaluator, None)  # type: ignore[arg-type]
    policy, board = make_searcher(config, 0, loaded, Random(1), lambda: inf), Board()
    first = sum(policy.search(board, never).move == board.legal_moves()[0] for _ in range(500))
    # The evaluator's temperature of 2 took the square root of the network's odds.
    rest = 0.25 / 29
    assert first / 500 == pytest.approx(0.75**2 / (0.75**2 + 29 * rest**2), abs=0.02)


@pytest.mark.parametrize("name", ["uct", "flat-mc", "random", "policy"])
def test_a_seed_repeats_the_moves(name: str) -> None:
    games = []
    for _ in range(2):
        player, config = player_of(name, temperature=1.0)
        config = replace(config, seed=5)
        games.append([search(player, config, limits=Limits(nodes=5)).move for _ in range(3)])
    assert games[0] == games[1]


def test_reports_come_with_every_new_depth() -> None:
    player, config = player_of("alpha-beta")
    depths: list[int] = []

    def report(result: SearchResult, elapsed_ms: float) -> None:
        depths.append(result.stats.depth)

    config = replace(config, output=OutputConfig(interval_ms=100_000))
    request = Request(Board(), Limits(depth=3), config, time.monotonic())
    player.search(request, SearchControl(), report)
    assert depths == [1, 2, 3]
