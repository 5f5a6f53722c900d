"""The file of a book in the making: one searched position a line, as JSON, after a line about the searches.

Positions are only appended, so a kill loses the last line at most; the next run drops a line without an end.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from goryu.base.errors import GoryuError
from goryu.base.files import atomic_write, try_lock
from goryu.base.strict_json import parse_json
from goryu_lab.bookmaking.searched import SearchedPosition

FORMAT = "goryu book 1"


class BookStateError(GoryuError, ValueError):
    """A file of a book in the making that cannot be used."""


class BookState:
    """An open file, locked for one program. A context manager.

    positions: those that were in the file.

    Raises:
        BookStateError: the file is another one, is damaged, was made with another network, or is in use.
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path, network: str) -> None:
        """network: what evaluates the positions; one file has one network."""
        self.positions: list[SearchedPosition] = []
        header = json.dumps({"format": FORMAT, "network": network}) + "\n"
        if not path.exists():
            atomic_write(path, header)
        self._file = path.open("r+b")
        try:
            if not try_lock(self._file):
                raise BookStateError(f"{path}: another program is using this file")
            self._read(path, network)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "BookState":
        """Returns the file."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the file."""
        self._file.close()

    def append(self, positions: Sequence[SearchedPosition]) -> None:
        """Adds positions at the end of the file."""
        lines = (json.dumps(position.to_json(), separators=(",", ":")) + "\n" for position in positions)
        self._file.write("".join(lines).encode())
        self._file.flush()
        os.fsync(self._file.fileno())  # The searches took hours.

    def _read(self, path: Path, network: str) -> None:
        text = self._file.read()
        whole = text[: text.rfind(b"\n") + 1]
        found = read_positions(whole, path.name, network)
        self.positions = list(found)
        self._file.seek(len(whole))
        self._file.truncate()


def read_positions(text: bytes, name: str, network: str | None = None) -> list[SearchedPosition]:
    """Returns the positions in the text of a file.

    name: of the file, for errors. network: what must have evaluated them; None for any.

    Raises:
        BookStateError: the text is not that of such a file.
    """
    lines = text.splitlines()
    header = _parse(lines[0]) if lines else None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise BookStateError(f"{name}: expected a file that begins with {FORMAT!r}, received {text[:60]!r}")
    if network is not None and header.get("network") != network:
        raise BookStateError(
            f"{name}: made with the network {header.get('network')}, received {network}; "
            "expected the same network or another file"
        )
    positions = []
    for number, line in enumerate(lines[1:], 2):
        try:
            positions.append(SearchedPosition.from_json(parse_json(line)))
        except (KeyError, TypeError, ValueError) as error:
            raise BookStateError(f"{name}, line {number}: expected a searched position: {error}") from error
    return positions


def _parse(line: bytes) -> Any:
    try:
        return parse_json(line)
    except ValueError:
        return None
