r"""Compares the architectures of the trainer at equal evaluation time and equal samples.

    python3 tools/dev.py architectures --source models/data/fsf_20261124.games,540,0.3 \
        --blocks 3 --channels 32 --samples 60000 --seeds 2 --folder runs/architectures

Each architecture gets as many channels as make an evaluation, by onnxruntime on one thread, take about as
long as one of the residual network of `--blocks` and `--channels`. Each learns from the same positions in the
same order (those of its seed), and is measured on the same held-out games. `result.md` has the table: means
over the seeds, and half the distance between the seeds with the least and the greatest value. Times are CPU
times.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from statistics import mean, median
from time import process_time

import numpy as np
import onnxruntime
import torch

from goryu.learning.training.config import ARCHITECTURES, TrainingConfig
from goryu.learning.training.dataset import load_datasets
from goryu.learning.training.export import export_onnx
from goryu.learning.training.network import PolicyValueNet
from goryu.learning.training.sources import parse_source
from goryu.learning.training.train import train

STEPS = {"residual": 8, "lines": 8, "attention": 32}
"""Of the channels: what an architecture can have, and what suits the processor."""

MEASURES = {
    "policy_loss": "policy loss",
    "policy_top1": "first choice",
    "value_loss": "value loss",
    "sign_accuracy": "winner",
}


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", required=True, help="as for goryu train")
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--channels", type=int, default=64, help="of the residual network")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--held-out", type=float, default=0.04)
    parser.add_argument("--evaluated", type=int, default=8, help="positions of a timed evaluation")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--folder", type=Path, required=True)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    channels = channels_of_equal_time(args)
    lines = [
        "| architecture | size | weights | ms | " + " | ".join(MEASURES.values()) + " |",
        "|---|---|---|---|" + "---|" * len(MEASURES),
    ]
    config = TrainingConfig(
        blocks=args.blocks,
        batch_size=args.batch_size,
        steps=args.samples // args.batch_size,
        evaluations=1,
        threads=1,
        device=args.device,
    )
    training, testing = load_datasets([parse_source(args.source)], args.held_out, seed=0)
    print(f"{len(training)} positions, {config.steps} steps", flush=True)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in ARCHITECTURES}
    for seed in range(args.seeds):
        for name in ARCHITECTURES:
            folder = args.folder / f"{name}-{seed}"
            own = replace(config, architecture=name, channels=channels[name], seed=seed)
            train(own, training, testing, folder)
            (measured,) = json.loads((folder / "log.jsonl").read_text().splitlines()[-1])["held_out"].values()
            found[name].append(measured)
            print(name, seed, measured, flush=True)
    for name, rows in found.items():
        net = PolicyValueNet(args.blocks, channels[name], name)
        cells = [name, f"{args.blocks}x{channels[name]}", f"{sum(p.numel() for p in net.parameters()):,}"]
        cells.append(f"{milliseconds(net, args):.2f}")
        cells += [spread([row[measure] for row in rows]) for measure in MEASURES]
        lines.append(f"| {' | '.join(cells)} |")
    text = "\n".join(lines) + "\n"
    (args.folder / "result.md").write_text(text)
    print(text)


def channels_of_equal_time(args: argparse.Namespace) -> dict[str, int]:
    """Returns the channels of each architecture; the nearest in time to the residual network's."""
    wanted = milliseconds(PolicyValueNet(args.blocks, args.channels), args)
    print(f"residual {args.blocks}x{args.channels}: {wanted:.2f} ms a position", flush=True)
    chosen = {"residual": args.channels}
    for name in ARCHITECTURES[1:]:
        step = STEPS[name]
        sizes = range(step, 2 * args.channels + 1, step)
        times = {size: milliseconds(PolicyValueNet(args.blocks, size, name), args) for size in sizes}
        chosen[name] = min(times, key=lambda size: abs(times[size] - wanted))
        print(f"{name} {args.blocks}x{chosen[name]}: {times[chosen[name]]:.2f} ms", flush=True)
    return chosen


def milliseconds(net: PolicyValueNet, args: argparse.Namespace) -> float:
    """Returns the CPU time of an evaluation by onnxruntime on one thread; the median of 15 batches."""
    path = args.folder / "timed.onnx"
    torch.manual_seed(0)
    export_onnx(net.eval(), path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    rng, count = np.random.default_rng(0), args.evaluated
    planes = {
        "input1": (rng.random((count, 62, 9, 9)) < 0.05).astype(np.float32),
        "input2": np.broadcast_to((rng.random((count, 57, 1, 1)) < 0.1), (count, 57, 9, 9)).astype(
            np.float32
        ),
    }
    times = []
    for _ in range(20):
        started = process_time()
        session.run(None, planes)
        times.append(1000.0 * (process_time() - started) / count)
    return float(median(times[5:]))


def spread(values: list[float]) -> str:
    """Returns the mean, and half the distance of the extremes.

    >>> spread([1.0, 1.2])
    '1.100 ± 0.100'
    """
    return f"{mean(values):.3f} ± {(max(values) - min(values)) / 2:.3f}"


if __name__ == "__main__":
    main()
