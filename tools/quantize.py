r"""Turns a float network into an 8-bit one for CPUs and says what was gained and lost.

    python tools/quantize.py runs/goryu-5x64.onnx --equalize --data fsf.games --out runs/goryu-5x64-int8.onnx
    python tools/quantize.py runs/goryu-10x128.onnx --half --data fsf.games --out runs/goryu-10x128-fp16.onnx
    python tools/quantize.py miniosl --data fsf.games --out runs/miniosl-int8.onnx

The last is the teacher of tools/selfplay.py reanalyse. Needs the extra [train]. Calibrates on some positions
of the data and compares on others.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from common import interrupt_on_sigterm, needs_extra

if TYPE_CHECKING:
    from goryu.evaluators.network import NetworkEvaluator
    from goryu.learning.training.dataset import Dataset

PAIRS_POSITIONS = 32
"""Most positions on which the sums of products are looked at, a billion of them."""


def main() -> int:
    """Runs the command line; returns the exit status."""
    arguments = parse_arguments()
    interrupt_on_sigterm()
    try:
        (run_miniosl if arguments.model == Path("miniosl") else run)(arguments)
    except (OSError, ValueError) as error:
        print(f"quantize: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("quantize: interrupted", file=sys.stderr)
        return 130
    return 0


def run(arguments: argparse.Namespace) -> None:
    """Writes the smaller network, then prints how it compares; raises ValueError for what cannot be done."""
    from goryu.learning.quantization.quantize import agreement
    from goryu.learning.quantization.saturation import saturated_pairs

    check(arguments)
    calibration, comparison = split(arguments)
    network = load(arguments.model, arguments)
    found = [spec.shape[0] for spec in network.format.inputs]
    if found != [62, 57]:
        raise ValueError(f"{arguments.model}: expected inputs of 62 and 57 planes, found {found}")
    with tempfile.TemporaryDirectory(dir=arguments.out.parent) as folder:
        # Beside, then renamed: a network that is in the way stays until there is a better one.
        path = Path(folder) / arguments.out.name
        write_smaller(arguments, path, calibration)
        smaller = load(path, arguments)
        path.replace(arguments.out)
    print(agreement(network, smaller, comparison))
    rates = side_by_side(network, smaller, comparison, arguments.rounds)
    print(
        f"positions per second of CPU time: {arguments.model.name} {rates[0]:.0f}, {arguments.out.name} "
        f"{rates[1]:.0f}, {rates[1] / rates[0]:.2f} times as many"
    )
    if not arguments.half:
        saturated, total = saturated_pairs(
            arguments.out, comparison.select(np.arange(min(PAIRS_POSITIONS, len(comparison))))
        )
        print(f"a CPU with AVX2 but without VNNI would cut off {saturated} of {total} sums of two products")


def split(arguments: argparse.Namespace) -> "tuple[Dataset, Dataset]":
    """Returns positions to calibrate on, and others to compare on; ValueError if there are too few."""
    from goryu.learning.quantization.quantize import CALIBRATION_BATCH
    from goryu.learning.records.conversion import read_records
    from goryu.learning.training.dataset import Dataset

    records = np.concatenate([read_records(path) for path in arguments.data])
    compared = min(arguments.comparison, len(records) - arguments.calibration)
    if arguments.calibration < CALIBRATION_BATCH or compared < arguments.batch_size:
        raise ValueError(
            f"--calibration {arguments.calibration} and --comparison {arguments.comparison} of "
            f"{len(records)} positions: expected at least {CALIBRATION_BATCH} to calibrate on and "
            f"{arguments.batch_size} to compare on"
        )
    order = np.random.default_rng(arguments.seed).permutation(len(records))
    calibration, comparison, _ = (
        Dataset(records[part], np.zeros(len(part), np.float32))
        for part in np.split(order, np.cumsum([arguments.calibration, arguments.comparison]))
    )
    return calibration, comparison


def load(path: Path, arguments: argparse.Namespace) -> "NetworkEvaluator":
    from goryu.evaluators.network import NetworkEvaluator

    return NetworkEvaluator(path, backend="cpu", batch_size=arguments.batch_size, threads=arguments.threads)


def side_by_side(
    one: "NetworkEvaluator", other: "NetworkEvaluator", positions: "Dataset", rounds: int
) -> tuple[float, float]:
    """Returns the median rates of both, measured by turns: other work on the machine slows both down."""
    from goryu.learning.quantization.quantize import rate

    rates = [[rate(network, positions, seconds=1.0) for network in (one, other)] for _ in range(rounds)]
    return float(np.median([pair[0] for pair in rates])), float(np.median([pair[1] for pair in rates]))


def run_miniosl(arguments: argparse.Namespace) -> None:
    """Writes miniosl's network in 8 bits, then prints how it compares; raises ValueError as `run` does."""
    from random import Random

    from goryu.evaluators.miniosl import MinioslEvaluator
    from goryu.learning.quantization.miniosl import compare, positions, quantize_miniosl
    from goryu.learning.quantization.quantize import CALIBRATION_BATCH
    from goryu.learning.records.game_records import read_games

    check(arguments)
    if arguments.half or arguments.equalize or arguments.reduce_range or arguments.exclude:
        raise ValueError("miniosl: expected neither --half, --equalize, --reduce-range nor --exclude with it")
    if arguments.calibration < CALIBRATION_BATCH or arguments.comparison < 1:
        raise ValueError(
            f"--calibration {arguments.calibration} and --comparison {arguments.comparison}: "
            f"expected at least {CALIBRATION_BATCH} and 1"
        )
    games = [game for path in arguments.data for game in read_games(path)]
    boards = positions(games, arguments.calibration + arguments.comparison, Random(arguments.seed))
    calibration, comparison = boards[: arguments.calibration], boards[arguments.calibration :]
    with tempfile.TemporaryDirectory(dir=arguments.out.parent) as folder:
        small = Path(folder) / arguments.out.name
        quantize_miniosl(small, calibration)
        networks = [MinioslEvaluator(), MinioslEvaluator(small)]
        small.replace(arguments.out)
    answers, seconds = [], []
    for network in networks:
        started = process_time()
        answers.append(network.evaluate(comparison))
        seconds.append(process_time() - started)
    print(compare(*answers))
    float_rate, small_rate = (len(comparison) / taken for taken in seconds)
    print(
        f"positions per second of CPU time, planes and moves included: {float_rate:.0f} and {small_rate:.0f}"
    )


def check(arguments: argparse.Namespace) -> None:
    """Raises ValueError for arguments that do not go together, or would overwrite something."""
    for name in ("batch_size", "threads", "rounds"):
        if getattr(arguments, name) < 1:
            raise ValueError(f"--{name.replace('_', '-')}: expected at least 1")
    if arguments.out.is_dir() or not arguments.out.parent.is_dir():
        raise ValueError(f"--out {arguments.out}: expected a file in a folder that exists")
    if arguments.out.exists() and arguments.model.exists() and arguments.out.samefile(arguments.model):
        raise ValueError(f"--out {arguments.out}: expected another file than the network's own")
    if arguments.half and (arguments.equalize or arguments.reduce_range or arguments.exclude):
        raise ValueError("--half: expected neither --equalize nor --reduce-range nor --exclude with it")


def write_smaller(arguments: argparse.Namespace, target: Path, positions: "Dataset") -> None:
    """Writes the network in 8 or in 16 bits, as the arguments say."""
    from goryu.learning.quantization.quantize import halve, quantize

    if arguments.half:
        halve(arguments.model, target)
        return
    model = arguments.model
    if arguments.equalize:
        model = target.with_name(f"equalized-{target.name}")
        write_equalized(arguments.model, model, positions)
    quantize(
        model,
        target,
        positions,
        reduce_range=arguments.reduce_range,
        exclude=arguments.exclude,
    )


def write_equalized(source: Path, target: Path, positions: "Dataset") -> None:
    """Writes the network with channels of one size; ValueError if tools/train.py did not make it."""
    # torch takes seconds to import
    import torch

    from goryu.learning.quantization.equalization import equalize
    from goryu.learning.training.dataset import make_batch
    from goryu.learning.training.export import export_onnx
    from goryu.learning.training.import_onnx import load_export

    net = load_export(source)
    batch = make_batch(positions, np.arange(len(positions)), np.zeros(len(positions), bool))
    equalize(net, torch.from_numpy(batch.input1), torch.from_numpy(batch.input2))
    export_onnx(net, target)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="a float network, or miniosl: that of the package")
    parser.add_argument(
        "--data", type=Path, action="append", required=True, help="HCPE file or file of games"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--half", action="store_true", help="16-bit floats, for GPUs, instead")
    parser.add_argument("--calibration", type=int, default=2048, help="positions to calibrate on")
    parser.add_argument("--comparison", type=int, default=4000, help="positions to compare on")
    parser.add_argument(
        "--equalize", action="store_true", help="channels of one size first (networks of tools/train.py)"
    )
    parser.add_argument("--reduce-range", action="store_true", help="7-bit weights, for CPUs without VNNI")
    parser.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="NAMES",
        help="convolutions to keep float: the beginning of their names, or a pattern such as '*/first/*'",
    )
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5, help="rate measurements of one second each")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    with needs_extra("train"):
        sys.exit(main())
