"""Compares what backends answer with the float network in onnxruntime.

    python tools/experiments/kernel_accuracy.py                     the engine's network, 2,000 positions
    python tools/experiments/kernel_accuracy.py --model models/goryu-5x64.onnx --backends winograd

The positions are those of games whose moves are drawn from the network's policy. Prints for each backend in
how many positions the first choice is the same, and the root mean square difference of the probabilities of
moves and of the win probability.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from goryu.commands.common import new_parser, positive, program
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.players.set_up.model_path import default_model
from goryu_lab.conversion.smaller import compare, open_plain, played_positions


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("kernel_accuracy.py", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("--model", type=Path, metavar="MODEL", help="default: what the engine loads")
    parser.add_argument(
        "--backends", nargs="+", default=["winograd", "winograd-float"], metavar="NAME",
        help="default winograd winograd-float",
    )  # fmt: skip
    parser.add_argument("--positions", type=positive, default=2000, metavar="N", help="default 2000")
    return parser


def run(args: argparse.Namespace) -> None:
    """Plays, compares and prints."""
    path = args.model or default_model()[0]
    exact = open_plain(path)
    boards = played_positions(exact, args.positions)
    for backend in args.backends:
        network = NetworkEvaluator(path, backend=backend)
        found = compare(exact, network, boards)
        print(
            f"{network.description}\n"
            f"    {found.positions} positions: same first choice {found.policy_top1:.2%}, "
            f"moves {found.policy_error:.6f}, win probability {found.value_error / 2:.6f}",
            flush=True,
        )


if __name__ == "__main__":
    raise SystemExit(main())
