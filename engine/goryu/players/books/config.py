"""The config of an opening book: which file, and which of its moves are played."""

import os
from dataclasses import dataclass
from pathlib import Path

from goryu.evaluators.network.model_files import models_folder
from goryu.players.set_up.paths import file_stamp, named_file

NO_BOOK = "no_book"
"""YaneuraOu's name for playing without a book."""

OWN_BOOK = "goryu.db"
"""Goryu's own book, in the folder of the models."""

SEPARATOR = ";"
"""Between the paths of several books."""

VARIABLE = "GORYU_BOOK"
"""The environment variable: "off" for no book of our own where none is named, as in matches."""


@dataclass(frozen=True, slots=True)
class BookFile:
    """The book to open, or several. path: as the user gave it; "" for Goryu's own, "no_book" for none.

    Several paths are separated by `;`. The first book that has a position answers there.

    folder: the first place to search for a relative path; "" for none.
    is_wanted: false for no book, whatever the path.
    """

    path: str = ""
    folder: str = ""
    is_wanted: bool = True

    @property
    def is_none(self) -> bool:
        """Does the user want no book?"""
        is_off = self.is_own and os.environ.get(VARIABLE, "") == "off"
        return not self.is_wanted or self.path == NO_BOOK or is_off

    @property
    def is_own(self) -> bool:
        """Did the user name no book, so that Goryu's own one may be used?"""
        return not self.path

    def find(self) -> list[Path]:
        """Returns the paths of the files; of one that does not exist, the path as it was given."""
        if self.is_own:
            return [models_folder() / OWN_BOOK]
        whole = named_file(self.path, self.folder, models_folder())
        names = [self.path] if whole.is_file() else self.path.split(SEPARATOR)
        return [named_file(name.strip(), self.folder, models_folder()) for name in names if name.strip()]

    def stamp(self) -> list[tuple[int, int] | None]:
        """Returns a stamp of each file's content (`file_stamp`), or None in place of one without a file."""
        return [file_stamp(path) for path in self.find()]


@dataclass(frozen=True, slots=True)
class BookConfig:
    """Which of a book's moves are played; centipawns are for the side to move.

    A move without an evaluation or a depth passes every limit on it.

    max_ply: the last move number at which the book is used.
    ignore_rate: the share of games, in [0, 1], played without the book.
    plays_best: always play the best move; else draw one at random.
    draws_by_count: draw in proportion to the counts; else evenly.
    is_narrow: leave out moves that were played in less than a tenth of the games.
    least_depth: the book is used only if its best move was searched this deep; 0 for any depth.
    most_worse_cp: leave out moves that are worse than the best one by more.
    least_cp, least_cp_black, least_cp_white: leave out worse moves: of either side, of black, of white.
    flips: also look up the rotated position with the colours exchanged.
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
