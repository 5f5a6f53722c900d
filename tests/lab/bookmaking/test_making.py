"""Making a book: the graph of its positions, the file of the searches, the program `goryu book`."""

import json
import re
from pathlib import Path
from random import Random

import pytest

from goryu.games.shogi import START_SFEN, move_from_usi, move_to_usi, parse_sfen
from goryu.implementation import Board
from goryu.kifu.record import GameRecord, Ply
from goryu.players.books.book import BookMove, position_of
from goryu.players.books.yaneuraou import YaneuraOuBook
from goryu.players.config import EngineConfig, with_fields
from goryu.players.set_up.loading import load_evaluator
from goryu_lab.bookmaking.checking import merged, problems
from goryu_lab.bookmaking.entries import book_entries
from goryu_lab.bookmaking.graph import BookGraph
from goryu_lab.bookmaking.making import SearchJob, make_book
from goryu_lab.bookmaking.replies import count_replies
from goryu_lab.bookmaking.rules import BookRules
from goryu_lab.bookmaking.searched import BookSearcher, SearchedMove, SearchedPosition
from goryu_lab.bookmaking.state import BookState, BookStateError
from goryu_lab.bookmaking.verifying import verify
from goryu_lab.bookmaking.yaneuraou_writer import yaneuraou_text
from goryu_lab.commands import book as program
from goryu_lab.work.threads import ThreadPool

HASHED = with_fields(EngineConfig(), {"evaluator.kind": "hashed", "search.capacity_bytes": 1 << 24})


def after(*moves: str) -> str:
    board = Board()
    for move in moves:
        board.push_usi(move)
    return board.sfen()


def searched(sfen: str, *moves: tuple[str, float, int, float], playouts: int = 100) -> SearchedPosition:
    """moves: the move, its prior, visits and value."""
    return SearchedPosition(sfen, playouts, 10, tuple(SearchedMove(*move) for move in moves))


def graph_of(*positions: SearchedPosition, rules: BookRules | None = None) -> BookGraph:
    graph = BookGraph((START_SFEN,), rules or BookRules())
    for position in positions:
        graph.add(position)
    graph.update()
    return graph


START = searched(START_SFEN, ("7g7f", 0.5, 60, 0.10), ("2g2f", 0.5, 40, 0.08))


# Values.


def test_a_refuted_move_loses_its_place() -> None:
    assert graph_of(START).reached()[0].value == 0.10
    graph = graph_of(START, searched(after("7g7f"), ("3c3d", 0.9, 90, 0.3)))
    root = graph.reached()[0]
    assert root.values == {"7g7f": -0.3, "2g2f": 0.08}
    assert (root.value, root.depth) == (0.08, 10)
    assert [move.move for move in graph.book_moves(root)] == ["2g2f"]


def test_values_are_those_of_minimax_over_every_line() -> None:
    rng, positions = Random(5), dict[str, SearchedPosition]()

    def expand(board: Board, depth: int) -> None:
        moves = [move_to_usi(move) for move in rng.sample(board.legal_moves(), 4)]
        rows = [(move, 0.25, 25, rng.uniform(-0.5, 0.5)) for move in moves]
        positions.setdefault(position_of(board.sfen()), searched(board.sfen(), *rows))
        for row in positions[position_of(board.sfen())].moves:
            board.push_usi(row.move)
            if depth > 1 and rng.random() < 0.8:
                expand(board, depth - 1)
            board.pop()

    def minimax(board: Board) -> float:
        values = []
        for move in positions[position_of(board.sfen())].moves:
            board.push_usi(move.move)
            assert move.value is not None
            known = position_of(board.sfen()) in positions
            values.append(-minimax(board) if known else move.value)
            board.pop()
        return max(values)

    expand(Board(), 4)
    assert len(positions) > 50
    graph = graph_of(*positions.values())
    assert graph.reached()[0].value == minimax(Board())


def test_move_orders_meet_in_one_position() -> None:
    moves = ("7g7f", "8c8d", "2g2f")
    other = ("2g2f", "8c8d", "7g7f")
    lines = [moves[:n] for n in range(3)] + [other[:n] for n in range(1, 3)]
    positions = [
        searched(after(*line), (line_after[len(line)], 1.0, 100, 0.1))
        for line, line_after in zip(lines, [moves] * 3 + [other] * 2, strict=True)
    ]
    positions[0] = START
    graph = graph_of(*positions, searched(after(*moves), ("3c3d", 1.0, 100, -0.4)))
    assert len(graph.nodes) == 6
    assert graph.reached()[0].values == {"7g7f": 0.4, "2g2f": 0.4}
    assert after(*other) in graph


def test_a_move_that_repeats_a_position_keeps_the_value_of_its_search() -> None:
    """Otherwise the value of the cycle would depend on itself."""
    line = ("5i5h", "5a5b", "5h5i", "5b5a")
    positions = [searched(after(*line[:n]), (line[n], 1.0, 100, 0.2)) for n in range(4)]
    graph = graph_of(*positions)
    last = graph.reached()[-1]
    assert last.children == {"5b5a": position_of(START_SFEN)}
    assert last.values == {"5b5a": 0.2}
    assert graph.reached()[0].value == -0.2
    assert graph.wanted() == []


def test_a_move_of_few_playouts_does_not_count() -> None:
    praised = searched(START_SFEN, ("7g7f", 0.5, 97, 0.1), ("9i9h", 0.1, 3, 0.9))
    graph = graph_of(praised)
    assert graph.reached()[0].value == 0.1
    assert [move.move for move in graph.book_moves(graph.reached()[0])] == ["7g7f"]


# What is searched next.


def test_the_likeliest_position_is_searched_next() -> None:
    graph = graph_of(START, rules=BookRules(bound=0.005))
    # Black's book plays 7g7f alone; as white it expects 2g2f in 45 of 100 games.
    reaches = {wanted.sfen: wanted.reach for wanted in graph.wanted()}
    assert reaches == pytest.approx({after("7g7f"): 1.0 + 0.55, after("2g2f"): 0.45})
    assert [wanted.sfen for wanted in graph.wanted()] == [after("7g7f"), after("2g2f")]


def test_the_own_moves_of_a_game_are_the_mean_of_both_colours() -> None:
    # Black's first move is always in the book, and the second of two moves loses 0.02.
    assert graph_of(START, rules=BookRules(bound=0.015)).expected_moves() == pytest.approx((0.5, 0.01))
    reply = searched(after("7g7f"), ("3c3d", 1.0, 100, -0.10))
    graph = graph_of(START, reply, rules=BookRules(bound=0.005))
    # White meets 7g7f in 55 of 100 games.
    assert graph.expected_moves() == pytest.approx(((1 + 0.55) / 2, 0.0))
    after_both = searched(after("7g7f", "3c3d"), ("2g2f", 1.0, 100, 0.10))
    graph = graph_of(START, reply, after_both, rules=BookRules(bound=0.005))
    assert graph.expected_moves() == pytest.approx(((1 + 0.55 + 1) / 2, 0.0))


def test_replies_of_records_are_expected() -> None:
    black = searched(after("7g7f"), ("3c3d", 0.5, 50, 0.0), ("8c8d", 0.5, 50, -0.2))
    game = GameRecord(start=START_SFEN, plies=tuple(Ply(move) for move in ("7g7f", "8c8d", "2g2f")))
    replies = count_replies([game] * 60, plies=2)
    assert replies == {position_of(START_SFEN): {"7g7f": 60}, position_of(after("7g7f")): {"8c8d": 60}}
    only = searched(START_SFEN, ("7g7f", 1.0, 100, 0.1))
    without = graph_of(only, black)
    assert without.wanted()[0].sfen == after("7g7f", "3c3d")
    graph = BookGraph((START_SFEN,), BookRules(), replies)
    graph.add(only)
    graph.add(black)
    graph.update()
    first = graph.wanted()[0]
    # 60 games weigh 60 / (60 + 20) against the search's one half.
    assert first.sfen == after("7g7f", "3c3d")
    assert first.reach == pytest.approx(1.125)
    assert graph.wanted()[1].reach == pytest.approx(0.875)


def test_late_and_decided_positions_are_not_searched() -> None:
    assert graph_of(START, rules=BookRules(plies=0)).wanted() == []
    won = searched(START_SFEN, ("7g7f", 1.0, 100, 0.9))
    assert graph_of(won).wanted() == []


def test_positions_of_few_playouts_can_be_wanted_again() -> None:
    graph = graph_of(START)
    assert START_SFEN not in [wanted.sfen for wanted in graph.wanted(100)]
    assert graph.wanted(101)[0].sfen == START_SFEN


# The file of the searches.


def test_the_file_of_the_searches_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "book.jsonl"
    with BookState(path, "net 1") as state:
        assert state.positions == []
        state.append([START])
    with BookState(path, "net 1") as state:
        assert state.positions == [START]


def test_a_line_that_a_kill_cut_off_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "book.jsonl"
    other = searched(after("7g7f"), ("3c3d", 0.9, 90, 0.3))
    with BookState(path, "net 1") as state:
        state.append([START, other])
    path.write_bytes(path.read_bytes()[:-20])
    with BookState(path, "net 1") as state:
        assert state.positions == [START]
        state.append([other])
    with BookState(path, "net 1") as state:
        assert state.positions == [START, other]


def test_a_file_of_another_network_or_kind_is_refused_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "book.jsonl"
    with BookState(path, "net 1"):
        pass
    kept = path.read_bytes()
    with pytest.raises(BookStateError, match="made with the network net 1, received net 2"):
        BookState(path, "net 2")
    assert path.read_bytes() == kept
    head, deep = json.dumps({"format": "goryu book 1"}), "[" * 100_000 + "\n"
    for text in ("", "[1]\n", '{"format": "other"}\n', f"{head}\n[]\n", deep, f"{head}\n{deep}"):
        path.write_text(text)
        with pytest.raises(BookStateError, match="expected"):
            BookState(path, "net 1")
        assert path.read_text() == text


@pytest.mark.parametrize(
    "change",
    [
        {"playouts": float("inf")}, {"playouts": 0}, {"depth": 10**400}, {"moves": []}, {"moves": 5},
        {"moves": [["7g7f", 0.5, 60, None, ""]]}, {"moves": [["7g7f", 0.5, 60, float("nan"), ""]]},
        {"moves": [["7g7f", 0.5, 60, 0.1, ""], ["2g2f", 0.5, 40, None, ""]]},
        {"moves": [["7g7f", 0.5, 60, 1.5, ""]]}, {"moves": [["7g7f", 10**400, 60, 0.1, ""]]},
    ],
)  # fmt: skip
def test_a_position_with_a_value_that_no_search_has_is_refused(
    tmp_path: Path, change: dict[str, object]
) -> None:
    path = tmp_path / "book.jsonl"
    header, line = json.dumps({"format": "goryu book 1", "network": "net"}), START.to_json() | change
    path.write_text(f"{header}\n{json.dumps(line)}\n")
    with pytest.raises(BookStateError, match=r"book.jsonl, line 2: expected a searched position: "):
        BookState(path, "net")


# The search.


def test_the_search_of_a_position_is_the_same_every_time() -> None:
    searcher = BookSearcher(load_evaluator(HASHED.evaluator, print), HASHED)
    first = searcher.search(START_SFEN, 300, lambda: False)
    searcher.search(after("7g7f"), 300, lambda: False)
    assert searcher.search(START_SFEN, 300, lambda: False) == first
    assert first is not None
    assert first.playouts == sum(move.visits for move in first.moves) == 300
    assert searcher.search(START_SFEN, 300, lambda: True) is None


def test_a_book_made_in_two_runs_is_the_one_made_in_one(tmp_path: Path) -> None:
    job = SearchJob(HASHED, 100)

    def made(name: str, *counts: int) -> BookGraph:
        for count in counts:
            graph = BookGraph((START_SFEN,), BookRules(bound=0.2))
            with BookState(tmp_path / name, "hashed") as state:
                make_book(state, graph, job, lambda: ThreadPool(1), count)
            assert len(graph.nodes) == count
        return graph

    once, twice = made("once", 12), made("twice", 5, 12)
    assert book_entries(once, 285) == book_entries(twice, 285)
    assert (tmp_path / "once").read_bytes() == (tmp_path / "twice").read_bytes()


def test_a_deeper_search_replaces_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "book.jsonl"
    for playouts in (50, 200):
        graph = BookGraph((START_SFEN,), BookRules(bound=0.2))
        with BookState(path, "hashed") as state:
            make_book(
                state, graph, SearchJob(HASHED, playouts), lambda: ThreadPool(1), 4, deepens=playouts > 50
            )
    assert len(graph.nodes) >= 4
    assert {node.searched.playouts for node in graph.reached()} == {200}


# The written book.


def test_a_book_is_written_in_the_format_of_yaneuraou() -> None:
    """The text is that of YaneuraOu's documentation of the format."""
    entries = {
        after("7g7f"): [BookMove(move_from_usi("3c3d"), None, -30, 15, 2)],
        START_SFEN: [
            BookMove(move_from_usi("7g7f"), move_from_usi("3c3d"), 32, 16, 3),
            BookMove(move_from_usi("2g2f")),
        ],
        after("2g2f"): [],
    }
    assert yaneuraou_text(entries, "made by a test") == (
        "#YANEURAOU-DB2016 1.00\n"
        "# made by a test\n"
        "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2\n"
        "3c3d none -30 15 2\n"
        "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n"
        "7g7f 3c3d 32 16 3\n"
        "2g2f none none none 1\n"
    )


def test_the_entries_have_the_values_of_the_graph_in_centipawns() -> None:
    reply = searched(after("7g7f"), ("3c3d", 0.9, 90, -0.12))
    graph = graph_of(START, reply, rules=BookRules(bound=0.02))
    entries = book_entries(graph, eval_coef=285)
    # 285 ln(p / (1 - p)) for p = 0.56 and 0.54.
    assert entries[START_SFEN] == [
        BookMove(move_from_usi("7g7f"), move_from_usi("3c3d"), 69, 11, 60),
        BookMove(move_from_usi("2g2f"), None, 46, 10, 40),
    ]
    assert entries[after("7g7f")] == [BookMove(move_from_usi("3c3d"), None, -69, 10, 90)]


@pytest.fixture
def small_book(tmp_path: Path) -> Path:
    """A book of Goryu's own network."""
    out = tmp_path / "small.db"
    words = ["make", "--state", str(tmp_path / "small.jsonl"), "--out", str(out)]
    assert program.main([*words, "--positions", "12", "--playouts", "100", "--bound", "0.04"]) == 0
    return out


def test_rsshogi_finds_the_book_sound_and_reads_the_same(small_book: Path) -> None:
    rsshogi_book = pytest.importorskip("rsshogi.book")
    oracle = rsshogi_book.YaneuraOuBook.open(str(small_book))
    oracle.validate_full()
    book = YaneuraOuBook(small_book)
    positions = list(book.positions())
    assert len(positions) == 12
    for sfen, place in positions:
        expected = [(m.mv.to_usi(), m.score, m.depth) for m in oracle.lookup_sfen(sfen).moves]
        found = [(move_to_usi(m.move), m.eval_cp, m.depth) for m in book.moves_at(place)]
        assert found == expected
        assert found == [(move_to_usi(m.move), m.eval_cp, m.depth) for m in book.find(parse_sfen(sfen))]


def test_the_program_goes_on_shows_and_checks(
    small_book: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = small_book.read_text()
    words = ["make", "--state", str(tmp_path / "small.jsonl"), "--out", str(small_book)]
    assert program.main([*words, "--positions", "12", "--playouts", "100", "--bound", "0.04"]) == 0
    assert small_book.read_text() == first
    assert re.search(r"12 positions, 2 plies deep, \d\.\d\d own moves a game", capsys.readouterr().out)
    assert program.main(["check", str(small_book)]) == 0
    assert "12 positions" in capsys.readouterr().out
    assert (
        program.main(["check", "goryu.db"]) == 0
    )  # It is found in the folder of the models, as by BookFile.
    assert "no problem" in capsys.readouterr().out
    assert program.main(["show", str(small_book), "--usi"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"sfen {START_SFEN}"
    assert " 2g2f" in "".join(shown)
    assert program.main(["show", str(small_book)]) == 0
    assert "▲２六歩" in capsys.readouterr().out
    assert program.main(["show", str(small_book), "--moves", "9i9h"]) == 1
    assert program.main(["show", str(small_book), "--moves", "9i9a"]) == 2


def test_starts_can_be_chosen(tmp_path: Path) -> None:
    starts, out = tmp_path / "starts.txt", tmp_path / "book.db"
    without_bishop = "lnsgkgsnl/1r7/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
    starts.write_text(f"startpos moves 7g7f 3c3d\n{without_bishop}\n")
    words = ["make", "--state", str(tmp_path / "book.jsonl"), "--out", str(out), "--start", str(starts)]
    assert program.main([*words, "--positions", "4", "--playouts", "20"]) == 0
    sfens = {sfen for sfen, _ in YaneuraOuBook(out).positions()}
    assert after("7g7f", "3c3d") in sfens
    assert without_bishop in sfens
    assert START_SFEN not in sfens
    assert list(problems(YaneuraOuBook(out))) == []


# Checks.

GOOD = f"sfen {after('7g7f')}\n3c3d 2g2f 1 2 3\nsfen {START_SFEN}\n7g7f 3c3d 1 2 3\n"


def written(folder: Path, text: str, name: str = "book.db") -> Path:
    path = folder / name
    path.write_text("#YANEURAOU-DB2016 1.00\n" + text)
    return path


def test_problems_of_a_book_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, complaint in [
        (GOOD, None),
        (GOOD.replace("7g7f 3c3d", "7g7e 3c3d"), "7g7e is illegal"),
        (GOOD.replace("7g7f 3c3d", "7g7f 3c3e"), "7g7f 3c3e: the reply is illegal"),
        (GOOD + "7g7f none\n", "7g7f is there twice"),
        (GOOD + f"sfen {START_SFEN[:-1]}9\n2g2f none\n", "has this position already"),
        (f"sfen {START_SFEN}\n7g7f none\nsfen {after('7g7f')}\n3c3d none\n", "ascending order"),
        (f"sfen {START_SFEN}\n", "expected at least one move"),
        (f"sfen {START_SFEN}\n7g7f none x\n", "expected MOVE REPLY"),
        ("sfen 9/9 b - 1\n7g7f none\n", "sfen|SFEN|rank"),
        ("sfen \x1b[2J b - 1\n7g7f none\n", r"\x1b[2J b - 1: SFEN"),
    ]:
        path = written(tmp_path, text)
        assert program.main(["check", str(path)]) == (0 if complaint is None else 1)
        out = capsys.readouterr().out
        if complaint is not None:
            assert any(word in out for word in complaint.split("|"))


def test_of_a_position_in_two_books_the_deeper_entry_counts(tmp_path: Path) -> None:
    first = written(tmp_path, GOOD)
    deeper = GOOD.replace("3c3d 2g2f 1 2 3", "8c8d 2g2f 1 9 3").replace("7g7f 3c3d 1 2 3", "2g2f 3c3d 1 2 3")
    second = written(tmp_path, deeper + f"sfen {after('9g9f')}\n9c9d none\n", "b.db")
    out = tmp_path / "out.db"
    assert program.main(["merge", str(first), str(second), "--out", str(out)]) == 0
    book = YaneuraOuBook(out)
    found = {sfen: [move_to_usi(m.move) for m in book.moves_at(place)] for sfen, place in book.positions()}
    assert found == {after("7g7f"): ["8c8d"], START_SFEN: ["7g7f"], after("9g9f"): ["9c9d"]}
    assert list(found) == sorted(found)
    assert merged([book]) == merged([book, book])


def test_a_book_in_use_by_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "book.jsonl"
    with BookState(path, "net"), pytest.raises(BookStateError, match="another program"):
        BookState(path, "net")


# Deeper searches.


def test_a_blunder_in_a_book_is_measured(tmp_path: Path) -> None:
    """Black takes a rook for nothing, or lets it take his own."""
    sfen = "4k4/9/9/9/4r4/9/9/4R4/4K4 b - 1"
    entries = [(sfen, [BookMove(move_from_usi("5h5e")), BookMove(move_from_usi("5i4i"))])]
    material = with_fields(HASHED, {"evaluator.kind": "material"})
    searcher = BookSearcher(load_evaluator(material.evaluator, print), material)
    found = {
        verified.move: verified
        for seed in range(6)
        for verified in verify(entries, searcher, 200, 9, Random(seed))
    }
    assert set(found) == {"5h5e", "5i4i"}
    good, bad = found["5h5e"], found["5i4i"]
    assert (good.choice, good.loss, good.is_best) == ("5h5e", 0.0, True)
    assert bad.choice == "5h5e"
    assert bad.loss > 0.1


def test_coverage_counts_the_moves_until_a_game_leaves_the_book(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, GOOD)
    lines = ["7g7f 3c3d 2g2f", "7g7f 8c8d 2g2f", "2g2f 3c3d"]
    games = tmp_path / "games.usi"
    games.write_text("".join(f"startpos moves {line}\n" for line in lines))
    assert program.main(["coverage", str(path), str(games)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "3 games: in the book for 1.7 moves on average, 2 in the median, 2 at most",
        "5 positions in the book: 60 % of the moves played are its moves",
    ]
