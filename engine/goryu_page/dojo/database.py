"""The dojo's database: one SQLite file that holds everything which the user cannot get back.

To back it up, copy the file while Goryu does not run, or use `copy_to`. A newer Goryu migrates an older file;
an older Goryu refuses a newer file. Every transaction is whole or not at all: a killed process loses nothing
that was committed.

Times are UTC in ISO 8601, such as 2026-11-26T20:15:00+00:00. Sides are 0 for black and 1 for white.
"""

import json
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any

from goryu.base.errors import InputError, fault
from goryu.base.files import data_folder
from goryu.base.language import tr
from goryu.base.sqlite_file import FAULTS, connect
from goryu_page.dojo.schema import MIGRATIONS

LEAST_ROOM = 64 << 10
"""Bytes; a disk with less cannot take what SQLite writes beside the file."""

CACHE_KIB = 32 << 10
"""Memory of the connection, at most; in SQLite's 2 MiB the rows of 10,000 games have no room."""


class DatabaseError(InputError):
    """The database cannot be used; the message says why and what to do."""


def now() -> str:
    """Returns the time as the database writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def default_path() -> Path:
    """Returns where the database is kept; raises FileNotFoundError if the user has no home folder."""
    return data_folder() / "dojo.sqlite3"


def copy_name() -> str:
    """Returns a name for a copy that is written now."""
    return f"goryu-{now()[:10]}.sqlite3"


class Database:
    """An open database. Any thread may use it; transactions of one process follow each other."""

    def __init__(self, path: Path) -> None:
        """Opens the file, makes it if it is missing, and migrates it.

        Raises DatabaseError: it cannot be opened, is damaged, or comes from a newer Goryu or another program.
        """
        self.path = path
        self._lock = RLock()
        try:
            self._connection = connect(path)
        except (*FAULTS, OSError) as error:
            raise _explained(path, error) from error
        self._connection.row_factory = sqlite3.Row
        try:
            with self._explaining():
                self._connection.execute("PRAGMA foreign_keys = ON")
                self._connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
                self._migrate()
        except BaseException:
            self._connection.close()
            raise

    def _version(self) -> int:
        """Returns how many of the migrations the file has; raises DatabaseError if it is not ours."""
        version: int = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            raise DatabaseError(
                tr("{path}: written by a newer Goryu (version {version})", path=self.path, version=version)
            )
        tables = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master")}
        if version < 0 or ("games" not in tables if version else tables):
            raise DatabaseError(
                tr("{path}: a database of another program; name another file", path=self.path)
            )
        return version

    def _migrate(self) -> None:
        if self._version() == len(MIGRATIONS):
            return  # Nothing is written, so that it opens on a full disk, too.
        with self.transaction() as connection:
            for statements in MIGRATIONS[self._version() :]:
                for statement in _statements(statements):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Gives the connection; commits at the end of the block, and rolls back if it raises.

        Raises DatabaseError, such as for a full disk.
        """
        with self._lock, self._explaining():
            is_outer = not self._connection.in_transaction
            if is_outer:
                self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                if is_outer:
                    self._connection.execute("COMMIT")  # It may fail, too, such as on a full disk.
            except BaseException:
                if is_outer and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, statement: str, *values: object) -> list[sqlite3.Row]:
        """Returns what a SELECT finds."""
        with self._lock, self._explaining():
            return self._connection.execute(statement, values).fetchall()

    def run(self, statement: str, *values: object) -> int:
        """Runs a statement as a transaction, or in the one that has begun; returns how many rows changed."""
        with self.transaction() as connection:
            return connection.execute(statement, values).rowcount

    def insert(self, table: str, row: Mapping[str, object]) -> int | None:
        """Adds a row, by the names of its columns, unless there is one with its key.

        Returns the number of the row, or None if there is one already.
        """
        names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks}) ON CONFLICT DO NOTHING"
        with self.transaction() as connection:
            added = connection.execute(statement, tuple(row.values()))
            return added.lastrowid if added.rowcount else None

    def setting(self, key: str, default: Any) -> Any:
        """Returns a setting, or the default if it was never set."""
        found = self.rows("SELECT value FROM settings WHERE key = ?", key)
        return json.loads(found[0]["value"]) if found else default

    def set_setting(self, key: str, value: Any) -> None:
        """Keeps a setting; all servers that use this database see it."""
        self.run("INSERT OR REPLACE INTO settings VALUES (?, ?)", key, json.dumps(value))

    def copy_to(self, path: Path) -> None:
        """Writes a whole copy to a file, also while other threads and processes write."""
        with self._lock, self._explaining(path):
            copy = sqlite3.connect(path)
            try:
                self._connection.backup(copy)
            finally:
                copy.close()

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _explaining(self, path: Path | None = None) -> Iterator[None]:
        try:
            yield
        except FAULTS as error:
            raise _explained(path or self.path, error) from error


def _statements(text: str) -> Iterator[str]:
    """Yields the statements one by one: `executescript` would commit before it begins."""
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _explained(path: Path, error: Exception) -> DatabaseError:
    if isinstance(error, OSError):
        return DatabaseError(f"{path}: {fault(error)}")
    if _is_for_want_of_room(path, error):
        return DatabaseError(
            tr("{path}: the disk is full, so nothing was written; make room and try again", path=path)
        )
    if isinstance(error, sqlite3.OperationalError):
        advice = tr("check the space on the disk, and whether another program locks the file")
    else:
        advice = tr("the file is damaged: restore a copy, or move it away to begin anew")
    return DatabaseError(tr("{path}: {error}; {advice}", path=path, error=error, advice=advice))


def _is_for_want_of_room(path: Path, error: Exception) -> bool:
    """Has SQLite failed because the disk is full? Not every such failure has a code of its own."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code not in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        return code == sqlite3.SQLITE_FULL
    if sys.platform == "emscripten":  # What a browser lends has no size there.
        return True
    with suppress(OSError):
        return shutil.disk_usage(path.parent).free < LEAST_ROOM
    return False
