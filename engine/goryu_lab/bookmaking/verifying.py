"""Compares the moves of a book with deeper searches: what does a book move lose?

The position is searched first. If it prefers another move than the one drawn from the book, the positions
after both moves are searched too, so that both values come from equally many playouts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from goryu.games.shogi import move_to_usi
from goryu.implementation import Board
from goryu.players.books.book import BookMove
from goryu_lab.bookmaking.searched import BookSearcher, SearchedPosition


@dataclass(frozen=True, slots=True)
class VerifiedMove:
    """A move of a book and the choice of a deeper search.

    loss: win rate that the book's move loses against that choice, in [-1, +1]; 0 if they are the same.
    is_best: is the search's choice the best move of the book?
    """

    sfen: str
    move: str
    choice: str
    loss: float
    is_best: bool


def verify(
    entries: Sequence[tuple[str, Sequence[BookMove]]],
    searcher: BookSearcher,
    playouts: int,
    count: int,
    rng: Random,
) -> Iterator[VerifiedMove]:
    """Yields moves of different positions, both drawn at random.

    entries: SFEN and moves of each position, the best first. playouts: of each search. count: at most.
    """
    for sfen, moves in rng.sample(entries, min(count, len(entries))):
        drawn = move_to_usi(rng.choice(moves).move)
        choice = _search(searcher, sfen, playouts).moves[0].move
        loss = 0.0
        if drawn != choice:
            loss = (
                _value_after(searcher, sfen, choice, playouts) - _value_after(searcher, sfen, drawn, playouts)
            ) / 2
        yield VerifiedMove(sfen, drawn, choice, loss, choice == move_to_usi(moves[0].move))


def _value_after(searcher: BookSearcher, sfen: str, move: str, playouts: int) -> float:
    """Returns the value of a move for the side that plays it, in [-1, +1]."""
    board = Board(sfen)
    board.push_usi(move)
    if (outcome := board.outcome()) is not None or not board.legal_moves():
        return 1.0 if outcome is None else -outcome.value
    value = _search(searcher, board.sfen(), playouts).moves[0].value
    assert value is not None, "the best move has playouts"
    return -value


def _search(searcher: BookSearcher, sfen: str, playouts: int) -> SearchedPosition:
    searched = searcher.search(sfen, playouts, _never)
    assert searched is not None
    return searched


def _never() -> bool:
    return False
