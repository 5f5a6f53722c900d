r"""Trains a network on HCPE files and files of games, and exports it to ONNX.

    goryu train --source runs/fsf.games,540 --source runs/gps.hcpe,760,0.3,2 \
        --folder runs/first --minutes 50 --blocks 5 --channels 64

A killed run resumes when the same command is given again. The folder gets checkpoint.pt, log.jsonl (the
losses and the measurements on held-out games), curves.png and goryu-BLOCKSxCHANNELS.onnx.

Several GPUs, or several computers, share each batch when torchrun starts the command:

    torchrun --standalone --nproc-per-node 4 -m goryu train --device cuda --source ...
"""

import argparse
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goryu.base.config_fields import option, ranged
from goryu.base.errors import GoryuError, InputError, first_line
from goryu.base.files import held_folder
from goryu.commands.common import new_parser, program
from goryu.commands.config_options import add_fields, from_arguments
from goryu.commands.progress_display import ProgressDisplay
from goryu.players.set_up.model_path import named_model
from goryu_lab.training.config import TrainingConfig

if TYPE_CHECKING:
    from goryu_lab.training.batch_loader import Positions
    from goryu_lab.training.process_group import ProcessGroup

RESUME = "the same command resumes from the last checkpoint"

INTERRUPTED = 130
"""The exit status after Ctrl-C, as in `program`."""


@dataclass(frozen=True, slots=True)
class DataOptions:
    """What the positions of the sources are used for."""

    held_out: float = ranged(
        0.04, "share of the games on which the network is measured, not trained", least=0, most=1
    )
    merge_duplicates: bool = option(False, "merge equal positions into one with the mean of their targets")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu train", make_parser(), run, arguments, extra="train", interrupted=RESUME)


def make_parser() -> argparse.ArgumentParser:
    parser = new_parser(__doc__)
    parser.add_argument(
        "--source",
        action="append",
        required=True,
        metavar="FILE[,SCALE[,RESULT_WEIGHT[,REPEAT]]]",
        help="HCPE file or file of games (*.games), the teacher's scale (centipawns at which the win odds "
        "are e : 1; goryu teach fit finds it), the weight of the game's result in the value target "
        "(default 0.3), and how often each position counts in one pass (default 1); with --teacher a "
        "file without numbers gets the teacher's values, too; may be repeated",
    )
    parser.add_argument(
        "--teacher",
        type=named_model,
        metavar="FILE",
        help="a network in an ONNX file that labels every batch on the device; of the labels in the files of "
        "games only the values of sources with numbers remain",
    )
    parser.add_argument("--folder", type=Path, required=True, help="folder of the run")
    parser.add_argument(
        "--initial",
        type=Path,
        metavar="FILE",
        help="start from the weights of a checkpoint.pt or of the float32 .onnx file that a run exported; a "
        "network with fewer blocks or channels grows",
    )
    add_fields(parser, DataOptions)
    add_fields(parser, TrainingConfig)
    return parser


def run(args: argparse.Namespace) -> int:
    """Trains alone, or as one of the processes that torchrun has started; returns the exit status."""
    # PyTorch takes seconds to import.
    from goryu_lab.training.process_group import joined

    config = from_arguments(TrainingConfig, args)
    with joined(config.device) as group:
        try:
            with held_folder(args.folder) if group.is_first else nullcontext():
                train_and_export(args, config, group)
        except KeyboardInterrupt:
            if group.is_first:  # It tells the user.
                raise
            return INTERRUPTED
        except (GoryuError, OSError) as error:
            if group.is_first:
                raise
            raise GoryuError(f"process {group.rank}: {error}") from error
        except RuntimeError as error:  # PyTorch has no class of its own for a CPU without memory.
            if not re.search("allocate memory|out of memory", str(error)):
                raise
            raise GoryuError(first_line(error)) from error
    return 0


def train_and_export(args: argparse.Namespace, config: TrainingConfig, group: "ProcessGroup") -> None:
    """Trains; the first process shows the progress, exports the network and draws the learning curves."""
    from goryu_lab.training.export import export_onnx
    from goryu_lab.training.plots import plot_run
    from goryu_lab.training.train import train

    training, testing = load_positions(args, config)
    if not group.is_first:
        train(config, training, testing, args.folder, group=group)
        return
    sizes = ", ".join(f"{len(data)} of {name}" for name, data in testing.items())
    print(f"{len(training)} positions to train on; held out: {sizes}", flush=True)
    if group.size > 1:
        print(f"{group.size} processes, {config.batch_size // group.size} positions of each batch a process")
    with ProgressDisplay() as display:
        net = train(
            config, training, testing, args.folder, lambda entry: show(display, entry), args.initial, group
        )
    path = args.folder / f"goryu-{config.blocks}x{config.channels}.onnx"
    export_onnx(net, path)
    plot_run(args.folder / "log.jsonl", args.folder / "curves.png")
    print(f"wrote {path} and {args.folder / 'curves.png'}")


def load_positions(
    args: argparse.Namespace, config: TrainingConfig
) -> "tuple[Positions, Mapping[str, Positions]]":
    """Returns the positions to train on, and those that are held out by the name of their source."""
    from goryu_lab.training.dataset import load_datasets
    from goryu_lab.training.sources import parse_source

    sources = [parse_source(text) for text in args.source]
    if args.teacher is None:
        return load_datasets(sources, args.held_out, args.seed, args.merge_duplicates)
    from goryu_lab.training.device_network import DeviceNetwork
    from goryu_lab.training.distillation import DistilledPositions
    from goryu_lab.training.game_positions import load_games
    from goryu_lab.training.losses import uses_bfloat16

    if args.merge_duplicates:
        raise InputError("expected no --merge-duplicates with --teacher")
    teacher = DeviceNetwork(args.teacher, in_halves=uses_bfloat16(config), compiled=config.compile)
    training, testing = load_games(sources, args.held_out, args.seed)
    return DistilledPositions(training, teacher), {
        name: DistilledPositions(games, teacher) for name, games in testing.items()
    }


def show(display: ProgressDisplay, entry: dict[str, Any]) -> None:
    """Moves the bar after a step; prints a line after a measurement, whose numbers are in log.jsonl."""
    if "held_out" not in entry:
        display.update("training", entry["share"], 1.0, f"step {entry['step']}, loss {entry['loss']:.3f}")
        return
    losses = f"policy loss {entry['policy_loss']:.3f}, value loss {entry['value_loss']:.3f}"
    display.print(f"step {entry['step']}, {entry['minutes']:.1f} minutes: {losses}")
    for name, found in entry["held_out"].items():
        display.print(
            f"  held out, {name}: policy loss {found['policy_loss']:.3f}, first choice "
            f"{100 * found['policy_top1']:.1f} %, value loss {found['value_loss']:.3f}, winner "
            f"{100 * found['sign_accuracy']:.1f} %"
        )
