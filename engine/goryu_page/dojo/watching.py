"""Imports the games of folders on this machine, also those that come later, by looking every few seconds.

Looking works on every system and on network drives, which do not tell of changes. A file is read when its
size or time has changed since it was last read, and only after it has rested: another program may still
write it.
"""

import logging
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from goryu.base.errors import GoryuError, explained
from goryu.base.files import readable_name
from goryu.kifu.reading import MAX_BYTES, SUFFIXES
from goryu_page.dojo.database import Database
from goryu_page.dojo.games import Collection, Games
from goryu_page.dojo.timing import TIMING, Timing
from goryu_page.dojo.worker import Worker

_log = logging.getLogger("goryu_page.dojo")

TOLD = 50
"""The page is told after so many files, and at the end."""


class Watching(Worker):
    """Watches folders with all that is below them, in a thread of its own; `step` looks once."""

    def __init__(
        self,
        database: Database,
        folders: Sequence[Path],
        on_import: Callable[[], None],
        on_problem: Callable[[str], None],
        collection: Collection = "mine",
        timing: Timing = TIMING,
    ) -> None:
        """collection: to which the games go. Both functions are called from the thread.

        on_import: called after files were read. on_problem: takes why none can be read now, once, such as a
            full disk; the next look tries again.
        """
        super().__init__("goryu-watching", timing)
        self._database = database
        self._games = Games(database)
        self.folders = tuple(folder.absolute() for folder in folders)
        self._on_import, self._on_problem = on_import, on_problem
        self._collection = collection
        self._unsettled: dict[Path, tuple[int, float]] = {}
        self._problem = ""

    def _work(self) -> float:
        self.look()
        self._problem = ""
        return self._timing.folders_s

    def _failed(self, problem: str) -> float:
        if problem != self._problem:
            _log.warning("%s", problem)
            self._on_problem(problem)
        self._problem = problem
        return self._timing.folders_s

    def look(self) -> int:
        """Reads new and changed files; returns how many. Raises DatabaseError."""
        rows = self._database.rows(
            "SELECT path, size, modified FROM files WHERE collection = ?", self._collection
        )
        known = {row["path"]: (row["size"], row["modified"]) for row in rows}
        count = told = 0
        for folder in self.folders:
            for path in _records(folder):
                if self.is_closed:
                    return count
                count += self._read(path, folder, known.get(readable_name(str(path))))
                if count >= told + TOLD:
                    self._on_import()
                    told = count
        if count > told:
            self._on_import()
        return count

    def _read(self, path: Path, folder: Path, known: tuple[int, float] | None) -> bool:
        try:
            status = path.stat()
        except OSError:
            return False  # It was removed meanwhile.
        found = status.st_size, status.st_mtime
        if not stat.S_ISREG(status.st_mode) or known == found:
            return False
        is_new = abs(self._timing.now().timestamp() - status.st_mtime) < self._timing.settled_s
        if is_new and self._unsettled.get(path) != found:
            self._unsettled[path] = found
            return False
        self._unsettled.pop(path, None)
        name, at = readable_name(path.relative_to(folder).as_posix()), readable_name(str(folder))
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
            self._games.add_file(data, name, self._collection, at)
        except OSError as error:
            self._games.add_fault(name, None, explained(error), at)
        except GoryuError:
            raise
        except Exception as error:
            # One file must not keep the others from being read.
            _log.exception("%s cannot be read", name)
            self._games.add_fault(name, None, f"{type(error).__name__}: {error}", at)
        statement = "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)"
        self._database.run(statement, self._collection, readable_name(str(path)), *found)
        return True


def _records(folder: Path) -> Iterator[Path]:
    """Yields the game records below a folder; links to folders are not followed, which could lead round."""
    for at, folders, files in os.walk(folder):
        folders.sort()
        for file in sorted(files):
            if file.lower().endswith(SUFFIXES):
                yield Path(at, file)
