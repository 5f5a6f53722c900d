"""Compares what backends answer with the float network in onnxruntime.

    python tools/experiments/kernel_accuracy.py                     the engine's network, 1,920 positions
    python tools/experiments/kernel_accuracy.py --model models/goryu-5x64.onnx --backends winograd

The positions are those of games that the network plays with itself: the most probable move, every
fourth time one of the best four. Prints for each backend in how many positions the first choice is the same,
the mean divergence of the policy (Kullback-Leibler, in nats) and the root mean square difference of the win
probability.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np

from goryu.commands.common import new_parser, positive, program
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.implementation import Board
from goryu.players.set_up.model_path import default_model
from goryu.search.evaluator import Evaluation

GAMES = 32
"""Played side by side."""


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
    parser.add_argument("--positions", type=positive, default=1920, metavar="N", help="default 1920")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="default 1")
    return parser


def run(args: argparse.Namespace) -> None:
    """Plays, compares and prints."""
    path = args.model or default_model()[0]
    exact = NetworkEvaluator(path, backend="onnxruntime")
    others = {backend: NetworkEvaluator(path, backend=backend) for backend in args.backends}
    random = Random(args.seed)
    boards = [Board() for _ in range(GAMES)]
    expected: list[Evaluation] = []
    found: dict[str, list[Evaluation]] = {backend: [] for backend in others}
    while len(expected) < args.positions:
        answers = exact.evaluate(boards)
        expected += answers
        for backend, network in others.items():
            found[backend] += network.evaluate(boards)
        boards = [after(*pair, random) for pair in zip(boards, answers, strict=True)]
    print(f"{path.name}, {len(expected)} positions: same first choice, divergence, win probability")
    for backend, evaluations in found.items():
        print(f"{others[backend].description}\n    {compared(expected, evaluations)}")


def after(board: Board, evaluation: Evaluation, random: Random) -> Board:
    """Returns the next position of a game, or the first of another one."""
    best = np.argsort(-np.array(evaluation.policy), kind="stable")[:4]
    choice = random.choice(best.tolist()) if random.random() < 0.25 else int(best[0])
    board.push(board.legal_moves()[choice])
    return Board() if board.outcome() or not board.legal_moves() else board


def compared(expected: Sequence[Evaluation], found: Sequence[Evaluation]) -> str:
    """Returns the three numbers of the last line."""
    pairs = list(zip(expected, found, strict=True))
    same = np.mean([np.argmax(a.policy) == np.argmax(b.policy) for a, b in pairs])
    divergence = np.mean([np.sum(a.policy * np.log(np.divide(a.policy, b.policy))) for a, b in pairs])
    differences = [(a.value - b.value) / 2 for a, b in pairs]
    return f"{same:.2%}, {divergence:.5f}, {np.sqrt(np.mean(np.square(differences))):.5f}"


if __name__ == "__main__":
    raise SystemExit(main())
