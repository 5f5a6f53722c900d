"""Keeps analyses of positions in an SQLite database: a game that is opened again need not be searched again.

A review must never fail because of its database. Whatever goes wrong with it (no folder, a full disk, a
damaged file, another program that locks it for long), the store says so once and then keeps nothing.
"""

import hashlib
import json
import os
import sqlite3
import sys
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

from goryu.analysis.position_analysis import PositionAnalysis
from goryu.base.errors import explained
from goryu.base.files import home_folder
from goryu.base.language import tr

VERSION = 1
"""Of the tables and of how a position is analysed; another version starts with an empty table."""

BUSY_S = 5.0
"""How long the store waits for another process that writes."""

SCHEMA = f"""
CREATE TABLE IF NOT EXISTS analyses_{VERSION} (
    history BLOB NOT NULL,
    engine BLOB NOT NULL,
    playouts INTEGER NOT NULL,
    analysis BLOB NOT NULL,
    PRIMARY KEY (history, engine)
) WITHOUT ROWID
"""

SELECT = f"SELECT playouts, analysis FROM analyses_{VERSION} WHERE history = ? AND engine = ?"

INSERT = f"""
INSERT INTO analyses_{VERSION} VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
SET playouts = excluded.playouts, analysis = excluded.analysis WHERE excluded.playouts > playouts
"""


def default_path() -> Path:
    """Returns where the database is kept: the user's cache folder of the system.

    Raises FileNotFoundError if the user has no home folder.
    """
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home_folder() / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = home_folder() / "Library" / "Caches"
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or home_folder() / ".cache")
    return folder / "goryu" / "analyses.sqlite3"


def history_key(start: str, moves: Sequence[str]) -> bytes:
    """Returns the key of a position with its history, on which repetitions depend."""
    return hashlib.blake2b(" ".join((start, *moves)).encode(), digest_size=16).digest()


class AnalysisStore:
    """The analyses of one engine: a network and a config of the search. Any thread may use it."""

    def __init__(self, path: Path | None, engine: str, report: Callable[[str], None]) -> None:
        """Opens the database, and makes it if it is missing.

        path: None to keep nothing. engine: everything that decides an analysis but position and playouts.
        report: takes one message when the database fails; the store then keeps nothing.
        """
        self._path = path
        self._engine = hashlib.blake2b(engine.encode(), digest_size=16).digest()
        self._report = report
        self._lock = Lock()
        self._database: sqlite3.Connection | None = None
        if path is not None:
            try:
                self._database = _open(path)
            except (sqlite3.Error, OSError) as error:
                self._fail(error)

    @property
    def is_open(self) -> bool:
        """Does the store keep analyses?"""
        return self._database is not None

    def get(self, start: str, moves: Sequence[str]) -> PositionAnalysis | None:
        """Returns the analysis of a position with the most playouts, or None."""
        with self._lock:
            if self._database is None:
                return None
            try:
                row = self._database.execute(SELECT, (history_key(start, moves), self._engine)).fetchone()
                return None if row is None else _decoded(row[1])
            except (sqlite3.Error, OSError, ValueError, KeyError, TypeError, zlib.error) as error:
                self._fail(error)
                return None

    def put(self, start: str, moves: Sequence[str], analysis: PositionAnalysis) -> None:
        """Keeps an analysis unless one with as many playouts is known."""
        with self._lock:
            if self._database is None:
                return
            row = (history_key(start, moves), self._engine, analysis.playouts, _encoded(analysis))
            try:
                self._database.execute(INSERT, row)
            except (sqlite3.Error, OSError) as error:
                self._fail(error)

    def close(self) -> None:
        """Closes the database."""
        with self._lock:
            self._disconnect()

    def _fail(self, error: Exception) -> None:
        self._disconnect()
        self._report(
            tr(
                "{path}: the database of analyses cannot be used ({error}); {advice}. "
                "The review goes on and keeps nothing.",
                path=self._path,
                error=error,
                advice=_advice(error),
            )
        )

    def _disconnect(self) -> None:
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
        self._database = None


def open_default_store(engine: str, report: Callable[[str], None]) -> AnalysisStore:
    """Opens the database at its usual place; without a home folder it says so and keeps nothing."""
    try:
        path = default_path()
    except OSError as error:
        report(tr("analyses are not kept: {error}", error=explained(error)))
        path = None
    return AnalysisStore(path, engine, report)


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Every statement is its own transaction: a killed review loses nothing that was finished.
    database = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        # Readers and a writer do not wait for each other. On a network drive SQLite keeps its old journal.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute(SCHEMA)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _advice(error: Exception) -> str:
    if isinstance(error, (sqlite3.OperationalError, OSError)):
        return tr("check the folder, the space on the disk, and whether another program locks the file")
    return tr("delete the file if it is a damaged database, or name another one with --store")


def _encoded(analysis: PositionAnalysis) -> bytes:
    return zlib.compress(json.dumps(analysis.to_json(), separators=(",", ":")).encode())


def _decoded(data: bytes) -> PositionAnalysis:
    return PositionAnalysis.from_json(json.loads(zlib.decompress(data)))
