"""PackedSfenValue: YaneuraOu's training record, 40 bytes a position.

A record holds a Huffman-coded position (YaneuraOu's code, not that of HCPE), the teacher's score, the move
played, its number in the game, and the result for the side to move. Like HCPE it does not mark where a game
begins.

Source: YaneuraOu's learn/learn.h and extra/sfen_packer.cpp.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goryu.games.shogi.packed_position import YANEURAOU, move_of_yaneuraou
from goryu.games.shogi.sfen import MAX_MOVE_NUMBER
from goryu.games.state import Move
from goryu.implementation import Board
from goryu_lab.records.conversion import push
from goryu_lab.records.game_records import GameRecord
from goryu_lab.records.hcpe import (
    BLACK_WON,
    DRAW,
    HCPE,
    WHITE_WON,
    board_of,
    good_records,
    packed,
    points,
    whole_records,
)
from goryu_lab.records.packed_position import yaneuraou_move

PSV = np.dtype(
    [
        ("sfen", np.uint8, 32),
        ("score", "<i2"),
        ("move", "<u2"),
        ("gamePly", "<u2"),
        ("game_result", np.int8),
        ("padding", np.uint8),
    ]
)
"""Names and layout as in cshogi.

score: the teacher's score in centipawns for the side to move. move: in YaneuraOu's 16 bits.
game_result: 1 if the side to move won, -1 if it lost, 0 for a draw.
"""


def psv_records(game: GameRecord) -> npt.NDArray[np.void]:
    """Returns the positions of a game that have a score; raises GameFileError at an illegal move."""
    board = Board(game.start_sfen)
    records = np.zeros(len(game.moves), PSV)
    records["score"] = [0 if score is None else score for score in game.evals]
    for ply, move16 in enumerate(game.moves):
        records["sfen"][ply] = packed(board, YANEURAOU)
        records["move"][ply] = yaneuraou_move(Move(move16))
        records["gamePly"][ply] = board.ply + 1
        records["game_result"][ply] = 2 * points(game.result, board.turn) - 1
        push(board, move16)
    return records[[score is not None for score in game.evals]]


def hcpe_of_psv(
    path: Path, report: Callable[[str], None]
) -> tuple[npt.NDArray[np.void], npt.NDArray[np.uint16]]:
    """Returns the good records of a file as HCPE, and their numbers in the game.

    report: takes a line for each other record, with its number in the file, and about an incomplete end.
    """
    records = whole_records(path.read_bytes(), PSV, path, report)
    turns, won = records["sfen"][:, 0] & 1, records["game_result"]
    found = np.zeros(len(records), HCPE)
    found["hcp"], found["eval"] = records["sfen"], records["score"]
    # No position allows move 0, and 255 is no result.
    found["bestMove16"] = [move_of_yaneuraou(number) or 0 for number in records["move"].tolist()]
    found["gameResult"] = np.where((won == 1) == (turns == 0), BLACK_WON, WHITE_WON)
    found["gameResult"][won == 0] = DRAW
    found["gameResult"][np.abs(won.astype(int)) > 1] = 255
    is_good = good_records(found, path, report, YANEURAOU)
    for i in np.flatnonzero(is_good & (records["gamePly"] > MAX_MOVE_NUMBER)):
        is_good[i] = False
        number = records["gamePly"][i]
        report(f"{path}: record {i + 1}: expected a move number of 0 to {MAX_MOVE_NUMBER}, received {number}")
    good = found[is_good]
    for hcp in good["hcp"]:
        hcp[:] = packed(board_of(hcp.tobytes(), YANEURAOU))
    return good, records["gamePly"][is_good]
