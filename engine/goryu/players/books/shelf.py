"""The player's opening book: opened when the settings ask for another, asked move by move.

A book can break in the middle of a game, when the entry that is needed turns out to be
unreadable: this is said once, and the engine thinks for itself.
"""

from collections.abc import Callable
from math import tanh
from random import Random

from goryu.players.books.book import BookError
from goryu.players.books.config import BookFile
from goryu.players.books.opening_book import BookAnswer, OpeningBook
from goryu.players.position import legal_reply
from goryu.players.request import Answer, Request
from goryu.search.result import RootMove, SearchResult, SearchStats

__all__ = ["BookPlayer"]

NO_SEARCH = SearchStats(0, 0, 0, 0, 1, 1, 0, 1, is_proven=False, is_exhausted=False)


class BookPlayer:
    """At most one book.

    say: takes one-line messages for the user; set by `load`.
    """

    def __init__(self) -> None:
        self._book: OpeningBook | None = None
        self._say: Callable[[str], None] = lambda message: None
        self._is_ignored: bool | None = None  # In this game; None before the first question.

    def load(self, file: BookFile, say: Callable[[str], None]) -> None:
        """Opens the book, or opens it anew if its settings or its file have changed.

        say: takes one-line messages. A book that cannot be used is said and done without.
        """
        self._say = say
        if self._book is not None and self._book.is_current(file):
            return
        self._book = None
        if file.is_none:
            return
        try:
            self._book = OpeningBook(file)
        except (OSError, ValueError) as error:  # A BookError, or a path that none can be.
            say(f"Error! {error}; playing without a book")
        else:
            say(f"book={file.place()}")

    def new_game(self) -> None:
        """Lets chance decide anew whether the game is played without the book (BookIgnoreRate)."""
        self._is_ignored = None

    def answer(self, request: Request, rng: Random) -> Answer | None:
        """Returns the book's move, None if it has none that will do."""
        if self._book is None:
            return None
        settings = request.config.book
        if self._is_ignored is None:
            self._is_ignored = rng.random() < settings.ignore_rate
        if self._is_ignored:
            return None
        try:
            found = self._book.answer(request.board, settings, rng)
        except BookError as error:
            self._say(f"Error! {error}; playing without a book")
            self._book = None
            return None
        return None if found is None else _as_answer(found, request)


def _as_answer(found: BookAnswer, request: Request) -> Answer:
    cp, coefficient = found.move.eval_cp or 0, request.config.output.eval_coef
    value = tanh(cp / (2.0 * coefficient))
    best = RootMove(found.move.move, 1.0, found.move.count, value, None, found.pv)
    depth = found.move.depth
    known = f"depth {depth}" if depth is not None else "no depth"
    remark = f"book: {cp} cp, {known}, count {found.move.count}"
    result = SearchResult((best,), value, NO_SEARCH)
    return Answer(best.move, legal_reply(request.board, best), result, remark=remark)
