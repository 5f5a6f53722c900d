"""Reads opening files: one position on each line, comments after `#`.

A line is `startpos moves ...`, `sfen ... moves ...` or a bare SFEN.
"""

from dataclasses import dataclass
from pathlib import Path

from goryu.base.errors import GoryuError
from goryu.games.shogi import START_SFEN
from goryu_lab.match.referee import Referee
from goryu_lab.match.referee_board import BoardError


class OpeningError(GoryuError, ValueError):
    """A line that is not an opening."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The start of a game: `startpos` or `sfen <SFEN>`, and moves from there in USI."""

    start: str = "startpos"
    moves: tuple[str, ...] = ()

    @property
    def sfen(self) -> str:
        """The SFEN of the start."""
        return START_SFEN if self.start == "startpos" else self.start.removeprefix("sfen ")

    def __str__(self) -> str:
        return " ".join([self.start, *(["moves", *self.moves] if self.moves else [])])


DEFAULT_OPENINGS = tuple(
    Opening(moves=tuple(line.split()))
    for line in (
        "7g7f 3c3d 2g2f 4c4d",
        "7g7f 8c8d 6g6f 3c3d",
        "2g2f 8c8d 2f2e 8d8e",
        "7g7f 3c3d 6g6f 8c8d",
        "7g7f 8c8d 7i6h 3c3d",
        "2g2f 3c3d 7g7f 4c4d",
        "7g7f 3c3d 7f7e 8c8d",
        "5g5f 3c3d 2h5h 8c8d",
        "7g7f 3c3d 2g2f 8c8d",
        "2g2f 8c8d 7g7f 4a3b",
    )
)
"""Ten common openings, for a short match without a file."""


def parse_opening(line: str) -> Opening:
    """Returns the opening of a line; the game must not be over then."""
    text = line.strip().removeprefix("position ")
    start, _, moves = text.partition(" moves")
    start = " ".join(start.split())
    if start != "startpos":
        start = "sfen " + start.removeprefix("sfen ")
    try:
        referee = Referee(start)
    except BoardError as error:
        raise OpeningError(f"opening {line!r}: {error}") from error
    if start != "startpos":  # In the referee's own form: it reads SFENs that some engines do not.
        number = start.split()[4:]
        if len(number) > 1:
            raise OpeningError(f"opening {line!r}: expected `moves` or the end after the move number")
        start = " ".join(["sfen", referee.key, *number])
    opening = Opening(start, tuple(moves.split()))
    end = referee.verdict()
    for move in opening.moves:
        end = end or referee.play(move)
    if end:
        raise OpeningError(f"opening {line!r}: expected a game that goes on, but: {end.reason} {end.detail}")
    return opening


def read_openings(path: Path) -> list[Opening]:
    """Returns the openings of a file; skips comments and empty lines."""
    try:
        text = path.read_text("utf-8-sig")  # Editors on Windows begin a file with a byte order mark.
    except UnicodeDecodeError as error:
        raise OpeningError(f"{path}: expected UTF-8: {error}") from error
    openings = []
    for number, line in enumerate(text.splitlines(), 1):
        if opening := line.partition("#")[0].strip():
            try:
                openings.append(parse_opening(opening))
            except OpeningError as error:
                raise OpeningError(f"{path}:{number}: {error}") from error
    if not openings:
        raise OpeningError(f"{path}: expected at least one line such as 'startpos moves 7g7f'")
    return openings
