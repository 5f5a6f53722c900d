r"""Turns a float network into an 8-bit one for CPUs and says what was gained and lost.

    python tools/quantize.py models/goryu-5x64.onnx --data fsf.games --out runs/goryu-5x64-int8.onnx
    python tools/quantize.py runs/goryu-10x128.onnx --half --data fsf.games --out runs/goryu-10x128-fp16.onnx

Needs the extra [train]. Calibrates on some positions of the data and compares on others.
"""

import argparse
import sys
from pathlib import Path

import numpy as np


def main() -> int:
    """Runs the command line; returns the exit status."""
    arguments = parse_arguments()
    try:
        run(arguments)
    except (OSError, ValueError) as error:
        print(f"quantize: {error}", file=sys.stderr)
        return 2
    return 0


def run(arguments: argparse.Namespace) -> None:
    """Writes the smaller network, then prints how it compares; raises ValueError for too little data."""
    from goryu.evaluators.network import NetworkEvaluator
    from goryu.learning.dataset import Dataset
    from goryu.learning.game_conversion import read_records
    from goryu.learning.quantization import CALIBRATION_BATCH, agreement, halve, quantize, rate

    records = np.concatenate([read_records(path) for path in arguments.data])
    least = max(arguments.calibration, CALIBRATION_BATCH)
    if arguments.calibration < least or len(records) < least + arguments.batch_size:
        raise ValueError(
            f"--calibration {arguments.calibration} of {len(records)} positions: expected at least {least}, "
            f"and {arguments.batch_size} more to compare on"
        )
    order = np.random.default_rng(arguments.seed).permutation(len(records))
    parts = np.split(order, np.cumsum([arguments.calibration, arguments.comparison]))
    calibration, comparison = (Dataset(records[part], np.zeros(len(part), np.float32)) for part in parts[:2])
    if arguments.half:
        halve(arguments.model, arguments.out)
    else:
        quantize(
            arguments.model,
            arguments.out,
            calibration,
            reduce_range=arguments.reduce_range,
            exclude=arguments.exclude,
            method=arguments.method,
        )
    networks = [
        NetworkEvaluator(path, backend="cpu", batch_size=arguments.batch_size, threads=arguments.threads)
        for path in (arguments.model, arguments.out)
    ]
    print(agreement(networks[0], networks[1], comparison))
    rates: list[list[float]] = [[], []]
    for _ in range(arguments.rounds):  # side by side, so that other work on the machine slows both down
        for network, measured in zip(networks, rates, strict=True):
            measured.append(rate(network, comparison, seconds=1.0))
    float_rate, small_rate = (float(np.median(measured)) for measured in rates)
    print(
        f"positions per second of CPU time: {arguments.model.name} {float_rate:.0f}, {arguments.out.name} "
        f"{small_rate:.0f}, {small_rate / float_rate:.2f} times as many"
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument(
        "--data", type=Path, action="append", required=True, help="HCPE file or file of games"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--half", action="store_true", help="16-bit floats, for GPUs, instead")
    parser.add_argument("--calibration", type=int, default=1000, help="positions to calibrate on")
    parser.add_argument(
        "--method", choices=("MinMax", "Entropy", "Percentile"), default="MinMax",
        help="how ranges are found; Entropy is the most exact, with 128 positions",
    )  # fmt: skip
    parser.add_argument("--comparison", type=int, default=4000, help="positions to compare on")
    parser.add_argument("--reduce-range", action="store_true", help="7-bit weights, for CPUs without VNNI")
    parser.add_argument(
        "--exclude", action="append", default=[], help="beginning of the names of nodes to keep float"
    )
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5, help="rate measurements of one second each")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
