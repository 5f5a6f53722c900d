"""Copies of the database: Python writes and reads a file of the tab's memory, and the worker passes it on."""

from dataclasses import asdict
from pathlib import Path

from goryu_page.dojo.database import copy_name
from goryu_page.session.session import View, in_thread

COPY = Path("/tmp/copy.sqlite3")
"""In the tab's memory; the page knows the name."""


class BackupView(View):
    """Writes a copy of the database, or adds what one has."""

    name = "backup"

    @in_thread
    def on_copy(self) -> dict[str, str]:
        """Writes a copy; returns a name for it."""
        self.session.dojo.database.copy_to(COPY)
        return {"name": copy_name()}

    @in_thread
    def on_merge(self) -> dict[str, int]:
        """Adds what a copy has; returns what was added."""
        try:
            return asdict(self.session.dojo.merge(COPY))
        finally:
            COPY.unlink()
