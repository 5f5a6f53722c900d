"""Levels of strength: their table, what a level sees, and the player that plays at one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random
from threading import Thread
from time import perf_counter, sleep

import pytest

from boards import played
from goryu.games.reversi import Reversi
from goryu.games.shogi import move_from_usi, move_to_usi
from goryu.games.state import Move, State
from goryu.implementation import Board
from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig, EvaluatorConfig, with_fields
from goryu.players.levels.level_moves import OBVIOUS_LOSS, _felt, choose_level_move
from goryu.players.levels.levels import LEVELS, Level, at_level, level_by_elo, level_of
from goryu.players.player import Player
from goryu.players.request import Answer, Request, SearchControl
from goryu.search.evaluator import Evaluation
from goryu.search.result import RootMove, SearchResult, SearchStats
from goryu.usi.option_values import OptionValues
from playing import loaded, search, searched
from present import present

STATS = SearchStats(1, 1, 1, 1, 1, 1000, False, False)
BLIND = replace(LEVELS[0], blindness=0.9, worst=0.2, naivety=0.0, obvious_gain=8)
NETWORK = EngineConfig(EvaluatorConfig(threads=1), seed=5)


@pytest.fixture(scope="module")
def player() -> Player:
    return loaded(NETWORK)[0]


def answer_at(
    player: Player, number: int, board: Board, limits: Limits | None = None, seed: int = 5
) -> Answer:
    config = replace(NETWORK, level=number, seed=seed)
    request = Request(board, limits or Limits(), config, perf_counter())
    return player.search(request, SearchControl(), lambda result, ms: None)


def move_at(player: Player, number: int, board: Board, seed: int = 5) -> str:
    move = present(answer_at(player, number, board, seed=seed).move)
    return move_to_usi(move)


# The table.


def test_the_levels_are_numbered_named_and_ordered() -> None:
    assert [level.number for level in LEVELS] == list(range(1, 11))
    for name in ("english", "japanese", "about"):
        assert len({getattr(level, name) for level in LEVELS}) == 10
    weaker = LEVELS[:-1]
    for field in ("temperature", "tolerance", "blindness", "worst", "naivety", "obvious_gain"):
        values = [getattr(level, field) for level in weaker]
        assert values == sorted(values, reverse=True), field
    for field in ("elo", "playouts", "mate_plies"):
        values = [getattr(level, field) for level in weaker]
        assert values == sorted(values), field
    assert LEVELS[-1].is_full_strength


def test_options_choose_the_level() -> None:
    options = OptionValues()
    assert level_of(options.config).is_full_strength
    options.set("Level", "4")
    assert level_of(options.config).number == 4
    options.set("UCI_LimitStrength", "true")
    assert level_of(options.config).number == 4
    options.set("Level", "0")
    options.set("UCI_Elo", str(LEVELS[1].elo + 1))
    assert level_of(options.config).number == 2
    options.set("USI_LimitStrength", "false")
    assert level_of(options.config).is_full_strength


def test_the_nearest_rating_is_chosen() -> None:
    for low, high in pairwise(LEVELS):
        assert level_by_elo(low.elo) == low
        assert level_by_elo(high.elo - 1) == high
    assert level_by_elo(-(10**6)) == LEVELS[0]
    assert level_by_elo(10**6) == LEVELS[-1]


def test_full_strength_leaves_the_config_as_it_is() -> None:
    assert at_level(NETWORK, LEVELS[-1]) is NETWORK


# The choice.


def _never(_states: Sequence[State]) -> list[Evaluation]:
    raise AssertionError("every move was searched")


def chosen(
    state: State, values: dict[Move, float], level: Level, seeds: int = 300, prior: float = 0.1
) -> Counter[Move]:
    """Returns how often each move is chosen; `values` has all moves with a prior, the best first."""
    moves = tuple(RootMove(move, prior, 5, value, None, (move,)) for move, value in values.items())
    result = SearchResult(moves, 0.0, STATS)
    return Counter(
        choose_level_move(state, result, level, 1.0, _never, Random(seed)).move for seed in range(seeds)
    )


def test_no_move_loses_more_than_the_level_allows() -> None:
    values = dict(zip(Reversi().legal_moves(), (0.0, -0.1, -0.5, -0.99), strict=True))
    found = chosen(Reversi(), values, BLIND)
    assert set(found) == {move for move, value in values.items() if _felt(0.0) - _felt(value) <= BLIND.worst}
    assert len(found) == 3


def test_a_worse_move_is_chosen_less_often() -> None:
    values = dict(zip(Reversi().legal_moves(), (0.0, -0.1, -0.2, -0.3), strict=True))
    level = replace(BLIND, blindness=0.0, tolerance=0.05)
    counts = [chosen(Reversi(), values, level, 2000)[move] for move in values]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 2 * counts[2]


def test_moves_that_are_not_drawn_first_are_played_as_often_as_their_weights_say() -> None:
    """Only some of the moves are thought about; the distribution is that over all of them."""
    board = Board()
    values = dict.fromkeys(board.legal_moves(), 0.0)
    found = chosen(board, values, replace(BLIND, temperature=1.0), 6000)
    assert len(found) == 30
    assert max(found.values()) < 2 * min(found.values())


def test_a_free_rook_is_always_taken() -> None:
    board = Board("4k4/9/9/4r4/4P4/9/9/9/4K4 b - 1")
    take = move_from_usi("5e5d")
    values = dict.fromkeys(board.legal_moves(), 0.5)
    values = {take: 0.9, **{move: value for move, value in values.items() if move != take}}
    assert _felt(0.9) - _felt(0.5) > OBVIOUS_LOSS
    assert set(chosen(board, values, replace(BLIND, worst=0.9))) == {take}
    assert len(chosen(board, values, replace(BLIND, worst=0.9, obvious_gain=99))) > 1


def test_the_side_that_lost_a_piece_takes_back() -> None:
    board = Board("4k4/4g4/4p4/4P4/9/9/9/9/4K4 b - 1")
    board.push_usi("5d5c+")
    back = move_from_usi("5b5c")
    values = {back: 0.0, **{move: -0.5 for move in board.legal_moves() if move != back}}
    assert set(chosen(board, values, replace(BLIND, worst=0.9))) == {back}


def test_a_mate_beyond_the_players_sight_is_an_ordinary_win() -> None:
    first, *others = Reversi().legal_moves()
    moves = [RootMove(first, 0.1, 5, 1.0, 5, (first,))]
    moves += [RootMove(move, 0.3, 5, 0.99, None, (move,)) for move in others]
    result = SearchResult(tuple(moves), 1.0, STATS)

    def plays(level: Level) -> set[Move]:
        return {choose_level_move(Reversi(), result, level, 1.0, _never, Random(n)).move for n in range(50)}

    assert plays(replace(BLIND, mate_plies=5)) == {first}
    assert len(plays(replace(BLIND, mate_plies=3))) > 1


def test_unsearched_moves_are_evaluated_or_known() -> None:
    # The gold mates; nobody searched.
    board = Board("4k4/9/4P4/9/9/9/9/9/4K4 b G 1")
    moves = board.legal_moves()
    result = SearchResult(
        tuple(RootMove(move, 1 / len(moves), 0, 0.0, None, (move,)) for move in moves), 0.0, STATS
    )

    def lost(states: Sequence[State]) -> list[Evaluation]:
        return [Evaluation([1.0], 0.9) for _ in states]

    level = replace(BLIND, worst=0.3, blindness=1.0, least_prior=0.001)
    for seed in range(20):
        move = choose_level_move(board, result, level, 1.0, lost, Random(seed))
        assert move.value in (1.0, -0.9)


# The player.


def test_every_level_mates_in_one(player: Player) -> None:
    for number in range(1, 11):
        board = Board("4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1")
        assert {move_at(player, number, board, seed) for seed in range(1, 6)} == {"G*5b"}


MATE_IN_THREE = "p4g1n1/ks+R2s2l/lp5p1/2p1p1p2/1n1p5/2P1P4/2SR2PPb/2G1G1SL1/1N4K2 b GNL2Pb5p 4"
MATE_IN_FIVE = "p1s2g1n1/kn+R2s2l/lp5p1/2pBp1p2/1n1p5/2P1P4/2SR2PPb/2G1G1SL1/1N4K2 b GL2P5p 2"


@pytest.mark.parametrize("number", range(5, 10))
def test_the_upper_levels_see_longer_mates(player: Player, number: int) -> None:
    for sfen, move, plies in ((MATE_IN_THREE, "N*8d", 3), (MATE_IN_FIVE, "6d8b+", 5)):
        answer = answer_at(player, number, Board(sfen))
        mate = present(answer.result).moves[0].mate
        if plies <= LEVELS[number - 1].mate_plies:
            assert (move_to_usi(present(answer.move)), mate) == (move, plies)
        else:
            assert mate is None


@pytest.mark.parametrize("number", [1, 5, 9])
def test_with_a_seed_the_move_depends_on_the_position_alone(player: Player, number: int) -> None:
    board = played(Board(), "7g7f")
    first = [move_at(player, number, board, seed) for seed in range(1, 9)]
    fresh, _ = loaded(NETWORK)
    assert [move_at(fresh, number, board, seed) for seed in range(1, 9)] == first


def test_weak_levels_vary_their_games(player: Player) -> None:
    board = Board()
    assert len({move_at(player, 1, board, seed) for seed in range(1, 30)}) > 8


@pytest.mark.parametrize("limits", [Limits(), Limits(time_ms=(60_000, 60_000)), Limits(nodes=10_000)])
def test_neither_the_clock_nor_nodes_change_the_playouts(player: Player, limits: Limits) -> None:
    result = present(answer_at(player, 8, Board(), limits).result)
    assert result.stats.playouts <= LEVELS[7].playouts + 4


def test_fewer_nodes_and_a_short_clock_are_respected(player: Player) -> None:
    result = present(answer_at(player, 9, Board(), Limits(nodes=5)).result)
    assert result.stats.evaluations <= 8
    started_s = perf_counter()
    assert answer_at(player, 9, Board(), Limits(movetime_ms=1)).move is not None
    assert perf_counter() - started_s < 20


def test_an_analysis_has_full_strength(player: Player) -> None:
    control = SearchControl()

    def report(result: SearchResult, _ms: float) -> None:
        if result.stats.playouts > LEVELS[0].playouts:
            control.stop()

    config, limits = replace(NETWORK, level=1), Limits(infinite=True)
    result = searched(player, config, limits=limits, control=control, report=report)
    assert result.stats.playouts > LEVELS[0].playouts


@pytest.mark.parametrize("is_hit", [True, False])
def test_pondering_at_a_level_waits(player: Player, is_hit: bool) -> None:
    control, config = SearchControl(), replace(NETWORK, level=2)
    answers: list[Answer] = []

    def ponder() -> None:
        answers.append(search(player, config, limits=Limits(ponder=True), control=control))

    thread = Thread(target=ponder)
    thread.start()
    sleep(0.2)
    assert not answers
    if is_hit:
        control.ponderhit(Limits(time_ms=(1000, 1000)), perf_counter())
    else:
        control.stop()
    thread.join()
    assert answers[0].move in Board().legal_moves()


def test_full_strength_searches_as_before_after_a_move_at_a_level(player: Player) -> None:
    expected = answer_at(loaded(NETWORK)[0], 0, Board(), Limits(nodes=60))
    answer_at(player, 3, Board())
    found = answer_at(player, 0, Board(), Limits(nodes=60))
    assert present(found.result).moves == present(expected.result).moves


def test_a_level_without_a_network_plays_by_material() -> None:
    config = with_fields(EngineConfig(EvaluatorConfig("material", threads=1)), {"seed": 1, "level": 4})
    assert search(loaded(config)[0], config, limits=Limits()).move is not None


def test_a_level_promotes_where_nobody_would_not() -> None:
    board = Board("8k/9/9/5R3/9/9/9/9/4K4 b - 1")
    values = {move: 0.0 for move in board.legal_moves() if move_to_usi(move)[:2] == "4d"}
    first = move_from_usi("4d3d")
    values = {first: 0.0, **{move: 0.0 for move in values if move != first}}
    found = {move_to_usi(move) for move in chosen(board, values, replace(BLIND, worst=0.9), 500)}
    assert {"4d4b+", "4d4c+"} <= found
    assert not {"4d4b", "4d4c"} & found
