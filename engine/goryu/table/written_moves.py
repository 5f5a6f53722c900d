"""Reads a move of shogi that a person has written, and says why it cannot be played."""

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.games.shogi import IllegalMoveError
from goryu.games.shogi.pieces import PAWN, WHITE_PIECE
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.kifu.notation import AmbiguousMoveError, parse_move


def read_move(board: Board, text: str) -> Move:
    """Returns the legal move of a text in Japanese, Western, KIF or CSA notation, or in USI.

    Raises:
        InputError: it may be several moves, or is not legal.
        MoveError: it is no move.
    """
    try:
        return parse_move(board, text, must_say_promotion=True)
    except AmbiguousMoveError as error:
        raise InputError(tr("{text} may be {moves}", text=text, moves=error.moves)) from error
    except IllegalMoveError as error:
        raise InputError(_why_illegal(board, text)) from error


def _why_illegal(board: Board, text: str) -> str:
    """Returns why a move cannot be played, as far as a beginner may have overlooked it."""
    reason = ""
    if board.is_check():
        reason = tr(": your king is in check")
    elif _is_second_pawn(board, text):
        reason = tr(": a second pawn on the file (nifu)")
    return tr("{text} is not legal here{reason}", text=text, reason=reason)


def _is_second_pawn(board: Board, text: str) -> bool:
    """Does the text drop a pawn on a file with an own pawn?"""
    digit = next((letter for letter in text if letter.isdecimal()), "")
    is_pawn = "歩" in text or text.upper().startswith("P*")
    if not (is_pawn and digit and board.hands[board.turn][0]):
        return False
    file = 9 * (int(digit) - 1)
    return file >= 0 and PAWN + WHITE_PIECE * board.turn in board.pieces[file : file + 9]
