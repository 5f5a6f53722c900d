"""The referee's board, by the independent library rsshogi."""

from importlib import import_module

from goryu.base.errors import GoryuError
from goryu.base.installation import how_to_install
from goryu.games.shogi import START_SFEN


class BoardError(GoryuError, ValueError):
    """A position that cannot be set up, or the library is not installed."""


class RefereeBoard:
    """A game in progress; moves are USI strings, and `push` needs a legal one."""

    def __init__(self, start: str) -> None:
        """start: `startpos`, or `sfen` and an SFEN, as in a USI `position` command without moves."""
        sfen = START_SFEN if start == "startpos" else start.removeprefix("sfen ")
        try:
            self._board = import_module("rsshogi.core").Board(sfen)
            if not (report := self._board.validate_all()).is_valid():
                raise ValueError("; ".join(issue.message for issue in report.issues))
        except ImportError as error:
            raise BoardError(f"the referee needs rsshogi ({error}): {how_to_install('tools')}") from error
        except (ValueError, RuntimeError) as error:
            raise BoardError(f"position {start!r}: expected startpos or a legal SFEN ({error})") from error

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
