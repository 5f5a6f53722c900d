"""Opens an SQLite file that several threads and processes share."""

import sqlite3
from pathlib import Path
from time import monotonic, sleep

FAULTS = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged file raises: SQLite's message may quote bytes of it that are no text."""

BUSY_S = 5.0
"""How long a statement waits for another process that writes."""

RETRY_S = 0.01
PRIMARY_CODE = 0xFF
"""The part of an error code that names its kind."""


def connect(path: Path) -> sqlite3.Connection:
    """Opens the file, and makes it and its folder if they are missing; each statement is its own transaction.

    Raises one of FAULTS, or OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        _use_wal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Readers and a writer do not wait for each other. On a network drive SQLite keeps its old journal."""
    end = monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            # For the change of the journal SQLite itself does not always wait.
            if error.sqlite_errorcode & PRIMARY_CODE != sqlite3.SQLITE_BUSY or monotonic() >= end:
                raise
            sleep(RETRY_S)
