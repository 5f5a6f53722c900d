"""Packed positions: a position in 256 bits, as training records and books hold it.

The lowest bit of a byte comes first. The bits are the side to move, the squares of black's and white's king
(7 bits each), the other 79 squares from 1a to 1i, then 2a and so on, and the pieces in hand. An empty square
is a 0; a piece is the bits of its kind, one for its colour and one for promotion (gold has none), whose order
differs between the codes. A piece in hand has bits of its own, and its colour. The pieces of a set that a
handicap leaves out follow, so that all positions with two kings have the same length.

Readers take the pieces in hand in any order. The writers of `APERY` begin with the pawns and end with the
rooks; the books in `YANEURAOU` have the golds before bishop and rook, or after them.

Files come from strangers: `unpack` reads no bit beyond the last, and refuses what is no position with the
pieces of one set. Whether the rules allow the position, such as two pawns on a file, `Board` says.

Sources: Apery's huffmanCodedPos.cpp (HuffmanCodedPos, "hcp", also of dlshogi), YaneuraOu's
extra/sfen_packer.cpp ("packed sfen") and learn/learn.h for its moves. Both were compared with cshogi, also
for the pieces that a handicap leaves out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from goryu.base.errors import GoryuError
from goryu.games.shogi.move import (
    SQUARES,
    dropped_piece,
    is_drop,
    is_promotion,
    make_drop,
    make_move,
    move_from,
    move_to,
)
from goryu.games.shogi.pieces import (
    BISHOP,
    EMPTY,
    GOLD,
    HAND_KINDS,
    HAND_LETTERS,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    PROMOTED,
    ROOK,
    SILVER,
    WHITE_PIECE,
)
from goryu.games.shogi.sfen import PIECE_TOTALS, SfenFields
from goryu.games.state import Move

T = TypeVar("T")

BYTES = 32
"""The size of a packed position."""

BOX = -1
"""In place of a colour: the piece is in nobody's hand."""

SQUARE_WINDOW, HAND_WINDOW = 8, 7
"""The length of the longest code of a piece on the board, and of one in hand."""

_FIRST_SQUARE = 15
"""The place of the first bit behind side to move and kings."""

Held = tuple[int, int]
"""Colour, or `BOX`, and kind of a piece that is on no square."""


class PackedPositionError(GoryuError, ValueError):
    """A packed position that is none, or a position that has no packed form."""


class Pieces(Protocol):
    """A position to pack: a board or the fields of an SFEN."""

    @property
    def turn(self) -> int: ...
    @property
    def pieces(self) -> Sequence[int]: ...
    @property
    def hands(self) -> Sequence[Sequence[int]]: ...


class PieceCode:
    """The bits of the pieces, as texts in the order in which they are written.

    squares: by piece code. held: by colour or `BOX`, and kind.
    """

    def __init__(
        self,
        squares: Mapping[int, str],
        hands: Mapping[int, str],
        box: Mapping[int, str],
        *,
        colour_first: bool,
    ) -> None:
        """squares, hands, box: the bits of each kind on the board, in hand, and left out by a handicap.

        colour_first: does the bit for the colour come before the one for promotion?
        """
        self.squares = {EMPTY: "0"}
        self.held: dict[Held, str] = {(BOX, kind): bits for kind, bits in box.items()}
        for kind, bits in squares.items():
            for colour in (0, 1):
                self.held[colour, kind] = f"{hands[kind]}{colour}"
                for promotion in (0, 1) if kind != GOLD else ():
                    ending = f"{colour}{promotion}" if colour_first else f"{promotion}{colour}"
                    self.squares[kind + promotion * PROMOTED + colour * WHITE_PIECE] = bits + ending
            self.squares.setdefault(kind, bits + "0")
            self.squares.setdefault(kind + WHITE_PIECE, bits + "1")
        # By the next bits, as a number with the first of them lowest: what they begin with, and its length.
        self.square_of = dict(_windows(self.squares, SQUARE_WINDOW))
        self.held_of = dict(_windows(self.held, HAND_WINDOW))


def _windows(codes: Mapping[T, str], width: int) -> Iterator[tuple[int, tuple[T, int]]]:
    for meaning, bits in codes.items():
        for rest in range(1 << width - len(bits)):
            yield int(bits[::-1], 2) | rest << len(bits), (meaning, len(bits))


def _by_kind(*bits: str) -> dict[int, str]:
    return dict(zip((PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK), bits, strict=True))


APERY = PieceCode(
    _by_kind("10", "1100", "1110", "1101", "11110", "111110", "111111"),
    _by_kind("00", "1000", "1100", "1010", "1110", "111110", "111111"),
    _by_kind("010", "10010", "11010", "10110", "10111", "1111000", "1111010"),
    colour_first=True,
)
"""The code of Apery and dlshogi: HCPE and HCPE3."""

YANEURAOU = PieceCode(
    _by_kind("10", "1100", "1101", "1110", "11110", "111110", "111111"),
    _by_kind("00", "1000", "1010", "1100", "1110", "111100", "111110"),
    _by_kind("010", "10010", "10110", "11010", "11011", "1111010", "1111110"),
    colour_first=False,
)
"""The code of YaneuraOu: PSV and its binary books."""


def pack(position: Pieces, code: PieceCode, hand_order: Sequence[int] = HAND_KINDS) -> bytes:
    """Returns a position in 32 bytes.

    hand_order: the kinds in the order in which the pieces of a hand are written.

    Raises:
        PackedPositionError: a king is missing.
    """
    pieces, kings = list(position.pieces), (KING, WHITE_PIECE + KING)
    if any(king not in pieces for king in kings):
        raise PackedPositionError("expected a position with both kings")
    squares = [code.squares[piece] for piece in pieces if piece not in kings]
    hands = [dict(zip(HAND_KINDS, hand, strict=True)) for hand in position.hands]
    missing = dict(zip(HAND_KINDS, PIECE_TOTALS, strict=True))
    for piece in pieces:
        kind = piece % WHITE_PIECE
        if kind not in (EMPTY, KING):
            missing[kind - PROMOTED if kind > KING else kind] -= 1
    for kind in HAND_KINDS:
        missing[kind] -= hands[0][kind] + hands[1][kind]
    held = [
        code.held[colour, kind] * counts[kind]
        for colour, counts in ((0, hands[0]), (1, hands[1]), (BOX, missing))
        for kind in hand_order
    ]
    places = [f"{pieces.index(king):07b}"[::-1] for king in kings]
    bits = "".join([str(position.turn), *places, *squares, *held])
    assert len(bits) == 8 * BYTES, "expected the pieces of one set"
    return int(bits[::-1], 2).to_bytes(BYTES, "little")


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


def move_of_yaneuraou(number: int) -> Move | None:
    """Returns one of YaneuraOu's moves, or None for a number that is none.

    Bits 0 to 6 are the square moved to, 7 to 13 the square moved from. A drop has bit 14, and the kind in
    place of the square moved from; a promotion has bit 15.
    """
    to, origin, promotes = number & 0x7F, number >> 7 & 0x7F, bool(number >> 15)
    if to >= SQUARES:
        return None
    if number >> 14 & 1:
        return make_drop(origin - PAWN, to) if PAWN <= origin < KING and not promotes else None
    return make_move(origin, to, promotes) if origin < SQUARES and origin != to else None


def yaneuraou_move(move: Move) -> int:
    """Returns a move as YaneuraOu writes it; see `move_of_yaneuraou`."""
    if is_drop(move):
        return move_to(move) | dropped_piece(move) + PAWN << 7 | 1 << 14
    return move_to(move) | move_from(move) << 7 | is_promotion(move) << 15
