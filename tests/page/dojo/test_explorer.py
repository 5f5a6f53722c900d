import json
from inspect import unwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from goryu.implementation import Board
from goryu.kifu.record import GameRecord, Ply
from goryu.players.books.config import NO_BOOK, BookFile
from goryu.players.books.opening_book import OpeningBook
from goryu.players.config import EngineConfig
from goryu_page.dojo.database import Database
from goryu_page.dojo.dojo import Dojo
from goryu_page.dojo.explorer import Explorer
from goryu_page.dojo.game_list import Filter
from goryu_page.dojo.games import Games
from goryu_page.dojo.reviews import summarise
from goryu_page.views.explorer import ExplorerView

LINES = ("7g7f 3c3d 2g2f 4c4d", "2g2f 3c3d 7g7f 8c8d", "7g7f 8c8d 2g2f 8d8e")


@pytest.fixture
def database(database: Database) -> Database:
    games = Games(database)
    for place, line in enumerate(LINES):
        plies = tuple(Ply(move) for move in line.split())
        names = ("me", "you") if place < 2 else ("you", "me")
        games.add(GameRecord(plies=plies, names=names, winner=place % 2), "", "records" if place else "mine")
    games.set_me(["me"])
    return database


def board_of(moves: str) -> Board:
    board = Board()
    for move in moves.split():
        board.push_usi(move)
    return board


def test_lines_meet_in_a_position_whatever_their_order(database: Database) -> None:
    explorer = Explorer(database, None)
    after_7g7f = {one.move: one for one in explorer.moves(board_of("7g7f 3c3d"), Filter())}
    assert (after_7g7f["2g2f"].games, after_7g7f["2g2f"].meeting) == (1, 2)
    met = explorer.moves(board_of("7g7f 3c3d 2g2f"), Filter())
    assert [(one.move, one.games, one.black_wins, one.white_wins) for one in met] == [
        ("4c4d", 1, 1, 0),
        ("8c8d", 1, 0, 1),
    ]
    assert explorer.count(board_of("7g7f 3c3d 2g2f 4c4d"), Filter()) == 1  # Also after the last move.
    assert [game["ply"] for game in explorer.games(board_of("7g7f 3c3d 2g2f"), Filter())] == [3, 3]


def test_the_filter_chooses_games(database: Database) -> None:
    explorer, board = Explorer(database, None), Board()

    def count(wanted: Filter) -> int:
        return explorer.count(board, wanted)

    assert (count(Filter()), count(Filter("mine")), count(Filter("records"))) == (3, 1, 2)
    assert (
        count(Filter(side="black")),
        count(Filter(side="white")),
        count(Filter("records", side="white")),
    ) == (2, 1, 1)


def test_the_value_is_that_of_the_reviews(database: Database) -> None:
    with database.transaction() as connection:
        judgement = json.dumps({"played_win_rate": 0.75})
        connection.execute("INSERT INTO plies VALUES (1, 1, 0, 'good', 0.0, 'opening', ?)", (judgement,))
        summarise(connection, 1)
    moves = {one.move: one for one in Explorer(database, None).moves(Board(), Filter())}
    assert (moves["7g7f"].win_rate, moves["2g2f"].win_rate) == (0.75, None)


def test_moves_of_the_book_stand_beside_those_of_games(database: Database, tmp_path: Path) -> None:
    path = tmp_path / "my.db"
    path.write_text(
        "#YANEURAOU-DB2016 1.00\n"
        "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n"
        "2g2f 8c8d 40 12 7\n1g1f none -10 12 1\n"
    )
    found = Explorer(database, OpeningBook(BookFile(str(path)))).moves(Board(), Filter())
    assert [(one.move, one.games, one.book) for one in found] == [
        ("7g7f", 2, None),
        ("2g2f", 1, (40, 12, 7)),
        ("1g1f", 0, (-10, 12, 1)),
    ]


@pytest.mark.parametrize(
    "path, told", [("goryu.db;none.db", 1), ("none.db", 1), ("goryu.db", 0), (NO_BOOK, 0)], ids=str
)
def test_each_book_that_is_missing_is_told(path: str, told: int, tmp_path: Path) -> None:
    dojo, said = Dojo(tmp_path / "dojo.sqlite3", EngineConfig(book_file=BookFile(path))), []
    session: Any = SimpleNamespace(
        dojo=dojo, config=dojo.config, send=lambda _, **content: said.append(content["text"])
    )
    found = ExplorerView(session)._loaded().moves(Board(), Filter())
    dojo.close()
    assert len(said) == told
    assert all("none.db" in text for text in said)
    assert bool(found) == ("goryu.db" in path)


@pytest.mark.parametrize("has_games", [False, True])
def test_a_position_without_moves_is_told_from_a_database_without_games(
    has_games: bool, tmp_path: Path
) -> None:
    dojo = Dojo(tmp_path / "dojo.sqlite3", EngineConfig(book_file=BookFile(NO_BOOK)))
    if has_games:
        Games(dojo.database).add(GameRecord(plies=(Ply("7g7f"),)), "")
    session: Any = SimpleNamespace(dojo=dojo, config=dojo.config)
    found = unwrap(ExplorerView.on_look)(ExplorerView(session), ["1g1f"])
    dojo.close()
    assert (found["count"], found["moves"], found["hasGames"]) == (0, [], has_games)
