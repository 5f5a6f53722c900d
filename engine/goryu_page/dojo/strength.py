"""How strong the user is: what the user says of it, moved by the results against the levels of Goryu.

A rating is on the scale of the levels. A game moves it as in Elo's system, the first games more than later
ones. Which grade (級, 段) has which rating is a guess, which the results correct.
"""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.players.levels.levels import level_by_elo
from goryu_page.dojo.database import Database
from goryu_page.fields import converted

KEY = "strength"
"""The key of the setting."""

GRADES = {
    "beginner": 600.0,
    "10k": 1100.0,
    "7k": 1350.0,
    "5k": 1550.0,
    "3k": 1750.0,
    "1k": 1950.0,
    "1d": 2050.0,
    "2d": 2200.0,
    "3d": 2350.0,
    "4d": 2550.0,
}
"""The rating of each grade: kyu and dan of amateurs."""

UNKNOWN = 1300.0
"""The rating of a user of whom nothing is known."""

FIRST_STEP, LEAST_STEP, HALVED_AFTER = 120.0, 40.0, 5
"""How far a game moves the rating at most: the first, later ones, and after how many games half as far."""

LENGTHS = ((900.0, (1, 3)), (1500.0, (1, 5)), (2000.0, (3, 7)), (2300.0, (5, 9)))
"""The shortest and the longest mate problem below each rating."""

LONGEST_TSUME = 13
"""Plies of a mate problem of the user's games or of the list, at most."""

LONGEST = (5, LONGEST_TSUME)
"""The same above all of them."""


class Strength(Struct, frozen=True):
    """rating: on the scale of the levels. games: that have moved it."""

    rating: Annotated[float, Meta(ge=-1000, le=5000)] = UNKNOWN
    games: Annotated[int, Meta(ge=0)] = 0

    @property
    def grade(self) -> str:
        """The grade with the nearest rating."""
        return min(GRADES, key=lambda grade: abs(GRADES[grade] - self.rating))

    @property
    def level(self) -> int:
        """The level of Goryu that is a match for the user."""
        return level_by_elo(round(self.rating)).number

    @property
    def tsume(self) -> tuple[int, int]:
        """The plies of the shortest and the longest mate problem that is new in the list of the day."""
        return next((lengths for below, lengths in LENGTHS if self.rating < below), LONGEST)

    def after(self, opponent: float, score: float) -> "Strength":
        """Returns the strength after a game. opponent: its rating. score: 1, 0, or 0.5 for a draw."""
        expected = 1 / (1 + 10 ** ((opponent - self.rating) / 400))
        step = max(LEAST_STEP, FIRST_STEP / (1 + self.games / HALVED_AFTER))
        return Strength(self.rating + step * (score - expected), self.games + 1)


def strength(database: Database) -> Strength | None:
    """Returns the user's strength; None before the user has named it and before the first result."""
    kept = database.setting(KEY, None)
    return None if kept is None else converted(kept, Strength)


def set_grade(database: Database, grade: str) -> None:
    """Keeps what the user says; raises InputError for an unknown grade."""
    if grade not in GRADES:
        raise InputError(tr("grade: expected one of {grades}", grades=", ".join(GRADES)))
    database.set_setting(KEY, asdict(Strength(GRADES[grade])))


def count_result(database: Database, opponent: float, score: float) -> None:
    """Moves the rating by a game against a level; see `Strength.after`."""
    with database.transaction():
        before = strength(database) or Strength()
        database.set_setting(KEY, asdict(before.after(opponent, score)))
