import shutil
import sqlite3
from pathlib import Path

import pytest

from goryu.dojo.database import Database, DatabaseError
from goryu.dojo.schema import MIGRATIONS


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "dojo.sqlite3")

    def fail() -> None:
        with database.transaction() as connection:
            connection.execute("INSERT INTO me VALUES ('one')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert database.rows("SELECT * FROM me") == []


def test_two_processes_see_each_others_rows(tmp_path: Path) -> None:
    one, other = Database(tmp_path / "dojo.sqlite3"), Database(tmp_path / "dojo.sqlite3")
    with one.transaction() as connection:
        connection.execute("INSERT INTO me VALUES ('one')")
    assert [row["name"] for row in other.rows("SELECT * FROM me")] == ["one"]


def test_a_copy_is_whole(tmp_path: Path) -> None:
    database = Database(tmp_path / "dojo.sqlite3")
    with database.transaction() as connection:
        connection.execute("INSERT INTO me VALUES ('one')")
    database.copy_to(tmp_path / "copy.sqlite3")
    assert [row["name"] for row in Database(tmp_path / "copy.sqlite3").rows("SELECT * FROM me")] == ["one"]


def test_a_newer_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "dojo.sqlite3"
    Database(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = shutil.copy(path, tmp_path / "before")
    with pytest.raises(DatabaseError, match="newer Goryu"):
        Database(path)
    assert path.read_bytes() == Path(before).read_bytes()


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dojo.sqlite3").write_bytes(b"no database" * 100)
    with pytest.raises(DatabaseError, match="damaged"):
        Database(tmp_path / "dojo.sqlite3")


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    database = Database(tmp_path / "dojo.sqlite3")
    database.rows(f"PRAGMA max_page_count = {database.rows('PRAGMA page_count')[0][0] + 1}")
    with database.transaction() as connection:
        connection.execute("INSERT INTO me VALUES ('one')")
    with pytest.raises(DatabaseError, match="full"), database.transaction() as connection:
        connection.executemany("INSERT INTO me VALUES (?)", ((f"{i:0500}",) for i in range(100)))
    assert [row["name"] for row in database.rows("SELECT * FROM me")] == ["one"]


def test_an_older_database_is_migrated_with_all_that_it_holds(tmp_path: Path) -> None:
    """version_1.sql is the dump of a database that a Goryu of version 1 of the tables wrote."""
    path = tmp_path / "dojo.sqlite3"
    with sqlite3.connect(path) as old:
        old.executescript(Path(__file__).with_name("version_1.sql").read_text(encoding="utf-8"))
        kept = {
            name: old.execute(f"SELECT * FROM {name}").fetchall()
            for name in ("games", "positions", "reviews", "plies", "me", "settings")
        }
    database = Database(path)
    for name, rows in kept.items():
        assert [tuple(row) for row in database.rows(f"SELECT * FROM {name}")] == rows
    assert kept["games"]
    assert [tuple(row) for row in database.rows("SELECT folder, file, line FROM faults ORDER BY id")] == [
        ("/home/user/games", "below/2.usi", 1),
        ("", "1.usi", 2),  # Two watched folders have a file of this name.
        ("", "sent.usi", 1),
    ]
    assert [tuple(row) for row in database.rows("SELECT collection, path FROM files")] == [
        ("mine", "/home/user/games/1.usi"),
        ("mine", "/home/user/games/below/2.usi"),
        ("mine", "/home/user/records/1.usi"),
    ]
