"""Before a move is sent, the opponent's mate after it is looked for."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any, cast

import pytest

from goryu.evaluators.hashed import HashedEvaluator
from goryu.games.shogi import move_to_usi
from goryu.games.state import Move
from goryu.implementation import Board, Puct, make_puct, solve
from goryu.players import reply_mates
from goryu.players.clock.limits import Limits
from goryu.players.clock.time_manager import Budget, TimeManager
from goryu.players.config import EngineConfig, EvaluatorConfig, with_fields
from goryu.players.levels.levels import LEVELS, at_level
from goryu.players.reply_mates import ReplyMates
from goryu.players.request import Answer, SearchControl
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.proof import no_solver
from goryu.search.mates.mate import Mate, MateVerdict
from playing import loaded, never, search, ticking
from present import present

THREATENED = "p1s2g1nl/kn+R2s3/lp5p1/2pBp1p2/1n1p5/2P1P4/2SR2PPb/2G1G1SL1/1N4K2 w GL2P5p 1"
"""From a game, with the other side to move: after 54 of White's 60 moves Black mates in five."""

NODES = 1500
"""Enough to find these mates."""

CONFIG = with_fields(
    EngineConfig(EvaluatorConfig("hashed", threads=1)),
    {"search.capacity_bytes": 64 << 20, "seed": 1, "mate.leaf_nodes": 0, "mate.reply_nodes": NODES},
)


def is_mated(move: Move) -> bool:
    """Does Black mate after this move of White's?"""
    board = Board(THREATENED)
    board.push(move)
    return solve(board, NODES).verdict is MateVerdict.MATE


def answer_of(config: EngineConfig, limits: Limits) -> Answer:
    player, _ = loaded(config, ticking(1e-4))
    return search(player, config, sfen=THREATENED, limits=limits, started_s=0.0)


def searched(playouts: int) -> Puct:
    puct = make_puct(HashedEvaluator(), PuctConfig(), no_solver, 1)
    puct.search(Board(THREATENED), lambda stats: False, max_playouts=playouts)
    return puct


def test_moves_into_a_mate_are_refuted_one_after_the_other() -> None:
    puct = searched(400)
    best = puct.result().moves[0]
    assert best.mate is None
    assert is_mated(best.move), "the search alone would play into the mate"
    mates = ReplyMates(puct, Board(THREATENED), NODES)
    assert mates.refute(never)
    result = puct.result()
    assert result.moves[0].move != best.move
    assert not is_mated(result.moves[0].move) or result.moves[0].visits == 0
    refuted = next(move for move in result.moves if move.move == best.move)
    assert refuted.mate == -6, "White's move and Black's five plies"
    assert refuted.pv[0] == best.move


def test_a_move_is_examined_once() -> None:
    puct = searched(400)
    mates = ReplyMates(puct, Board(THREATENED), NODES)
    assert mates.refute(never)
    assert not mates.refute(never), "the best move is the one that was examined last"


class Evaluating:
    """A search in which another thread evaluates the position that the first mate would prove."""

    def __init__(self, puct: Puct) -> None:
        self.result = puct.result
        self._puct = puct
        self._is_busy = True

    def add_mate(self, board: Board, line: tuple[Move, ...]) -> bool:
        is_busy, self._is_busy = self._is_busy, False
        return not is_busy and self._puct.add_mate(board, line)


def test_a_mate_that_has_to_wait_is_entered_by_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    puct = searched(400)
    best = puct.result().moves[0]
    examined: list[Board] = []

    def counting(board: Board, *arguments: Any) -> Mate:
        examined.append(board)
        return solve(board, *arguments)

    monkeypatch.setattr(reply_mates, "solve", counting)
    mates = ReplyMates(cast(Puct, Evaluating(puct)), Board(THREATENED), NODES)
    assert not mates.refute(never)
    assert puct.result().moves[0] == best
    assert len(examined) == 1
    assert mates.refute(never)
    assert puct.result().moves[0].move != best.move
    assert len({board.key for board in examined}) == len(examined), "each move is examined once"


@pytest.mark.parametrize(("nodes", "should_stop"), [(1, never), (NODES, lambda: True)])
def test_without_the_nodes_or_the_time_for_the_mate_the_move_stays(
    nodes: int, should_stop: Callable[[], bool]
) -> None:
    puct = searched(100)
    before = puct.result()
    assert not ReplyMates(puct, Board(THREATENED), nodes).refute(should_stop)
    assert puct.result() == before


def test_where_every_move_loses_the_search_does_not_hope_for_another() -> None:
    """White may choose between two moves, and is mated after both."""
    losing = [move for move in Board(THREATENED).legal_moves() if is_mated(move)][:2]
    puct = make_puct(HashedEvaluator(), PuctConfig(), no_solver, 1)
    puct.search(Board(THREATENED), lambda stats: False, max_playouts=100, root_moves=losing)
    assert not ReplyMates(puct, Board(THREATENED), NODES).refute(never)
    assert [move.mate for move in puct.result().moves] == [-6, -6]


@pytest.mark.parametrize("limits", [Limits(nodes=300), Limits(movetime_ms=1000)], ids=str)
def test_the_engine_plays_no_move_into_a_mate_that_it_can_find(limits: Limits) -> None:
    assert not is_mated(present(answer_of(CONFIG, limits).move))


def test_without_the_option_it_may() -> None:
    move = present(answer_of(with_fields(CONFIG, {"mate.reply_nodes": 0}), Limits(nodes=300)).move)
    assert is_mated(move), move_to_usi(move)
    assert EngineConfig().mate.reply_nodes > 0, "on unless another value is asked for"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ReplyMates]:
    """Those that were asked to refute a move; they do not."""
    found: list[ReplyMates] = []
    monkeypatch.setattr(ReplyMates, "refute", lambda mates, must_stop: found.append(mates))
    return found


def test_an_analysis_shows_the_search_as_it_is(asked: list[ReplyMates]) -> None:
    answer_of(CONFIG, Limits(nodes=300))
    assert asked
    asked.clear()
    (player, _), control, limits = loaded(CONFIG), SearchControl(), Limits(infinite=True)
    search(player, CONFIG, sfen=THREATENED, limits=limits, control=control, report=lambda *_: control.stop())
    assert not asked


def test_the_only_move_is_played_without_a_look(asked: list[ReplyMates]) -> None:
    sfen = "8k/9/9/9/9/9/9/8r/K8 b - 1"
    limits = Limits(byoyomi_ms=1000, time_ms=(0, 0))
    assert [search(loaded(CONFIG)[0], CONFIG, sfen=sfen, limits=limits).move] == Board(sfen).legal_moves()
    assert not asked


def test_levels_below_the_full_strength_look_at_no_replies() -> None:
    assert at_level(CONFIG, LEVELS[4]).mate.reply_nodes == 0
    assert at_level(CONFIG, LEVELS[-1]).mate.reply_nodes == NODES


def test_a_search_that_needs_another_move_gets_twice_its_time_but_not_more_than_the_hard_end() -> None:
    now_s = 1000.0
    manager = TimeManager(lambda: now_s)
    budget = Budget(1000, 3000, may_extend=True)
    manager.start(budget, now_s)
    assert (manager.left_ms(), manager.hard_left_ms(), manager.is_nearly_over) == (1000, 3000, False)
    now_s += 0.96
    assert manager.is_nearly_over
    assert manager.extend()
    assert (manager.soft_ms, manager.is_nearly_over) == (2000, False)
    assert manager.extend()
    assert manager.soft_ms == 3000
    assert not manager.extend()
    for fixed in (replace(budget, may_extend=False), None):
        manager.start(fixed, now_s)
        assert not manager.extend()
    assert manager.hard_left_ms() == inf
