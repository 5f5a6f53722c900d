r"""Trains a network on HCPE files and files of games, and exports it to ONNX.

    python tools/train.py --source runs/fsf.games,540 --source runs/gps.hcpe,760,0.3,2 \
        --folder runs/first --minutes 50 --blocks 5 --channels 64

Needs the extra [train]. A killed run continues when the same command is given again.
"""

import argparse
import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from common import interrupt_on_sigterm, needs_extra
from goryu.files import held_folder

with needs_extra("train"):
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def main() -> int:
    """Runs the command line; returns the exit status."""
    arguments = parse_arguments()
    interrupt_on_sigterm()
    try:
        with held_folder(arguments.folder):
            run(arguments)
    except (OSError, ValueError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("train: interrupted; the same command goes on from the last checkpoint", file=sys.stderr)
        return 130
    return 0


def run(arguments: argparse.Namespace) -> None:
    """Trains, exports and draws the curves."""
    # torch takes seconds to import
    from goryu.learning.training.dataset import load, parse_source
    from goryu.learning.training.export import export_onnx
    from goryu.learning.training.plots import plot_run
    from goryu.learning.training.train import TrainingConfig, train

    sources = [parse_source(text) for text in arguments.source]
    training, testing = load(sources, arguments.held_out, arguments.seed, arguments.merge_duplicates)
    print(
        f"{len(training)} positions to train on; held out:",
        {name: len(data) for name, data in testing.items()},
    )
    config = TrainingConfig(**{f.name: getattr(arguments, f.name) for f in fields(TrainingConfig)})
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    ) as bar:
        task = bar.add_task("training", total=1.0)

        def report(entry: dict[str, Any]) -> None:
            if "held_out" in entry:
                bar.console.print_json(json.dumps(entry), indent=None)
            else:
                bar.update(
                    task,
                    completed=entry["share"],
                    description=f"step {entry['step']} loss {entry['loss']:.3f}",
                )

        net = train(config, training, testing, arguments.folder, report, arguments.initial)
    path = arguments.folder / f"goryu-{config.blocks}x{config.channels}.onnx"
    export_onnx(net, path)
    plot_run(arguments.folder / "log.jsonl", arguments.folder / "curves.png")
    print("wrote", path, "and curves.png beside it")


def parse_arguments() -> argparse.Namespace:
    from goryu.learning.training.train import TrainingConfig

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--source",
        action="append",
        required=True,
        metavar="FILE,SCALE[,RESULT_WEIGHT[,REPEAT]]",
        help="HCPE file or file of games (*.games), the teacher's logistic scale in centipawns, the weight "
        "of the result in the value target (default 0.3), how often each position counts in one pass "
        "(default 1)",
    )
    parser.add_argument(
        "--folder", type=Path, required=True, help="checkpoints, log and the exported network"
    )
    parser.add_argument(
        "--initial",
        type=Path,
        metavar="FILE",
        help="checkpoint.pt of a run, or the float32 .onnx that it exported: start from those weights",
    )
    parser.add_argument("--held-out", type=float, default=0.04, help="share of the games kept for measuring")
    parser.add_argument(
        "--merge-duplicates",
        action="store_true",
        help="make one of equal positions, with the mean of their targets",
    )
    for field in fields(TrainingConfig):
        option = "--" + field.name.replace("_", "-")
        parser.add_argument(
            option, type=type(field.default), default=field.default, help=f"default {field.default}"
        )
    return parser.parse_args()


if __name__ == "__main__":
    with needs_extra("train"):
        sys.exit(main())
