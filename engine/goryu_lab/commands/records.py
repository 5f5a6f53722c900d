r"""Learns from game records: finds them in archives, chooses the good ones, splits and converts them.

    goryu records show wdoor2024.7z                        # what is in it
    goryu records select wdoor2024.7z more/ --min-rating 3000 --min-plies 50 --out runs/floodgate
    goryu records convert runs/floodgate/train.txt --out runs/floodgate/train.games
    goryu records convert runs/floodgate/test.txt --out runs/floodgate/test.games
    goryu train --source runs/floodgate/train.games,600,1 --folder runs/book --minutes 60
    goryu evaluate runs/book/goryu-5x64.onnx --games runs/floodgate/test.games

    goryu records tree wdoor2024.7z --depth 6 --min-games 100
    goryu records openings wdoor2024.7z --plies 24 --min-games 2 --out openings.txt

Reads KIF, KI2, CSA, JKF, SFEN and USI lines in any usual encoding: files, folders, zip, tar, 7z, gz, bz2, xz,
also archives in archives, and the lists that `select` writes. Names each damaged record with its line.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from goryu.base.arguments import ArgumentParser
from goryu.base.files import atomic_path, atomic_write, check_outputs
from goryu.base.language import plural
from goryu.commands.common import (
    UsageError,
    add_verb,
    new_parser,
    non_negative,
    output_file,
    positive,
    program,
    run_verb,
    seed,
    share,
)
from goryu.commands.config_options import add_fields, from_arguments
from goryu.commands.progress_display import ProgressDisplay
from goryu.kifu.archives import Candidate, count_files, find_records, is_archive, read_candidates
from goryu.kifu.record import Ending
from goryu_lab.records.game_lists import is_list, is_test_game, listed_candidates, read_list, write_list
from goryu_lab.records.selection import GameFilter, select
from goryu_lab.records.statistics import ArchiveStatistics

if TYPE_CHECKING:
    from goryu_lab.records.game_records import GameRecord as TrainingGame
    from goryu_lab.records.opening_tree import OpeningNode, OpeningTree

OUTPUTS = "*.games, *.hcpe, *.hcpe.xz, *.hcpe3, *.psv or *.bin"

SHOWN_PROBLEMS = 20
"""Damaged records that are printed; all of them are in the file of the games left out."""

ENDINGS = {ending.value.replace(" ", "-") or "unknown": ending for ending in Ending}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu records", make_parser(), run_verb, arguments, interrupted="nothing was written")


def make_parser() -> argparse.ArgumentParser:
    parser = new_parser(__doc__)
    verbs = parser.add_subparsers(prog="goryu records", required=True, metavar="VERB")
    show = _verb(verbs, "show", _show, "print what the sources hold")
    _add_filter(show, every_ending=True)
    choose = _verb(verbs, "select", _select, "choose games, and write lists of training and test games")
    choose.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="for train.txt, test.txt, left-out.txt"
    )
    choose.add_argument(
        "--test", type=share, default=0.1, metavar="SHARE", help="share of the test games (default 0.1)"
    )
    choose.add_argument("--seed", type=seed, default=0, help="seed of the split (default 0)")
    _add_filter(choose)
    convert = _verb(verbs, "convert", _convert, "convert games for goryu train; a source may be a list")
    convert.add_argument("--out", type=output_file, required=True, metavar="FILE", help=OUTPUTS)
    convert.add_argument(
        "--scores", action="store_true",
        help="take the scores from the comments (floodgate's '** 30); positions without are not for training",
    )  # fmt: skip
    convert.add_argument(
        "--skip", type=non_negative, default=0, metavar="N",
        help="the first N moves of a game are not for training (default 0)",
    )  # fmt: skip
    convert.add_argument("--teacher", default="", help="name of the teacher, for sources that keep none")
    convert.add_argument(
        "--left-out", type=output_file, metavar="FILE", help="write what is left out, and why"
    )
    tree = _verb(verbs, "tree", _tree, "print the tree of the openings")
    tree.add_argument("--depth", type=positive, default=4, metavar="N", help="moves (default 4)")
    tree.add_argument(
        "--min-games",
        type=positive,
        default=1,
        metavar="N",
        help="show moves of at least N games (default 1)",
    )
    tree.add_argument("--usi", action="store_true", help="print moves in USI, not in Japanese")
    _add_filter(tree, every_ending=True)
    openings = _verb(verbs, "openings", _openings, "write start positions for goryu match --openings")
    openings.add_argument("--out", type=output_file, required=True, metavar="FILE", help="the opening file")
    openings.add_argument("--plies", type=positive, default=24, metavar="N", help="moves (default 24)")
    openings.add_argument("--count", type=positive, default=400, metavar="N", help="at most (default 400)")
    openings.add_argument("--seed", type=seed, default=0, help="seed of the choice (default 0)")
    openings.add_argument(
        "--min-games", type=positive, default=1, metavar="N",
        help="keep positions that at least N games reached (default 1)",
    )  # fmt: skip
    _add_filter(openings, every_ending=True)
    return parser


def _verb(
    verbs: "argparse._SubParsersAction[ArgumentParser]",
    name: str,
    run: Callable[[argparse.Namespace], None],
    text: str,
) -> ArgumentParser:
    parser = add_verb(verbs, name, run, text)
    parser.add_argument("source", type=Path, nargs="+", help="file, folder, archive or list of games")
    return parser


def _add_filter(parser: argparse.ArgumentParser, *, every_ending: bool = False) -> None:
    group = parser.add_argument_group("which games")
    add_fields(group, GameFilter)
    group.add_argument(
        "--ending", choices=ENDINGS, action="append",
        help=f"keep games that ended so; may be repeated (default {_default_endings(every_ending)})",
    )  # fmt: skip
    parser.set_defaults(every_ending=every_ending)


def _default_endings(every_ending: bool) -> str:
    return "all" if every_ending else ", ".join(GameFilter().endings)


def _filter_of(args: argparse.Namespace) -> GameFilter:
    default = tuple(Ending) if args.every_ending else GameFilter().endings
    endings = tuple(ENDINGS[name] for name in args.ending) if args.ending else default
    return from_arguments(GameFilter, args, endings=endings, needs_result=not args.every_ending)


@dataclass
class Report:
    """What was found, and what was left out with its reason."""

    statistics: ArchiveStatistics = field(default_factory=ArchiveStatistics)
    left_out: list[str] = field(default_factory=list)

    def add(self, candidate: Candidate, display: ProgressDisplay) -> None:
        """Counts a game; prints the first damaged ones."""
        self.statistics.add(candidate)
        if candidate.game is None:
            self._note(candidate.reason, display)
        elif candidate.reason:
            self.left_out.append(f"{candidate.name}: {candidate.reason}")

    def add_damaged(self, reason: str, display: ProgressDisplay) -> None:
        """Counts a damaged record of a file of training games."""
        self.statistics.add(Candidate("", None, reason))
        self._note(reason, display)

    def _note(self, reason: str, display: ProgressDisplay) -> None:
        self.left_out.append(reason)
        if self.statistics.damaged <= SHOWN_PROBLEMS:
            display.print(_printable(reason))

    def check(self) -> None:
        """Raises UsageError if there was no game at all that could be read."""
        if self.statistics.damaged and not (self.statistics.kept or self.statistics.reasons):
            raise UsageError("expected at least one record that can be read")

    def print(self, file: Path | None = None) -> None:
        """Prints the statistics; `file` has the games that were left out."""
        from rich.console import Console
        from rich.table import Table

        hidden = self.statistics.damaged - SHOWN_PROBLEMS
        if hidden > 0:
            print(f"and {hidden} more damaged records" + (f": see {file}" if file else ""))
        table = Table(show_header=False, box=None)
        for name, text in self.statistics.rows():
            table.add_row(name, _printable(text))
        Console(highlight=False, emoji=False).print(table)


def _printable(text: str) -> str:
    """Returns a text that every terminal can print: names of files may be in no encoding."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


@contextmanager
def _progress(args: argparse.Namespace) -> Iterator[tuple[ProgressDisplay, Iterator[Candidate]]]:
    """Yields the display and the games of all sources; the display counts them."""
    with ProgressDisplay() as display:
        yield display, _counted(_candidates(args.source), display, _total(args.source))


def _candidates(sources: Iterable[Path]) -> Iterator[Candidate]:
    for source in sources:
        if is_list(source):
            yield from listed_candidates(read_list(source))
        else:
            yield from read_candidates(find_records([source]))


def _total(sources: Sequence[Path]) -> int | None:
    """Returns how many files there are, or None if archives hold an unknown number."""
    if any(is_archive(source.name) for source in sources):
        return None
    missing = next((source for source in sources if not source.exists()), None)
    if missing is not None:
        raise UsageError(f"{missing}: no such file or folder")
    return sum(len(read_list(source)) if is_list(source) else count_files([source]) for source in sources)


def _counted(
    candidates: Iterable[Candidate], display: ProgressDisplay, total: int | None
) -> Iterator[Candidate]:
    for number, candidate in enumerate(candidates, 1):
        display.update("games", number, None if total is None else max(number, total))
        yield candidate


def _show(args: argparse.Namespace) -> None:
    report = Report()
    with _progress(args) as (display, found):
        for candidate in select(found, _filter_of(args)):
            report.add(candidate, display)
    report.print()
    report.check()


def _select(args: argparse.Namespace) -> None:
    parts = [args.out / "train.txt", args.out / "test.txt"]
    check_outputs([*parts, args.out / "left-out.txt"], args.source)
    for path in parts:
        if path.exists() and not is_list(path):
            raise UsageError(f"{path} is not a list of games by this program: name another folder")
    report = Report()
    lists: dict[str, list[str]] = {"train": [], "test": []}
    game_filter = _filter_of(args)
    with _progress(args) as (display, found):
        for candidate in select(found, game_filter):
            report.add(candidate, display)
            if candidate.game is not None and candidate.is_kept:
                part = "test" if is_test_game(candidate.game, args.test, args.seed) else "train"
                lists[part].append(candidate.name)
    left_out = args.out / "left-out.txt"
    args.out.mkdir(parents=True, exist_ok=True)
    atomic_write(left_out, _lines(report.left_out))
    report.print(left_out)
    if not report.statistics.kept:
        raise UsageError("no game is left")
    for name, names in lists.items():
        comment = f"{name} of {game_filter}; test share {args.test:g}, seed {args.seed}"
        write_list(args.out / f"{name}.txt", names, comment)
    training = plural(len(lists["train"]), "game")
    print(f"wrote {args.out}: {training} in train.txt, {len(lists['test'])} in test.txt")


def _lines(texts: Iterable[str]) -> bytes:
    return "".join(f"{' '.join(text.splitlines())}\n" for text in texts).encode("utf-8", "backslashreplace")


def _convert(args: argparse.Namespace) -> None:
    from goryu_lab.records.training_files import SUFFIXES, is_training_file, write_training_file

    suffix = next((end for end in SUFFIXES if args.out.name.endswith(end)), None)
    if suffix is None:
        raise UsageError(f"--out {args.out}: expected {OUTPUTS}")
    check_outputs([args.out, args.left_out], args.source)
    report, written = Report(), 0
    files = [path for path in args.source if is_training_file(path)]
    args.source = [path for path in args.source if not is_training_file(path)]

    def counted(games: Iterable["TrainingGame"]) -> Iterator["TrainingGame"]:
        nonlocal written
        for game in games:
            written += 1
            yield game

    with _progress(args) as (display, found), atomic_path(args.out) as path:
        old = _games_of_files(files, args, report, display)
        write_training_file(path, counted(chain(old, _training_games(found, args, report, display))), suffix)
        if args.left_out:
            atomic_write(args.left_out, _lines(report.left_out))
        if not written:
            raise UsageError("no game is left")
    if args.source or report.left_out:  # Games of training files are all kept, and have no players.
        report.print(args.left_out)
    print(f"wrote {args.out}: {plural(written, 'game')}")


def _games_of_files(
    files: Sequence[Path], args: argparse.Namespace, report: Report, display: ProgressDisplay
) -> Iterator["TrainingGame"]:
    """Yields the games of files of training games; notes what is damaged."""
    from goryu_lab.records.training_files import read_training_file

    for path in files:
        for game in read_training_file(path, lambda text: report.add_damaged(text, display), args.teacher):
            moves = len(game.moves)
            yield replace(game, evals=(*[None] * min(args.skip, moves), *game.evals[args.skip :]))


def _training_games(
    found: Iterable[Candidate], args: argparse.Namespace, report: Report, display: ProgressDisplay
) -> Iterator["TrainingGame"]:
    """Yields the games with a result; counts all of them."""
    from goryu_lab.records.from_kifu import training_game

    everything = GameFilter(endings=tuple(Ending), handicaps=True, min_plies=1)
    for candidate in select(found, everything, keep_duplicates=True):
        game = candidate.game
        if game is not None and candidate.is_kept:
            converted = training_game(game, scores=args.scores, skip=args.skip)
            if all(score is None for score in converted.evals):
                candidate = Candidate(candidate.name, game, "no position for training")
            else:
                yield converted
        report.add(candidate, display)


def _tree(args: argparse.Namespace) -> None:
    tree, report = _opening_tree(args, args.depth)
    report.print()
    report.check()
    for line in tree_lines(tree, args.depth, args.min_games, usi=args.usi):
        print(line)


def _opening_tree(args: argparse.Namespace, plies: int) -> tuple["OpeningTree", Report]:
    from goryu_lab.records.opening_tree import OpeningTree

    tree, report = OpeningTree(plies), Report()
    with _progress(args) as (display, found):
        for candidate in select(found, _filter_of(args)):
            report.add(candidate, display)
            if candidate.game is not None and candidate.is_kept:
                tree.add(candidate.game)
    return tree, report


def tree_lines(tree: "OpeningTree", depth: int, min_games: int, *, usi: bool) -> Iterator[str]:
    """Yields a line for each move: the move, its games, its share, black's score."""
    from goryu.implementation import Board
    from goryu.kifu.notation import japanese_move

    board = Board()
    parents = [tree.root]
    for ply, move, count, node in tree.lines(depth, min_games):
        while board.ply >= ply:
            board.pop()
        text = move if usi else japanese_move(board, board.copy().push_usi(move))
        among = 100 * count / parents[ply - 1].games
        score = 100 * node.points / node.games
        yield f"{'  ' * (ply - 1)}{text}  {plural(count, 'game')}, {among:.0f} %, black {score:.0f} %"
        board.push_usi(move)
        parents[ply:] = [node]


def _openings(args: argparse.Namespace) -> None:
    from goryu_lab.records.opening_tree import sample_openings

    check_outputs([args.out], args.source)
    tree, report = _opening_tree(args, args.plies)
    found = sample_openings(tree, args.count, Random(args.seed), args.min_games)
    report.print()
    if not found:
        raise UsageError("no opening is left")
    origin = f"from {plural(report.statistics.kept, 'game record')}, seed {args.seed}"
    lines = [
        f"# {plural(len(found), 'opening')} of {plural(args.plies, 'move')} {origin}",
        *(f"startpos moves {' '.join(moves)}  # {_result(node)}" for moves, node in found),
    ]
    atomic_write(args.out, "\n".join(lines) + "\n")
    print(f"wrote {len(found)} openings to {args.out}")


def _result(node: "OpeningNode") -> str:
    return f"{plural(node.games, 'game')}, black {100 * node.points / node.games:.0f} %"
