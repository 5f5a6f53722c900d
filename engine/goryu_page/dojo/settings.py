"""How the user trains, kept in the database as one JSON value."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict

from goryu_page.dojo.database import Database
from goryu_page.dojo.problems import ProblemKind
from goryu_page.dojo.strength import LONGEST_TSUME, Strength, strength
from goryu_page.fields import converted

KEY = "training"

Plies = Annotated[int, Meta(ge=1, le=LONGEST_TSUME)]


class TrainingSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of the training.

    is_scheduled: is there a list for each day? unit, amount: its end, after so many "problems" or "minutes".
    kinds: of the problems that are new in the list; those that are due come whatever their kind.
    shortest_tsume, longest_tsume: plies of the mate problems that are new in the list; None: those of the
        user's strength.
    is_checking: are candidates checked in the background? playouts: of a check.
    threshold: win rate, in [0, 1], that a move must lose to be wrong.
    most_answers: a problem with more right answers is not asked.
    """

    is_scheduled: bool = True
    unit: Literal["problems", "minutes"] = "problems"
    amount: Annotated[int, Meta(ge=1, le=500)] = 10
    kinds: tuple[ProblemKind, ...] = tuple(ProblemKind)
    shortest_tsume: Plies | None = None
    longest_tsume: Plies | None = None
    is_checking: bool = True
    playouts: Annotated[int, Meta(ge=100, le=1_000_000)] = 20_000
    threshold: Annotated[float, Meta(ge=0.02, le=0.5)] = 0.10
    most_answers: Annotated[int, Meta(ge=1, le=10)] = 3


def training_settings(database: Database) -> TrainingSettings:
    """Returns the settings; those never set have their defaults."""
    return converted(database.setting(KEY, {}), TrainingSettings)


def tsume_lengths(database: Database) -> tuple[int, int]:
    """Returns the plies of the shortest and the longest mate problem that is new in the list."""
    settings = training_settings(database)
    shortest, longest = (strength(database) or Strength()).tsume
    least = settings.shortest_tsume or shortest
    return least, max(least, settings.longest_tsume or longest)


def change_training_settings(database: Database, changes: dict[str, Any]) -> TrainingSettings:
    """Sets some of the settings and returns all; raises FieldError for one that makes no sense."""
    with database.transaction():
        settings = converted(asdict(training_settings(database)) | changes, TrainingSettings)
        database.set_setting(KEY, asdict(settings))
    return settings
