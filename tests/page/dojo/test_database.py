import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from damaged_files import damage_schema
from goryu.base.errors import InputError
from goryu_page.dojo.backup import check_backup
from goryu_page.dojo.database import Database, DatabaseError
from goryu_page.dojo.games import Games
from goryu_page.dojo.schema import MIGRATIONS
from sample_games import sample_game


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "dojo.sqlite3")

    def fail() -> None:
        with database.transaction() as connection:
            connection.execute("INSERT INTO me VALUES ('one')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert database.rows("SELECT * FROM me") == []


def test_a_newer_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "dojo.sqlite3"
    Database(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = shutil.copy(path, tmp_path / "before")
    with pytest.raises(DatabaseError, match="newer Goryu"):
        Database(path)
    assert path.read_bytes() == Path(before).read_bytes()


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE moz_places (url)", "PRAGMA user_version = 1", "PRAGMA user_version = -2"]
)
def test_a_database_of_another_program_is_refused_and_gets_no_tables(statement: str, tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
        before = [*connection.iterdump(), *connection.execute("PRAGMA user_version")]
    with pytest.raises(DatabaseError, match="another program"):
        Database(path)
    with sqlite3.connect(path) as connection:
        assert [*connection.iterdump(), *connection.execute("PRAGMA user_version")] == before


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dojo.sqlite3").write_bytes(b"no database" * 100)
    with pytest.raises(DatabaseError, match="damaged"):
        Database(tmp_path / "dojo.sqlite3")
    path = tmp_path / "schema.sqlite3"
    Database(path).close()
    damage_schema(path)
    with pytest.raises(DatabaseError, match="damaged"):
        Database(path)
    with pytest.raises(InputError, match="backup"):
        check_backup(path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Gives a file system of its own the size that it is called with, in KiB, and returns its folder."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def resize(size: int) -> Path:
        options = f"size={size}k" + (",remount" if os.path.ismount(folder) else "")
        mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        try:
            subprocess.run(mount, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no file system can be mounted here: {error}")
        return folder

    yield resize
    if os.path.ismount(folder):
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_is_said_and_nothing_is_lost(small_disk: Callable[[int], Path]) -> None:
    path = small_disk(1024) / "dojo.sqlite3"
    games = Games(Database(path))
    added, failures = 0, list[str]()
    while len(failures) < 3:
        try:
            added += games.add(sample_game(added + 100 * len(failures), 60)) is not None
        except DatabaseError as error:
            failures.append(str(error))
    assert added > 5
    assert all("the disk is full" in failure for failure in failures)
    small_disk(4096)
    games.set_me(["甲"])
    again = Database(path)
    assert [len(again.rows(f"SELECT * FROM {table}")) for table in ("games", "me")] == [added, 1]
    assert again.rows("PRAGMA integrity_check")[0][0] == "ok"


def test_to_open_a_database_writes_nothing(tmp_path: Path) -> None:
    """A browser whose storage is full can still show the games and save a copy."""
    path = tmp_path / "dojo.sqlite3"
    first = Database(path)
    version = first.rows("PRAGMA data_version")[0][0]
    Database(path)
    assert first.rows("PRAGMA data_version")[0][0] == version
    with Database(path).transaction() as connection:
        connection.execute("INSERT INTO me (name) VALUES ('甲')")
    assert first.rows("PRAGMA data_version")[0][0] > version


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
        assert [tuple(row)[: len(rows[0])] for row in database.rows(f"SELECT * FROM {name}")] == rows
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


def test_reviews_of_an_older_database_are_summarised(tmp_path: Path) -> None:
    path = tmp_path / "dojo.sqlite3"
    with sqlite3.connect(path) as old:
        for statements in MIGRATIONS[:3]:
            old.executescript(statements)
        game = "'mine', x'0{0}', 's', 'm', '甲', '乙', '2026-11-0{0}', 0, 'x', '', '', '', '1'"
        for number in (1, 2):
            old.execute(f"INSERT INTO games VALUES ({number}, {game.format(number)})")
            old.execute(f"INSERT INTO reviews VALUES ({number}, 9, 'x', 90, 80, 1, 1, '{number}')")
            old.execute(f"INSERT INTO positions VALUES (x'0a', {number}, 1, 'm')")
        for ply, kind in enumerate(("mistake", "dubious", "good", "mistake"), start=1):
            judgement = '{"played_win_rate": 0.4}' if ply < 4 else "damaged"
            row = (1, ply, (ply - 1) % 2, kind, 0.1, "opening", judgement)
            old.execute("INSERT INTO plies VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        old.execute(
            'INSERT INTO settings VALUES (\'problems.collected\', \'{"reviewed": "2", "names": []}\')'
        )
        old.execute("PRAGMA user_version = 3")
    database = Database(path)
    columns = "game, black_phases, white_phases, is_collected"
    assert [tuple(row) for row in database.rows(f"SELECT {columns} FROM reviews")] == [
        (1, '{"mistake opening":1}', '{"dubious opening":1,"mistake opening":1}', 1),
        (2, "{}", "{}", 0),  # It may be of the second in which candidates were made last.
    ]
    assert [tuple(row) for row in database.rows("SELECT game, rate FROM positions")] == [(1, 0.4), (2, None)]
