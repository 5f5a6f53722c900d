"""Shogi: the rules, moves, SFEN and keys, on top of python-shogi."""

from goryu.games.shogi.board import Board, IllegalMoveError
from goryu.games.shogi.move import (
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
