r"""Shows how well networks foresee games: who wins them, and which moves are played.

    python tools/evaluate.py models/goryu-5x64.onnx runs/second/goryu-5x64.onnx --games runs/match/games.jsonl
    python tools/evaluate.py models/goryu-5x64.onnx miniosl --games runs/match/games.jsonl --phases 35 60

Games are those of `tools/match.py --out` or files of `tools/teach.py` (`*.games`). Choose games that no
network has learned from; a match of the networks in an engine is the proof, this is the quick look.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from common import needs_extra
from goryu.evaluators.model_files import ModelError
from goryu.evaluators.named_networks import MODEL_HELP, open_network
from goryu.evaluators.providers import BACKENDS, BackendError
from goryu.learning.training.prediction_quality import Glance, foresight, glances, read_played
from goryu.match.game_log import GameLogError

with needs_extra("tools"):
    from rich.console import Console
    from rich.table import Table


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    args = make_parser().parse_args(arguments)
    try:
        if args.every < 1:
            raise ValueError(f"--every {args.every}: expected 1 or more")
        games = [game for path in args.games for game in read_played(path)]
        seen = {
            str(model): glances(
                games,
                open_network(model, backend=args.backend, temperature=args.temperature),
                every=args.every,
            )
            for model in args.model
        }
        table = figures(seen, args.phases)
    except (OSError, ValueError, ModelError, BackendError, GameLogError) as error:
        print(f"evaluate: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("evaluate: interrupted", file=sys.stderr)
        return 130
    Console().print(table)
    return 0


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("model", type=Path, nargs="+", metavar="FILE.onnx", help=MODEL_HELP)
    parser.add_argument(
        "--games", type=Path, nargs="+", required=True, metavar="FILE", help="games.jsonl or *.games"
    )
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="two positions out of 2 N (default all)"
    )
    parser.add_argument(
        "--phases", type=int, nargs="*", default=[], metavar="PLY", help="the loss of the results for each"
    )
    parser.add_argument("--temperature", type=float, default=1.0, metavar="T", help="of the policies")
    parser.add_argument("--backend", choices=BACKENDS, default="cpu", help="as of the USI option")
    return parser


def figures(seen: dict[str, list[Glance]], phases: Sequence[int]) -> Table:
    """Returns a table with a column for each network."""
    table = Table("cross-entropies in nats")
    for model in seen:
        table.add_column(Path(model).name, justify="right")
    whole = [foresight(some) for some in seen.values()]
    table.add_row("positions", *(f"{one.positions:,}" for one in whole))
    table.add_row("result, as the network says", *(f"{one.result_loss:.4f}" for one in whole))
    table.add_row("result, log odds times the factor", *(f"{one.fitted_loss:.4f}" for one in whole))
    table.add_row("factor", *(f"{one.factor:.2f}" for one in whole))
    table.add_row("value on the winner's side", *(f"{100 * one.right_side:.1f} %" for one in whole))
    for low, high in pairwise([0, *sorted(phases), sys.maxsize] if phases else []):
        parts = [foresight([one for one in some if low <= one.ply < high]) for some in seen.values()]
        plies = f"from ply {low} on" if high == sys.maxsize else f"plies {low} to {high - 1}"
        table.add_row(f"result, {plies}", *(f"{part.result_loss:.4f}" for part in parts))
    for player in sorted({one.player for some in seen.values() for one in some}):
        moves = [foresight([one for one in some if one.player == player]) for some in seen.values()]
        table.add_row(f"moves of {player}", *(f"{one.move_loss:.3f}" for one in moves))
        table.add_row("  first choice", *(f"{100 * one.first_choice:.1f} %" for one in moves))
    return table


if __name__ == "__main__":
    sys.exit(main())
