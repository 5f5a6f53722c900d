"""The opening book of a player: opens a file of any format, and answers from it."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import tanh
from pathlib import Path
from random import Random

from goryu.base.errors import explained
from goryu.base.language import tr
from goryu.evaluators.network.model_files import downloaded_model, larger_model, shipped_model
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.players.books.apery import AperyBook
from goryu.players.books.book import Book, BookError, BookMove, fields_of, flipped, flipped_move
from goryu.players.books.config import BookConfig, BookFile
from goryu.players.books.sbk import SbkBook
from goryu.players.books.selection import choose, ranked
from goryu.players.books.yaneuraou import BOM, YaneuraOuBook
from goryu.players.books.ybb import MAGIC, YbbBook
from goryu.players.config import EngineConfig
from goryu.players.position import legal_reply
from goryu.players.request import Answer, Request
from goryu.players.set_up.paths import is_special
from goryu.search.result import RootMove, SearchResult, SearchStats

SHOWN_MOVES = 8
"""Of the book's line, with the move itself."""

NO_SEARCH = SearchStats(0, 0, 1, 1, 0, 1, is_proven=False, is_exhausted=False)


class BookPlayer:
    """Plays from a book, if there is one. A book that cannot be used is reported, and the engine searches.

    That can happen in the middle of a game too, when an entry turns out to be unreadable.
    """

    def __init__(self) -> None:
        self._book: OpeningBook | None = None
        self._report: Callable[[str], None] = lambda message: None
        self._is_ignored: bool | None = None  # In this game; None before its first position.

    def load(self, file: BookFile, report: Callable[[str], None]) -> str:
        """Opens the book, or opens it again if its options or its file have changed.

        Returns the paths of the files if they were opened now, else "".
        report: takes one-line messages about problems, now and later.
        """
        self._report = report
        if self._book is not None and self._book.is_current(file):
            return ""
        self._book = None
        if file.is_none:
            return ""
        try:
            self._book = OpeningBook(file)
        except (OSError, ValueError) as error:  # A BookError, or a name that no file can have.
            report(tr("Error! {error}; playing without a book", error=error))
            return ""
        for problem in self._book.problems:
            report(tr("Error! {error}; playing without this book", error=problem))
        return self._book.names

    def new_game(self) -> None:
        """Decides by chance, at the next position, whether the new game ignores the book (BookIgnoreRate)."""
        self._is_ignored = None

    def answer(self, request: Request, network: Path | None, rng: Random) -> Answer | None:
        """Returns the book's move, None if it has no suitable one or may not answer this request.

        network: as in `suits`.
        """
        limits = request.limits
        if self._book is None or limits.infinite or limits.root_moves or not _may_answer(request, network):
            return None
        config = request.config.book
        if request.config.book_file.is_own:
            config = replace(config, least_depth=0)  # The limit is one for searches by alpha-beta.
        if self._is_ignored is None:
            self._is_ignored = rng.random() < config.ignore_rate
        if self._is_ignored:
            return None
        try:
            found = self._book.answer(request.board, config, rng)
        except BookError as error:
            self._report(tr("Error! {error}; playing without a book", error=error))
            self._book = None
            return None
        return None if found is None else _as_answer(found, request)


def _may_answer(request: Request, network: Path | None) -> bool:
    """May the book answer this request?

    The user's book answers every one. Goryu's own is off for searches limited by nodes or depth, where the
    user wants to see the search.
    """
    config, limits = request.config, request.limits
    counts = (limits.nodes, limits.depth, config.nodes or None, config.depth or None)
    is_uncounted = all(count is None for count in counts)
    return suits(config, network) and (not config.book_file.is_own or is_uncounted)


def suits(config: EngineConfig, network: Path | None) -> bool:
    """Is the book of this config one for the network that plays, and for the algorithm?

    network: the file of the network that is loaded, None without one.
    The user's book is one for all. Goryu's own is for Goryu's search with the networks that it ships and
    downloads, of which the strongest made it; another network may be stronger still.
    """
    if not config.book_file.is_own:
        return True
    if network is None or config.algorithm.name != "puct":
        return False
    known = (shipped_model(), larger_model(), downloaded_model())
    return os.path.realpath(network) in {os.path.realpath(path) for path in known}


def _as_answer(found: "BookAnswer", request: Request) -> Answer:
    cp, coefficient = found.move.eval_cp or 0, request.config.output.eval_coef
    value = tanh(cp / (2.0 * coefficient))
    best = RootMove(found.move.move, 1.0, found.move.count, value, None, found.pv)
    depth = found.move.depth
    known = f"depth {depth}" if depth is not None else "no depth"
    message = f"book: {cp} cp, {known}, count {found.move.count}"
    result = SearchResult((best,), value, NO_SEARCH)
    return Answer(best.move, legal_reply(request.board, best), result, info_string=message)


@dataclass(frozen=True, slots=True)
class BookAnswer:
    """The book's choice. pv: the move, and the moves that the book expects after it."""

    move: BookMove
    pv: tuple[Move, ...]


def open_book(path: Path) -> Book:
    """Opens a book of any format.

    Raises:
        BookError: the file is missing, or not a book.
    """
    if is_special(path):
        raise BookError(f"{path}: {tr('not a regular file')}")
    try:
        with path.open("rb") as file:
            head = file.read(100).removeprefix(BOM)
        if head.startswith(b"#YANEURAOU") or path.suffix.lower() == ".db":
            return YaneuraOuBook(path)
        if head.startswith(MAGIC) or path.suffix.lower() == ".ybb":
            return YbbBook(path)
        if path.suffix.lower() == ".sbk":
            return SbkBook(path)
        return AperyBook(path)
    except OSError as error:
        raise BookError(f"{path}: {explained(error)}") from error


class OpeningBook:
    """An open book.

    problems: why some of several files cannot be used.

    Raises:
        BookError: the file, or each of several files, cannot be used.
    """

    def __init__(self, file: BookFile) -> None:
        self.file = file
        self.problems: list[str] = []
        self._stamp = file.stamp()
        self._books: dict[Path, Book] = {}
        for path in file.find():
            try:
                self._books[path] = open_book(path)
            except ValueError as error:  # A BookError, or a name that no file can have.
                self.problems.append(str(error))
        if self.problems and not self._books:
            raise BookError("; ".join(self.problems))

    @property
    def names(self) -> str:
        """The paths of the files in use."""
        return ", ".join(map(str, self._books))

    def is_current(self, file: BookFile) -> bool:
        """Would opening `file` give the same book?"""
        return file == self.file and file.stamp() == self._stamp

    def find(self, board: Board, flips: bool = True) -> list[BookMove]:
        """Returns the legal moves in a position of the first book that has some.

        flips: if there are none, look up the rotated position with the colours exchanged.

        Raises:
            BookError: an entry cannot be read.
        """
        position = fields_of(board)
        for book in self._books.values():
            moves = book.find(position)
            if not moves and flips:
                moves = [_flip_back(move) for move in book.find(flipped(position))]
            if legal := [move for move in moves if board.is_legal(move.move)]:
                return legal
        return []

    def answer(self, board: Board, config: BookConfig, rng: Random) -> BookAnswer | None:
        """Returns the move to play, None if the book has no suitable one.

        Raises:
            BookError: an entry cannot be read.
        """
        if board.ply >= config.max_ply:
            return None
        chosen = choose(self.find(board, config.flips), board.turn, config, rng)
        if chosen is None:
            return None
        return BookAnswer(chosen, tuple(self.line(board, chosen, SHOWN_MOVES, config.flips)))

    def line(self, board: Board, move: BookMove, length: int, flips: bool = True) -> Iterator[Move]:
        """Yields the move and the best ones after it, as far as the book goes, but no more than `length`.

        Raises:
            BookError: an entry cannot be read.
        """
        board = board.copy()
        yield move.move
        for _ in range(length - 1):
            board.push(move.move)
            known = [] if board.repetition() or board.outcome() else self.find(board, flips)
            if not known:
                if move.reply is not None and board.is_legal(move.reply):
                    yield move.reply
                return
            move = ranked(known)[0]
            yield move.move


def _flip_back(move: BookMove) -> BookMove:
    reply = None if move.reply is None else flipped_move(move.reply)
    return BookMove(flipped_move(move.move), reply, move.eval_cp, move.depth, move.count)
