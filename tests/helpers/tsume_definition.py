"""The length of a mate by its definition, on cshogi's board: no iterative deepening, no ordering, no df-pn.

An independent reading of what `goryu_page.tsume.length` says of useless interpositions.
"""

from typing import Any

import cshogi

from goryu.games.shogi.pieces import attacks

NEVER = 1 << 20
HAND_OF_TYPE = {1: 0, 2: 1, 3: 2, 4: 3, 5: 5, 6: 6, 7: 4, 9: 0, 10: 1, 11: 2, 12: 3, 13: 5, 14: 6}
"""The place in a hand (P L N S G B R) of each of cshogi's piece types (PAWN 1 ... PROM_ROOK 14)."""


def defined_length(sfen: str, most: int) -> int | None:
    """Returns the plies to mate for the side to move, or None if they are more than `most`."""
    _known.clear()
    length = _attack(cshogi.Board(sfen), most, (0,) * 7)
    return length if length <= most else None


def _attack(board: Any, most: int, barred: tuple[int, ...]) -> int:
    if most < 1:
        return NEVER
    best = NEVER
    for move in _all_legal(board):
        if cshogi.move_is_drop(move):
            place = cshogi.move_drop_hand_piece(move)
            if board.pieces_in_hand[board.turn][place] <= barred[place]:
                continue
        board.push(move)
        if board.is_check():
            best = min(best, 1 + _defence(board, min(most, best) - 1, barred))
        board.pop()
    return best if best <= most else NEVER


def _all_legal(board: Any) -> list[int]:
    """Returns the legal moves with the non-promotions that cshogi leaves out."""
    moves = list(board.legal_moves)
    for move in moves[:]:
        if cshogi.move_is_promotion(move):
            usi = cshogi.move_to_usi(move).rstrip("+")
            plain = board.move_from_usi(usi)
            if plain not in moves and board.is_legal(plain):
                moves.append(plain)
    return moves


_known: dict[tuple[str, int, tuple[int, ...]], int] = {}
"""Answers of `_defence`: interpositions reach the same position in many orders."""


def _defence(board: Any, most: int, barred: tuple[int, ...]) -> int:
    key = board.sfen().rsplit(" ", 1)[0], most, barred
    if key not in _known:
        _known[key] = _longest(board, most, barred)
    return _known[key]


def _longest(board: Any, most: int, barred: tuple[int, ...]) -> int:
    king = board.king_square(board.turn)
    plain: list[int] = []
    interposed: list[int] = []
    for move in _all_legal(board):
        is_drop = cshogi.move_is_drop(move)
        is_interposition = is_drop or (
            cshogi.move_from(move) != king and board.piece(cshogi.move_to(move)) == 0
        )
        (interposed if is_interposition else plain).append(move)
    if plain and most < 2:
        return NEVER
    length = max([0, *(1 + _after(board, move, most - 1, barred) for move in plain)])
    if length > most:
        return NEVER
    shortest = length
    for move in interposed:
        if not _is_useless(board, move, shortest, barred):
            length = max(length, 1 + _after(board, move, most - 1, barred))
            if length > most:
                return NEVER
    return length


def _after(board: Any, move: int, most: int, barred: tuple[int, ...]) -> int:
    board.push(move)
    length = _attack(board, most, barred)
    board.pop()
    return length


def _is_useless(board: Any, interposition: int, length: int, barred: tuple[int, ...]) -> bool:
    square, king = cshogi.move_to(interposition), board.king_square(board.turn)
    board.push(interposition)
    place = HAND_OF_TYPE[board.piece_type(square)]
    more = tuple(count + (i == place) for i, count in enumerate(barred))
    answer = False
    for capture in _all_legal(board):
        if cshogi.move_to(capture) == square and not cshogi.move_is_drop(capture):
            board.push(capture)
            answer = (
                board.is_check()
                and attacks(board.pieces, square, king)
                and _defence(board, length, more) <= length
            )
            board.pop()
            if answer:
                break
    board.pop()
    return answer
