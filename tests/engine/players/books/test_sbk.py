"""ShogiGUI's book, from bytes that the tests write by the definition of Protocol Buffers."""

from pathlib import Path

import pytest

from goryu.games.shogi import move_from_usi
from goryu.implementation import Board
from goryu.players.books.book import BookError, BookMove, fields_of
from goryu.players.books.opening_book import open_book
from goryu.players.books.sbk import move_of


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def nested(field: int, content: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(content)) + content


def shift(*parts: int) -> int:
    """The number of a move: ranks and files from, to; promotion; kind; side."""
    from_rank, from_file, to_rank, to_file, promotes, kind, side = parts
    return (
        from_rank | from_file << 4 | to_rank << 8 | to_file << 12 | promotes << 19 | kind << 24 | side << 31
    )


def move(value: int, evaluation: int, weight: int, following: int) -> bytes:
    signed = value - (1 << 32) if value >> 31 else value
    return nested(9, number(1, signed) + number(2, evaluation) + number(3, weight) + number(4, following))


P7G7F, P2G2F, P3C3D = shift(7, 7, 6, 7, 0, 1, 0), shift(7, 2, 6, 2, 0, 1, 0), shift(3, 3, 4, 3, 0, 1, 1)


def test_moves_are_read() -> None:
    assert move_of(P3C3D) == move_from_usi("3c3d")
    assert move_of(shift(8, 8, 2, 2, 1, 6, 0)) == move_from_usi("8h2b+")
    for kind, letter in enumerate("PLNSGBR", 1):
        assert move_of(shift(0, 0, 5, 5, 0, kind, 1)) == move_from_usi(f"{letter}*5e")


def test_positions_are_those_that_moves_lead_to_and_bad_moves_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.sbk"
    root = number(1, 0) + nested(7, Board().sfen().encode()) + move(P7G7F, 2, 7, 1) + move(P2G2F, 3, 1, -1)
    after = number(1, 1) + move(P3C3D, 0, 2, -1)
    path.write_bytes(nested(1, b"author") + nested(3, root) + nested(3, after))
    book, board = open_book(path), Board()
    assert book.find(fields_of(board)) == [BookMove(move_from_usi("7g7f"), count=7)]
    board.push_usi("7g7f")
    assert book.find(fields_of(board)) == [BookMove(move_from_usi("3c3d"), count=2)]
    board.push_usi("3c3d")
    assert book.find(fields_of(board)) == []


def test_a_broken_book_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sbk"
    bad_move = nested(3, nested(7, Board().sfen().encode()) + move(0, 0, 0, -1))
    for content in (b"", b"\xff" * 20, nested(3, nested(7, b"9/9 b - 1")), bad_move):
        path.write_bytes(content)
        with pytest.raises(BookError, match=r"a\.sbk: expected"):
            open_book(path)
