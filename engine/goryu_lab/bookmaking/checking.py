"""Checks a book of YaneuraOu's, and joins several."""

from collections.abc import Iterator, Sequence

from goryu.games.shogi import SfenError, move_to_usi, parse_sfen
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.players.books.book import BookError, BookMove, position_of
from goryu.players.books.yaneuraou import YaneuraOuBook


def problems(book: YaneuraOuBook) -> Iterator[str]:
    """Yields one line for everything that is wrong in a book.

    YaneuraOu bisects a book on the disk (`BookOnTheFly`), so the positions must be in ascending order. Goryu
    and YaneuraOu take the first of equal positions.
    """
    seen: set[str] = set()
    before = ""
    for sfen, place in book.positions():
        if sfen < before:
            yield f"{sfen}: expected positions in ascending order, received it after {before}"
        before = sfen
        position = position_of(sfen)
        if position in seen:
            yield f"{sfen}: the book has this position already"
        seen.add(position)
        try:
            if str(parse_sfen(sfen)) != sfen:
                yield f"{sfen}: expected {parse_sfen(sfen)}"
            yield from (f"{sfen}: {text}" for text in _problems_of(Board(sfen), book.moves_at(place)))
        except (SfenError, BookError) as error:
            yield f"{sfen}: {error}"


def _problems_of(board: Board, moves: Sequence[BookMove]) -> Iterator[str]:
    if not moves:
        yield "expected at least one move"
    seen: set[Move] = set()
    for move in moves:
        name = move_to_usi(move.move)
        if move.move in seen:
            yield f"{name} is there twice"
        seen.add(move.move)
        if not board.is_legal(move.move):
            yield f"{name} is illegal"
        elif move.reply is not None:
            board.push(move.move)
            if not board.is_legal(move.reply):
                yield f"{name} {move_to_usi(move.reply)}: the reply is illegal"
            board.pop()


def merged(books: Sequence[YaneuraOuBook]) -> dict[str, list[BookMove]]:
    """Returns the positions of all books by SFEN.

    Of a position in several books, the entry with the deepest best move counts, then that of the first book.

    Raises:
        BookError: an entry cannot be read.
    """
    entries: dict[str, tuple[str, list[BookMove]]] = {}
    for book in books:
        for sfen, place in book.positions():
            position, moves = position_of(sfen), book.moves_at(place)
            known = entries.get(position)
            if known is None or _depth(moves) > _depth(known[1]):
                entries[position] = sfen, moves
    return dict(entries.values())


def _depth(moves: Sequence[BookMove]) -> int:
    return moves[0].depth or 0 if moves else -1
