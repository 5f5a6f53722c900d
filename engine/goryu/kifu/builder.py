"""Builds a game from the lines of a record: plays every move on a board, and goes back for variations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from goryu.base.errors import GoryuError
from goryu.base.language import tr
from goryu.base.printable import printable
from goryu.games.shogi import IllegalMoveError, SfenError, move_to_usi
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.kifu.record import Ending, GameRecord, Ply, RecordError, Variation

MAX_DEPTH = 100
"""Variations may branch from variations this often."""

MAX_SECONDS = 1e9
"""A move may take less than this, 31 years; more comes from damaged files."""

MAX_PLIES = 20_000
"""A record may have this many moves, those of variations included."""

LOSERS = frozenset({Ending.RESIGNATION, Ending.CHECKMATE, Ending.TIME, Ending.ILLEGAL_MOVE, Ending.FORFEIT})
"""The endings that the side to move loses."""


@dataclass
class _Ply:
    move: str
    comments: list[str] = field(default_factory=list)
    seconds: float | None = None


@dataclass
class _Line:
    """The moves of the game (parent None) or of a variation."""

    parent: "_Line | None"
    first: int
    depth: int = 0
    plies: list[_Ply] = field(default_factory=list)
    children: list["_Line"] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)  # Before the first move.


class GameBuilder:
    """A game that grows move by move; the methods raise RecordError.

    line_number: of the record, for error messages; the caller keeps it up to date.
    """

    def __init__(self, start: str, name: str = "", line_number: int | None = None) -> None:
        self.name, self.line_number = name, line_number
        try:
            self.board = Board(start)
        except SfenError as error:
            raise self.error(tr("the start position: {error}", error=error.translated())) from None
        self._start = self.board.sfen()
        self._main = self._line = _Line(None, 1)
        self._lines = [self._main]
        self._moves = 0
        self.ending, self.winner = Ending.UNKNOWN, None  # type: tuple[Ending, int | None]
        self._end_seconds: float | None = None

    @property
    def is_main(self) -> bool:
        """Are the moves those of the game, not those of a variation?"""
        return self._line is self._main

    @property
    def ply(self) -> int:
        """The number of the next move, counted from 1."""
        return self._line.first + len(self._line.plies)

    def error(self, problem: str) -> RecordError:
        """Returns an error that names the file and the line."""
        return RecordError(problem, self.name, self.line_number)

    def play(self, parse: Callable[[Board], Move]) -> None:
        """Plays the move that `parse` finds on the board."""
        try:
            move = parse(self.board)
            if not self.board.is_legal(move):
                raise IllegalMoveError(tr("{move!r} is not legal", move=move_to_usi(move)))
        except RecordError:
            raise
        except GoryuError as error:
            raise self.error(tr("move {ply}: {error}", ply=self.ply, error=error.translated())) from None
        if self._moves == MAX_PLIES:
            raise self.error(tr("expected at most {count} moves", count=MAX_PLIES))
        self._moves += 1
        self.board.push(move)
        # A variation has no comment of its own: one before its first move goes to this move.
        takes_comments = not (self.is_main or self._line.plies)
        self._line.plies.append(_Ply(move_to_usi(move), self._line.comments if takes_comments else []))

    def comment(self, text: str) -> None:
        """Adds a line to the comment on the last move, or to that before the first move."""
        comments = self._line.plies[-1].comments if self._line.plies else self._line.comments
        comments.append(printable(text))

    def seconds(self, seconds: float, *, is_of_end: bool = False) -> None:
        """Sets the time of the last move or the end; raises RecordError if no game can last so long."""
        if not 0 <= seconds < MAX_SECONDS:
            raise self.error(tr("expected a time of a move, received {text!r}", text=f"{seconds:g} s"))
        if is_of_end and self.is_main:
            self._end_seconds = seconds
        elif self._line.plies and not is_of_end:
            self._line.plies[-1].seconds = seconds

    def branch(self, ply: int) -> None:
        """Goes back to before move `ply` of the current line, for a variation."""
        if not 1 <= ply <= self.ply:
            raise self.error(
                tr(
                    "a variation of move {ply}, but the line before it has moves 1 to {last}",
                    ply=ply,
                    last=self.ply - 1,
                )
            )
        line = self._line
        while line.parent is not None and line.first >= ply:
            line = line.parent
        if line.depth == MAX_DEPTH:
            raise self.error(
                tr("expected variations within variations at most {depth} deep", depth=MAX_DEPTH)
            )
        while len(self.board.move_stack) >= ply:
            self.board.pop()
        self._line = _Line(line, ply, line.depth + 1)
        line.children.append(self._line)
        self._lines.append(self._line)

    def end(self, ending: Ending, winner: int | None = None) -> None:
        """Ends the game; without a winner, the side to move has lost if such an ending means that."""
        if not self.is_main:
            return
        self.ending = ending
        if winner is None and ending in LOSERS:
            winner = 1 - self.board.turn
        if winner is None and ending is Ending.DECLARATION:
            winner = self.board.turn
        self.winner = winner

    def finish(
        self,
        names: tuple[str, str] = ("", ""),
        ratings: tuple[float | None, float | None] = (None, None),
        headers: Mapping[str, str] | None = None,
    ) -> GameRecord:
        """Returns the game. Its texts have escapes for control characters, which could steer a terminal."""
        frozen: dict[int, Variation] = {}
        for line in reversed(self._lines[1:]):  # A line comes after the one that it branches from.
            frozen[id(line)] = Variation(line.first, _plies(line), _children(line, frozen))
        return GameRecord(
            start=self._start,
            plies=_plies(self._main),
            names=(printable(names[0]), printable(names[1])),
            ratings=ratings,
            ending=self.ending,
            winner=self.winner,
            end_seconds=self._end_seconds,
            headers={printable(key): printable(value) for key, value in (headers or {}).items()},
            comment="\n".join(self._main.comments),
            variations=_children(self._main, frozen),
        )


def _plies(line: _Line) -> tuple[Ply, ...]:
    return tuple(Ply(ply.move, "\n".join(ply.comments), ply.seconds) for ply in line.plies)


def _children(line: _Line, frozen: Mapping[int, Variation]) -> tuple[Variation, ...]:
    """Returns the variations of a line in the order of their first moves."""
    children = [frozen[id(child)] for child in line.children if child.plies]
    return tuple(sorted(children, key=lambda variation: variation.ply))
