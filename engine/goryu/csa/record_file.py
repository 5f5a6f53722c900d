"""The record of a game in progress: a CSA file that grows with every move.

What has been written stays, whatever happens to this program. A full disk stops the file, not the game: what
is missing is written as soon as there is room.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import IO

from goryu.base.errors import explained
from goryu.base.language import tr
from goryu.kifu.builder import LOSERS
from goryu.kifu.record import Ending, GameRecord, Ply
from goryu.kifu.writing import to_csa

DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
"""Names that Windows gives to its devices, with any ending."""

MOST_NAME = 80
"""Letters, of up to three bytes each: file systems allow 255 bytes."""


class RecordFile:
    """A record and its file, in a folder that is made if it is missing.

    record: the game so far. name: of the file, without its suffix; a number is added if it is in use.
    say: prints a line for the user.
    """

    def __init__(self, folder: Path, name: str, record: GameRecord, say: Callable[[str], None]) -> None:
        self.record = record
        self._folder, self._name = folder, file_stem(name)
        self._say = say
        self._file: IO[bytes] | None = None
        self._written = 0
        self._is_failing = False
        self._save()

    def add(self, ply: Ply) -> None:
        """Adds a move."""
        self.record = replace(self.record, plies=(*self.record.plies, ply))
        self._save()

    def end(self, ending: Ending, winner: int | None, note: str = "") -> None:
        """Adds the end of the game, and closes the file. note: for the reader, after the last move."""
        plies = self.record.plies
        turn = (self.record.turn + len(plies)) % 2
        if ending in LOSERS and ending is not Ending.ILLEGAL_MOVE and winner == turn:
            ending = Ending.INTERRUPTED  # CSA's word would say that the side to move has lost.
        if note and plies:
            plies = (*plies[:-1], replace(plies[-1], comment=f"{plies[-1].comment}\n{note}".strip()))
        self.record = replace(self.record, plies=plies, ending=ending, winner=winner)
        self._save()
        if self._file:
            self._file.close()

    def _save(self) -> None:
        """Writes what the file lacks."""
        content = to_csa(self.record).encode()
        try:
            if self._file is None:
                self._file = _new_file(self._folder, self._name)
            while self._written < len(content):
                self._written += self._file.write(content[self._written :])
        except OSError as error:
            if not self._is_failing:
                self._say(
                    tr("the record cannot be written, the game goes on: {error}", error=explained(error))
                )
            self._is_failing = True
        else:
            if self._is_failing:
                self._say(tr("the record is complete again"))
            self._is_failing = False


def file_stem(name: str) -> str:
    """Returns the server's name of a game as the name of a file without its ending.

    It stays in its folder, fits into every file system, and is no device of Windows.

    >>> file_stem("../a b"), file_stem("con.1"), file_stem("")
    ('.._a_b', '_con.1', 'game')
    """
    stem = re.sub(r"[^\w+@.-]", "_", name)[:MOST_NAME]
    return f"_{stem}" if DEVICE.match(stem) else stem or "game"


def _new_file(folder: Path, name: str) -> IO[bytes]:
    """Opens a new file without a buffer: what is written is the system's at once."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        try:
            return open(folder / f"{name}{f'-{number}' if number > 1 else ''}.csa", "xb", buffering=0)
        except FileExistsError:
            continue
    raise AssertionError
