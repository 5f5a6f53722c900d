"""The results of a run of `goryu learn`, as JSON and as a picture.

An interrupted run resumes from the JSON.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from goryu.base.errors import GoryuError
from goryu.base.files import atomic_write
from goryu.base.strict_json import parse_json

TABLES = ("correctness", "points")


class ReportError(GoryuError, ValueError):
    """The report of an earlier run cannot be read or continued."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measured number.

    table: one of `TABLES`. name: the player, or the players of a match. error: standard error.
    theirs: the number in the AlphaZero tutorials, if they have it. detail: the counts behind the value.
    """

    table: str
    name: str
    value: float
    error: float
    theirs: float | None = None
    detail: str = ""


@dataclass
class TutorialReport:
    """The results of a run so far.

    options: of the command line; a run resumes only with the same options.
    stages: the groups of measurements that are complete.
    training: seconds of each training. strength: (games of training, points, label) for the plot.
    """

    options: dict[str, Any]
    stages: list[str] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    training: dict[str, dict[str, float]] = field(default_factory=dict)
    strength: list[tuple[int, float, str]] = field(default_factory=list)

    def as_json(self) -> str:
        """Returns all numbers; `correctness` and `points` are short forms of `measurements`."""
        tables: dict[str, dict[str, float]] = {table: {} for table in TABLES}
        for measurement in self.measurements:
            tables[measurement.table][measurement.name] = round(measurement.value, 4)
        document = {
            **self.options,
            **tables,
            "stages": self.stages,
            "measurements": [asdict(measurement) for measurement in self.measurements],
            "training": self.training,
            "strength": self.strength,
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def write(self, path: Path) -> None:
        """Writes the report; after a kill the file holds the old one or the new one."""
        atomic_write(path, self.as_json())

    @classmethod
    def read(cls, path: Path, options: dict[str, Any]) -> Self:
        """Returns the report of an earlier run, or an empty one if there is none.

        Raises ReportError if the file is no report or the report of a run with other options.
        """
        if not path.is_file():
            return cls(options)
        try:
            found = parse_json(path.read_text(encoding="utf-8"))
            report = cls(
                {key: found[key] for key in options},
                found["stages"],
                [Measurement(**measurement) for measurement in found["measurements"]],
                found["training"],
                [(games, points, what) for games, points, what in found["strength"]],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ReportError(f"{path}: expected the report of an earlier run ({error!r})") from error
        if report.options != options:
            had = ", ".join(
                f"{key} {report.options[key]} in place of {value}"
                for key, value in options.items()
                if report.options[key] != value
            )
            raise ReportError(f"{path} belongs to a run with other options: {had}")
        return report

    def plot(self, path: Path) -> None:
        """Draws strength against games of training; the suffix of the path chooses the format."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 5), layout="constrained")
        axes = figure.add_subplot()
        for what in unique(label for *_, label in self.strength):
            curve = [(games, points) for games, points, label in self.strength if label == what]
            axes.plot(*zip(*curve, strict=True), marker="o", label=what)
        axes.set(xlabel="games of training", ylabel="points a game", ylim=(0, 1.02))
        axes.set(title=str(self.options["game"]))
        axes.legend()
        figure.savefig(path)


def unique(labels: Iterable[str]) -> list[str]:
    """Returns the labels without repetition, in order."""
    return list(dict.fromkeys(labels))
