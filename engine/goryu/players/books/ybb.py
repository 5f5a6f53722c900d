r"""YaneuraOu's binary book (`.ybb`): positions in 32 bytes, in ascending order.

All numbers are little-endian.

    magic       16 bytes  b"YANE-BINBOOK-V1\0"
    count       u64       positions
    flags       u64       bit 0: do moves have a depth?
    position    44 bytes  packed position, where its moves begin u64, ply u16, number of moves u16
    move        4 or 6    move u16, evaluation in centipawns i16, perhaps depth u16

A packed position is 256 bits, the lowest bit of a byte first: the side to move, the squares of black's and
white's king (7 bits each), the other 79 squares from 1a to 1i, then 2a and so on, and the pieces in hand. An
empty square is a 0; a piece is its code, a bit for promotion (gold has none) and one for white. A piece in
hand has the code without its first bit, and the same bits after it. All positions with forty pieces have the
same length; the others have no such form here.

A move has the square to in bits 0 to 6, the square from in 7 to 13, a drop in bit 14, a promotion in bit 15;
a drop has the kind in place of the square from.

Source: ShogiHome's specs/ybb-format.md, YaneuraOu's extra/sfen_packer.cpp.
"""

import struct
from collections.abc import Sequence
from mmap import ACCESS_READ, mmap
from os import SEEK_END
from pathlib import Path

from goryu.games.shogi import SfenFields, make_drop, make_move
from goryu.games.shogi.move import SQUARES
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
from goryu.games.state import Move
from goryu.players.books.book import BookError, BookMove

MAGIC = b"YANE-BINBOOK-V1\0"
HEAD = struct.Struct("<16sQQ")
POSITION = struct.Struct("<32sQHH")
MOVES = (struct.Struct("<Hh"), struct.Struct("<HhH"))
"""Without and with a depth."""

HAND_ORDERS = (HAND_KINDS, tuple(range(PAWN, KING)))
"""Of a hand, pawns first: with the golds before bishop and rook, as cshogi and rsshogi pack, or after them,
in the order of YaneuraOu's numbers. Readers take any order, so books may have either."""

BITS = 256

MAX_READ_BYTES = 32 << 20
"""Books up to this size are read, larger ones are mapped into memory."""

SAMPLES = 1000
"""Positions that are compared to check their order."""

_CODES = {
    PAWN: (0b01, 2),
    LANCE: (0b0011, 4),
    KNIGHT: (0b1011, 4),
    SILVER: (0b0111, 4),
    GOLD: (0b01111, 5),
    BISHOP: (0b011111, 6),
    ROOK: (0b111111, 6),
}
"""The code of each kind, and its length in bits."""


def packed(position: SfenFields, hand_order: Sequence[int] = HAND_KINDS) -> bytes | None:
    """Returns a position in 32 bytes, or None if it lacks pieces or a king."""
    bits, length = position.turn, 1

    def write(value: int, count: int) -> None:
        nonlocal bits, length
        bits |= value << length
        length += count

    for king in (KING, WHITE_PIECE + KING):
        if king not in position.pieces:
            return None
        write(position.pieces.index(king), 7)
    for piece in position.pieces:
        colour, kind = divmod(piece, WHITE_PIECE)
        if piece == EMPTY:
            write(0, 1)
        elif kind != KING:
            plain = kind - PROMOTED if kind > KING else kind
            write(*_CODES[plain])
            if plain != GOLD:
                write(kind > KING, 1)
            write(colour, 1)
    for colour, hand in enumerate(position.hands):
        held = dict(zip(HAND_KINDS, hand, strict=True))
        for kind in hand_order:
            code, count = _CODES[kind]
            for _ in range(held[kind]):
                write(code >> 1, count - 1)
                if kind != GOLD:
                    write(0, 1)
                write(colour, 1)
    return bits.to_bytes(BITS // 8, "little") if length == BITS else None


def move_of(number: int) -> Move | None:
    """Returns a move of YaneuraOu's, or None for a number that is none."""
    to, origin, promotes = number & 0x7F, number >> 7 & 0x7F, bool(number >> 15)
    if to >= SQUARES:
        return None
    if number >> 14 & 1:
        return make_drop(origin - PAWN, to) if PAWN <= origin < KING and not promotes else None
    return make_move(origin, to, promotes) if origin < SQUARES and origin != to else None


class YbbBook:
    """An open book.

    ignores_ply: does a position match whatever its move number?

    Raises:
        BookError: the file is not such a book, or its positions are not in order.
        OSError: it cannot be read.
    """

    def __init__(self, path: Path, ignores_ply: bool = True) -> None:
        self._name = path.name
        self._ignores_ply = ignores_ply
        with path.open("rb") as file:
            head = file.read(HEAD.size)
            if len(head) < HEAD.size or not head.startswith(MAGIC):
                raise BookError(
                    f"{path.name}: expected a book that begins with {MAGIC!r}, received {head[:16]!r}"
                )
            # A mapped file that another program shortens would kill this one.
            is_small = file.seek(0, SEEK_END) <= MAX_READ_BYTES
            file.seek(0)
            self._data = file.read() if is_small else mmap(file.fileno(), 0, access=ACCESS_READ)
        _, self._count, flags = HEAD.unpack(head)
        self._move = MOVES[flags & 1]
        if HEAD.size + POSITION.size * self._count > len(self._data):
            raise BookError(f"{path.name}: expected {self._count} positions, the file is too short")
        step = max(1, self._count // SAMPLES)
        samples = [self._key(i) for i in range(0, self._count, step)]
        if samples != sorted(samples):
            raise BookError(f"{path.name}: expected positions in ascending order")

    def find(self, position: SfenFields) -> list[BookMove]:
        """Returns the moves of a position in the order of the file; [] if the book does not contain it.

        Raises:
            BookError: its entry cannot be read.
        """
        for key in dict.fromkeys(packed(position, order) for order in HAND_ORDERS):
            if key is not None and (found := self._find(key, position.move_number)):
                return found
        return []

    def _find(self, key: bytes, move_number: int) -> list[BookMove]:
        first, end = 0, self._count
        while first < end:
            middle = (first + end) // 2
            if self._key(middle) < key:
                first = middle + 1
            else:
                end = middle
        while first < self._count and self._key(first) == key:
            _, place, ply, count = POSITION.unpack_from(self._data, self._offset(first))
            if self._ignores_ply or ply == move_number:
                return self._moves(place, count)
            first += 1
        return []

    def _moves(self, place: int, count: int) -> list[BookMove]:
        if place + count * self._move.size > len(self._data):
            raise BookError(f"{self._name}: expected {count} moves at byte {place}, the file is too short")
        found = []
        for i in range(count):
            number, eval_cp, *depth = self._move.unpack_from(self._data, place + i * self._move.size)
            if (move := move_of(number)) is None:
                raise BookError(f"{self._name}: expected a move, received {number} at byte {place}")
            found.append(BookMove(move, None, eval_cp, depth[0] if depth else None))
        return found

    def _offset(self, i: int) -> int:
        return HEAD.size + POSITION.size * i

    def _key(self, i: int) -> bytes:
        return self._data[self._offset(i) : self._offset(i) + BITS // 8]
