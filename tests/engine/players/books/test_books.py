"""Opening books: the files of other programs, and the choice of a move."""

import os
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from goryu.evaluators.network.model_files import models_folder
from goryu.games.shogi import move_from_usi, move_to_usi, parse_sfen
from goryu.implementation import Board
from goryu.players.books.apery import AperyBook
from goryu.players.books.apery_key import apery_key
from goryu.players.books.book import BookError, BookMove, fields_of, flipped, flipped_move
from goryu.players.books.config import OWN_BOOK, VARIABLE, BookConfig, BookFile
from goryu.players.books.opening_book import OpeningBook, open_book
from goryu.players.books.selection import choose
from goryu.players.books.yaneuraou import YaneuraOuBook
from goryu_lab.bookmaking.checking import problems
from present import present

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
AFTER_7G7F = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2"

YANEURAOU = f"""\
#YANEURAOU-DB2016 1.00
# a comment
sfen {AFTER_7G7F}
3c3d 2g2f
sfen {START}
7g7f 3c3d 32 20 5
2g2f none 30 20 3
// another comment
1g1f none -50 20 2
"""


def database(folder: Path, text: str = YANEURAOU, name: str = "book.db") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def names(moves: list[BookMove]) -> list[str]:
    return [move_to_usi(move.move) for move in moves]


# YaneuraOu's format.


def test_a_yaneuraou_book_is_read(tmp_path: Path) -> None:
    book = YaneuraOuBook(database(tmp_path))
    moves = book.find(parse_sfen(START))
    assert names(moves) == ["7g7f", "2g2f", "1g1f"]
    assert moves[0] == BookMove(move_from_usi("7g7f"), move_from_usi("3c3d"), 32, 20, 5)
    assert moves[1].reply is None
    assert book.find(parse_sfen(AFTER_7G7F)) == [BookMove(move_from_usi("3c3d"), move_from_usi("2g2f"))]
    assert book.find(parse_sfen("4k4/9/9/9/9/9/9/9/4K4 b - 1")) == []


def test_rsshogi_reads_the_same_in_a_book_of_random_games(tmp_path: Path) -> None:
    rsshogi_book = pytest.importorskip("rsshogi.book")
    rng = Random(11)
    entries: dict[str, list[str]] = {}
    for _ in range(30):
        board = Board()
        for _ in range(20):
            moves = board.legal_moves()
            known = rng.sample(moves, min(len(moves), 3))
            entries.setdefault(
                board.sfen(),
                [f"{move_to_usi(m)} none {rng.randint(-99, 99)} {rng.randint(0, 40)} 1" for m in known],
            )
            board.push(rng.choice(moves))
    lines = [line for sfen, moves in sorted(entries.items()) for line in (f"sfen {sfen}", *moves)]
    path = database(tmp_path, "\n".join(["#YANEURAOU-DB2016 1.00", *lines, ""]))
    oracle = rsshogi_book.YaneuraOuBook.open(str(path))
    indexed, bisected = YaneuraOuBook(path), YaneuraOuBook(path, max_indexed_bytes=0)
    for sfen in entries:
        expected = [(m.mv.to_usi(), m.score, m.depth) for m in oracle.lookup_sfen(sfen).moves]
        found = indexed.find(parse_sfen(sfen))
        assert [(move_to_usi(m.move), m.eval_cp, m.depth) for m in found] == expected
        assert bisected.find(parse_sfen(sfen)) == found
    assert bisected.find(parse_sfen("4k4/9/9/9/9/9/9/9/4K4 b - 1")) == []


def test_the_move_number_does_not_count(tmp_path: Path) -> None:
    later = parse_sfen(START.replace(" 1", " 7"))
    assert names(YaneuraOuBook(database(tmp_path)).find(later)) == ["7g7f", "2g2f", "1g1f"]


def test_windows_line_ends_and_byte_order_marks_are_read(tmp_path: Path) -> None:
    path = database(tmp_path, "\ufeff" + YANEURAOU.replace("\n", "\r\n"))
    for limit in (0, 1 << 20):
        book = YaneuraOuBook(path, max_indexed_bytes=limit)
        assert names(book.find(parse_sfen(START))) == ["7g7f", "2g2f", "1g1f"]


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("", "begins with"),
        ("sfen " + START, "begins with"),
        ("#YANEURAOU-DB2016 1.00\n", "lines that begin with sfen"),
    ],
)
def test_a_broken_yaneuraou_book_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(BookError, match=complaint):
        open_book(database(tmp_path, text))


def test_a_large_book_out_of_order_is_refused(tmp_path: Path) -> None:
    text = f"#YANEURAOU-DB2016 1.00\nsfen {START}\n7g7f none\nsfen {AFTER_7G7F}\n3c3d none\n"
    with pytest.raises(BookError, match="ascending order"):
        YaneuraOuBook(database(tmp_path, text), max_indexed_bytes=0)


def test_an_entry_without_end_is_refused_and_a_line_without_end_is_no_position(tmp_path: Path) -> None:
    moves = "7g7f none\n" * 10_000
    text = f"#YANEURAOU-DB2016 1.00\nsfen {START}\n{moves}sfen {'x' * 100_000}\n2g2f none\n"
    book = YaneuraOuBook(database(tmp_path, text))
    [(sfen, place)] = book.positions()
    assert sfen == START
    with pytest.raises(BookError, match="65536 bytes"):
        book.moves_at(place)


@pytest.mark.parametrize("line", ["7g7f 3c3d x", "7g7f 3c3d 0 32 -1", f"7g7f 3c3d {10**400} 32 1"])
def test_a_line_that_is_no_move_is_reported(tmp_path: Path, line: str) -> None:
    book = YaneuraOuBook(database(tmp_path, f"#YANEURAOU-DB2016 1.00\nsfen {START}\n{line}\n"))
    with pytest.raises(BookError, match=f"received '{line[:80]}'"):
        book.find(parse_sfen(START))


# Apery's format.


@pytest.fixture
def cshogi() -> Any:
    return pytest.importorskip("cshogi")


def apery_file(
    cshogi: ModuleType, path: Path, games: int, shuffled: bool = False
) -> dict[str, list[BookMove]]:
    """Writes a book with cshogi; returns its moves by SFEN."""
    numpy = pytest.importorskip("numpy")
    rng = Random(7)
    entries: dict[str, list[BookMove]] = {}
    keys = {}
    for _ in range(games):
        board = cshogi.Board()
        for _ in range(15):
            legal = list(board.legal_moves)
            if board.sfen() not in entries:
                keys[board.sfen()] = board.book_key()
                entries[board.sfen()] = [
                    BookMove(cshogi.move16(move), eval_cp=rng.randint(-500, 500), count=rng.randint(0, 65535))
                    for move in rng.sample(legal, 3)
                ]
            board.push(rng.choice(legal))
    records = [(keys[sfen], m.move, m.count, m.eval_cp) for sfen, moves in entries.items() for m in moves]
    records.sort(key=lambda record: record[0])
    if shuffled:
        records.reverse()
    numpy.array(records, dtype=cshogi.BookEntry).tofile(path)
    return entries


@pytest.mark.parametrize("shuffled", [False, True])
def test_an_apery_book_written_with_cshogi_is_read(
    cshogi: ModuleType, tmp_path: Path, shuffled: bool
) -> None:
    entries = apery_file(cshogi, tmp_path / "book.bin", 40, shuffled)
    book = open_book(tmp_path / "book.bin")
    assert isinstance(book, AperyBook)
    for sfen, moves in entries.items():
        found = book.find(parse_sfen(sfen))
        assert {m.move: m for m in found} == {m.move: m for m in moves}
    assert book.find(parse_sfen("4k4/9/9/9/9/9/9/9/4K4 b - 1")) == []


def test_apery_keys_are_those_of_cshogi(cshogi: ModuleType) -> None:
    rng = Random(3)
    for _ in range(20):
        oracle, board = cshogi.Board(), Board()
        for _ in range(100):
            assert apery_key(fields_of(board)) == oracle.book_key()
            moves = board.legal_moves()
            if not moves:
                break
            move = rng.choice(moves)
            board.push(move)
            oracle.push(oracle.move_from_move16(int(move)))


@pytest.mark.parametrize("content", [b"", b"x" * 17, b"#" * 15])
def test_a_broken_apery_book_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "book.bin"
    path.write_bytes(content)
    with pytest.raises(BookError, match=r"book\.bin: expected"):
        open_book(path)


def test_a_missing_book_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BookError, match="No such file"):
        open_book(tmp_path / "none.db")


# The use of a book.


def test_turning_the_board_round_twice_changes_nothing() -> None:
    rng = Random(2)
    board = Board()
    for _ in range(80):
        position = fields_of(board)
        assert flipped(flipped(position)) == position
        mirrored = Board(str(flipped(position)))
        assert sorted(flipped_move(move) for move in board.legal_moves()) == mirrored.legal_moves()
        board.push(rng.choice(board.legal_moves()))


def test_a_position_is_found_from_both_sides(tmp_path: Path) -> None:
    text = f"#YANEURAOU-DB2016 1.00\nsfen {flipped(parse_sfen(AFTER_7G7F))}\n7g7f 8c8d 10 20 1\n"
    book = OpeningBook(BookFile(str(database(tmp_path, text)), ""))
    board = Board(AFTER_7G7F)
    assert book.find(board, flips=False) == []
    assert book.find(board) == [BookMove(move_from_usi("3c3d"), move_from_usi("2g2f"), 10, 20, 1)]


def test_moves_that_the_position_does_not_allow_are_left_out(tmp_path: Path) -> None:
    text = f"#YANEURAOU-DB2016 1.00\nsfen {START}\n7g7e none\n2g2f none\n"
    book = OpeningBook(BookFile(str(database(tmp_path, text)), ""))
    assert names(book.find(Board())) == ["2g2f"]


def test_the_line_goes_on_to_the_last_move_in_the_book(tmp_path: Path) -> None:
    book = OpeningBook(BookFile("book.db", str(database(tmp_path).parent)))
    config = BookConfig(plays_best=True)
    answer = present(book.answer(Board(), config, Random(1)))
    assert [move_to_usi(move) for move in answer.pv] == ["7g7f", "3c3d", "2g2f"]


def test_no_book_move_is_played_after_the_last_book_ply(tmp_path: Path) -> None:
    book = OpeningBook(BookFile(str(database(tmp_path)), ""))
    board = Board(AFTER_7G7F)
    assert book.answer(board, BookConfig(max_ply=2), Random(1)) is not None
    assert book.answer(board, BookConfig(max_ply=1), Random(1)) is None


def test_a_book_replaced_under_its_name_is_noticed(tmp_path: Path) -> None:
    file = BookFile(str(database(tmp_path)), "")
    book = OpeningBook(file)
    assert book.is_current(file)
    database(tmp_path, YANEURAOU + "\n")
    assert not book.is_current(file)


# The choice.

MOVES = [
    BookMove(move_from_usi("1g1f"), None, -50, 20, 60),
    BookMove(move_from_usi("2g2f"), None, 80, 20, 30),
    BookMove(move_from_usi("7g7f"), None, 100, 20, 10),
]


def test_a_book_that_is_shortened_in_place_goes_on_as_it_was(tmp_path: Path) -> None:
    """A mapped file would kill the process."""
    path = database(tmp_path)
    book = YaneuraOuBook(path)
    before = dict(book.positions())
    path.write_bytes(path.read_bytes()[:20])
    assert dict(book.positions()) == before
    assert all(isinstance(book.moves_at(place), list) for place in before.values())


def drawn(config: BookConfig, turn: int = 0, moves: list[BookMove] = MOVES) -> Counter[str]:
    rng = Random(1)
    chosen = (choose(moves, turn, config, rng) for _ in range(1000))
    return Counter("none" if move is None else move_to_usi(move.move) for move in chosen)


def test_chance_decides_evenly_among_moves_about_as_good_as_the_best() -> None:
    count = drawn(BookConfig())
    assert set(count) == {"7g7f", "2g2f"}
    assert abs(count["7g7f"] - 500) < 60


def test_the_difference_to_the_best_move_is_an_option() -> None:
    assert set(drawn(BookConfig(most_worse_cp=19))) == {"7g7f"}
    assert set(drawn(BookConfig(most_worse_cp=200, least_cp_black=-200, least_cp_white=0))) == {
        "7g7f",
        "2g2f",
        "1g1f",
    }


def test_bad_moves_are_not_played_and_each_colour_has_its_limit() -> None:
    config = BookConfig(most_worse_cp=1000, least_cp_black=90, least_cp_white=1000)
    assert set(drawn(config)) == {"7g7f"}
    assert set(drawn(config, turn=1)) == {"none"}


def test_the_limit_for_both_colours_and_the_limit_of_the_colour_both_count() -> None:
    config = BookConfig(most_worse_cp=1000, least_cp=-50, least_cp_black=0, least_cp_white=-140)
    assert set(drawn(config)) == {"2g2f", "7g7f"}
    assert set(drawn(config, turn=1)) == {"1g1f", "2g2f", "7g7f"}
    assert set(drawn(replace(config, least_cp=-49), turn=1)) == {"2g2f", "7g7f"}


def test_moves_may_be_drawn_by_their_counts() -> None:
    count = drawn(BookConfig(most_worse_cp=1000, least_cp_black=-1000, least_cp_white=0, draws_by_count=True))
    assert abs(count["1g1f"] - 600) < 60
    assert abs(count["7g7f"] - 100) < 40
    never_played = [replace(move, count=0) for move in MOVES]
    assert len(drawn(BookConfig(draws_by_count=True), moves=never_played)) == 2


def test_an_option_always_plays_the_best_move() -> None:
    assert set(drawn(BookConfig(plays_best=True))) == {"7g7f"}
    by_count = [replace(move, eval_cp=None) for move in MOVES]
    assert set(drawn(BookConfig(plays_best=True), moves=by_count)) == {"1g1f"}


def test_a_narrow_book_leaves_rare_moves_out() -> None:
    rare = [*MOVES, BookMove(move_from_usi("9g9f"), None, 100, 20, 1)]
    assert "9g9f" in drawn(BookConfig(), moves=rare)
    assert "9g9f" not in drawn(BookConfig(is_narrow=True), moves=rare)


def test_a_shallow_book_is_not_used_unless_it_has_no_depth() -> None:
    assert set(drawn(BookConfig(least_depth=21))) == {"none"}
    unknown = [replace(move, depth=None) for move in MOVES]
    assert "none" not in drawn(BookConfig(least_depth=21), moves=unknown)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
@pytest.mark.parametrize("name", ["book.db", "book.bin"])
def test_a_book_that_is_no_regular_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    """Opening a FIFO waits until a process writes to it, so that `isready` was never answered."""
    os.mkfifo(tmp_path / name)
    with pytest.raises(BookError, match="not a regular file"):
        open_book(tmp_path / name)
    with pytest.raises(BookError, match="not a regular file"):
        open_book(tmp_path)


# Goryu's own book.


def test_goryus_own_book_is_used_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    assert BookFile().find() == [models_folder() / "goryu.db"]
    assert BookFile("goryu.db").find() == [models_folder() / "goryu.db"]
    assert [file.is_none for file in (BookFile(), BookFile("no_book"), BookFile(is_wanted=False))] == [
        False,
        True,
        True,
    ]
    monkeypatch.setenv(VARIABLE, "off")
    assert BookFile().is_none
    assert not BookFile("goryu.db").is_none


def test_goryus_own_book_has_no_problem() -> None:
    path = models_folder() / OWN_BOOK
    book = YaneuraOuBook(path)
    assert list(problems(book)) == []
    assert path.stat().st_size < 2 << 20
    start = book.find(parse_sfen(START))
    assert len(start) > 1


def test_rsshogi_finds_goryus_own_book_sound() -> None:
    rsshogi_book = pytest.importorskip("rsshogi.book")
    path = models_folder() / OWN_BOOK
    oracle = rsshogi_book.YaneuraOuBook.open(str(path))
    oracle.validate_full()
    book = YaneuraOuBook(path)
    for sfen, place in islice(book.positions(), 0, None, 5):
        expected = [(m.mv.to_usi(), m.score, m.depth) for m in oracle.lookup_sfen(sfen).moves]
        found = book.moves_at(place)
        assert [(move_to_usi(m.move), m.eval_cp, m.depth) for m in found] == expected
