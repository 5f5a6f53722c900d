"""How the user trains, kept in the database as one JSON value."""

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu_page.dojo.database import Database

KEY = "training"


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """The settings of the training.

    is_scheduled: is there a list for each day? unit, amount: its end, after so many "problems" or "minutes".
    kinds: of the problems that are new in the list; those that are due come whatever their kind.
    longest_tsume: plies of the mate problems that are new in the list, at most.
    is_checking: are candidates checked in the background? playouts: of a check.
    threshold: win rate, in [0, 1], that a move must lose to be wrong.
    most_answers: a problem with more right answers is not asked.
    """

    is_scheduled: bool = True
    unit: str = "problems"
    amount: int = 10
    kinds: tuple[str, ...] = ("mistake", "unpunished", "mate", "only", "tsume", "opening", "imported")
    longest_tsume: int = 5
    is_checking: bool = True
    playouts: int = 20_000
    threshold: float = 0.10
    most_answers: int = 3


_RANGES: dict[str, tuple[float, float]] = {
    "amount": (1, 500),
    "longest_tsume": (1, 13),
    "playouts": (100, 1_000_000),
    "threshold": (0.02, 0.5),
    "most_answers": (1, 10),
}


def training_settings(database: Database) -> TrainingSettings:
    """Returns the settings; those never set have their defaults."""
    kept = database.setting(KEY, {})
    if "kinds" in kept:
        kept["kinds"] = tuple(kept["kinds"])
    return replace(TrainingSettings(), **kept)


def change_training_settings(database: Database, changes: dict[str, Any]) -> TrainingSettings:
    """Sets some of the settings and returns all; raises InputError for one that makes no sense."""
    known = {field.name for field in fields(TrainingSettings)}
    if unknown := sorted(set(changes) - known):
        raise InputError(tr("there is no setting {name}", name=unknown[0]))
    with database.transaction():
        old = training_settings(database)
        for name, value in changes.items():
            if not _is_valid(name, value, getattr(old, name)):
                raise InputError(tr("the setting {name} cannot be {value}", name=name, value=str(value)[:80]))
        new = replace(old, **changes | ({"kinds": tuple(changes["kinds"])} if "kinds" in changes else {}))
        database.set_setting(KEY, asdict(new))
    return new


def _is_valid(name: str, value: Any, old: Any) -> bool:
    if isinstance(old, bool):
        return isinstance(value, bool)
    if name == "unit":
        return value in ("problems", "minutes")
    if name == "kinds":
        known = TrainingSettings().kinds
        return isinstance(value, list | tuple) and all(kind in known for kind in value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or (isinstance(old, int) and not isinstance(value, int)):
        return False
    least, most = _RANGES[name]
    return bool(least <= value <= most)
