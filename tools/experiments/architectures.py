r"""Compares the architectures of the trainer at equal evaluation time and equal samples.

    python3 tools/dev.py architectures --sizes residual=5x48 lines=5x48 attention=10x32
    python3 tools/dev.py architectures --sizes residual=5x48 lines=5x48 attention=10x32 \
        --source models/data/fsf_20261124.games,540,0.3 --samples 500000 --seeds 2 --folder runs/architectures

The first command only shows how long an evaluation takes, by onnxruntime on one thread: choose sizes that
take equally long. Each network learns from the same positions in the same order (those of its seed), and is
measured on the same held-out games of all sources. `result.md` has the table: means over the seeds, and half
the distance between the seeds with the least and the greatest value. Times are CPU times. A run that was
interrupted goes on.
"""

import argparse
import json
from pathlib import Path
from statistics import fmean, mean, median
from time import process_time

import numpy as np
import torch

from goryu.evaluators.network.providers import import_onnxruntime
from goryu_lab.training.config import ARCHITECTURES, TrainingConfig
from goryu_lab.training.dataset import load_datasets
from goryu_lab.training.export import export_onnx
from goryu_lab.training.network import PolicyValueNet
from goryu_lab.training.sources import parse_source
from goryu_lab.training.train import train

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
    parser.add_argument("--sizes", nargs="+", type=size, required=True, metavar="NAME=BLOCKSxCHANNELS")
    parser.add_argument("--source", action="append", help="as for goryu train; may be repeated")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--held-out", type=float, default=0.04)
    parser.add_argument("--evaluated", type=int, default=8, help="positions of a timed evaluation")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--folder", type=Path, default=Path("runs/architectures"))
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    rows = {}
    for name, blocks, channels in args.sizes:
        net = PolicyValueNet(blocks, channels, name)
        weights = sum(parameter.numel() for parameter in net.parameters())
        rows[name] = [name, f"{blocks}x{channels}", f"{weights:,}", f"{milliseconds(net, args):.2f}"]
        print(*rows[name], "ms", flush=True)
    if not args.source:
        return
    training, testing = load_datasets([parse_source(source) for source in args.source], args.held_out, seed=0)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in rows}
    for seed in range(args.seeds):
        for name, blocks, channels in args.sizes:
            config = TrainingConfig(
                architecture=name,
                blocks=blocks,
                channels=channels,
                batch_size=args.batch_size,
                steps=args.samples // args.batch_size,
                evaluations=4,
                threads=1,
                device=args.device,
                seed=seed,
            )
            folder = args.folder / f"{name}-{seed}"
            train(config, training, testing, folder)
            last = json.loads((folder / "log.jsonl").read_text().splitlines()[-1])
            sets = last["held_out"].values()
            measured = {
                key: fmean([of[key] for of in sets], [of["positions"] for of in sets]) for key in MEASURES
            }
            found[name].append(measured)
            print(name, seed, measured, flush=True)
    lines = [
        "| architecture | size | weights | ms | " + " | ".join(MEASURES.values()) + " |",
        "|---|---|---|---|" + "---|" * len(MEASURES),
    ]
    for name, cells in rows.items():
        cells += [spread([row[measure] for row in found[name]]) for measure in MEASURES]
        lines.append(f"| {' | '.join(cells)} |")
    text = "\n".join(lines) + "\n"
    (args.folder / "result.md").write_text(text)
    print(text)


def size(text: str) -> tuple[str, int, int]:
    """Returns an architecture, its blocks and its channels.

    >>> size("residual=5x48")
    ('residual', 5, 48)
    """
    name, _, numbers = text.partition("=")
    blocks, _, channels = numbers.partition("x")
    if name not in ARCHITECTURES:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(ARCHITECTURES)}, received {name}")
    return name, int(blocks), int(channels)


def milliseconds(net: PolicyValueNet, args: argparse.Namespace) -> float:
    """Returns the CPU time of an evaluation by onnxruntime on one thread; the median of 15 batches."""
    path = args.folder / "timed.onnx"
    torch.manual_seed(0)
    export_onnx(net.eval(), path)
    onnxruntime = import_onnxruntime()
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
