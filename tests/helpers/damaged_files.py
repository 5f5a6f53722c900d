"""Files with damage that random bytes rarely do."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path


def damage_schema(path: Path) -> None:
    """Puts a byte that is no text into the schema of an SQLite file: SQLite's message then quotes it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    found = list(re.finditer(rb"CREATE TABLE (IF NOT EXISTS )?\w+ (\()", content))
    assert found
    for one in found:  # Some are left over from earlier writes.
        content[one.start(2)] = 0xAD
    path.write_bytes(content)
