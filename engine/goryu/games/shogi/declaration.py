"""Entering king (入玉): when the side to move may declare a win because its king has reached the far ranks.

Sources: the CSA server protocol (27-point declaration), the Japan Shogi Association's
24-point rule of professional play, YaneuraOu's EnteringKingRule for handicap games.
"""

from collections.abc import Sequence

from goryu.games.shogi.pieces import BISHOP, KING, PROMOTED, ROOK, WHITE_PIECE
from goryu.games.shogi.rules import EnteringKingRule

__all__ = ["POINTS_NEEDED", "TRY_SQUARE", "can_declare", "points", "points_needed"]

PIECES_NEEDED = 10
"""Pieces that must be in the three far ranks, the king not counted."""

POINTS_NEEDED = (28, 27)
"""What black and white need under the 27-point rule."""

BIG_POINTS = 5
"""The points of R, B and their promoted forms; every other piece but the king counts 1."""

ALL_POINTS = 54
TRY_SQUARE = (36, 44)
"""The square that black's and white's king must reach under the try rule: 5a and 5i."""

_BIG = (BISHOP, ROOK, BISHOP + PROMOTED, ROOK + PROMOTED)
_BIG_PLACES = (5, 6)
"""The places of B and R in a hand."""


def can_declare(
    pieces: Sequence[int], hands: Sequence[Sequence[int]], turn: int, rule: EnteringKingRule
) -> bool:
    """Does the side to move, not being in check, fulfil a point rule?

    pieces, hands: as in `SfenFields`. Always False for NoEnteringKing and TryRule.
    """
    if rule in (EnteringKingRule.NoEnteringKing, EnteringKingRule.TryRule):
        return False
    far = range(3) if turn == 0 else range(6, 9)
    camp = [pieces[9 * file + rank] for file in range(9) for rank in far]
    own = [piece % WHITE_PIECE for piece in camp if piece and piece // WHITE_PIECE == turn]
    if KING not in own or len(own) - 1 < PIECES_NEEDED:
        return False
    own.remove(KING)
    return points(own, hands[turn]) >= points_needed(pieces, hands, turn, rule)


def points_needed(
    pieces: Sequence[int], hands: Sequence[Sequence[int]], turn: int, rule: EnteringKingRule
) -> int:
    """Returns the points with which the side to move may declare under a point rule."""
    if rule in (EnteringKingRule.CSARule24, EnteringKingRule.CSARule24H):
        needed = 31
    else:
        needed = POINTS_NEEDED[turn]
    if turn == 1 and rule in (EnteringKingRule.CSARule24H, EnteringKingRule.CSARule27H):
        kinds = [piece % WHITE_PIECE for piece in pieces if piece % WHITE_PIECE not in (0, KING)]
        needed -= ALL_POINTS - points(kinds, [black + white for black, white in zip(*hands, strict=True)])
    return needed


def points(kinds: Sequence[int], hand: Sequence[int]) -> int:
    """Returns the points of pieces on the board, given by kind and without a king, and in a hand."""
    total = 0
    for kind in kinds:
        total += BIG_POINTS if kind in _BIG else 1
    for place, count in enumerate(hand):
        total += count * (BIG_POINTS if place in _BIG_PLACES else 1)
    return total
