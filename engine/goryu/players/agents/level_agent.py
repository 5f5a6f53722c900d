"""Agents of a level: players of bounded strength, for every game."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from time import perf_counter
from typing import cast

from goryu.games.state import Move, State
from goryu.implementation import Board, Puct
from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig
from goryu.players.levels.level_moves import choose_level_move
from goryu.players.levels.levels import Level
from goryu.players.player import Player
from goryu.players.position import rules_of
from goryu.players.request import Answer, Request, SearchControl
from goryu.players.set_up.evaluator_slot import EvaluatorSlot
from goryu.search.evaluator import Evaluator
from goryu.search.graph.config import PuctConfig

FULL_PLAYOUTS = 400
"""Playouts of full strength in a game without a clock."""


class Resignation(Exception):  # noqa: N818 It is no error.
    """The player to move resigns."""


def level_of_game(
    level: Level, evaluator: Evaluator, config: PuctConfig, rng: Random
) -> Callable[[State], Move]:
    """Returns the agent of a level for any game; the strengths were measured for shogi only."""

    def choose(state: State) -> Move:
        search = Puct(evaluator, config)
        playouts = FULL_PLAYOUTS if level.is_full_strength else level.playouts
        result = search.search(state, lambda _stats: False, max_playouts=playouts)
        assert result.move is not None, "there is no legal move"
        if level.is_full_strength:
            return result.move
        return choose_level_move(state, result, level, 1.0, evaluator.evaluate, rng).move

    return choose


class ShogiPlayer:
    """An agent for shogi: the engine's player with all that its options say, at a level and on a clock.

    slot: with the evaluator; players that share it share what replaces it when a GPU is lost.
    limits: returns the limits of the next search, as a GUI would send them.
    log: takes messages about problems with the book, and about a lost GPU.
    """

    def __init__(
        self,
        slot: EvaluatorSlot,
        config: EngineConfig,
        level: Level,
        limits: Callable[[], Limits] = Limits,
        log: Callable[[str], None] = lambda message: None,
    ) -> None:
        self._player = Player(slot=slot, report=log)
        self._player.load_book(config, log)
        self._config = replace(config, level=level.number)
        self._limits = limits

    def __call__(self, state: State) -> Move:
        """Returns the move; raises Resignation."""
        answer = self.search(cast(Board, state), self._limits())
        if answer.move is None:
            raise Resignation
        return answer.move

    def search(self, board: Board, limits: Limits) -> Answer:
        """Returns the whole answer to a position that is not over; the board stays as it was."""
        board = board.copy()
        board.rules = rules_of(self._config)
        request = Request(board, limits, self._config, perf_counter())
        return self._player.search(request, SearchControl(), lambda _result, _ms: None)
