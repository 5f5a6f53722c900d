"""The mirror image of a shogi position: file f becomes file 10 - f.

The rules are symmetric, so a position is worth the same as its image, and the mirrored moves are as good.
"""

from typing import Any

from goryu.games.shogi.move import (
    dropped_piece,
    is_drop,
    is_promotion,
    make_drop,
    make_move,
    move_from,
    move_to,
)
from goryu.games.state import Move

__all__ = ["mirrored", "mirrored_move", "mirrored_sfen"]


def mirrored(board: Any) -> Any:
    """Returns the mirror image of a shogi board and its past, of the same class and with the same rules."""
    past = board.copy()
    moves = [past.pop() for _ in board.move_stack]
    image = type(board)(mirrored_sfen(past.sfen()), board.rules, allow_missing_king=True)
    for move in reversed(moves):
        image.push(mirrored_move(move))
    return image


def mirrored_sfen(sfen: str) -> str:
    """Returns the SFEN of the mirror image.

    >>> mirrored_sfen("lnsgkgsnl/1r5b1/9/9/9/9/9/1B5+R1/LNSGKGS2 w P 3")
    'lnsgkgsnl/1b5r1/9/9/9/9/9/1+R5B1/2SGKGSNL w P 3'
    """
    board, rest = sfen.split(" ", 1)
    return "/".join(_mirrored_rank(rank) for rank in board.split("/")) + " " + rest


def mirrored_move(move: Move) -> Move:
    """Returns the same move in the mirror image."""
    if is_drop(move):
        return make_drop(dropped_piece(move), _mirrored_square(move_to(move)))
    origin, to = _mirrored_square(move_from(move)), _mirrored_square(move_to(move))
    return make_move(origin, to, is_promotion(move))


def _mirrored_rank(rank: str) -> str:
    pieces: list[str] = []
    for letter in rank:
        if pieces and pieces[-1] == "+":
            pieces[-1] += letter
        else:
            pieces.append(letter)
    return "".join(reversed(pieces))


def _mirrored_square(square: int) -> int:
    file, rank = divmod(square, 9)
    return 9 * (8 - file) + rank
