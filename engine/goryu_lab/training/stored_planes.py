"""Stored positions as planes, legal moves and labels.

Native code writes a batch without Python's lock; the same in Python is here, far slower.
"""

import numpy as np
import numpy.typing as npt

from goryu.base.errors import InputError
from goryu.evaluators.formats.dlshogi import dlshogi_label, fill_dlshogi
from goryu.games.shogi import is_drop, move_from
from goryu.games.shogi.pieces import BISHOP, LANCE, PAWN, ROOK, WHITE_PIECE
from goryu.games.state import Move
from goryu.implementation import IMPLEMENTATION, Board
from goryu_lab.records.hcpe import board_of
from goryu_lab.records.packed_position import APERY

PROMOTIONS = 10 * 81
"""Label of a promoting move minus the label of the same move without promotion."""

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]


def fill_records(
    hcp: npt.NDArray[np.uint8],
    place: Numbers,
    moves: npt.NDArray[np.uint16],
    planes: tuple[Floats, Floats],
    legal: Flags,
) -> Numbers:
    """Writes N positions and labels M of their moves.

    hcp: [N, 32], as in HCPE records. planes: [N, 62, 9, 9] and [N, 57, 9, 9], of any content.
    legal: [N, 2187] of zeros, where the labels of all legal moves are set.
    place, moves: [M], the number of a position and a move in it.

    Returns [M], the labels of the moves, with the promotion where declining it is pointless.

    Raises:
        PackedPositionError: the bytes are no position.
        SfenError: the rules do not allow a position.
        InputError: a move is illegal.
    """
    labels = np.zeros(len(moves), np.int64)
    hcp = np.ascontiguousarray(hcp)
    if IMPLEMENTATION == "native":
        from goryu import _native

        written = _native.fill_records(APERY, hcp, place, moves, *planes, legal.view(np.uint8), labels)
        if written == len(hcp) + len(moves):
            return labels
        if written < len(hcp):
            board_of(hcp[written].tobytes())  # Says what is wrong.
        wrong = written - len(hcp)
        raise _illegal(board_of(hcp[place[wrong]].tobytes()), moves[wrong])
    boards = [board_of(each.tobytes()) for each in hcp]
    fill_dlshogi(boards, *planes)
    for board, row in zip(boards, legal, strict=True):
        row[[dlshogi_label(move, board.turn) for move in board.all_legal_moves()]] = True
    for i, (at, move) in enumerate(zip(place.tolist(), moves.tolist(), strict=True)):
        labels[i] = _useful_label(boards[at], move, legal[at])
    return labels


def _useful_label(board: Board, move: Move, legal: Flags) -> int:
    """Returns the label of a move, or of its promotion if declining it is pointless.

    It is pointless for pawn, bishop and rook everywhere, and for a lance on the last rank but one
    (`Rules.all_moves`). Fairy-Stockfish declines a quarter of
    these promotions, because it sees no difference where the piece is captured at once.
    """
    if not board.is_legal(move):
        raise _illegal(board, move)
    label = dlshogi_label(move, board.turn)
    if is_drop(move) or label >= PROMOTIONS or not legal[label + PROMOTIONS]:
        return label
    kind = board.pieces[move_from(move)] % WHITE_PIECE
    is_last_but_one = label % 9 == 1
    is_pointless = kind in (PAWN, BISHOP, ROOK) or (kind == LANCE and is_last_but_one)
    return label + PROMOTIONS if is_pointless else label


def _illegal(board: Board, move: int) -> InputError:
    return InputError(f"expected a move that is legal in {board.sfen()}, received {move}")
