"""Copies of the database: Python writes and reads a file of the tab's memory, and the worker passes it on."""

from dataclasses import asdict
from pathlib import Path

from goryu_page.dojo.backup import Merged
from goryu_page.dojo.database import copy_name
from goryu_page.session.messages import Request
from goryu_page.session.session import View

COPY = Path("/tmp/copy.sqlite3")
"""In the tab's memory; the page knows the name."""


class BackupView(View):
    """Writes a copy of the database, or adds what one has."""

    name = "backup"

    async def on_copy(self, _message: Request) -> dict[str, str]:
        """Writes a copy; returns a name for it."""
        await self.ask("backup", lambda: self.session.dojo.database.copy_to(COPY))
        return {"name": copy_name()}

    async def on_merge(self, _message: Request) -> dict[str, int]:
        """Adds what a copy has; returns what was added."""

        def merged() -> Merged:
            try:
                return self.session.dojo.merge(COPY)
            finally:
                COPY.unlink()

        return asdict(await self.ask("backup", merged))
