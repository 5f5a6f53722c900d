"""`goryu review`: reviews games without a browser."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from types import FrameType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from goryu.analysis.description import Describer
from goryu.analysis.review import GameReview
from goryu.analysis.reviewer import Reviewer
from goryu.analysis.standalone_page import html_report
from goryu.analysis.store import open_default_store
from goryu.analysis.text_report import json_lines, summary
from goryu.base.arguments import ArgumentParser, whole_number
from goryu.base.errors import InputError, fault
from goryu.base.files import atomic_write, check_outputs, check_writable, readable_name
from goryu.base.language import tr
from goryu.base.printable import printable
from goryu.commands.common import add_model, program
from goryu.kifu.reading import MAX_BYTES, parse_records
from goryu.kifu.record import GameRecord, RecordError
from goryu.kifu.writing import to_kif
from goryu.players.set_up.loading import load_evaluator
from goryu.usi.start_config import start_config

PLAYOUTS = 400
"""For each position."""

MOST_PLAYOUTS = 10_000_000
MOST_THREADS = 1024

COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
"""Of the bar: the game, and how many of its positions are known."""

INTERRUPTED = 130
FAILED = 1
"""The exit status if a record could not be read or a file not be written; the other games were reviewed."""


@dataclass(frozen=True, slots=True)
class NamedGame:
    """A game to review.

    name: of the file, with a number if it holds several games. stem: for the names of the outputs.
    """

    name: str
    stem: str
    record: GameRecord


def main(arguments: Sequence[str]) -> int:
    """Reviews the games named on the command line; returns the exit status."""
    return program("goryu review", make_parser(), run, arguments, starts_engines=False)


def run(options: argparse.Namespace) -> int:
    """Reviews the games; returns the exit status."""
    if sys.platform == "win32":  # The shells of other systems know what * means.
        options.games = [name for text in options.games for name in sorted(glob(text)) or [text]]
    analysis = Analysis(options)
    with _signals_noted() as should_stop:
        return analysis.run(should_stop)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = ArgumentParser(
        "goryu review",
        description=tr("Reviews games: the win rate after every move, the mistakes and what was better."),
        epilog=tr(
            "A game is a record in KIF, KI2, CSA, JKF, SFEN or USI; - reads it from standard input. Analyses "
            "are kept, so an interrupted review goes on, and the same review is instant. A review with more "
            "playouts searches again what has too few."
        ),
    )
    parser.add_argument("games", nargs="+", metavar="GAME", help=tr("a game record, or - for standard input"))
    parser.add_argument(
        "--playouts", type=whole_number(1, MOST_PLAYOUTS), default=PLAYOUTS, metavar="N",
        help=tr("for each position (default {default})", default=PLAYOUTS),
    )  # fmt: skip
    parser.add_argument(
        "--html",
        metavar="FILE",
        help=tr("write a page that needs neither an internet connection nor a server"),
    )
    parser.add_argument("--kif", metavar="FILE", help=tr("write a KIF record with comments"))
    parser.add_argument("--jsonl", type=Path, metavar="FILE", help=tr("write a line of JSON for each move"))
    add_model(parser)
    parser.add_argument(
        "--threads",
        type=whole_number(1, MOST_THREADS),
        metavar="N",
        help=tr("positions searched at once (default: Threads)"),
    )
    parser.add_argument("--quiet", action="store_true", help=tr("print only errors"))
    return parser


class Analysis:
    """One run of the command. Raises GoryuError or OSError if it cannot begin."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._failed = False
        self._games = list(self._read())
        for path in filter(None, (options.html, options.kif)):
            _check_output(Path(path), self._is_folder(path))
        if options.jsonl is not None:
            check_writable(options.jsonl, makes_folders=True)
        self._check_that_inputs_are_kept()
        config = start_config(options.model, _say)
        if options.threads:
            config = replace(config, evaluator=replace(config.evaluator, threads=options.threads))
        loaded = load_evaluator(config.evaluator, _say)
        self._reviewer = Reviewer(loaded, config, open_default_store(_say))

    def run(self, stop: Callable[[], bool]) -> int:
        """Reviews all games; returns the exit status. stop: returns whether the user wants it to end."""
        lines: list[str] = []
        for game in self._games:
            describer = self._review(game, stop)
            if describer is None:
                _say(tr("interrupted; the same command goes on from here"))
                return INTERRUPTED
            if not self._options.quiet:
                for line in summary(game.name, describer):
                    sys.stdout.write(printable(line) + "\n")
                sys.stdout.flush()
            lines += [json.dumps(line, ensure_ascii=False) for line in json_lines(game.name, describer)]
            if self._options.html:
                page = html_report(describer.record.title or Path(game.name).name, describer)
                self._save(self._target(self._options.html, game, ".html"), page)
            if self._options.kif:
                self._save(self._target(self._options.kif, game, ".kif"), to_kif(describer.commented()))
        if self._options.jsonl is not None and self._games:
            self._save(self._options.jsonl, "".join(line + "\n" for line in lines))
        return FAILED if self._failed else 0

    def _review(self, game: NamedGame, stop: Callable[[], bool]) -> Describer | None:
        """Returns the finished review, or None if the user has interrupted it."""
        review = GameReview(game.record.start, game.record.moves, self._options.playouts)
        console = Console(stderr=True)
        is_hidden = self._options.quiet or not console.is_terminal
        with Progress(*COLUMNS, console=console, transient=True, disable=is_hidden) as bar:
            task = bar.add_task(escape(game.name), total=len(review.analyses))

            def show(review: GameReview, _index: int) -> None:
                bar.update(task, completed=review.known())

            is_whole = self._reviewer.review(review, show, stop)
        return Describer(game.record, review) if is_whole else None

    def _read(self) -> Iterator[NamedGame]:
        """Yields the games that can be read; says what is wrong with the others."""
        used: set[str] = set()
        for text in self._options.games:
            try:
                name, data = _content(text)
            except OSError as error:
                self._fail(f"{text}: {fault(error)}")
                continue
            found = list(parse_records(data, name))
            if not found:
                self._fail(tr("{name}: no game was found", name=name))
            for number, record in enumerate(found, start=1):
                if isinstance(record, RecordError):
                    self._fail(str(record))
                    continue
                several = len(found) > 1
                stem = Path(name).stem + (f"-{number}" if several else "")
                while stem in used:
                    stem += "+"
                used.add(stem)
                yield NamedGame(f"{name} ({number})" if several else name, stem, record)

    def _check_that_inputs_are_kept(self) -> None:
        """Raises InputError if an output would replace a record, a network or another output."""
        kinds = ((self._options.html, ".html"), (self._options.kif, ".kif"))
        outputs = [self._target(path, game, kind) for path, kind in kinds if path for game in self._games]
        records = [Path(text) for text in self._options.games if text != "-"]
        check_outputs([*outputs, self._options.jsonl], [*records, self._options.model])

    def _is_folder(self, path: str) -> bool:
        """Is an output a folder? If it is one, ends like one, or if there are several records or games."""
        is_named_as_one = path.endswith(tuple(filter(None, (os.sep, os.altsep))))
        several = len(self._options.games) > 1 or len(self._games) > 1
        return several or is_named_as_one or os.path.isdir(path)

    def _target(self, path: str, game: NamedGame, suffix: str) -> Path:
        """Returns the file for a game."""
        return Path(path) / (game.stem + suffix) if self._is_folder(path) else Path(path)

    def _save(self, path: Path, content: str) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(path, content)
        except OSError as error:
            self._fail(f"{path}: {fault(error)}")

    def _fail(self, message: str) -> None:
        self._failed = True
        _say(message)


def _content(text: str) -> tuple[str, bytes]:
    """Returns the name and the content of a record."""
    if text == "-":
        return "stdin", sys.stdin.buffer.read(MAX_BYTES + 1)
    with open(text, "rb") as file:
        return readable_name(text), file.read(MAX_BYTES + 1)


def _check_output(path: Path, is_folder: bool) -> None:
    """Raises InputError if nothing can be written there; for several games the path names a folder."""
    if not is_folder:
        check_writable(path, makes_folders=True)
    elif path.exists() and not path.is_dir():
        raise InputError(tr("{path} is a file: expected a folder, for there are several games", path=path))


@contextmanager
def _signals_noted() -> Iterator[Callable[[], bool]]:
    """Yields a function: did Ctrl-C or SIGTERM come? A second one raises KeyboardInterrupt."""
    seen: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(seen)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(message: str) -> None:
    sys.stderr.write(f"goryu review: {printable(message)}\n")
