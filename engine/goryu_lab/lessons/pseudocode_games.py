"""The games of AlphaZero's pseudocode: what an actor needs to play, without PyTorch."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from goryu.evaluators.board_network import BOARD_GAMES, BoardGame, BoardState, load
from goryu.evaluators.cached import CachedEvaluator
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.state import State
from goryu.implementation import Board, Reversi
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


def board_game(name: str) -> BoardGame:
    """Returns a small game, by its native class if there is one."""
    game = BOARD_GAMES[name]
    return replace(game, new=lambda: Reversi(game.size)) if name.startswith("reversi") else game


def _board_game(game: BoardGame) -> PseudocodeGame:
    return PseudocodeGame(game.name, game.new, encode, lambda path: CachedEvaluator(load(path, game)))


GAMES = {name: _board_game(board_game(name)) for name in BOARD_GAMES} | {
    "shogi": PseudocodeGame(
        "shogi",
        Board,
        lambda state: cast(Board, state).sfen(),
        lambda path: NetworkEvaluator(path, batch_size=8, backend="cpu"),
    )
}
"""The games by name."""
