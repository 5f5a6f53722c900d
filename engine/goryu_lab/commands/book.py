r"""Makes an opening book, and shows, checks and joins books in YaneuraOu's format (.db).

    goryu book make --state runs/book.jsonl --out runs/my.db --positions 1000 --processes 4
    goryu book show runs/my.db --moves 7g7f 3c3d
    goryu book check runs/my.db
    goryu book coverage runs/my.db games/
    goryu book merge runs/my.db other.db --out both.db

You can stop `make` at any time: the same command goes on where it stopped.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from goryu.base.files import atomic_write, check_outputs, check_writable
from goryu.base.printable import printable
from goryu.commands.common import (
    UsageError,
    add_verb,
    new_parser,
    output_file,
    positive,
    program,
    run_verb,
    seed,
)
from goryu.commands.config_options import add_fields, from_arguments
from goryu.commands.progress_display import ProgressDisplay
from goryu.evaluators.network.model_files import models_folder
from goryu.games.shogi import START_SFEN
from goryu.players.set_up.model_path import default_model, model_path, named_model
from goryu.players.set_up.paths import named_file
from goryu_lab.bookmaking.rules import BookRules
from goryu_lab.commands.cluster_options import add_worker_options, new_pools, watcher
from goryu_lab.work.processes import ProcessPool
from goryu_lab.work.seam import Pool
from goryu_lab.work.threads import ThreadPool

if TYPE_CHECKING:
    from goryu.implementation import Board
    from goryu.kifu.record import GameRecord
    from goryu.players.books.book import BookMove
    from goryu.players.books.opening_book import OpeningBook
    from goryu.players.books.yaneuraou import YaneuraOuBook
    from goryu.players.config import EngineConfig
    from goryu_lab.bookmaking.graph import BookGraph

LINE_MOVES = 12
"""Moves of a line that `show` prints."""

ERRORS = 20
"""Problems that `check` prints."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    again = "what was searched is kept; the same command goes on"
    return program("goryu book", make_parser(), run_verb, arguments, interrupted=again)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    verbs = parser.add_subparsers(prog="goryu book", required=True, metavar="VERB")
    _add_make(add_verb(verbs, "make", _make, "search positions and write a book"))
    show = add_verb(verbs, "show", _show, "print the moves of a position and the lines that follow")
    show.add_argument("book", type=Path, help="a book in any format")
    show.add_argument("--sfen", default=START_SFEN, help="the position (default: the start)")
    show.add_argument("--moves", nargs="+", default=[], metavar="MOVE", help="moves from there, in USI")
    show.add_argument("--usi", action="store_true", help="print moves in USI, not in Japanese")
    check = add_verb(verbs, "check", _check, "look for illegal moves, positions out of order and duplicates")
    check.add_argument("book", type=Path, help="a book in YaneuraOu's format")
    check.add_argument(
        "--playouts", type=positive, metavar="N",
        help="also compare moves with searches of N playouts",
    )  # fmt: skip
    check.add_argument(
        "--count", type=positive, default=30, metavar="N", help="such moves, drawn at random (default 30)"
    )
    check.add_argument("--seed", type=seed, default=1, help="seed of the choice (default 1)")
    _add_model(check)
    coverage = add_verb(verbs, "coverage", _coverage, "measure how long games stay in a book")
    coverage.add_argument("book", type=Path, help="a book in any format")
    coverage.add_argument(
        "records", type=Path, nargs="+", help="files, folders or archives of records, or *.games"
    )
    merge = add_verb(
        verbs, "merge", _merge,
        "join books; of a position in several, the entry that was searched most deeply counts",
    )  # fmt: skip
    merge.add_argument("book", type=Path, nargs="+", help="a book in YaneuraOu's format")
    merge.add_argument("--out", type=output_file, required=True, metavar="FILE", help="the new book")
    return parser


def _add_make(make: argparse.ArgumentParser) -> None:
    make.add_argument(
        "--state", type=output_file, required=True, metavar="FILE",
        help="the file of all searches, *.jsonl; made if it is missing",
    )  # fmt: skip
    make.add_argument(
        "--out", type=output_file, metavar="FILE", help="write the book at the end, also after Ctrl-C"
    )
    make.add_argument(
        "--positions", type=positive, default=1000, metavar="N", help="end with N positions (default 1000)"
    )
    make.add_argument(
        "--playouts", type=positive, default=20_000, metavar="N",
        help="of the search of each position (default 20000)",
    )  # fmt: skip
    make.add_argument(
        "--deepen", action="store_true",
        help="also search positions again that had fewer playouts, for instance of an earlier run",
    )  # fmt: skip
    _add_model(make)
    which = make.add_argument_group("which positions")
    add_fields(which, BookRules)
    which.add_argument(
        "--start", type=Path, metavar="FILE",
        help="positions to begin with, as in the openings of goryu match (default: the start position)",
    )  # fmt: skip
    which.add_argument(
        "--records", type=Path, nargs="+", default=[], metavar="PATH",
        help="game records (files, folders, archives): replies that were played are expected",
    )  # fmt: skip
    add_worker_options(make.add_argument_group("workers"), "with one thread each")


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", type=named_model, metavar="FILE", help="the network (default: the strongest one here)"
    )


def _make(args: argparse.Namespace) -> None:
    from goryu_lab.bookmaking.graph import BookGraph
    from goryu_lab.bookmaking.making import SearchJob, make_book
    from goryu_lab.bookmaking.state import BookState

    check_outputs([args.state, args.out], [args.start, args.model, *args.records])
    rules = from_arguments(BookRules, args)
    with ProgressDisplay() as display:
        config = _config(args, display.print)
        model = model_path(config.evaluator)
        graph = BookGraph(tuple(dict.fromkeys(_starts(args))), rules, _replies(args, display.print))

        def report(graph: "BookGraph") -> None:
            done = len(graph.nodes)
            display.update(
                "positions", done, max(args.positions, done), _summary(graph) if graph.reached() else ""
            )

        with BookState(args.state, f"{model.name} {_checksum(model)}") as state:
            job = SearchJob(config, args.playouts, (model,))
            try:
                make_book(
                    state, graph, job, new_pools(args, _local_pool), args.positions, report,
                    watcher(display.print), deepens=args.deepen,
                )  # fmt: skip
            finally:
                if args.out and graph.reached():
                    atomic_write(args.out, _text(graph, config, f"{model.name}, goryu book make"))
                    display.print(f"wrote {args.out}: {len(graph.reached())} positions, {_summary(graph)}")


def _summary(graph: "BookGraph") -> str:
    plies = max(node.ply for node in graph.reached())
    moves, loss = graph.expected_moves()
    return f"{plies} plies deep, {moves:.2f} own moves a game, which lose {50 * loss:.2f} %"


def _config(args: argparse.Namespace, show: Callable[[str], None]) -> "EngineConfig":
    """Returns the config with the network of the command line, or the strongest; `show` takes messages."""
    from goryu.usi.start_config import start_config

    return start_config(args.model or default_model()[0], show)


def _starts(args: argparse.Namespace) -> Iterator[str]:
    """Yields the SFENs of the positions to begin with."""
    from goryu.implementation import Board
    from goryu_lab.match.openings import read_openings

    if args.start is None:
        yield START_SFEN
    else:
        for opening in read_openings(args.start):
            board = Board(opening.sfen)
            for move in opening.moves:
                board.push_usi(move)
            yield board.sfen()


def _replies(args: argparse.Namespace, show: Callable[[str], None]) -> dict[str, dict[str, int]]:
    """Counts the moves in the game records; `show` takes the reasons why games are left out."""
    from goryu_lab.bookmaking.replies import count_replies

    return count_replies(_games(args.records, show), args.plies)


def _games(paths: Sequence[Path], show: Callable[[str], None]) -> "Iterator[GameRecord]":
    from goryu.kifu.archives import find_records, read_candidates

    for candidate in read_candidates(find_records(paths)):
        if candidate.game is None:
            show(candidate.reason)
        else:
            yield candidate.game


def _local_pool(processes: int) -> Pool:
    return ThreadPool(1) if processes == 1 else ProcessPool(processes)


def _checksum(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()[:16]


def _text(graph: "BookGraph", config: "EngineConfig", comment: str) -> str:
    from goryu_lab.bookmaking.entries import book_entries
    from goryu_lab.bookmaking.yaneuraou_writer import yaneuraou_text

    return yaneuraou_text(book_entries(graph, config.output.eval_coef), comment)


def _show(args: argparse.Namespace) -> int:
    from goryu.implementation import Board
    from goryu.players.books.config import BookFile
    from goryu.players.books.opening_book import OpeningBook
    from goryu.players.books.selection import ranked

    book, board = OpeningBook(BookFile(str(args.book))), Board(args.sfen)
    for move in args.moves:
        board.push_usi(move)
    moves = ranked(book.find(board))
    print(f"sfen {board.sfen()}")
    if not moves:
        print("the book does not have this position")
        return 1
    for move in moves:
        print(_shown(book, board, move, usi=args.usi))
    return 0


def _shown(book: "OpeningBook", board: "Board", move: "BookMove", *, usi: bool) -> str:
    """Returns one line: evaluation, depth, count, and the moves of the book's best line."""
    from goryu.games.shogi import move_to_usi
    from goryu.kifu.notation import japanese_move

    after, names = board.copy(), list[str]()
    for each in book.line(board, move, LINE_MOVES):
        names.append(move_to_usi(each) if usi else japanese_move(after, each))
        after.push(each)
    score = "?" if move.eval_cp is None else f"{move.eval_cp:+}"
    depth = "?" if move.depth is None else f"{move.depth}"
    return f"{score:>6} cp  depth {depth:>3}  count {move.count:>7}  {' '.join(names)}"


def _check(args: argparse.Namespace) -> int:
    from goryu_lab.bookmaking.checking import problems

    book = _open(args.book)
    positions = [place for _, place in book.positions()]
    number = 0
    for number, problem in enumerate(problems(book), start=1):
        if number > ERRORS:
            print("and more problems")
            break
        print(printable(problem))
    if number:
        return 1
    moves = sum(len(book.moves_at(place)) for place in positions)
    print(f"{args.book}: {len(positions)} positions with {moves} moves, no problem")
    if args.playouts:
        _verify(book, args)
    return 0


def _verify(book: "YaneuraOuBook", args: argparse.Namespace) -> None:
    """Prints what moves of the book lose by deeper searches."""
    from random import Random

    from goryu.players.set_up.loading import load_evaluator
    from goryu_lab.bookmaking.searched import BookSearcher
    from goryu_lab.bookmaking.verifying import verify

    config = _config(args, print)
    searcher = BookSearcher(load_evaluator(config.evaluator, print), config)
    entries = [(sfen, book.moves_at(place)) for sfen, place in book.positions()]
    found = []
    for move in verify(entries, searcher, args.playouts, args.count, Random(args.seed)):
        found.append(move)
        print(f"{100 * move.loss:+5.1f} %  {move.move:<5}  {move.choice:<5}  {move.sfen}", flush=True)
    same = sum(move.is_best for move in found)
    mean = sum(move.loss for move in found) / len(found)
    print(
        f"{len(found)} moves at {args.playouts} playouts: a move loses {100 * mean:.2f} % of win rate on "
        f"average and {100 * max(move.loss for move in found):.1f} % at most; "
        f"the search chose the book's best move in {same} positions"
    )


def _coverage(args: argparse.Namespace) -> None:
    from statistics import median

    from goryu.players.books.config import BookFile
    from goryu.players.books.opening_book import OpeningBook
    from goryu_lab.bookmaking.coverage import measure_coverage

    coverage = measure_coverage(OpeningBook(BookFile(str(args.book))), _lines(args.records))
    known = sorted(coverage.known)
    if not known:
        raise UsageError("expected at least one game")
    print(
        f"{len(known)} games: in the book for {sum(known) / len(known):.1f} moves on average, "
        f"{median(known):g} in the median, {known[-1]} at most"
    )
    if coverage.positions:
        rate = 100 * coverage.followed / coverage.positions
        print(f"{coverage.positions} positions in the book: {rate:.0f} % of the moves played are its moves")


def _lines(paths: Sequence[Path]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yields start and moves of all games, of training games too."""
    from goryu.games.shogi import move_to_usi
    from goryu.games.state import Move
    from goryu_lab.records.game_records import GAMES_SUFFIX, read_games

    for path in paths:
        if path.suffix == GAMES_SUFFIX:
            for game in read_games(path):
                yield game.start_sfen, [move_to_usi(Move(move)) for move in game.moves]
        else:
            for record in _games([path], print):
                yield record.start, record.moves


def _merge(args: argparse.Namespace) -> None:
    from goryu_lab.bookmaking.checking import merged
    from goryu_lab.bookmaking.yaneuraou_writer import yaneuraou_text

    check_outputs([args.out], args.book)
    check_writable(args.out)
    entries = merged([_open(path) for path in args.book])
    atomic_write(args.out, yaneuraou_text(entries, "goryu book merge"))
    print(f"wrote {args.out}: {len(entries)} positions")


def _open(path: Path) -> "YaneuraOuBook":
    from goryu.players.books.opening_book import open_book
    from goryu.players.books.yaneuraou import YaneuraOuBook

    book = open_book(named_file(str(path), "", models_folder()))
    if not isinstance(book, YaneuraOuBook):
        raise UsageError(f"{path}: expected a book in YaneuraOu's text format (.db)")
    return book
