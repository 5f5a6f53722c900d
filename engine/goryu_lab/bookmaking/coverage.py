"""Measures how long games stay in a book, and how often their players choose its moves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from goryu.games.shogi import move_to_usi
from goryu.implementation import Board
from goryu.players.books.opening_book import OpeningBook


@dataclass(slots=True)
class Coverage:
    """What was counted.

    known: for each game, the moves before the first position that the book does not have.
    positions: those in the book. followed: moves played there that are moves of the book.
    """

    known: list[int] = field(default_factory=list)
    positions: int = 0
    followed: int = 0


def measure_coverage(book: OpeningBook, games: Iterable[tuple[str, Sequence[str]]]) -> Coverage:
    """Returns how far games follow a book. games: SFEN of the start, and the moves in USI."""
    coverage = Coverage()
    for start, moves in games:
        board, known = Board(start), 0
        for move in moves:
            found = [move_to_usi(each.move) for each in book.find(board)]
            if not found:
                break
            known += 1
            coverage.positions += 1
            coverage.followed += move in found
            board.push_usi(move)
        coverage.known.append(known)
    return coverage
