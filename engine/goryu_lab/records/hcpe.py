"""HCPE: dlshogi's training record, 38 bytes a position.

A record holds a Huffman-coded position (turn, kings, pieces, hands; no move number), the teacher's score, the
move played and the result of the game. The records of a game are consecutive, but the format does not mark
where a game begins, and positions may be missing: `game_numbers` infers the games.
"""

import lzma
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goryu.base.errors import GoryuError
from goryu.games.shogi.packed_position import PieceCode, pack
from goryu.games.state import Move
from goryu.implementation import IMPLEMENTATION, Board
from goryu_lab.records.packed_position import APERY, unpack

HCPE = np.dtype(
    [
        ("hcp", np.uint8, 32),
        ("eval", np.int16),
        ("bestMove16", np.uint16),
        ("gameResult", np.uint8),
        ("dummy", np.uint8),
    ]
)
"""Names and layout as in dlshogi, so that cshogi and rsshogi read the same arrays.

eval: the teacher's score in centipawns for the side to move. bestMove16: the move played.
gameResult: `DRAW`, `BLACK_WON` or `WHITE_WON`.
"""

DRAW, BLACK_WON, WHITE_WON = 0, 1, 2

RESULTS = {None: DRAW, 0: BLACK_WON, 1: WHITE_WON}
"""The result by the side that has won."""

MAX_SCORE = 32767
"""The 16 bits also hold -32768, which is no score."""


class HcpeError(GoryuError, ValueError):
    """A file that is not a sequence of HCPE records."""


def read_hcpe(path: Path | str) -> npt.NDArray[np.void]:
    """Returns the records of a file. Decompresses `.xz` files; of an incomplete last record it warns.

    Raises HcpeError if a result is invalid, the compression is broken or the name is that of another format,
    and OSError if the file cannot be read.
    """
    if Path(path).suffix in (".hcpe3", ".psv", ".bin"):
        raise HcpeError(f"{path}: expected *.games, *.hcpe or *.hcpe.xz; `goryu records convert` makes them")
    records = read_hcpe_as_it_is(Path(path), lambda text: warnings.warn(text, stacklevel=4))
    if records.size and records["gameResult"].max() > WHITE_WON:
        raise HcpeError(
            f"{path}: expected results 0 to 2, found {records['gameResult'].max()}: not an HCPE file?"
        )
    return records


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix != ".xz":
        return data
    try:
        return lzma.decompress(data)
    except lzma.LZMAError as error:
        raise HcpeError(f"{path}: expected a file packed by xz: {error}") from error


def whole_records(
    data: bytes, dtype: "np.dtype[np.void]", path: Path, report: Callable[[str], None] = lambda message: None
) -> npt.NDArray[np.void]:
    """Returns the records in the content of a file. report: takes a line about an incomplete last one."""
    records = np.frombuffer(data, dtype, count=len(data) // dtype.itemsize)
    if len(data) % dtype.itemsize:
        report(f"{path}: record {len(records) + 1}: the file ends within it")
    return records


def read_hcpe_as_it_is(
    path: Path, report: Callable[[str], None] = lambda message: None
) -> npt.NDArray[np.void]:
    """Does what `read_hcpe` does, and leaves invalid results in; `good_records` finds them."""
    return whole_records(_unpacked(path), HCPE, path, report)


def good_records(
    records: npt.NDArray[np.void], path: Path, report: Callable[[str], None], code: PieceCode = APERY
) -> npt.NDArray[np.bool_]:
    """Returns which records hold a position, a legal move, a score and a result.

    code: of the positions.

    report: takes a line for each other record, with its number in the file.
    """
    is_good = np.ones(len(records), bool)
    for i, record in enumerate(records):
        try:
            board = board_of(record["hcp"].tobytes(), code)
            if not board.is_legal(move := Move(int(record["bestMove16"]))):
                raise HcpeError(f"expected a move that is legal in {board.sfen()}, received {move}")
            if record["eval"] < -MAX_SCORE:
                raise HcpeError(f"expected a score within {MAX_SCORE} centipawns, received {record['eval']}")
            if record["gameResult"] > WHITE_WON:
                raise HcpeError(f"expected a result, received {record['gameResult']}")
        except ValueError as error:
            is_good[i] = False
            report(f"{path}: record {i + 1}: {error}")
    return is_good


def write_hcpe(path: Path | str, records: npt.NDArray[np.void]) -> None:
    """Writes records to a file; compresses it if its name ends in `.xz`."""
    data = records.tobytes()
    Path(path).write_bytes(lzma.compress(data) if Path(path).suffix == ".xz" else data)


def results(records: npt.NDArray[np.void]) -> npt.NDArray[np.float64]:
    """Returns the result of the game for the side to move of each record: 0, 0.5 or 1."""
    turns = records["hcp"][:, 0] & 1  # The first bit of a Huffman-coded position is the side to move.
    return points(records["gameResult"], turns)


def points(result: npt.ArrayLike, turn: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Returns what games with these results give the sides to move, 0 or 1: 0, 0.5 or 1."""
    won = np.equal(result, BLACK_WON) == np.equal(turn, 0)
    return np.where(np.equal(result, DRAW), 0.5, won)


def board_of(data: bytes, code: PieceCode = APERY) -> Board:
    """Returns a packed position as a board, with the move number 1.

    Raises:
        PackedPositionError: the bytes are no position.
        SfenError: the rules of shogi do not allow it.
    """
    if IMPLEMENTATION == "native":
        from goryu import _native

        board: Board | None = _native.unpack_board(data, code)
        if board is not None:
            return board
    # Where the native reader refuses, this says what is wrong.
    return Board(str(unpack(data, code)))


def packed(board: Board, code: PieceCode = APERY) -> npt.NDArray[np.uint8]:
    """Returns a position as records hold it, [32]."""
    if IMPLEMENTATION == "native":
        from goryu import _native

        return np.frombuffer(_native.pack_board(board, code), np.uint8)
    return np.frombuffer(pack(board, code), np.uint8)


def game_numbers(records: npt.NDArray[np.void]) -> npt.NDArray[np.int64]:
    """Returns the number of the game that each record belongs to; games count from 0 in file order.

    A record continues the game before it if the result is the same and it is the position after the
    predecessor's move, or fewer squares differ from the predecessor than from the start position. So missing
    positions (random moves, decided positions) do not split a game, and a new opening starts one.

    Raises HcpeError at an invalid position or an illegal move.
    """
    start = np.array(Board().pieces, np.int8)
    pieces = np.empty((len(records), 81), np.int8)
    after = np.zeros(len(records), HCPE)["hcp"]  # The position after the move of each record.
    for i, (hcp, move) in enumerate(zip(records["hcp"], records["bestMove16"].tolist(), strict=True)):
        try:
            board = board_of(hcp.tobytes())
        except ValueError as error:
            raise HcpeError(f"record {i}: {error}") from error
        if not board.is_legal(move):
            raise HcpeError(f"record {i}: expected a move that is legal in {board.sfen()}, received {move}")
        pieces[i] = board.pieces
        board.push(move)
        after[i] = packed(board)
    follows = (records["hcp"][1:] == after[:-1]).all(axis=1)
    from_start = (pieces[1:] != start).sum(axis=1)
    from_previous = (pieces[1:] != pieces[:-1]).sum(axis=1)
    is_new = np.zeros(len(records), bool)
    is_new[1:] = ~follows & (from_start < from_previous)
    is_new[1:] |= records["gameResult"][1:] != records["gameResult"][:-1]
    return np.cumsum(is_new)
