"""Shogi moves as 16-bit integers, and their USI text.

The encoding is Apery's, the one of `bestMove16` in HCPE records and of `cshogi.move16`:

    bits 0-6    the square moved to
    bits 7-13   the square moved from, or 81 + k for a drop of piece k
    bit 14      set if the piece promotes

Squares are file-major: 9 * (file - 1) + (rank - 1), so 1a = 0, 1b = 1, 9i = 80.
Dropped pieces count P L N S B R G from 0; hands have another order, P L N S G B R.

>>> move = move_from_usi("7g7f")
>>> move_from(move), move_to(move), is_drop(move), is_promotion(move)
(60, 59, False, False)
>>> move_to_usi(move_from_usi("P*5e")), dropped_piece(move_from_usi("G*5e"))
('P*5e', 6)
"""

from goryu.base.errors import GoryuError
from goryu.games.state import Move

__all__ = [
    "DROP_LETTERS",
    "SQUARE_NAMES",
    "IllegalMoveError",
    "MoveError",
    "dropped_piece",
    "is_drop",
    "is_promotion",
    "make_drop",
    "make_move",
    "move_from",
    "move_from_usi",
    "move_to",
    "move_to_usi",
]

SQUARES = 81
PROMOTE = 1 << 14

DROP_LETTERS = "PLNSBRG"
"""The letter of dropped piece k is DROP_LETTERS[k]."""

SQUARE_NAMES = tuple(f"{file}{rank}" for file in "123456789" for rank in "abcdefghi")
"""The USI name of every square, in square order."""

_SQUARE_OF_NAME = {name: square for square, name in enumerate(SQUARE_NAMES)}


class MoveError(GoryuError, ValueError):
    """A text that is not a USI move, or a number that is not a move."""


class IllegalMoveError(MoveError):
    """A move that the position does not allow."""


def make_move(origin: int, to: int, promote: bool = False) -> Move:
    """Returns the move of a piece on the board."""
    return Move(to | origin << 7 | (PROMOTE if promote else 0))


def make_drop(piece: int, to: int) -> Move:
    """Returns the drop of piece k (P L N S B R G from 0)."""
    return Move(to | (SQUARES + piece) << 7)


def move_to(move: Move) -> int:
    """Returns the square moved to."""
    return move & 0x7F


def move_from(move: Move) -> int:
    """Returns the square moved from; 81 + k if the move drops piece k."""
    return move >> 7 & 0x7F


def is_drop(move: Move) -> bool:
    """Does the move drop a piece from the hand?"""
    return move_from(move) >= SQUARES


def is_promotion(move: Move) -> bool:
    """Does the moved piece promote?"""
    return move & PROMOTE != 0


def dropped_piece(move: Move) -> int:
    """Returns the piece that a drop drops: P L N S B R G from 0."""
    assert is_drop(move)
    return move_from(move) - SQUARES


def move_from_usi(text: str) -> Move:
    """Returns the move of a USI text such as `7g7f`, `8h2b+` or `P*5e`.

    Only the form is checked, not whether any position allows the move. Upper and
    lower case matter: `7G7F` and `p*5e` are refused.

    Raises:
        MoveError: the text is not a USI move.
    """
    to = _SQUARE_OF_NAME.get(text[2:4])
    if to is not None:
        origin = _SQUARE_OF_NAME.get(text[:2])
        if origin is not None and origin != to and text[4:] in ("", "+"):
            return make_move(origin, to, promote=text[4:] == "+")
        if len(text) == 4 and text[1] == "*" and text[0] in DROP_LETTERS:
            return make_drop(DROP_LETTERS.index(text[0]), to)
    raise MoveError(f"expected a USI move such as 7g7f, 8h2b+ or P*5e, received {text[:80]!a}")


def move_to_usi(move: Move) -> str:
    """Returns the USI text of a move.

    Raises:
        MoveError: the number encodes no move.
    """
    origin, to = move_from(move), move_to(move)
    if 0 <= move < 2 * PROMOTE and to < SQUARES and origin != to:
        if origin < SQUARES:
            return SQUARE_NAMES[origin] + SQUARE_NAMES[to] + ("+" if is_promotion(move) else "")
        if origin < SQUARES + len(DROP_LETTERS) and not is_promotion(move):
            return DROP_LETTERS[origin - SQUARES] + "*" + SQUARE_NAMES[to]
    raise MoveError(f"expected a move as a 16-bit number (to, from or drop, promotion), received {move}")
