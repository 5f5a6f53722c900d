"""The database of a test."""

from pathlib import Path

import pytest

from goryu_page.dojo.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "dojo.sqlite3")
