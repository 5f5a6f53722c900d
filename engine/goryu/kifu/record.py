"""A game as a record keeps it: start, moves, comments, times, variations, ending."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.games.shogi import START_SFEN

_DATE = re.compile(r"(\d{4})\D+(\d{1,2})\D+(\d{1,2})")


class RecordError(InputError):
    """A record that cannot be read; the message begins with the file and the line.

    name: the file as the caller named it; empty if unknown.
    line: counted from 1; None if the fault has no line.
    problem: the message without name and line.
    """

    def __init__(self, problem: str, name: str = "", line: int | None = None) -> None:
        place = name
        if line:
            place = tr("{name}:{line}", name=name, line=line) if name else tr("line {line}", line=line)
        super().__init__(tr("{place}: {problem}", place=place, problem=problem) if place else problem)
        self.problem, self.name, self.line = problem, name, line


class Ending(StrEnum):
    """Why a game ended. The value is plain English."""

    RESIGNATION = "resignation"
    CHECKMATE = "checkmate"
    DECLARATION = "declaration"
    TIME = "time"
    ILLEGAL_MOVE = "illegal move"
    PERPETUAL_CHECK = "perpetual check"
    REPETITION = "repetition"
    IMPASSE = "impasse"
    MAX_PLIES = "maximum ply"
    DRAW = "draw"
    FORFEIT = "forfeit"
    NO_MATE = "no mate"
    INTERRUPTED = "interrupted"
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class Ply:
    """A move in USI, the comment on it, and the seconds that the player took (None: not recorded)."""

    move: str
    comment: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Variation:
    """Moves that were not played (変化).

    ply: the number of the first move; it replaces the move of this number in the line that it branches from.
        The first move of a game is number 1.
    variations: those that branch from this one.
    """

    ply: int
    plies: tuple[Ply, ...]
    variations: tuple["Variation", ...] = ()


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game.

    start: the SFEN before the first move; in a handicap game white begins.
    names, ratings: of black and white (下手 and 上手); "" and None if unknown.
    winner: 0 black, 1 white, None for a draw, an interrupted game or an unknown result.
    end_seconds: that the last player took for an ending that is no move, such as a resignation.
    headers: all other facts by their KIF names, such as 棋戦, 開始日時, 持ち時間.
    comment: the text before the first move.
    """

    start: str = START_SFEN
    plies: tuple[Ply, ...] = ()
    names: tuple[str, str] = ("", "")
    ratings: tuple[float | None, float | None] = (None, None)
    ending: Ending = Ending.UNKNOWN
    winner: int | None = None
    end_seconds: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    variations: tuple[Variation, ...] = ()

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves played, in USI."""
        return tuple(ply.move for ply in self.plies)

    @property
    def date(self) -> str:
        """The day as 2026-11-26, or "" if the record does not say it."""
        for name in ("開始日時", "対局日", "対局日時", "終了日時"):
            if found := _DATE.search(self.headers.get(name, "")):
                year, month, day = map(int, found.groups())
                return f"{year:04}-{month:02}-{day:02}"
        return ""

    @property
    def title(self) -> str:
        """The players and the day, such as "▲甲 △乙 2026-11-26"; "" if the record names no player."""
        if not any(self.names):
            return ""
        black, white = self.names[0] or tr("Black"), self.names[1] or tr("White")
        return f"▲{black} △{white} {self.date}".strip()

    @property
    def turn(self) -> int:
        """The side to move at the start: 0 black, 1 white."""
        return "bw".index(self.start.split()[1])
