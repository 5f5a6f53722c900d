"""Packed positions: a position in 256 bits, as training records and books hold it.

The lowest bit of a byte comes first. The bits are the side to move, the squares of black's and white's king
(7 bits each), the other 79 squares from 1a to 1i, then 2a and so on, and the pieces in hand. An empty square
is a 0; a piece is the bits of its kind, one for its colour and one for promotion (gold has none), whose order
differs between the codes. A piece in hand has bits of its own, and its colour. The pieces of a set that a
handicap leaves out follow, so that all positions with two kings have the same length.

Readers take the pieces in hand in any order.

Source: YaneuraOu's extra/sfen_packer.cpp ("packed sfen"), compared with cshogi, also for the pieces that a
handicap leaves out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from goryu.base.errors import GoryuError
from goryu.games.shogi.move import SQUARES, make_drop, make_move
from goryu.games.shogi.pieces import (
    BISHOP,
    EMPTY,
    GOLD,
    HAND_KINDS,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    PROMOTED,
    ROOK,
    SILVER,
    WHITE_PIECE,
)
from goryu.games.shogi.sfen import PIECE_TOTALS
from goryu.games.state import Move

T = TypeVar("T")

BYTES = 32
"""The size of a packed position."""

BOX = -1
"""In place of a colour: the piece is in nobody's hand."""

SQUARE_WINDOW, HAND_WINDOW = 8, 7
"""The length of the longest code of a piece on the board, and of one in hand."""

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


def by_kind(*bits: str) -> dict[int, str]:
    return dict(zip((PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK), bits, strict=True))


YANEURAOU = PieceCode(
    by_kind("10", "1100", "1101", "1110", "11110", "111110", "111111"),
    by_kind("00", "1000", "1010", "1100", "1110", "111100", "111110"),
    by_kind("010", "10010", "10110", "11010", "11011", "1111010", "1111110"),
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
