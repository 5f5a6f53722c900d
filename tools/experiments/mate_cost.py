"""Measures what the further mate searches in the graph cost (`DfpnNodesPerVisit`).

    python tools/experiments/mate_cost.py              20 late positions, 10,000 evaluations each
    python tools/experiments/mate_cost.py --ply 30 --evaluations 2000 --nodes-per-visit 0 4 8

Every position is searched with each value in turn, on one thread, from an empty graph. The cost is the
processor time of an evaluation over that of the first value, so a busy machine slows both. Positions that a
search proves are left out. Prints the ratio of the sums, and the median and the greatest ratio of a position.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import median

from goryu.commands.common import new_parser, positive, program
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.players.config import EngineConfig
from goryu.players.kept_graph import new_puct
from goryu.players.set_up.loading import LoadedEvaluator, load_evaluator
from goryu.usi.start_config import start_config
from goryu_lab.records.game_records import read_games

GAMES = Path(__file__).parents[2] / "models/data/fsf_20261124.games"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("mate_cost.py", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("--games", type=Path, default=GAMES, metavar="FILE", help=f"default {GAMES.name}")
    parser.add_argument("--positions", type=positive, default=20, metavar="N", help="default 20")
    parser.add_argument("--ply", type=positive, default=80, metavar="N", help="the earliest (default 80)")
    parser.add_argument(
        "--evaluations", type=positive, default=10_000, metavar="N", help="of a search (default 10000)"
    )
    parser.add_argument(
        "--nodes-per-visit", type=int, nargs="+", default=[0, 4, 8], metavar="N", help="default 0 4 8"
    )
    return parser


def run(args: argparse.Namespace) -> None:
    """Measures and prints."""
    config = start_config(None, print)
    config = replace(config, evaluator=replace(config.evaluator, threads=1))
    loaded = load_evaluator(config.evaluator, print)
    rows: list[list[float]] = []
    for sfen in late_positions(args.games, args.ply):
        row = [seconds(loaded, config, sfen, nodes, args.evaluations) for nodes in args.nodes_per_visit]
        if None not in row:
            rows.append([s for s in row if s is not None])
            print(f"{len(rows)}: " + ", ".join(f"{1e6 * s:.0f} µs" for s in rows[-1]), flush=True)
        if len(rows) == args.positions:
            break
    for column, nodes in enumerate(args.nodes_per_visit):
        ratios = [row[column] / row[0] - 1 for row in rows]
        total = sum(row[column] for row in rows) / sum(row[0] for row in rows) - 1
        print(
            f"DfpnNodesPerVisit {nodes}: {100 * total:+.1f} % "
            f"(median {100 * median(ratios):+.1f} %, greatest {100 * max(ratios):+.1f} %)"
        )


def late_positions(path: Path, least_ply: int) -> Iterator[str]:
    """Yields a position of each game, not before this ply and not one of the last ten; always the same."""
    rng = Random(1)
    for game in read_games(path):
        if len(game.moves) <= least_ply + 10:
            continue
        board = Board(game.start_sfen)
        for move16 in game.moves[: rng.randrange(least_ply, len(game.moves) - 10)]:
            board.push(Move(move16))
        yield board.sfen()


def seconds(
    loaded: LoadedEvaluator, config: EngineConfig, sfen: str, nodes_per_visit: int, evaluations: int
) -> float | None:
    """Returns the processor seconds of an evaluation in a search; None if it proves the position."""
    mate = replace(config.mate, nodes_per_visit=nodes_per_visit)
    puct = new_puct(loaded, replace(config, mate=mate))
    began_s = time.process_time()
    stats = puct.search(
        Board(sfen), lambda stats: stats.is_proven or stats.is_exhausted, max_evaluations=evaluations
    ).stats
    spent_s = time.process_time() - began_s
    return None if stats.evaluations < evaluations else spent_s / stats.evaluations


if __name__ == "__main__":
    raise SystemExit(main())
