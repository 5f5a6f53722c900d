"""Reads packed positions, and writes those of Apery and dlshogi.

Files come from strangers: `unpack` reads no bit beyond the last, and refuses what is no position with the
pieces of one set. Whether the rules allow the position, such as two pawns on a file, `Board` says.

Sources: Apery's huffmanCodedPos.cpp (HuffmanCodedPos, "hcp", also of dlshogi) and YaneuraOu's learn/learn.h,
compared with cshogi; `games/shogi/packed_position.py` describes the bits.
"""

from goryu.games.shogi import SfenFields, dropped_piece, is_drop, is_promotion, move_from, move_to
from goryu.games.shogi.move import SQUARES
from goryu.games.shogi.packed_position import BOX, BYTES, PackedPositionError, PieceCode, by_kind
from goryu.games.shogi.pieces import EMPTY, GOLD, HAND_KINDS, HAND_LETTERS, KING, PAWN, PROMOTED, WHITE_PIECE
from goryu.games.shogi.sfen import PIECE_TOTALS
from goryu.games.state import Move

_FIRST_SQUARE = 15
"""The place of the first bit behind side to move and kings."""

APERY = PieceCode(
    by_kind("10", "1100", "1110", "1101", "11110", "111110", "111111"),
    by_kind("00", "1000", "1100", "1010", "1110", "111110", "111111"),
    by_kind("010", "10010", "11010", "10110", "10111", "1111000", "1111010"),
    colour_first=True,
)
"""The code of Apery and dlshogi: HCPE and HCPE3."""


def unpack(data: bytes, code: PieceCode) -> SfenFields:
    """Returns the position in 32 bytes, with the move number 1.

    Both kings are on the board and the pieces are those of one set. The rules of shogi are not checked.

    Raises:
        PackedPositionError: the bits are no position.
    """
    assert len(data) == BYTES, len(data)
    bits = int.from_bytes(data, "little")
    black_king, white_king = bits >> 1 & 0x7F, bits >> 8 & 0x7F
    if max(black_king, white_king) >= SQUARES or black_king == white_king:
        raise _error(data, f"found kings on the squares {black_king} and {white_king}, of 0 to 80")
    turn, bits, left = bits & 1, bits >> _FIRST_SQUARE, 8 * BYTES - _FIRST_SQUARE
    pieces, counts = [EMPTY] * SQUARES, [0] * 2 * WHITE_PIECE
    for square in range(SQUARES):
        if square != black_king and square != white_king:
            piece, length = code.square_of[bits & 0xFF]
            pieces[square] = piece
            counts[piece] += 1
            bits >>= length
            left -= length
    pieces[black_king], pieces[white_king] = KING, WHITE_PIECE + KING
    held = dict.fromkeys(code.held, 0)
    while left > 0:
        found = code.held_of.get(bits & 0x7F)
        if found is None:
            raise _error(data, f"found no piece in hand at bit {8 * BYTES - left}")
        owner, length = found
        held[owner] += 1
        bits >>= length
        left -= length
    if left < 0:
        raise _error(data, "a piece goes on beyond the last bit")
    for place, (kind, most) in enumerate(zip(HAND_KINDS, PIECE_TOTALS, strict=True)):
        total = sum(held[owner, kind] for owner in (BOX, 0, 1)) + counts[kind] + counts[kind + WHITE_PIECE]
        if kind != GOLD:
            total += counts[kind + PROMOTED] + counts[kind + PROMOTED + WHITE_PIECE]
        if total != most:
            raise _error(data, f"found {total} pieces of kind {HAND_LETTERS[place]}, of {most}")
    black, white = (tuple(held[colour, kind] for kind in HAND_KINDS) for colour in (0, 1))
    return SfenFields(tuple(pieces), turn, (black, white), 1)


def _error(data: bytes, problem: str) -> PackedPositionError:
    return PackedPositionError(f"expected a packed position, {problem}, received {data.hex()}")


def yaneuraou_move(move: Move) -> int:
    """Returns a move as YaneuraOu writes it; `move_of_yaneuraou` reads it."""
    if is_drop(move):
        return move_to(move) | dropped_piece(move) + PAWN << 7 | 1 << 14
    return move_to(move) | move_from(move) << 7 | is_promotion(move) << 15
