"""Names the phase of each move of a game by a simple rule; a phase never goes back.

The middlegame begins with the first capture of a rook, gold, silver, knight or lance: exchanged bishops and
pawns belong to the opening. The endgame begins when two enemy pieces other than pawns stand within two
squares of a king; promoted pawns count.
"""

from collections.abc import Sequence
from enum import StrEnum

from goryu.analysis.description import board_after

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
        squares, _, hands = board.sfen().split()[:3]
        officers = _officers(hands)
        if phase is Phase.OPENING and held is not None and officers > held:
            phase = Phase.MIDDLEGAME
        held = officers
        if phase is not Phase.ENDGAME and _is_attacked(squares):
            phase = Phase.ENDGAME
        found.append(phase)
        board.push_usi(move)
    return found


def _officers(hands: str) -> int:
    """Returns how many pieces other than bishops and pawns both sides hold.

    >>> _officers("2RB3Pg10p")
    3
    """
    total, number = 0, ""
    for letter in hands:
        if letter.isdigit():
            number += letter
        else:
            total += int(number or 1) if letter.upper() in "RGSNL" else 0
            number = ""
    return total


def _is_attacked(squares: str) -> bool:
    """Do ATTACKERS enemy pieces stand near a king? squares: the board of an SFEN."""
    pieces = list[tuple[int, int, str]]()
    for row, text in enumerate(squares.split("/")):
        column, promoted = 0, ""
        for letter in text:
            if letter == "+":
                promoted = "+"
            elif letter.isdigit():
                column += int(letter)
            else:
                pieces.append((row, column, promoted + letter))
                column, promoted = column + 1, ""
    for king_row, king_column, king in pieces:
        if king in ("K", "k"):
            attackers = sum(
                piece.upper() not in ("P", "K")
                and piece.isupper() != king.isupper()
                and max(abs(row - king_row), abs(column - king_column)) <= NEAR
                for row, column, piece in pieces
            )
            if attackers >= ATTACKERS:
                return True
    return False
