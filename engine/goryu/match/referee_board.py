"""The referee's board, by one of two independent libraries: rsshogi or cshogi.

A move is legal if it is in the list of legal moves. The referee does not use cshogi's own test of a single
move: it accepts promotions outside the promotion zone.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

from goryu.base.errors import GoryuError
from goryu.base.installation import how_to_install
from goryu.games.shogi import START_SFEN


class BoardError(GoryuError, ValueError):
    """A position that cannot be set up, or a library that is not installed."""


class RefereeBoard(Protocol):
    """A game in progress; moves are USI strings, and `push` needs a legal one."""

    def legal_moves(self) -> list[str]:
        """Returns the legal moves, pointless non-promotions included."""
        ...

    def push(self, move: str) -> None:
        """Plays a legal move."""
        ...

    def is_check(self) -> bool:
        """Is the side to move in check?"""
        ...

    def sfen(self) -> str:
        """Returns the position in SFEN, with the move number."""
        ...


class RsshogiBoard:
    """The rules by rsshogi."""

    def __init__(self, sfen: str) -> None:
        core = import_module("rsshogi.core")
        self._board = core.Board(sfen)
        if not (report := self._board.validate_all()).is_valid():
            raise ValueError("; ".join(issue.message for issue in report.issues))

    def legal_moves(self) -> list[str]:
        """Returns the legal moves, pointless non-promotions included."""
        return [move.to_usi() for move in self._board.legal_moves()]

    def push(self, move: str) -> None:
        """Plays a legal move."""
        self._board.push_usi(move)

    def is_check(self) -> bool:
        """Is the side to move in check?"""
        return bool(self._board.is_in_check())

    def sfen(self) -> str:
        """Returns the position in SFEN, with the move number."""
        return str(self._board.to_sfen())


class CshogiBoard:
    """The rules by cshogi."""

    def __init__(self, sfen: str) -> None:
        self._cshogi: Any = import_module("cshogi")
        self._board = self._cshogi.Board(sfen)

    def legal_moves(self) -> list[str]:
        """Returns the legal moves, pointless non-promotions included."""
        return [self._cshogi.move_to_usi(move) for move in self._board.legal_moves]

    def push(self, move: str) -> None:
        """Plays a legal move."""
        self._board.push_usi(move)

    def is_check(self) -> bool:
        """Is the side to move in check?"""
        return bool(self._board.is_check())

    def sfen(self) -> str:
        """Returns the position in SFEN, with the move number."""
        return str(self._board.sfen())


LIBRARIES: dict[str, Callable[[str], RefereeBoard]] = {"rsshogi": RsshogiBoard, "cshogi": CshogiBoard}


def open_board(library: str, start: str) -> RefereeBoard:
    """Sets up a game with the named library.

    start: `startpos`, or `sfen` and an SFEN, as in a USI `position` command without moves.
    """
    sfen = START_SFEN if start == "startpos" else start.removeprefix("sfen ")
    try:
        return LIBRARIES[library](sfen)
    except ImportError as error:
        advice = how_to_install("tools")
        raise BoardError(f"the referee needs the package {library} ({error}): {advice}") from error
    except (ValueError, RuntimeError) as error:
        raise BoardError(f"position {start!r}: expected startpos or a legal SFEN ({error})") from error
