"""The games of AlphaZero's pseudocode: what an actor needs to play, without PyTorch."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from goryu.evaluators.board_network import BOARD_GAMES, BoardGame, BoardState, load
from goryu.evaluators.cached import CachedEvaluator
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.state import State
from goryu.implementation import Board
from goryu.search.evaluator import Evaluator


@dataclass(frozen=True, slots=True)
class PseudocodeGame:
    """A game. new: starts it. encode: returns what training needs. load: reads a network's file."""

    name: str
    new: Callable[[], State]
    encode: Callable[[State], Any]
    load: Callable[[Path], Evaluator]


def encode(state: State) -> tuple[int, int]:
    """Returns the bitboards of the side to move and of the opponent."""
    board = cast(BoardState, state)
    return board.own, board.opponent


def _board_game(game: BoardGame) -> PseudocodeGame:
    return PseudocodeGame(game.name, game.new, encode, lambda path: CachedEvaluator(load(path, game)))


GAMES = {name: _board_game(game) for name, game in BOARD_GAMES.items()} | {
    "shogi": PseudocodeGame(
        "shogi",
        Board,
        lambda state: cast(Board, state).sfen(),
        lambda path: NetworkEvaluator(path, batch_size=8, backend="cpu"),
    )
}
"""The games by name."""
