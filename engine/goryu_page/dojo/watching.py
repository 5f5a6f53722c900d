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
from threading import Event, Thread
from time import time

from goryu.base.errors import GoryuError, explained
from goryu.base.files import readable_name
from goryu.kifu.reading import MAX_BYTES, SUFFIXES
from goryu_page.dojo.database import Database
from goryu_page.dojo.games import Collection, Games

_log = logging.getLogger("goryu_page.dojo")

LOOK_S = 5.0
"""Time between two looks at the folders."""

SETTLED_S = 5.0
"""A file that has not changed for this long is whole."""

TOLD = 50
"""The page is told after so many files, and at the end."""


class Watching:
    """Watches folders with all that is below them, in a thread of its own."""

    def __init__(
        self,
        database: Database,
        folders: Sequence[Path],
        on_import: Callable[[], None],
        on_problem: Callable[[str], None],
        collection: Collection = "mine",
    ) -> None:
        """collection: to which the games go. Both functions are called from the thread.

        on_import: called after files were read. on_problem: takes why none can be read now, once, such as a
            full disk; the next look tries again.
        """
        self._database = database
        self._games = Games(database)
        self.folders = tuple(folder.absolute() for folder in folders)
        self._on_import, self._on_problem = on_import, on_problem
        self._collection = collection
        self._ended = Event()
        self._unsettled: dict[Path, tuple[int, float]] = {}
        self._problem = ""
        self._thread = Thread(target=self._run, name="goryu-watching", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def close(self) -> None:
        """Ends the thread."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self.look()
                problem = ""
            except (GoryuError, OSError) as error:
                problem = explained(error)
            if problem and problem != self._problem:
                _log.warning("%s", problem)
                self._on_problem(problem)
            self._problem = problem
            self._ended.wait(LOOK_S)

    def look(self) -> int:
        """Reads new and changed files; returns how many. Raises DatabaseError."""
        rows = self._database.rows(
            "SELECT path, size, modified FROM files WHERE collection = ?", self._collection
        )
        known = {row["path"]: (row["size"], row["modified"]) for row in rows}
        count = told = 0
        for folder in self.folders:
            for path in _records(folder):
                if self._ended.is_set():
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
        if abs(time() - status.st_mtime) < SETTLED_S and self._unsettled.get(path) != found:
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
