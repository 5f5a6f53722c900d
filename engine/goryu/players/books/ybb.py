r"""YaneuraOu's binary book (`.ybb`): positions in 32 bytes, in ascending order.

All numbers are little-endian.

    magic       16 bytes  b"YANE-BINBOOK-V1\0"
    count       u64       positions
    flags       u64       bit 0: do moves have a depth?
    position    44 bytes  packed position, where its moves begin u64, ply u16, number of moves u16
    move        4 or 6    move u16, evaluation in centipawns i16, perhaps depth u16

Packed positions and moves are those of `games/shogi/packed_position.py`, in YaneuraOu's code.

Source: ShogiHome's specs/ybb-format.md.
"""

import struct
from mmap import ACCESS_READ, mmap
from os import SEEK_END
from pathlib import Path

from goryu.base.language import tr
from goryu.games.shogi import SfenFields
from goryu.games.shogi.packed_position import BYTES, YANEURAOU, move_of_yaneuraou, pack
from goryu.games.shogi.pieces import HAND_KINDS, KING, PAWN, WHITE_PIECE
from goryu.players.books.book import BookError, BookMove

MAGIC = b"YANE-BINBOOK-V1\0"
HEAD = struct.Struct("<16sQQ")
POSITION = struct.Struct("<32sQHH")
MOVES = (struct.Struct("<Hh"), struct.Struct("<HhH"))
"""Without and with a depth."""

HAND_ORDERS = (HAND_KINDS, tuple(range(PAWN, KING)))
"""Of a hand, pawns first: with the golds before bishop and rook, as cshogi and rsshogi pack, or after them,
in the order of YaneuraOu's numbers. Readers take any order, so books may have either."""

MAX_READ_BYTES = 32 << 20
"""Books up to this size are read, larger ones are mapped into memory."""

SAMPLES = 1000
"""Positions that are compared to check their order."""


class YbbBook:
    """An open book; a position matches whatever its move number.

    Raises:
        BookError: the file is not such a book, or its positions are not in order.
        OSError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._name = path.name
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
            raise BookError(
                f"{path.name}: {tr('expected {count} positions, the file is too short', count=self._count)}"
            )
        step = max(1, self._count // SAMPLES)
        samples = [self._key(i) for i in range(0, self._count, step)]
        if samples != sorted(samples):
            raise BookError(f"{path.name}: {tr('expected positions in ascending order')}")

    def find(self, position: SfenFields) -> list[BookMove]:
        """Returns the moves of a position in the order of the file; [] if the book does not contain it.

        Raises:
            BookError: its entry cannot be read.
        """
        if not {KING, WHITE_PIECE + KING} <= set(position.pieces):
            return []  # It has no packed form.
        for key in dict.fromkeys(pack(position, YANEURAOU, order) for order in HAND_ORDERS):
            if found := self._find(key):
                return found
        return []

    def _find(self, key: bytes) -> list[BookMove]:
        first, end = 0, self._count
        while first < end:
            middle = (first + end) // 2
            if self._key(middle) < key:
                first = middle + 1
            else:
                end = middle
        if first == self._count or self._key(first) != key:
            return []
        _, place, _, count = POSITION.unpack_from(self._data, self._offset(first))
        return self._moves(place, count)

    def _moves(self, place: int, count: int) -> list[BookMove]:
        if place + count * self._move.size > len(self._data):
            text = tr(
                "expected {count} moves at byte {place}, the file is too short", count=count, place=place
            )
            raise BookError(f"{self._name}: {text}")
        found = []
        for i in range(count):
            number, eval_cp, *depth = self._move.unpack_from(self._data, place + i * self._move.size)
            if (move := move_of_yaneuraou(number)) is None:
                text = tr("expected a move, received {number} at byte {place}", number=number, place=place)
                raise BookError(f"{self._name}: {text}")
            found.append(BookMove(move, None, eval_cp, depth[0] if depth else None))
        return found

    def _offset(self, i: int) -> int:
        return HEAD.size + POSITION.size * i

    def _key(self, i: int) -> bytes:
        return self._data[self._offset(i) : self._offset(i) + BYTES]
