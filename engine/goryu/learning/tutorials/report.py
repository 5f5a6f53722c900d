"""What a run of `tools/learn.py` has found out, as JSON, as a table and as a picture.

The JSON is also how an interrupted run remembers what it has already measured.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from goryu.errors import GoryuError
from goryu.files import atomic_write

TABLES = ("correctness", "points", "corners")


class ReportError(GoryuError, ValueError):
    """The report of an earlier run cannot be read or continued."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """table: one of `TABLES`. name: who, or who against whom. error: standard error. theirs: the
    tutorial's number, if it has one. detail: the counts behind the value.
    """

    table: str
    name: str
    value: float
    error: float
    theirs: float | None = None
    detail: str = ""


@dataclass
class TutorialReport:
    """settings: what the command line asked for; a run goes on only with the same.

    stages: which groups of measurements are complete.
    training: seconds of each training. strength: (games of training, points, of what) for the plot.
    """

    settings: dict[str, Any]
    stages: list[str] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    training: dict[str, dict[str, float]] = field(default_factory=dict)
    strength: list[tuple[int, float, str]] = field(default_factory=list)

    def as_json(self) -> str:
        """Returns all numbers; `correctness`, `points` and `corners` are short forms of `measurements`."""
        tables: dict[str, dict[str, float]] = {table: {} for table in TABLES}
        for measurement in self.measurements:
            tables[measurement.table][measurement.name] = round(measurement.value, 4)
        document = {
            **self.settings,
            **tables,
            "stages": self.stages,
            "measurements": [asdict(measurement) for measurement in self.measurements],
            "training": self.training,
            "strength": self.strength,
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def write(self, path: Path) -> None:
        """Writes the report; a kill leaves the old one whole."""
        atomic_write(path, self.as_json())

    @classmethod
    def read(cls, path: Path, settings: dict[str, Any]) -> Self:
        """Returns the report of an earlier run, or an empty one if there is none.

        Raises ReportError if the file is no report, or if that run was asked for something else.
        """
        if not path.is_file():
            return cls(settings)
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            report = cls(
                {key: found[key] for key in settings},
                found["stages"],
                [Measurement(**measurement) for measurement in found["measurements"]],
                found["training"],
                [(games, points, what) for games, points, what in found["strength"]],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ReportError(f"{path}: expected the report of an earlier run ({error!r})") from error
        if report.settings != settings:
            raise ReportError(
                f"{path} belongs to a run with other settings: expected {settings}, found {report.settings}"
            )
        return report

    def plot(self, path: Path) -> None:
        """Draws strength against games of training; the ending of the file's name says how."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 5), layout="constrained")
        axes = figure.add_subplot()
        for what in unique(label for *_, label in self.strength):
            curve = [(games, points) for games, points, label in self.strength if label == what]
            axes.plot(*zip(*curve, strict=True), marker="o", label=what)
        axes.set(xlabel="games of training", ylabel="points a game", ylim=(0, 1.02))
        axes.set(title=str(self.settings["game"]))
        axes.legend()
        figure.savefig(path)


def unique(labels: Iterable[str]) -> list[str]:
    """Returns the labels without repetition, in order."""
    return list(dict.fromkeys(labels))
