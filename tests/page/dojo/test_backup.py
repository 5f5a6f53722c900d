import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from fsrs import Card

from goryu.analysis.position_analysis import MoveAnalysis, PositionAnalysis
from goryu.analysis.review import GameReview
from goryu.base.errors import InputError
from goryu.games.shogi import START_SFEN
from goryu.implementation import Board
from goryu_page.dojo.backup import Merged, merge
from goryu_page.dojo.database import Database, now
from goryu_page.dojo.games import Games, position_key
from goryu_page.dojo.problems import NewProblem, ProblemKind, Problems
from goryu_page.dojo.repertoire import Repertoire
from goryu_page.dojo.reviews import IS_PAUSED, Reviews
from goryu_page.dojo.settings import change_training_settings, training_settings
from sample_games import sample_game

VERSION_1 = Path(__file__).with_name("version_1.sql")
"""The dump of a database that a Goryu of version 1 of the tables wrote."""


CONTENT = {"answers": [{"move": "7g7f", "win_rate": 0.5, "accepted": True, "line": ["7g7f"]}]}


def filled(path: Path, seeds: tuple[int, ...], playouts: int = 10) -> Database:
    """A database with reviewed games, and a problem with an attempt and a card for each."""
    database = Database(path)
    for seed in seeds:
        game = Games(database).add(sample_game(seed))
        assert game is not None
        record = Games(database).get(game)
        review = GameReview(record.start, record.moves, playouts)
        moves = (
            MoveAnalysis("1i1h", 0.5, 9, 0.5, None, ()),
            MoveAnalysis(record.moves[0], 0.5, 9, -0.5, None, ()),
        )
        review.analyses[:2] = [PositionAnalysis(10, True, 0.5, moves)] * 2
        Reviews(database).keep(game, review, "none")
        with database.transaction() as connection:
            problem = connection.execute(
                "INSERT INTO problems"
                " (game, ply, kind, start, moves, key, played, state, playouts, content, made)"
                " VALUES (?, 1, 'mistake', ?, '', ?, '', 'sound', 0, ?, ?)",
                (game, record.start, position_key(f"{seed} b -"), json.dumps(CONTENT), now()),
            ).lastrowid
            connection.execute(
                "INSERT INTO attempts (problem, at, move, is_right, hints, seconds)"
                " VALUES (?, ?, '7g7f', 1, 0, 1)",
                (problem, f"2026-0{playouts % 10 + 1}-01T00:00:00+00:00"),
            )
            card = Card(card_id=playouts).to_json()
            connection.execute(
                "INSERT INTO cards VALUES (?, '2026-12-01T00:00:00+00:00', ?)", (problem, card)
            )
    return database


def contents(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """What matters, without the numbers of the rows."""
    queries = {
        "games": "SELECT digest, record FROM games",
        "positions": "SELECT digest, key, ply, move, rate FROM positions JOIN games ON id = game",
        "reviews": "SELECT digest, playouts, black_phases FROM reviews JOIN games ON id = game",
        "problems": "SELECT digest, key FROM problems JOIN games ON games.id = game",
        "attempts": "SELECT key, at FROM attempts JOIN problems ON problems.id = problem",
        "cards": "SELECT key, card FROM cards JOIN problems ON problems.id = problem",
        "me": "SELECT name FROM me",
    }
    return {name: sorted(tuple(row) for row in database.rows(query)) for name, query in queries.items()}


def test_an_empty_database_gets_everything_back_once(tmp_path: Path) -> None:
    lost = filled(tmp_path / "lost.sqlite3", (1, 2, 3))
    Games(lost).set_me(["甲"])
    change_training_settings(lost, {"amount": 3})
    for key, value in {"network": "x.onnx", IS_PAUSED: True}.items():
        lost.set_setting(key, value)
    lost.copy_to(tmp_path / "copy.sqlite3")
    new = Database(tmp_path / "new.sqlite3")
    assert merge(new, tmp_path / "copy.sqlite3") == Merged(3, 3, 3)
    assert contents(new) == contents(lost)
    assert training_settings(new).amount == 3
    assert [row["key"] for row in new.rows("SELECT key FROM settings")] == ["training"]
    assert any(row[-1] == 0.25 for row in contents(new)["positions"])
    assert [row[-1] for row in contents(new)["reviews"]] == ['{"blunder opening":1}'] * 3
    assert merge(new, tmp_path / "copy.sqlite3") == Merged(0, 0, 0)
    assert contents(new) == contents(lost)


def test_two_databases_are_joined_and_the_better_review_and_the_later_card_stay(tmp_path: Path) -> None:
    filled(tmp_path / "other.sqlite3", (1, 2), playouts=11).close()
    mine = filled(tmp_path / "mine.sqlite3", (3, 2), playouts=10)
    assert merge(mine, tmp_path / "other.sqlite3") == Merged(1, 1, 2)
    found = contents(mine)
    assert sorted(playouts for _, playouts, _ in found["reviews"]) == [10, 11, 11]
    assert sorted(json.loads(card)["card_id"] for _, card in found["cards"]) == [10, 11, 11]
    assert len(found["attempts"]) == 4


def test_a_merged_game_gets_no_number_of_a_deleted_one(tmp_path: Path) -> None:
    mine, other = filled(tmp_path / "mine.sqlite3", (1,)), filled(tmp_path / "other.sqlite3", (2,))
    Games(mine).delete(1)
    other.close()
    assert merge(mine, tmp_path / "other.sqlite3").games == 1
    assert [row["id"] for row in mine.rows("SELECT id FROM games")] == [2]


def test_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    mine = Database(tmp_path / "mine.sqlite3")
    other = tmp_path / "other.sqlite3"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE games (digest BLOB)")
    before = other.read_bytes()
    with pytest.raises(InputError, match="expected a backup"):
        merge(mine, other)
    assert other.read_bytes() == before
    (tmp_path / "text").write_text("no database " * 1000)
    with pytest.raises(InputError, match="expected a backup"):
        merge(mine, tmp_path / "text")

    filled(tmp_path / "damaged.sqlite3", (1,))
    damaged = Database(tmp_path / "damaged.sqlite3")
    with damaged.transaction() as connection:
        connection.execute("UPDATE games SET moves = '7g7f 7g7f'")
    with pytest.raises(InputError, match="damaged"):
        merge(mine, tmp_path / "damaged.sqlite3")
    assert contents(mine)["games"] == []


def test_a_backup_without_a_column_is_said_to_be_damaged(tmp_path: Path) -> None:
    mine = Database(tmp_path / "mine.sqlite3")
    filled(tmp_path / "other.sqlite3", (1,)).close()
    with sqlite3.connect(tmp_path / "other.sqlite3") as connection:
        connection.execute("ALTER TABLE reviews DROP COLUMN playouts")
    with pytest.raises(InputError, match=r"^the backup is damaged$"):
        merge(mine, tmp_path / "other.sqlite3")
    assert contents(mine)["games"] == []


def test_a_backup_of_an_older_goryu_is_merged(tmp_path: Path) -> None:
    mine, older = Database(tmp_path / "mine.sqlite3"), tmp_path / "older.sqlite3"
    with sqlite3.connect(older) as connection:
        connection.executescript(VERSION_1.read_text(encoding="utf-8"))
    assert merge(mine, older) == Merged(2, 0, 0)
    assert contents(mine)["me"] == [("user",)]


def test_repertoires_are_joined_and_a_removed_problem_stays_removed(tmp_path: Path) -> None:
    ours, theirs = Database(tmp_path / "ours.sqlite3"), Database(tmp_path / "theirs.sqlite3")
    board = Board()
    for database, moves in ((ours, ("7g7f",)), (theirs, ("7g7f", "2g2f"))):
        for move in moves:
            Repertoire(database).learn(START_SFEN, (), move)
        Problems(database).add([NewProblem(ProblemKind.MISTAKE, START_SFEN, ("7g7f",), {})])
    Problems(theirs).remove(next(one.id for one in [Problems(theirs).next_candidate()] if one))
    theirs.copy_to(tmp_path / "copy.sqlite3")
    assert merge(ours, tmp_path / "copy.sqlite3") == Merged(0, 0, 0)
    assert Repertoire(ours).moves(board) == ["7g7f", "2g2f"]
    assert Problems(ours).next_candidate() is None


WRONG = {
    "a setting that is no JSON": "INSERT INTO settings VALUES ('training', 'not json')",
    "a list in place of settings": "INSERT INTO settings VALUES ('training', '[]')",
    "an unknown setting": """INSERT INTO settings VALUES ('training', '{"x": 1}')""",
    "a setting of another type": """INSERT INTO settings VALUES ('training', '{"amount": "many"}')""",
    "playouts of another type": """INSERT INTO settings VALUES ('review.playouts', '"x"')""",
    "a network that is a number": "INSERT INTO settings VALUES ('network', '5')",
    "brackets within brackets": f"INSERT INTO settings VALUES ('training', '{'[' * 5000}')",
    "a name of bytes": "INSERT INTO me VALUES (x'ff')",
    "a name that is no UTF-8": "INSERT INTO me VALUES (CAST(x'ff' AS TEXT))",
    "moves of bytes": "UPDATE games SET moves = x'376737'",
    "moves that are a number": "UPDATE games SET moves = 5",
    "players of bytes": "UPDATE games SET black = x'ff'",
    "a winner of neither side": "UPDATE games SET winner = 7",
    "an unknown ending": "UPDATE games SET ending = 'x'",
    "an unknown collection": "UPDATE games SET collection = 'x'",
    "an impossible start": "UPDATE games SET start = 'x'",
    "a record of 9 MB": "UPDATE games SET record = hex(zeroblob(4500000))",
    "a digest of text": "UPDATE games SET digest = 'x'",
    "a review of text": "UPDATE reviews SET black_mistakes = 'x'",
    "playouts of text": "UPDATE reviews SET playouts = 'x'",
    "an accuracy above all": "UPDATE reviews SET white_accuracy = 1e308",
    "a judgement that is no JSON": "INSERT INTO plies VALUES (1, 3, 0, 'blunder', 0.5, 'opening', 'x')",
    "a judgement of nothing": "INSERT INTO plies VALUES (1, 3, 0, 'blunder', 0.5, 'opening', '{}')",
    "a content that is no JSON": "UPDATE problems SET content = 'x'",
    "a list in place of content": "UPDATE problems SET content = '[]'",
    "a problem without answers": """UPDATE problems SET content = '{"answers": []}'""",
    "a mate without a line": """UPDATE problems SET kind = 'tsume', content = '{"length": 1}'""",
    "an unknown kind": "UPDATE problems SET kind = 'x'",
    "an unknown state": "UPDATE problems SET state = 'x'",
    "a problem from nowhere": "UPDATE problems SET start = 'x'",
    "a problem after an illegal move": "UPDATE problems SET moves = '9i9a'",
    "a time of no day": "UPDATE attempts SET at = 'x'",
    "seconds of text": "UPDATE attempts SET seconds = 'x'",
    "a card of text": "UPDATE cards SET card = 'x'",
    "due on no day": "UPDATE cards SET due = 'x'",
}


@pytest.mark.parametrize("statement", WRONG.values(), ids=WRONG.keys())
def test_a_backup_with_a_wrong_row_is_refused_and_changes_nothing(statement: str, tmp_path: Path) -> None:
    mine = Database(tmp_path / "mine.sqlite3")
    before = [tuple(row) for row in mine.rows("SELECT * FROM settings")]
    filled(tmp_path / "other.sqlite3", (1,)).close()
    with sqlite3.connect(tmp_path / "other.sqlite3") as connection:
        connection.execute(statement)
    with pytest.raises(InputError, match="damaged"):
        merge(mine, tmp_path / "other.sqlite3")
    assert contents(mine)["games"] == contents(mine)["me"] == []
    assert [tuple(row) for row in mine.rows("SELECT * FROM settings")] == before
