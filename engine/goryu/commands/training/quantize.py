r"""Turns a float network into a smaller one, and prints how close it is and how fast.

    goryu quantize runs/goryu-5x64.onnx --equalize --data fsf.games --out runs/goryu-5x64-int8.onnx
    goryu quantize runs/goryu-10x128.onnx --half --data fsf.games --out runs/goryu-10x128-fp16.onnx
    goryu quantize miniosl --data fsf.games --out runs/miniosl-int8.onnx

The first makes 8-bit integers for CPUs, the second 16-bit floats for GPUs, the third the teacher of
`goryu selfplay reanalyse` in 8 bits. Calibrates on some positions of the data and compares on others.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goryu.base.files import atomic_path, check_outputs
from goryu.commands.common import UsageError, new_parser, output_file, positive, program, seed

if TYPE_CHECKING:
    from goryu.evaluators.network.network import NetworkEvaluator
    from goryu.learning.training.dataset import Dataset

SATURATION_POSITIONS = 32
"""Most positions on which the sums of two products are counted; they have a billion."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu quantize", make_parser(), run, arguments, extra="train")


def make_parser() -> argparse.ArgumentParser:
    parser = new_parser(__doc__)
    parser.add_argument("model", type=Path, help="a float network, or miniosl for that of the package")
    parser.add_argument(
        "--data",
        type=Path,
        action="append",
        required=True,
        metavar="FILE",
        help="HCPE file or file of games with the positions; may be repeated",
    )
    parser.add_argument("--out", type=output_file, required=True, metavar="FILE", help="file to write")
    parser.add_argument(
        "--half", action="store_true", help="write 16-bit floats, for GPUs, instead of 8-bit integers"
    )
    parser.add_argument(
        "--calibration", type=positive, default=2048, metavar="N",
        help="positions to calibrate on (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--comparison", type=positive, default=4000, metavar="N",
        help="positions to compare on (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--equalize",
        action="store_true",
        help="equalize the channels first (only networks that goryu train exported)",
    )
    parser.add_argument(
        "--reduce-range", action="store_true", help="use 7-bit weights, for CPUs without VNNI"
    )
    parser.add_argument(
        "--exclude", action="append", default=[], metavar="NAMES",
        help="convolutions to keep float: a prefix of their names or a pattern such as '*/first/*'",
    )  # fmt: skip
    parser.add_argument(
        "--batch-size", type=positive, default=4, metavar="N",
        help="positions per network call in the comparison (default 4)",
    )  # fmt: skip
    parser.add_argument(
        "--threads", type=positive, default=1, metavar="N", help="threads of the comparison (default 1)"
    )
    parser.add_argument(
        "--rounds", type=positive, default=5, metavar="N", help="speed measurements of 1 s each (default 5)"
    )
    parser.add_argument("--seed", type=seed, default=0, help="seed of the choice of positions (default 0)")
    return parser


def run(args: argparse.Namespace) -> None:
    """Writes the smaller network, then prints how it compares."""
    check(args)
    if args.model == Path("miniosl"):
        run_miniosl(args)
    else:
        run_network(args)


def check(args: argparse.Namespace) -> None:
    """Raises UsageError for arguments that do not go together, InputError if the network is the output."""
    check_outputs([args.out], [args.model, *args.data])
    options = args.equalize or args.reduce_range or args.exclude
    if args.half and options:
        raise UsageError("--half: expected neither --equalize nor --reduce-range nor --exclude with it")
    if args.model == Path("miniosl") and (args.half or options):
        raise UsageError("miniosl: expected neither --half, --equalize, --reduce-range nor --exclude with it")


def run_network(args: argparse.Namespace) -> None:
    import numpy as np

    from goryu.learning.quantization.comparison import agreement, rates, split_positions
    from goryu.learning.quantization.saturation import saturated_pairs

    calibration, comparison = split_positions(
        args.data, args.calibration, args.comparison, args.batch_size, args.seed
    )
    network = load(args.model, args)
    found = [spec.shape[0] for spec in network.format.inputs]
    if found != [62, 57]:
        raise UsageError(f"{args.model}: expected inputs of 62 and 57 planes, found {found}")
    with atomic_path(args.out) as unfinished:
        write_smaller(args, unfinished, calibration)
        smaller = load(unfinished, args)
    print(agreement(network, smaller, comparison))
    before, after = rates(network, smaller, comparison, args.rounds)
    print(
        f"positions per second of CPU time: {args.model.name} {before:.0f}, {args.out.name} {after:.0f}, "
        f"{after / before:.2f} times as many"
    )
    if not args.half:
        some = comparison.select(np.arange(min(SATURATION_POSITIONS, len(comparison))))
        saturated, total = saturated_pairs(args.out, some)
        print(f"a CPU with AVX2 but without VNNI would saturate {saturated} of {total} sums of two products")


def load(path: Path, args: argparse.Namespace) -> "NetworkEvaluator":
    """Returns a network on onnxruntime: our own kernel would run the float network in 16-bit integers."""
    from goryu.evaluators.network.network import NetworkEvaluator

    return NetworkEvaluator(path, backend="onnxruntime", batch_size=args.batch_size, threads=args.threads)


def write_smaller(args: argparse.Namespace, target: Path, positions: "Dataset") -> None:
    """Writes the network in 8 or in 16 bits."""
    from goryu.learning.quantization.equalization import write_equalized
    from goryu.learning.quantization.quantize import halve, quantize

    if args.half:
        halve(args.model, target)
        return
    with tempfile.TemporaryDirectory() as folder:
        model = args.model
        if args.equalize:
            model = Path(folder) / "equalized.onnx"
            write_equalized(args.model, model, positions)
        quantize(model, target, positions, reduce_range=args.reduce_range, exclude=args.exclude)


def run_miniosl(args: argparse.Namespace) -> None:
    from random import Random

    from goryu.learning.quantization.comparison import CALIBRATION_BATCH
    from goryu.learning.quantization.miniosl import compare_with_float, quantize_miniosl, sample_positions
    from goryu.learning.records.game_records import read_games

    if args.calibration < CALIBRATION_BATCH:
        raise UsageError(f"--calibration {args.calibration}: expected at least {CALIBRATION_BATCH}")
    games = [game for path in args.data for game in read_games(path)]
    boards = sample_positions(games, args.calibration + args.comparison, Random(args.seed))
    with atomic_path(args.out) as unfinished:
        quantize_miniosl(unfinished, boards[: args.calibration])
    agreement, float_rate, small_rate = compare_with_float(args.out, boards[args.calibration :])
    print(agreement)
    print(
        f"positions per second of CPU time, planes and moves included: {float_rate:.0f} and {small_rate:.0f}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
