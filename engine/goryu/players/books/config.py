"""How the user wants an opening book to be used: which file, and which of its moves."""

from dataclasses import dataclass
from pathlib import Path

from goryu.players.paths import file_stamp, named_file

NO_BOOK = "no_book"
"""YaneuraOu's name for the book that is none."""


@dataclass(frozen=True, slots=True)
class BookFile:
    """Which book is opened. path: as the user gave it; "" or "no_book" for none.

    folder: where a relative path is looked for first; "" for nowhere.
    ignores_ply: is a position known whatever its move number?
    is_wanted: false for no book, whatever the path.
    """

    path: str = ""
    folder: str = ""
    ignores_ply: bool = True
    is_wanted: bool = True

    @property
    def is_none(self) -> bool:
        """Is there to be no book?"""
        return not self.is_wanted or self.path in ("", NO_BOOK)

    def place(self) -> Path:
        """Returns where the file is; if it is nowhere, the path as it was given."""
        return named_file(self.path, self.folder)

    def stamp(self) -> tuple[int, int] | None:
        """Returns what changes with the file's content (`file_stamp`), or None without one."""
        return file_stamp(self.place())


@dataclass(frozen=True, slots=True)
class BookConfig:
    """How a book is used; centipawns from the side to move. A move without evaluation or depth passes.

    max_ply: the last move number at which the book is asked.
    ignore_rate: the share of games, in [0, 1], in which the book is not asked at all.
    plays_best: never leave the choice to chance.
    draws_by_count: draw moves in proportion to their counts instead of evenly.
    is_narrow: leave out moves that were played in less than a tenth of the games.
    least_depth: the best move's, or the book is not asked; 0 for any.
    most_worse_cp: than the best move.
    least_cp, least_cp_black, least_cp_white: of a move of any colour, of black, of white.
    flips: look for the position with the board turned round too.
    pv_moves: how many moves of the book are shown.
    """

    max_ply: int = 16
    ignore_rate: float = 0.0
    plays_best: bool = False
    draws_by_count: bool = False
    is_narrow: bool = False
    least_depth: int = 16
    most_worse_cp: int = 30
    least_cp: int = -3000
    least_cp_black: int = 0
    least_cp_white: int = -140
    flips: bool = True
    pv_moves: int = 8
