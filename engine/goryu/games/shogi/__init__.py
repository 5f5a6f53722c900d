"""Shogi: the rules, moves, SFEN and keys, on top of python-shogi."""

from typing import TYPE_CHECKING

from goryu.games.shogi.move import (
    IllegalMoveError,
    MoveError,
    dropped_piece,
    is_drop,
    is_promotion,
    make_drop,
    make_move,
    move_from,
    move_from_usi,
    move_to,
    move_to_usi,
)
from goryu.games.shogi.rules import STANDARD_RULES, EnteringKingRule, Rules
from goryu.games.shogi.sfen import START_SFEN, SfenError, SfenFields, parse_sfen

if TYPE_CHECKING:
    from goryu.games.shogi.board import Board

__all__ = [
    "STANDARD_RULES",
    "START_SFEN",
    "Board",
    "EnteringKingRule",
    "IllegalMoveError",
    "MoveError",
    "Rules",
    "SfenError",
    "SfenFields",
    "dropped_piece",
    "is_drop",
    "is_promotion",
    "make_drop",
    "make_move",
    "move_from",
    "move_from_usi",
    "move_to",
    "move_to_usi",
    "parse_sfen",
]


def __getattr__(name: str) -> object:
    """Imports `Board` on first use: the native board does not need python-shogi, which takes 0.1 s."""
    if name == "Board":
        from goryu.games.shogi.board import Board

        return Board
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
