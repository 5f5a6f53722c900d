"""Names the phase of each move of a game by a simple rule; a phase never goes back.

The middlegame begins with the first capture of a rook, gold, silver, knight or lance: exchanged bishops and
pawns belong to the opening. The endgame begins when two enemy pieces other than pawns stand within two
squares of a king; promoted pawns count.
"""

from collections.abc import Sequence
from enum import StrEnum

from goryu.analysis.description import board_after
from goryu.games.shogi.pieces import BISHOP, EMPTY, HAND_KINDS, KING, PAWN, WHITE_PIECE

NEAR = 2
"""Squares between a king and a piece that attacks it, in each direction."""

ATTACKERS = 2
"""Enemy pieces near a king with which the endgame begins."""


class Phase(StrEnum):
    """The phase of a game."""

    OPENING = "opening"
    MIDDLEGAME = "middlegame"
    ENDGAME = "endgame"


def phases(start: str, moves: Sequence[str]) -> list[Phase]:
    """Returns the phase of each move: that of the position before it.

    start: SFEN. moves: in USI, legal ones.
    """
    board = board_after(start, ())
    found, phase = list[Phase](), Phase.OPENING
    held = None
    for move in moves:
        officers = sum(map(_officers, board.hands))
        if phase is Phase.OPENING and held is not None and officers > held:
            phase = Phase.MIDDLEGAME
        held = officers
        if phase is not Phase.ENDGAME and _is_attacked(board.pieces):
            phase = Phase.ENDGAME
        found.append(phase)
        board.push_usi(move)
    return found


def _officers(hand: Sequence[int]) -> int:
    """Returns how many pieces other than bishops and pawns a side holds."""
    return sum(count for kind, count in zip(HAND_KINDS, hand, strict=True) if kind not in (PAWN, BISHOP))


def _is_attacked(pieces: Sequence[int]) -> bool:
    """Do ATTACKERS enemy pieces stand near a king?"""
    for side in (0, 1):
        king = pieces.index(KING + WHITE_PIECE * side) if KING + WHITE_PIECE * side in pieces else None
        attackers = sum(
            piece % WHITE_PIECE not in (EMPTY, PAWN, KING)
            and piece // WHITE_PIECE != side
            and king is not None
            and max(abs(square // 9 - king // 9), abs(square % 9 - king % 9)) <= NEAR
            for square, piece in enumerate(pieces)
        )
        if attackers >= ATTACKERS:
            return True
    return False
