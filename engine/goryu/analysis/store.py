"""Keeps analyses of positions in an SQLite database: a game that is opened again need not be searched again.

A review must never fail because of its database. Whatever goes wrong with it (no folder, a full disk, a
damaged file, another program that locks it for long), the store says so once and then keeps nothing.
"""

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock

from goryu.analysis.position_analysis import PositionAnalysis
from goryu.base.errors import explained
from goryu.base.files import cache_folder
from goryu.base.language import tr
from goryu.base.sqlite_file import FAULTS, connect
from goryu.players.config import EngineConfig
from goryu.players.set_up.loading import LoadedEvaluator

VERSION = 1
"""Of the tables and of how a position is analysed; another version starts with an empty table."""

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
    """Returns where the database is kept; raises FileNotFoundError if the user has no home folder."""
    return cache_folder() / "analyses.sqlite3"


def engine_identity(loaded: LoadedEvaluator, config: EngineConfig) -> str:
    """Returns everything that decides an analysis but the position and the playouts, as one line."""
    network = getattr(loaded.evaluator, "sha256", None) or loaded.description
    search = replace(config.search, batch_size=0, capacity=0, capacity_bytes=0)
    return f"{network} T={config.evaluator.temperature} {asdict(search)} {config.mate} {config.rules}"


class AnalysisStore:
    """The analyses of all engines, each known by its `engine_identity`. Any thread may use it."""

    def __init__(
        self, path: Path | None = None, report: Callable[[str], None] = lambda message: None
    ) -> None:
        """Opens the database, and makes it if it is missing.

        path: None to keep nothing.
        report: takes one message when the database fails; the store then keeps nothing.
        """
        self._path = path
        self._report = report
        self._lock = Lock()
        self._database: sqlite3.Connection | None = None
        if path is not None:
            try:
                self._database = _open(path)
            except (*FAULTS, OSError) as error:
                self._fail(error)

    @property
    def is_open(self) -> bool:
        """Does the store keep analyses?"""
        return self._database is not None

    def get(self, engine: str, start: str, moves: Sequence[str]) -> PositionAnalysis | None:
        """Returns the engine's analysis of a position with the most playouts, or None."""
        with self._lock:
            if self._database is None:
                return None
            try:
                row = self._database.execute(SELECT, _key(engine, start, moves)).fetchone()
                return None if row is None else _decoded(row[1])
            except (sqlite3.Error, OSError, ValueError, KeyError, TypeError, zlib.error) as error:
                self._fail(error)
                return None

    def put(self, engine: str, start: str, moves: Sequence[str], analysis: PositionAnalysis) -> None:
        """Keeps an engine's analysis unless one with as many playouts is known."""
        with self._lock:
            if self._database is None:
                return
            row = (*_key(engine, start, moves), analysis.playouts, _encoded(analysis))
            try:
                self._database.execute(INSERT, row)
            except (*FAULTS, OSError) as error:
                self._fail(error)

    def close(self) -> None:
        """Closes the database."""
        with self._lock:
            self._disconnect()

    def _fail(self, error: Exception) -> None:
        self._disconnect()
        text = (
            "{path}: the database of analyses cannot be used ({error}); {advice}. "
            "The review goes on and keeps nothing."
        )
        self._report(tr(text, path=self._path, error=error, advice=_advice(error)))

    def _disconnect(self) -> None:
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
        self._database = None


def open_default_store(report: Callable[[str], None]) -> AnalysisStore:
    """Opens the database at its usual place; without a home folder it says so and keeps nothing."""
    try:
        path = default_path()
    except OSError as error:
        report(tr("analyses are not kept: {error}", error=explained(error)))
        path = None
    return AnalysisStore(path, report)


def _key(engine: str, start: str, moves: Sequence[str]) -> tuple[bytes, bytes]:
    """Returns the key of a position with its history, on which repetitions depend, and that of an engine."""
    history = " ".join((start, *moves))
    first, second = (hashlib.blake2b(text.encode(), digest_size=16) for text in (history, engine))
    return first.digest(), second.digest()


def _open(path: Path) -> sqlite3.Connection:
    # Every statement is its own transaction: a killed review loses nothing that was finished.
    database = connect(path)
    try:
        database.execute(SCHEMA)
    except BaseException:
        database.close()
        raise
    return database


def _advice(error: Exception) -> str:
    if isinstance(error, (sqlite3.OperationalError, OSError)):
        return tr("check the folder, the space on the disk, and whether another program locks the file")
    return tr("delete the file if it is a damaged database")


def _encoded(analysis: PositionAnalysis) -> bytes:
    return zlib.compress(json.dumps(analysis.to_json(), separators=(",", ":")).encode())


def _decoded(data: bytes) -> PositionAnalysis:
    return PositionAnalysis.from_json(json.loads(zlib.decompress(data)))
