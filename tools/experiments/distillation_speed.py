r"""Compares the speed of training with a teacher and with stored labels, on the same games, by turns.

    goryu selfplay play --device cpu --model goryu-5x64.onnx --temperature 0.6 --cheap-playouts 0 \
        --full-playouts 0 --random-plies 0 4 --mate-nodes 0 --openings tools/openings/balanced.txt \
        --games 100 --out drawn.games
    goryu selfplay reanalyse drawn.games --model miniosl.onnx --playouts 0 --out labelled.games
    python3 tools/dev.py distillation-speed labelled.games --teacher miniosl.onnx

The table has positions a second, by the wall clock and by the CPU time of all threads: medians of the rounds.
"host" is what a GPU waits for, on one thread: planes and targets from stored labels, or bits. "step" is a
whole step of the trainer on the CPU, where the teacher's work is a part of it.
"""

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

from goryu.players.set_up.model_path import named_model
from goryu_lab.training.batch_loader import Positions
from goryu_lab.training.config import TrainingConfig
from goryu_lab.training.dataset import draws, load_datasets, make_batch
from goryu_lab.training.device_network import DeviceNetwork
from goryu_lab.training.distillation import DistilledPositions
from goryu_lab.training.game_positions import STUDENT, load_games
from goryu_lab.training.losses import uses_bfloat16
from goryu_lab.training.sources import Source
from goryu_lab.training.train import train

SCALE = 600.0
"""Of the scores; it changes no speed."""

WARM_UP = 2
"""Steps of a turn that are not counted."""


@dataclass(slots=True)
class Rates:
    """Positions a second of each turn, by the wall clock and by CPU time."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, positions: int, start: tuple[float, float]) -> None:
        """Adds a turn that began at `start`."""
        self.wall.append(positions / (perf_counter() - start[0]))
        self.cpu.append(positions / (process_time() - start[1]))


def main() -> None:
    """Runs the command line."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("games", type=Path, help="with stored labels")
    parser.add_argument("--teacher", type=named_model, required=True)
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5, help="of a turn, of 256 positions")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    config = TrainingConfig(
        args.blocks, args.channels, steps=WARM_UP + args.steps, threads=args.threads, evaluations=1
    )
    teacher = DeviceNetwork(args.teacher, in_halves=uses_bfloat16(config))
    stored, _ = load_datasets([Source(args.games, SCALE)], 0.0, 0)
    games, _ = load_games([Source(args.games)], 0.0, 0)
    hosts: dict[str, Callable[[Any], object]] = {
        "stored labels": lambda content: make_batch(stored, *content),
        "teacher": lambda content: games.write(content[0], [STUDENT, teacher.format]),
    }
    trained: dict[str, Positions] = {"stored labels": stored, "teacher": DistilledPositions(games, teacher)}
    found = {(name, part): Rates() for name in hosts for part in ("host", "step")}
    for turn in range(args.rounds):
        for name in hosts:
            contents = draws(len(games), config.batch_size, np.random.default_rng(turn))
            start = perf_counter(), process_time()
            for content in islice(contents, args.steps):
                hosts[name](content)
            found[name, "host"].add(args.steps * config.batch_size, start)
            time_steps(config, trained[name], found[name, "step"])
        print(f"turn {turn + 1} of {args.rounds}", {key: rates.cpu[-1] for key, rates in found.items()})
    print("| | | wall | CPU |\n|---|---|--:|--:|")
    for (name, part), rates in found.items():
        print(f"| {name} | {part} | {median(rates.wall):,.0f} | {median(rates.cpu):,.0f} |")


def time_steps(config: TrainingConfig, positions: Positions, rates: Rates) -> None:
    """Adds a turn of the trainer."""
    start = 0.0, 0.0

    def report(entry: dict[str, Any]) -> None:
        nonlocal start
        if "held_out" not in entry and entry["step"] == WARM_UP:
            start = perf_counter(), process_time()
        elif "held_out" not in entry and entry["step"] == config.steps:
            rates.add((config.steps - WARM_UP) * config.batch_size, start)

    with tempfile.TemporaryDirectory() as folder:
        train(config, positions, {}, Path(folder), report)


if __name__ == "__main__":
    main()
