"""What a move wins by force: every reply is tried, then both sides capture until nobody gains by it.

Weakness: after the reply only captures count, and evasions of check. A quiet second move, such as a threat of
mate or a fork, is not seen. Source of the search: quiescence search, as in every alpha-beta engine.
"""

from dataclasses import dataclass

from goryu.evaluators.material import PIECE_VALUES
from goryu.games.shogi import is_drop, is_promotion, move_from, move_to
from goryu.games.shogi.pieces import EMPTY, KING, PROMOTED, WHITE_PIECE
from goryu.games.state import Move
from goryu.implementation import Board

DEPTH = 8
"""Plies of captures that are looked at."""

MATED = 100_000
"""The loss of the side that is mated, in piece values."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """gain: of the side that moves first, in the values of `goryu.evaluators.material`.

    A captured piece counts twice: one side has lost it, and the other has it in hand. line: the moves.
    """

    gain: int
    line: tuple[Move, ...]


def forced(board: Board, move: Move) -> Exchange:
    """Returns what `move` wins at least, whatever the reply, and the line with the best reply.

    The board is left as it was.
    """
    own = gain(board.pieces, move)
    board.push(move)
    worst = Exchange(MATED, (move,))
    for reply in board.all_legal_moves():
        lost = gain(board.pieces, reply)
        board.push(reply)
        rest = settled(board, most=worst.gain - own + lost)
        board.pop()
        if own - lost + rest.gain < worst.gain:
            worst = Exchange(own - lost + rest.gain, (move, reply, *rest.line))
    board.pop()
    return worst


def gain(pieces: list[int], move: Move) -> int:
    """Returns what a move wins at once. pieces: of the board before it."""
    if is_drop(move):
        return 0
    kind, taken = pieces[move_from(move)] % WHITE_PIECE, pieces[move_to(move)] % WHITE_PIECE
    value = PIECE_VALUES[kind + PROMOTED] - PIECE_VALUES[kind] if is_promotion(move) else 0
    return value + PIECE_VALUES[taken] + PIECE_VALUES[unpromoted(taken)]


def unpromoted(kind: int) -> int:
    """Returns the kind of a piece once it is in a hand."""
    return kind - PROMOTED if kind > KING else kind


def settled(board: Board, least: int = -2 * MATED, most: int = 2 * MATED, depth: int = DEPTH) -> Exchange:
    """Returns what the side to move wins by captures; exact between `least` and `most` (alpha-beta)."""
    pieces = board.pieces
    moves = board.all_legal_moves()
    best = Exchange(-MATED, ())
    if not board.is_check():
        best = Exchange(0, ())  # Nobody need capture.
        moves = [move for move in moves if not is_drop(move) and pieces[move_to(move)] != EMPTY]
    elif depth <= 0 and moves:
        return Exchange(0, ())
    if depth <= 0:
        return best
    for move in sorted(moves, key=lambda move: -_promise(pieces, move)):
        if best.gain >= most:
            break
        won = gain(pieces, move)
        board.push(move)
        rest = settled(board, won - most, won - max(least, best.gain), depth - 1)
        board.pop()
        if won - rest.gain > best.gain:
            best = Exchange(won - rest.gain, (move, *rest.line))
    return best


def _promise(pieces: list[int], move: Move) -> int:
    """Returns a number that is high for a capture of a valuable piece by a cheap one."""
    kind = 0 if is_drop(move) else pieces[move_from(move)] % WHITE_PIECE
    return 8 * gain(pieces, move) - PIECE_VALUES[kind]
