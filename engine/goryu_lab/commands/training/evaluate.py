r"""Measures how well networks predict finished games: the winner and the moves played.

    goryu evaluate models/goryu-5x64.onnx runs/second/goryu-5x64.onnx --games runs/match/games.jsonl
    goryu evaluate models/goryu-5x64.onnx miniosl.onnx --games runs/match/games.jsonl --phases 35 60

Reads the games of `goryu match --out` or files of `goryu teach` (`*.games`). Choose games that no
network was trained on. This takes minutes; only a match of engines with these networks proves which one is
stronger.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from goryu.base.config_fields import option, ranged
from goryu.commands.common import new_parser, program
from goryu.commands.config_options import add_fields
from goryu.evaluators.network.named_networks import open_network
from goryu.evaluators.network.providers import BACKENDS
from goryu.players.set_up.model_path import named_model

if TYPE_CHECKING:
    from rich.table import Table

    from goryu_lab.training.prediction_quality import Prediction


@dataclass(frozen=True, slots=True)
class PredictionOptions:
    """How the networks predict."""

    every: int = ranged(1, "use two consecutive positions out of every 2 N; 1: all")
    temperature: float = ranged(1.0, "softmax temperature of the policies")
    backend: str = option("cpu", "what runs the networks", choices=BACKENDS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu evaluate", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    parser = new_parser(__doc__)
    parser.add_argument("model", type=named_model, nargs="+", metavar="FILE.onnx", help="the networks")
    parser.add_argument(
        "--games", type=Path, nargs="+", required=True, metavar="FILE", help="games.jsonl or *.games"
    )
    parser.add_argument(
        "--phases",
        type=int,
        nargs="*",
        default=[],
        metavar="PLY",
        help="also show the loss of the results separately before, between and after these plies",
    )
    add_fields(parser, PredictionOptions)
    return parser


def run(args: argparse.Namespace) -> None:
    """Prints a table with a column for each network."""
    from rich.console import Console

    from goryu_lab.training.prediction_quality import predict, read_played_games

    games = [game for path in args.games for game in read_played_games(path)]
    predictions = {
        str(model): predict(
            games, open_network(model, backend=args.backend, temperature=args.temperature), every=args.every
        )
        for model in args.model
    }
    Console().print(make_table(predictions, args.phases))


def make_table(predictions: "dict[str, list[Prediction]]", phases: Sequence[int]) -> "Table":
    """Returns a table with a column for each network."""
    from rich.table import Table

    from goryu_lab.training.prediction_quality import summarize

    table = Table("cross-entropies in nats")
    for model in predictions:
        table.add_column(Path(model).name, justify="right")
    whole = [summarize(found) for found in predictions.values()]
    table.add_row("positions", *(f"{one.positions:,}" for one in whole))
    table.add_row("loss of the results", *(f"{one.result_loss:.4f}" for one in whole))
    table.add_row("  with log odds times the factor", *(f"{one.fitted_loss:.4f}" for one in whole))
    table.add_row("  factor (below 1: overconfident)", *(f"{one.factor:.2f}" for one in whole))
    table.add_row("value favours the winner", *(f"{100 * one.right_side:.1f} %" for one in whole))
    for low, high in pairwise([0, *sorted(phases), sys.maxsize] if phases else []):
        parts = [[one for one in found if low <= one.ply < high] for found in predictions.values()]
        plies = f"from ply {low} on" if high == sys.maxsize else f"plies {low} to {high - 1}"
        losses = [f"{summarize(part).result_loss:.4f}" if part else "-" for part in parts]
        table.add_row(f"loss of the results, {plies}", *losses)
    for player in sorted({one.player for found in predictions.values() for one in found}):
        moves = [summarize([one for one in found if one.player == player]) for found in predictions.values()]
        table.add_row(f"loss of the moves of {player}", *(f"{one.move_loss:.3f}" for one in moves))
        table.add_row("  network's first choice", *(f"{100 * one.first_choice:.1f} %" for one in moves))
        table.add_row("  a random legal move", *(f"{100 * one.chance:.1f} %" for one in moves))
    return table
