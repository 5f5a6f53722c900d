"""YaneuraOu's binary book: the file follows its definition."""

import struct
from pathlib import Path

import pytest

from goryu.games.shogi import move_from_usi, parse_sfen
from goryu.games.shogi.packed_position import YANEURAOU, pack
from goryu.implementation import Board
from goryu.players.books.book import BookError, BookMove, fields_of
from goryu.players.books.config import BookFile
from goryu.players.books.opening_book import OpeningBook, open_book
from goryu.players.books.ybb import HAND_ORDERS

HANDS = "8k/9/9/9/9/9/9/9/K8 b 2R2B4G4S4N4L18P 3"
"""A position whose bytes depend on the order of the pieces in hand."""


def write_book(path: Path, *, has_depth: bool = True) -> None:
    """Writes the start position with 7g7f (by its bits: 7f, 7g) and P*5e, and one with pieces in hand."""
    start = pack(Board(), YANEURAOU)
    hands = pack(parse_sfen(HANDS), YANEURAOU, HAND_ORDERS[1])
    tail = (20,) if has_depth else ()
    layout = "<HhH" if has_depth else "<Hh"
    first = struct.pack(layout, 59 | 60 << 7, -35, *tail)
    second = struct.pack(layout, 40 | 1 << 7 | 1 << 14, 10, *tail)
    entries = sorted([(start, first), (hands, second)])
    place = 32 + 44 * len(entries)
    head = struct.pack("<16sQQ", b"YANE-BINBOOK-V1\0", len(entries), has_depth)
    index = b"".join(
        struct.pack("<32sQHH", key, place + i * len(first), 1, 1) for i, (key, _) in enumerate(entries)
    )
    path.write_bytes(head + index + b"".join(moves for _, moves in entries))


def test_a_book_is_read(tmp_path: Path) -> None:
    for has_depth in (True, False):
        path = tmp_path / f"{has_depth}.ybb"
        write_book(path, has_depth=has_depth)
        book = open_book(path)
        depth = 20 if has_depth else None
        assert book.find(fields_of(Board())) == [BookMove(move_from_usi("7g7f"), None, -35, depth)]
        assert book.find(parse_sfen(HANDS)) == [BookMove(move_from_usi("P*5e"), None, 10, depth)]
        board = Board()
        board.push_usi("2g2f")
        assert book.find(fields_of(board)) == []
        mate_problem = parse_sfen("4k4/9/9/9/9/9/9/9/9 b R 1", allow_missing_king=True)
        assert book.find(mate_problem) == []


def test_a_broken_book_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ybb"
    write_book(path)
    data = path.read_bytes()
    swapped = data[:32] + data[76:120] + data[32:76] + data[120:]
    for content in (b"", data[:40], swapped, data[:3] + b"x" + data[4:]):
        path.write_bytes(content)
        with pytest.raises(BookError, match=r"a\.ybb: expected"):
            open_book(path)
    path.write_bytes(data[:-1])  # The last entry alone is broken.
    book = open_book(path)
    last = max((Board().sfen(), HANDS), key=lambda sfen: pack(parse_sfen(sfen), YANEURAOU, HAND_ORDERS[1]))
    with pytest.raises(BookError, match="too short"):
        book.find(parse_sfen(last))


def test_of_several_books_the_first_with_the_position_answers(tmp_path: Path) -> None:
    write_book(tmp_path / "b.ybb")
    (tmp_path / "a.db").write_text(
        f"#YANEURAOU-DB2016 1.00\nsfen {HANDS}\nG*5e none 0 1 1\n", encoding="utf-8"
    )
    book = OpeningBook(BookFile("a.db; none.db; b.ybb", str(tmp_path)))  # A missing one takes no other along.
    (problem,) = book.problems
    assert problem.startswith("none.db: ")
    assert [move.move for move in book.find(Board(HANDS))] == [move_from_usi("G*5e")]
    assert [move.move for move in book.find(Board())] == [move_from_usi("7g7f")]
