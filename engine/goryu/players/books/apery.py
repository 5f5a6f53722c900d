"""Apery's book format (`book.bin`): a table of 16-byte records, mapped into memory and searched by key.

    key         8 bytes, unsigned; see `apery_key.py`
    move        2 bytes, our own 16-bit move
    count       2 bytes, unsigned: how often the move was played
    score       4 bytes, signed: centipawns for the side to move

all little-endian. Books are sorted by key, but no program requires it, so the order is checked once.

Weakness: two positions can have the same key, so the moves of an entry need not be legal.
"""

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import islice
from mmap import ACCESS_READ, mmap
from operator import le
from pathlib import Path
from struct import Struct

from goryu.base.language import tr
from goryu.games.shogi import SfenFields
from goryu.games.state import Move
from goryu.players.books.apery_key import apery_key
from goryu.players.books.book import BookError, BookMove

RECORD = Struct("<QHHi")


class AperyBook:
    """An open book.

    Raises:
        BookError: the file is not an Apery book.
        OSError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        size = path.stat().st_size
        if size == 0 or size % RECORD.size:
            raise BookError(
                f"{path.name}: expected an Apery book (records of {RECORD.size} bytes), received {size} bytes"
            )
        with path.open("rb") as file:
            self._records = mmap(file.fileno(), 0, access=ACCESS_READ)
        if sys.byteorder != "little":
            raise BookError(f"{path.name}: {tr('Apery books can be read on little-endian machines only')}")
        self._keys: Sequence[int] = memoryview(self._records).cast("Q")[:: RECORD.size // 8]
        self._order: list[int] | None = None  # The records by key, if the file is in another order.
        if not all(map(le, self._keys, islice(self._keys, 1, None))):
            self._order = sorted(range(len(self._keys)), key=self._keys.__getitem__)
            self._keys = [self._keys[i] for i in self._order]

    def find(self, position: SfenFields) -> list[BookMove]:
        """Returns the moves of a position in the order of the file; [] if the book does not contain it."""
        key = apery_key(position)
        first, last = bisect_left(self._keys, key), bisect_right(self._keys, key)
        places = range(first, last) if self._order is None else self._order[first:last]
        return [self._read(place) for place in places]

    def _read(self, place: int) -> BookMove:
        _, move, count, score = RECORD.unpack_from(self._records, place * RECORD.size)
        return BookMove(Move(move), eval_cp=score, count=count)
