"""The interface of opening books; and positions and moves with the colours exchanged.

A book contains positions, not games. Some contain each position only with black to move: a position with
white to move is then found by rotating the board and exchanging the colours.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from goryu.base.errors import GoryuError
from goryu.games.shogi import SfenFields, is_drop, is_promotion, make_drop, make_move
from goryu.games.shogi.move import SQUARES, dropped_piece, move_from, move_to
from goryu.games.shogi.pieces import EMPTY, WHITE_PIECE
from goryu.games.state import Move
from goryu.implementation import Board


class BookError(GoryuError, ValueError):
    """A book that cannot be used, or an entry that cannot be read."""


@dataclass(frozen=True, slots=True)
class BookMove:
    """One move of a book; it need not be legal.

    reply: the reply that the book expects, if it names one.
    eval_cp: centipawns for the side to move; None if the book has none.
    depth: the search depth of `eval_cp`; None if the book has none.
    count: how often the move was played, in units that differ between books.
    """

    move: Move
    reply: Move | None = None
    eval_cp: int | None = None
    depth: int | None = None
    count: int = 1


class Book(Protocol):
    """An open book."""

    def find(self, position: SfenFields) -> list[BookMove]:
        """Returns the moves of a position in the order of the file; [] if the book does not contain it.

        Raises:
            BookError: the entry cannot be read.
        """
        ...


def position_of(sfen: str) -> str:
    """Returns an SFEN without its move number, which is the same for every move order.

    >>> position_of("4k4/9/9/9/9/9/9/P8/4K4 w 2Pb 8")
    '4k4/9/9/9/9/9/9/P8/4K4 w 2Pb'
    """
    return " ".join(sfen.split()[:3])


def fields_of(board: Board) -> SfenFields:
    """Returns a board's position as the fields of an SFEN."""
    return SfenFields(tuple(board.pieces), board.turn, board.hands, board.ply + 1)


def flipped(position: SfenFields) -> SfenFields:
    """Returns the position with the board rotated by 180 degrees and the colours exchanged.

    >>> from goryu.games.shogi import parse_sfen
    >>> str(flipped(parse_sfen("4k4/9/9/9/9/9/9/P8/4K4 w 2Pb 8")))
    '4k4/8p/9/9/9/9/9/9/4K4 b B2p 8'
    """
    pieces = tuple(_of_other_colour(piece) for piece in reversed(position.pieces))
    black, white = position.hands
    return replace(position, pieces=pieces, turn=position.turn ^ 1, hands=(white, black))


def _of_other_colour(piece: int) -> int:
    return piece if piece == EMPTY else piece ^ WHITE_PIECE


def flipped_move(move: Move) -> Move:
    """Returns the same move on the flipped board.

    >>> from goryu.games.shogi import move_from_usi, move_to_usi
    >>> move_to_usi(flipped_move(move_from_usi("8h2b+"))), move_to_usi(flipped_move(move_from_usi("P*5c")))
    ('2b8h+', 'P*5g')
    """
    to = SQUARES - 1 - move_to(move)
    if is_drop(move):
        return make_drop(dropped_piece(move), to)
    return make_move(SQUARES - 1 - move_from(move), to, is_promotion(move))
