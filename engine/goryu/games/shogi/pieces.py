"""The codes of the pieces, and how they move on a plain array of 81 squares.

A piece is a small integer, the code of Apery and cshogi: 0 is an empty square,

    1 P   2 L   3 N   4 S   5 B   6 R   7 G   8 K   9 +P   10 +L   11 +N   12 +S   13 +B   14 +R

for black (first player, moves towards rank a), and the same plus 16 for white.
A hand is seven counts in the order P L N S G B R.
"""

from collections.abc import Sequence

__all__ = [
    "BISHOP",
    "EMPTY",
    "GOLD",
    "HAND_KINDS",
    "HAND_LETTERS",
    "KING",
    "KNIGHT",
    "LANCE",
    "PAWN",
    "PROMOTED",
    "ROOK",
    "SILVER",
    "SLIDES",
    "STEPS",
    "WHITE_PIECE",
    "attacks",
    "danger",
    "is_attacked",
    "piece_letters",
]

EMPTY = 0
PAWN, LANCE, KNIGHT, SILVER, BISHOP, ROOK, GOLD, KING = range(1, 9)
PROMOTED = 8
"""Added to the kind of a piece (P L N S B R) that promotes."""
WHITE_PIECE = 16
"""Added to the kind of a white piece."""

HAND_LETTERS = "PLNSGBR"
HAND_KINDS = (PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK)
"""The kind of each place in a hand."""

_LETTERS = " PLNSBRGK"

# Directions for black, as (files towards 9, ranks towards i).
_FORWARD, _BACK, _LEFT, _RIGHT = (0, -1), (0, 1), (1, 0), (-1, 0)
_DIAGONALS = ((1, -1), (-1, -1), (1, 1), (-1, 1))
_STRAIGHTS = (_FORWARD, _BACK, _LEFT, _RIGHT)
_GOLD = (*_DIAGONALS[:2], *_STRAIGHTS)

STEPS: dict[int, tuple[tuple[int, int], ...]] = {
    PAWN: (_FORWARD,),
    KNIGHT: ((1, -2), (-1, -2)),
    SILVER: (*_DIAGONALS, _FORWARD),
    GOLD: _GOLD,
    KING: (*_DIAGONALS, *_STRAIGHTS),
    PAWN + PROMOTED: _GOLD,
    LANCE + PROMOTED: _GOLD,
    KNIGHT + PROMOTED: _GOLD,
    SILVER + PROMOTED: _GOLD,
    BISHOP + PROMOTED: _STRAIGHTS,
    ROOK + PROMOTED: _DIAGONALS,
}
"""The single steps of a black piece of each kind."""
SLIDES: dict[int, tuple[tuple[int, int], ...]] = {
    LANCE: (_FORWARD,),
    BISHOP: _DIAGONALS,
    ROOK: _STRAIGHTS,
    BISHOP + PROMOTED: _DIAGONALS,
    ROOK + PROMOTED: _STRAIGHTS,
}
"""The directions in which a black piece of each kind moves any distance."""


def piece_letters(piece: int) -> str:
    """Returns the SFEN letters of a piece: upper case for black, `+` if promoted.

    >>> piece_letters(PAWN), piece_letters(WHITE_PIECE + PROMOTED + ROOK)
    ('P', '+r')
    """
    kind = piece % WHITE_PIECE
    letters = "+" + _LETTERS[kind - PROMOTED] if kind > KING else _LETTERS[kind]
    return letters.lower() if piece > WHITE_PIECE else letters


def is_attacked(pieces: Sequence[int], target: int, by: int) -> bool:
    """Does any piece of the colour `by` (0 black, 1 white) attack the square `target`?

    A plain loop over the board, for validation; move generation uses bitboards.
    """
    return any(
        piece != EMPTY and piece // WHITE_PIECE == by and attacks(pieces, square, target)
        for square, piece in enumerate(pieces)
    )


def danger(pieces: Sequence[int], turn: int) -> int:
    """Returns how many squares at the king of `turn` the opponent attacks: its own and up to 8."""
    file, rank = divmod(pieces.index(KING + WHITE_PIECE * turn), 9)
    near = [(f, r) for f in range(file - 1, file + 2) for r in range(rank - 1, rank + 2)]
    return sum(is_attacked(pieces, 9 * f + r, 1 - turn) for f, r in near if 0 <= f < 9 and 0 <= r < 9)


def attacks(pieces: Sequence[int], origin: int, target: int) -> bool:
    """Does the piece on the square `origin` attack `target`? It may be pinned."""
    colour, kind = divmod(pieces[origin], WHITE_PIECE)
    sign = -1 if colour else 1
    for steps, reach in ((STEPS.get(kind, ()), 1), (SLIDES.get(kind, ()), 8)):
        for files, ranks in steps:
            file, rank = divmod(origin, 9)
            for _ in range(reach):
                file, rank = file + sign * files, rank + sign * ranks
                if not (0 <= file < 9 and 0 <= rank < 9):
                    break
                if 9 * file + rank == target:
                    return True
                if pieces[9 * file + rank] != EMPTY:
                    break
    return False
