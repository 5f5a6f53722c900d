"""The opening book in use: a file of either format, asked about the positions of a game."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from goryu.games.state import Move
from goryu.implementation import Board
from goryu.players.books.apery import AperyBook
from goryu.players.books.book import Book, BookError, BookMove, fields_of, flipped, flipped_move
from goryu.players.books.config import BookConfig, BookFile
from goryu.players.books.selection import choose, ranked
from goryu.players.books.yaneuraou import BOM, YaneuraOuBook

__all__ = ["BookAnswer", "OpeningBook", "open_book"]


@dataclass(frozen=True, slots=True)
class BookAnswer:
    """What a book says to play. pv: the move, and what the book expects behind it."""

    move: BookMove
    pv: tuple[Move, ...]


def open_book(path: Path, ignores_ply: bool = True) -> Book:
    """Opens a book of either format.

    Raises:
        BookError: it is none, or it is not there.
    """
    try:
        with path.open("rb") as file:
            head = file.read(100).removeprefix(BOM)
        if head.startswith(b"#YANEURAOU") or path.suffix.lower() == ".db":
            return YaneuraOuBook(path, ignores_ply)
        return AperyBook(path)
    except OSError as error:
        raise BookError(f"{path}: {error.strerror or error}") from error


class OpeningBook:
    """A book, asked about the positions of a game.

    Raises:
        BookError: the file cannot be used.
    """

    def __init__(self, file: BookFile) -> None:
        self.file = file
        self._stamp = file.stamp()
        self._book = open_book(file.place(), file.ignores_ply)

    def is_current(self, file: BookFile) -> bool:
        """Would opening this file give the same book?"""
        return file == self.file and file.stamp() == self._stamp

    def find(self, board: Board, flips: bool = True) -> list[BookMove]:
        """Returns the legal moves that the book knows of a position.

        flips: if it knows none, look for the position with the board turned round.

        Raises:
            BookError: an entry cannot be read.
        """
        position = fields_of(board)
        moves = self._book.find(position)
        if not moves and flips:
            moves = [_flip_back(move) for move in self._book.find(flipped(position))]
        return [move for move in moves if board.is_legal(move.move)]

    def answer(self, board: Board, settings: BookConfig, rng: Random) -> BookAnswer | None:
        """Returns what to play, None if the book knows nothing that will do.

        Raises:
            BookError: an entry cannot be read.
        """
        if board.ply >= settings.max_ply:
            return None
        chosen = choose(self.find(board, settings.flips), board.turn, settings, rng)
        if chosen is None:
            return None
        return BookAnswer(chosen, tuple(self._line(board.copy(), chosen, settings)))

    def _line(self, board: Board, move: BookMove, settings: BookConfig) -> Iterator[Move]:
        """Yields the move and the best ones behind it, as far as the book goes."""
        yield move.move
        for _ in range(settings.pv_moves - 1):
            board.push(move.move)
            known = [] if board.repetition() or board.outcome() else self.find(board, settings.flips)
            if not known:
                if move.reply is not None and board.is_legal(move.reply):
                    yield move.reply
                return
            move = ranked(known)[0]
            yield move.move


def _flip_back(move: BookMove) -> BookMove:
    reply = None if move.reply is None else flipped_move(move.reply)
    return BookMove(flipped_move(move.move), reply, move.eval_cp, move.depth, move.count)
