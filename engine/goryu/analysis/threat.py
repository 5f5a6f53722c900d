"""The threat in a position: what the side that has just moved would play if it moved again."""

from collections.abc import Sequence

from goryu.analysis.description import board_after
from goryu.base.errors import InputError
from goryu.base.language import tr


def passed_position(start: str, moves: Sequence[str]) -> str:
    """Returns the SFEN of the position after `moves` with the turn passed.

    start: SFEN. moves: in USI, legal.

    Raises:
        InputError: the side to move is in check and cannot pass, or the game is over.

    >>> passed_position("4k4/9/9/9/9/9/9/9/4K4 b G 1", [])
    '4k4/9/9/9/9/9/9/9/4K4 w G 1'
    """
    board = board_after(start, moves)
    if board.is_check():
        raise InputError(tr("the side to move is in check and cannot pass: there is no threat to show"))
    if board.outcome() is not None:
        raise InputError(tr("the game is over"))
    pieces, turn, rest = board.sfen().split(" ", 2)
    return f"{pieces} {'w' if turn == 'b' else 'b'} {rest}"
