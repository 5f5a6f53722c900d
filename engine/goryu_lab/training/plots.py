"""Plots the log of a training run: losses and accuracies against samples."""

import json
from collections import defaultdict
from pathlib import Path

from matplotlib.figure import Figure

PANELS = (
    ("policy_loss", "policy loss (nats)"),
    ("policy_top1", "first choice is the teacher's"),
    ("value_loss", "value loss (nats)"),
    ("sign_accuracy", "value favours the winner"),
)

COLOURS = 10
"""Colours in matplotlib's default cycle; further curves are dashed."""


def plot_run(log: Path, picture: Path) -> None:
    """Plots the held-out measurements of a `log.jsonl`, a curve for each source, and the training losses.

    The suffix of `picture` chooses the format. Needs matplotlib (extra [train]). The training policy loss is
    higher than the held-out one because its targets are smoothed. A source without decided games has no curve
    of the accuracy of the value.
    """
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    sources = [source for entry in entries for source in entry["held_out"]]  # Resumed runs may have others.
    labels = ["training", *dict.fromkeys(sources)]
    figure = Figure(figsize=(12, 7), layout="constrained")
    for axes, (name, title) in zip(figure.subplots(2, 2).flat, PANELS, strict=True):
        curves: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for entry in entries:
            if name in entry:
                curves["training"].append((entry["samples"], entry[name]))
            for source, measures in entry["held_out"].items():
                if measures[name] > 0.0:
                    curves[source].append((entry["samples"], measures[name]))
        for label, points in curves.items():
            number = labels.index(label)
            line = "-" if number < COLOURS else "--"
            axes.plot(*zip(*points, strict=True), line, marker=".", label=label, color=f"C{number}")
        axes.set(title=title, xlabel="samples")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), fontsize="small", loc="outside right upper")
    figure.suptitle(log.parent.name)
    figure.savefig(picture)
