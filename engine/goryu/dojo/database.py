"""The dojo's database: one SQLite file that holds everything which the user cannot get back.

To back it up, copy the file while Goryu does not run, or use `copy_to`. A newer Goryu migrates an older file;
an older Goryu refuses a newer file. Every transaction is whole or not at all: a killed process loses nothing
that was committed.

Times are UTC in ISO 8601, such as 2026-11-26T20:15:00+00:00. Sides are 0 for black and 1 for white.
"""

import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any

from goryu.base.errors import InputError, fault
from goryu.base.files import data_folder
from goryu.base.language import either, tr

BUSY_S = 5.0
"""How long a transaction waits for another process that writes."""

LEAST_ROOM = 64 << 10
"""Bytes; a disk with less cannot take what SQLite writes beside the file."""

MIGRATIONS = (
    """
    PRAGMA application_id = 1196380761;  -- "GORY": a file of another program is not taken for a backup

    -- A game is kept once: `digest` is that of its start and its moves.
    CREATE TABLE games (
        id INTEGER PRIMARY KEY,
        collection TEXT NOT NULL,      -- 'mine', or 'records' for games to look at only
        digest BLOB NOT NULL UNIQUE,
        start TEXT NOT NULL,           -- SFEN before the first move
        moves TEXT NOT NULL,           -- USI, separated by spaces
        black TEXT NOT NULL,           -- names; '' if unknown
        white TEXT NOT NULL,
        date TEXT NOT NULL,            -- of the game: 2026-11-26, or '' if unknown
        winner INTEGER,                -- 0, 1; NULL for a draw or an unknown result
        ending TEXT NOT NULL,          -- a value of goryu.kifu.record.Ending
        opening TEXT NOT NULL,         -- a code of goryu.dojo.openings; '' if none fits
        file TEXT NOT NULL,            -- the name of the file it came from
        record TEXT NOT NULL,          -- the whole game in KIF, with comments and variations
        imported TEXT NOT NULL         -- when
    );
    CREATE INDEX games_by_date ON games (date, id);

    -- Files of watched folders that were read, so that they are read again only when they change.
    CREATE TABLE files (
        path TEXT PRIMARY KEY,
        size INTEGER NOT NULL,
        modified REAL NOT NULL         -- seconds since 1970
    ) WITHOUT ROWID;

    -- Games that could not be read. A new import of the file replaces its lines.
    CREATE TABLE faults (
        id INTEGER PRIMARY KEY,
        file TEXT NOT NULL,
        line INTEGER,                  -- from 1; NULL if the fault has no line
        problem TEXT NOT NULL,
        seen TEXT NOT NULL
    );

    -- The names under which the user plays.
    CREATE TABLE me (name TEXT PRIMARY KEY) WITHOUT ROWID;

    -- Every position of every game, for the explorer: two orders of moves meet in one key.
    CREATE TABLE positions (
        key BLOB NOT NULL,             -- goryu.dojo.games.position_key
        game INTEGER NOT NULL REFERENCES games ON DELETE CASCADE,
        ply INTEGER NOT NULL,          -- of the move: 1 for the first
        move TEXT NOT NULL,            -- the one played here, in USI; '' after the last move
        PRIMARY KEY (key, game, ply)
    ) WITHOUT ROWID;
    CREATE INDEX positions_by_game ON positions (game);

    -- A reviewed game. A review that was not finished has no row here.
    CREATE TABLE reviews (
        game INTEGER PRIMARY KEY REFERENCES games ON DELETE CASCADE,
        playouts INTEGER NOT NULL,     -- for each position
        engine TEXT NOT NULL,          -- the network
        black_accuracy REAL,           -- 0 to 100; NULL without a move
        white_accuracy REAL,
        black_mistakes INTEGER NOT NULL,  -- moves of the classes of goryu.analysis.judgement.MISTAKES
        white_mistakes INTEGER NOT NULL,
        reviewed TEXT NOT NULL
    );

    -- The judgement of each move of a reviewed game.
    CREATE TABLE plies (
        game INTEGER NOT NULL REFERENCES games ON DELETE CASCADE,
        ply INTEGER NOT NULL,          -- 1 for the first move
        turn INTEGER NOT NULL,
        kind TEXT NOT NULL,            -- a value of goryu.analysis.judgement.MoveClass
        loss REAL NOT NULL,            -- win rate, 0 to 1
        phase TEXT NOT NULL,           -- a value of goryu.dojo.phases.Phase
        judgement TEXT NOT NULL,       -- goryu.analysis.review.PlyReview as JSON
        PRIMARY KEY (game, ply)
    ) WITHOUT ROWID;
    CREATE INDEX mistakes ON plies (game, turn, phase, kind) WHERE kind IN ('dubious', 'mistake', 'blunder');

    CREATE TABLE problems (
        id INTEGER PRIMARY KEY,
        game INTEGER REFERENCES games ON DELETE SET NULL,
        ply INTEGER,                   -- of the move that was played here
        kind TEXT NOT NULL,            -- a value of goryu.dojo.problems.ProblemKind
        start TEXT NOT NULL,           -- SFEN before the first of `moves`
        moves TEXT NOT NULL,           -- USI: the way to the position
        key BLOB NOT NULL,             -- goryu.dojo.games.position_key of the position
        played TEXT NOT NULL,          -- the move of the game; '' if there is none
        state TEXT NOT NULL,           -- candidate, sound, unsound, removed
        playouts INTEGER NOT NULL,     -- of the check; 0 before it
        content TEXT NOT NULL,         -- JSON, as the kind needs it
        made TEXT NOT NULL,
        UNIQUE (key, kind)
    );
    CREATE INDEX problems_by_state ON problems (state, kind);
    CREATE INDEX problems_by_game ON problems (game);

    CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        problem INTEGER NOT NULL REFERENCES problems ON DELETE CASCADE,
        at TEXT NOT NULL,
        move TEXT NOT NULL,            -- the first answer, in USI; '' if the user asked for the solution
        is_right INTEGER NOT NULL,
        hints INTEGER NOT NULL,
        seconds REAL NOT NULL
    );
    CREATE INDEX attempts_by_problem ON attempts (problem, at);

    -- When a problem is due: a card of the library fsrs.
    CREATE TABLE cards (
        problem INTEGER PRIMARY KEY REFERENCES problems ON DELETE CASCADE,
        due TEXT NOT NULL,
        card TEXT NOT NULL             -- JSON
    );
    CREATE INDEX cards_by_due ON cards (due);

    CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;  -- values are JSON
    """,
)
"""The statements that lead from each version to the next; `PRAGMA user_version` counts those already run."""


class DatabaseError(InputError):
    """The database cannot be used; the message says why and what to do."""


def now() -> str:
    """Returns the time as the database writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def default_path() -> Path:
    """Returns where the database is kept; raises FileNotFoundError if the user has no home folder."""
    return data_folder() / "dojo.sqlite3"


class Database:
    """An open database. Any thread may use it; transactions of one process follow each other."""

    def __init__(self, path: Path) -> None:
        """Opens the file, makes it if it is missing, and migrates it.

        Raises DatabaseError: it cannot be opened, is damaged, or comes from a newer Goryu.
        """
        self.path = path
        self._lock = RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
        except (sqlite3.Error, OSError) as error:
            raise _explained(path, error) from error
        self._connection.row_factory = sqlite3.Row
        try:
            with self._explaining():
                # Readers and a writer do not wait for each other.
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = NORMAL")
                self._connection.execute("PRAGMA foreign_keys = ON")
                self._migrate()
        except BaseException:
            self._connection.close()
            raise

    def _migrate(self) -> None:
        with self.transaction() as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > len(MIGRATIONS):
                raise DatabaseError(
                    tr(
                        "{path}: written by a newer Goryu (version {version})",
                        path=self.path,
                        version=version,
                    )
                )
            for statements in MIGRATIONS[version:]:
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
        with self.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (key, json.dumps(value)))

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
        except sqlite3.Error as error:
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
    return DatabaseError(either(f"{path}: {error}; {advice}", f"{path}：{error}。{advice}"))


def _is_for_want_of_room(path: Path, error: Exception) -> bool:
    """Has SQLite failed because the disk is full? Not every such failure has a code of its own."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code not in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        return code == sqlite3.SQLITE_FULL
    with suppress(OSError):
        return shutil.disk_usage(path.parent).free < LEAST_ROOM
    return False
