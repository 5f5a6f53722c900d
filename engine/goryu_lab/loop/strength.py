"""The strength of the champions of a run against time, from its log.

The Elo of a champion is the sum of the differences of the matches by which it and its predecessors were
promoted; candidate 0 has 0. The errors are those of the matches, added as independent ones.

Weakness: a match that ended as soon as it was clear overrates the winner a little, and so does a sum of
matches that were won. A match of the last champion against the first one is the proof.
"""

from dataclasses import dataclass
from math import hypot
from pathlib import Path

from goryu_lab.records.json_lines import read_lines


@dataclass(frozen=True, slots=True)
class Champion:
    """A point of the curve. seconds: of the run. elo: above candidate 0; error: half of its 95 % interval."""

    number: int
    seconds: float
    elo: float
    error: float


def champions(log: Path) -> list[Champion]:
    """Returns the champions of a run so far, the first one at 0 seconds."""
    found = [Champion(0, 0.0, 0.0, 0.0)]
    for entry in read_lines(log):
        if entry["event"] == "verdict" and entry["promoted"] and "elo" in entry:
            elo, error = found[-1].elo + entry["elo"], hypot(found[-1].error, entry["error"])
            found.append(Champion(entry["candidate"], entry["seconds"], elo, error))
    return found


def plot_strength(log: Path, picture: Path) -> None:
    """Plots the champions with error bars, and the losses of the candidates, against time.

    The suffix of `picture` chooses the format. Needs matplotlib (extra [train]).
    """
    from matplotlib.figure import Figure

    curve = champions(log)
    trained = [entry for entry in read_lines(log) if entry["event"] == "trained"]
    figure = Figure(figsize=(9, 7), layout="constrained")
    strength, losses = figure.subplots(2, 1, sharex=True)
    minutes = [champion.seconds / 60 for champion in curve]
    strength.errorbar(
        minutes,
        [c.elo for c in curve],
        [c.error for c in curve],
        marker="o",
        capsize=3,
        drawstyle="steps-post",
    )
    for champion in curve:
        strength.annotate(f" {champion.number}", (champion.seconds / 60, champion.elo), va="bottom")
    strength.set(title="champions", ylabel="Elo above candidate 0")
    for name in ("policy_loss", "value_loss"):
        points = [(entry["seconds"] / 60, entry[name]) for entry in trained if name in entry]
        if points:
            losses.plot(*zip(*points, strict=True), marker=".", label=name.replace("_", " "))
    losses.set(title="training", xlabel="minutes", ylabel="loss")
    if trained:
        losses.legend()
    figure.savefig(picture)
