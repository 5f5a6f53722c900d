"""YaneuraOu's book format (`.db`): positions and moves as text.

    #YANEURAOU-DB2016 1.00
    sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1
    7g7f 3c3d 0 32 2
    2g2f none 0 32 1

Each position is followed by its moves, one a line: the move, the expected reply or `none`, then optionally
the evaluation in centipawns for the side to move, its depth, and how often the move was played. Lines that
begin with `#` or `//` are comments. YaneuraOu writes the positions in ascending order of their text, and
books grow to many gigabytes: large ones are mapped into memory and bisected. Smaller ones are indexed, so
they may be in any order.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from mmap import ACCESS_READ, mmap
from os import SEEK_END
from pathlib import Path

from goryu.base.language import tr
from goryu.games.shogi import MoveError, SfenFields, move_from_usi
from goryu.games.state import Move
from goryu.players.books.book import BookError, BookMove

HEADER = b"#YANEURAOU-DB2016 1.00"

BOM = b"\xef\xbb\xbf"
"""The byte order mark that editors on Windows write at the beginning of a text."""

MAX_INDEXED_BYTES = 32 << 20
"""Books up to this size are indexed when they are opened, which takes up to a second."""

SAMPLES = 1000
"""Positions of a large book that are compared to check its order."""

NOTHING = ("none", "None", "resign")
"""The words for a missing move or number."""

LARGEST = 2**63 - 1
"""The largest number that a book may have."""

MOST_ENTRY_BYTES = 1 << 16
"""Of the moves of a position, which has 593 at most."""

_POSITION = re.compile(rb"^sfen +([^\r\n]{0,1000}?)[ \t]*\r?$", re.MULTILINE)
_BEHIND_ALL = b"\xff"


class YaneuraOuBook:
    """An open book; a position matches whatever its move number, and the first of equal ones counts.

    Raises:
        BookError: the file is not a book of YaneuraOu's, or is large and not in order.
        OSError: it cannot be read.
    """

    def __init__(self, path: Path, max_indexed_bytes: int = MAX_INDEXED_BYTES) -> None:
        self._name = path.name
        with path.open("rb") as file:
            head = file.read(len(HEADER) + len(BOM)).removeprefix(BOM)
            if not head.startswith(HEADER):
                raise BookError(
                    f"{path.name}: expected a book that begins with {HEADER.decode()}, received {head!r}"
                )
            # A mapped file that another program shortens would kill this one.
            is_small = file.seek(0, SEEK_END) <= max_indexed_bytes
            file.seek(0)
            self._text = file.read() if is_small else mmap(file.fileno(), 0, access=ACCESS_READ)
        self._index: dict[bytes, int] | None = None  # The offset of each position's moves.
        if is_small:
            self._index = {}
            for found in _POSITION.finditer(self._text):
                self._index.setdefault(self._key(found[1]), found.end())
            if not self._index:
                raise BookError(f"{path.name}: {tr('expected lines that begin with sfen, received none')}")
        else:
            self._check_order()

    def find(self, position: SfenFields) -> list[BookMove]:
        """Returns the moves of a position in the order of the file; [] if the book does not contain it.

        Raises:
            BookError: a line of moves cannot be read.
        """
        key = self._key(str(position).encode())
        place = self._index.get(key) if self._index is not None else self._bisect(key)
        return [] if place is None else self.moves_at(place)

    def positions(self) -> Iterator[tuple[str, int]]:
        """Yields the SFEN of every position in the order of the file, and the place of its moves."""
        for found in _POSITION.finditer(self._text):
            yield found[1].decode("utf-8", "replace"), found.end()

    def _key(self, sfen: bytes) -> bytes:
        return b" ".join(sfen.split()[:3])

    def _bisect(self, key: bytes) -> int | None:
        """Returns the offset of a position's moves in a sorted book, or None if it does not contain it."""
        offset = bisect_left(range(len(self._text)), key, key=lambda offset: self._next(offset)[0])
        found, place = self._next(offset)
        return place if found == key else None

    def _next(self, offset: int) -> tuple[bytes, int]:
        """Returns the first position at or after an offset, and the offset of its moves."""
        start = self._text.find(b"\nsfen ", max(0, offset - 1))
        found = _POSITION.match(self._text, start + 1) if start >= 0 else None
        return (self._key(found[1]), found.end()) if found else (_BEHIND_ALL, len(self._text))

    def _check_order(self) -> None:
        step = max(1, len(self._text) // SAMPLES)
        samples = [self._next(offset)[0] for offset in range(0, len(self._text), step)]
        if samples[0] == _BEHIND_ALL or any(a > b for a, b in pairwise(samples)):
            raise BookError(
                f"{self._name}: expected a large book to be in ascending order (YaneuraOu: makebook sort)"
            )

    def moves_at(self, place: int) -> list[BookMove]:
        """Returns the moves from a place of `positions` up to the next position.

        Raises:
            BookError: a line of moves cannot be read.
        """
        return list(self._moves(place))

    def _moves(self, place: int) -> Iterator[BookMove]:
        end = self._text.find(b"\nsfen ", place) % (len(self._text) + 1)  # -1: the end of the file.
        if end - place > MOST_ENTRY_BYTES:
            raise BookError(
                f"{self._name}: {tr('expected at most {most} bytes for a position', most=MOST_ENTRY_BYTES)}"
            )
        for line in self._text[place:end].decode("utf-8", "replace").splitlines():
            words = line.split()
            if words and not line.startswith(("#", "//")) and words[0] not in NOTHING:
                yield self._parse(line, words)

    def _parse(self, line: str, words: list[str]) -> BookMove:
        try:
            move = move_from_usi(words[0])
            reply = _optional_move(words[1]) if len(words) > 1 else None
            least = (-LARGEST, -LARGEST, 0)
            numbers = [_optional_number(*of) for of in zip(words[2:5], least, strict=False)]
        except (MoveError, ValueError) as error:
            raise BookError(
                f"{self._name}: expected MOVE REPLY EVALUATION DEPTH COUNT, received {line[:80]!a}"
            ) from error
        eval_cp, depth, count = (*numbers, None, None, None)[:3]
        return BookMove(move, reply, eval_cp, depth, 1 if count is None else count)


def _optional_number(text: str, least: int) -> int | None:
    """Returns the number, or None for a missing one; raises ValueError for others than `least` to LARGEST."""
    if text in NOTHING:
        return None
    if not least <= (number := int(text)) <= LARGEST:
        raise ValueError(f"expected {least} to {LARGEST}")
    return number


def _optional_move(text: str) -> Move | None:
    return None if text in NOTHING else move_from_usi(text)
