"""A file of JSON lines that grows, and that a kill leaves with at most half a line, which is dropped."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from goryu.base.errors import InputError
from goryu.base.strict_json import parse_json


class JsonLines:
    """Appends values to a file, one a line; drops an unfinished line at its end first."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab+")
        self._file.seek(0)
        content = self._file.read()
        self._file.truncate(content.rfind(b"\n") + 1)
        self._file.seek(0, os.SEEK_END)

    def write(self, values: Sequence[Any]) -> None:
        """Appends the values in one write and flushes it, so that a kill of this program loses none."""
        lines = "".join(json.dumps(value, separators=(",", ":")) + "\n" for value in values)
        self._file.write(lines.encode())
        self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def read_lines(path: Path) -> Iterator[Any]:
    """Yields the values of a file, without an unfinished line at its end; nothing if there is no file.

    Raises InputError for a line that is something else.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield parse_json(line)
            except ValueError as error:
                raise InputError(f"{path}, line {number}: expected JSON ({error})") from error


class GamesInLines:
    """The files of a `LoopGame` whose games are JSON objects with the key "number", one a line."""

    __slots__ = ()

    def number_of(self, game: Any) -> int:
        return int(game["number"])

    def append_to(self, path: Path) -> JsonLines:
        return JsonLines(path)

    def read(self, path: Path) -> Iterator[Any]:
        return read_lines(path)
