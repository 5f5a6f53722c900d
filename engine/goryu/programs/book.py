r"""Makes an opening book and shows, checks and joins books in YaneuraOu's format (.db).

    goryu book make --state runs/book.jsonl --out my.db --positions 1000
    goryu book show my.db --moves 7g7f 3c3d
    goryu book check my.db
    goryu book merge my.db other.db --out both.db
"""

import argparse
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from goryu.files import atomic_write
from goryu.programs.cluster_options import add_cluster_options, cluster_config, watcher
from goryu.programs.common import new_parser, positive, program, share

if TYPE_CHECKING:
    from goryu.analysis.book.graph import BookGraph
    from goryu.players.config import EngineConfig


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    again = "the searched positions are kept; the same command goes on"
    return program("book", make_parser(), lambda args: args.run(args), arguments, interrupted=again)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    make = verbs.add_parser("make", help="search positions and write a book", allow_abbrev=False)
    make.set_defaults(run=make_book)
    make.add_argument("--state", type=Path, required=True, metavar="FILE", help="the searched positions")
    make.add_argument("--out", type=Path, metavar="FILE", help="the book")
    make.add_argument("--positions", type=positive, default=1000)
    make.add_argument("--playouts", type=positive, default=50_000)
    make.add_argument("--bound", type=share, default=0.025)
    make.add_argument("--plies", type=positive, default=40)
    make.add_argument("--processes", type=positive, default=1)
    make.add_argument("--model", type=Path, metavar="FILE")
    add_cluster_options(make)
    return parser


def make_book(args: argparse.Namespace) -> None:
    """Searches positions and writes the book."""
    from goryu.analysis.book.graph import BookGraph, BookRules
    from goryu.analysis.book.making import SearchJob, make_book
    from goryu.analysis.book.state import BookState
    from goryu.games.shogi import START_SFEN
    from goryu.players.model_path import model_path
    from goryu.programs.progress_display import ProgressDisplay
    from goryu.usi.start_config import start_config
    from goryu.work.cluster import ClusterPool
    from goryu.work.processes import ProcessPool
    from goryu.work.seam import Pool
    from goryu.work.threads import ThreadPool

    rules = BookRules(args.bound, plies=args.plies)
    graph = BookGraph((START_SFEN,), rules)
    with ProgressDisplay() as display:
        config = start_config(args.model, display.print)
        model = model_path(config.evaluator)
        cluster = cluster_config(args, None)

        def new_pool() -> Pool:
            if cluster is not None:
                return ClusterPool(cluster)
            return ThreadPool(1) if args.processes == 1 else ProcessPool(args.processes)

        def report(graph: BookGraph) -> None:
            text = f"{sum(len(graph.book_moves(node)) for node in graph.nodes.values())} moves"
            display.update("positions", len(graph.nodes), args.positions, text)

        network = f"{model.name} {sha256(model.read_bytes()).hexdigest()[:16]}"
        with BookState(args.state, network) as state:
            make_book(
                state, graph, SearchJob(config, args.playouts, (model,)), new_pool, args.positions, report,
                watcher(display.print),
            )  # fmt: skip
    if args.out:
        write(graph, config, args.out)


def write(graph: "BookGraph", config: "EngineConfig", path: Path) -> None:
    from goryu.analysis.book.entries import book_entries
    from goryu.players.books.yaneuraou_writer import yaneuraou_text

    atomic_write(path, yaneuraou_text(book_entries(graph, config.output.eval_coef)))


if __name__ == "__main__":
    raise SystemExit(main())
