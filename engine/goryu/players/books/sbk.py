"""The book of ShogiGUI and ShogiHome (`.sbk`): a graph of positions, as a message of Protocol Buffers.

A state has moves, each of which may lead to another state. Only roots have their position, as an SFEN, so
that the book is walked when it is opened. Moves that the book calls bad (Bad, Blunder) are left out. The
evaluations of states are not used: the format does not say from whose side they are.

Source: ShogiHome's specs/sbk-format.md.
"""

from collections.abc import Iterator
from pathlib import Path

from goryu.base.language import tr
from goryu.evaluators.formats.protobuf import LENGTH_DELIMITED, VARINT, fields, text
from goryu.games.shogi import SfenFields, make_drop, make_move
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.players.books.book import BookError, BookMove, fields_of, position_of

MAX_BYTES = 64 << 20
"""Of a book: it is walked in Python, a hundred thousand positions in some seconds."""

STATES = 3
ID, POSITION, MOVES = 1, 7, 9
MOVE, EVALUATION, WEIGHT, NEXT = 1, 2, 3, 4
BAD = (3, 4)

DROPPED = (0, 1, 2, 3, 6, 4, 5)
"""By the format's kind less 1, P L N S G B R: k of `make_drop`, which counts P L N S B R G."""


class SbkBook:
    """An open book. Positions match whatever their move number, for the book has none.

    Raises:
        BookError: the file is not such a book, or is too large.
        OSError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        if path.stat().st_size > MAX_BYTES:
            raise BookError(
                f"{path.name}: expected at most {MAX_BYTES >> 20} MB: export a .db or .ybb instead"
            )
        try:
            states = dict(_states(memoryview(path.read_bytes())))
            self._moves = _walked(states)
        except (IndexError, ValueError) as error:  # Also a SfenError, a MoveError.
            raise BookError(
                f"{path.name}: {tr('expected a book of ShogiGUI: {error}', error=error)}"
            ) from error
        if not self._moves:
            raise BookError(f"{path.name}: {tr('expected positions, received none')}")

    def find(self, position: SfenFields) -> list[BookMove]:
        """Returns the moves of a position in the order of the file; [] if the book does not contain it."""
        return self._moves.get(position_of(str(position)), [])


_State = tuple[str, list[tuple[int, int, int, int]]]
"""The SFEN of a root, else ""; and its moves: number, evaluation, weight, the next state or -1."""


def _states(book: memoryview) -> Iterator[tuple[int, _State]]:
    for number, kind, content in fields(book):
        if number == STATES and kind == LENGTH_DELIMITED and isinstance(content, memoryview):
            state, sfen, moves = 0, "", []
            for inner, _, value in fields(content):
                if inner == ID and isinstance(value, int):
                    state = value
                elif inner == POSITION and isinstance(value, memoryview):
                    sfen = text(value)
                elif inner == MOVES and isinstance(value, memoryview):
                    moves.append(_move(value))
            yield state, (sfen, moves)


def _move(message: memoryview) -> tuple[int, int, int, int]:
    found = {
        number: value for number, kind, value in fields(message) if kind == VARINT and isinstance(value, int)
    }
    next_state = found.get(NEXT, 0)
    return (
        found.get(MOVE, 0) & 0xFFFFFFFF,
        found.get(EVALUATION, 0),
        found.get(WEIGHT, 0),
        -1 if next_state >> 31 else next_state,
    )


def _walked(states: dict[int, _State]) -> dict[str, list[BookMove]]:
    """Returns the moves of every position that can be reached from a root."""
    found: dict[str, list[BookMove]] = {}
    seen: set[int] = set()
    waiting = [(state, Board(sfen)) for state, (sfen, _) in states.items() if sfen]
    while waiting:
        state, board = waiting.pop()
        if state in seen or state not in states:
            continue
        seen.add(state)
        moves = []
        for number, evaluation, weight, next_state in states[state][1]:
            move = move_of(number)
            if not board.is_legal(move):
                continue
            if evaluation not in BAD:
                moves.append(BookMove(move, count=weight))
            if next_state >= 0 and next_state not in seen:
                after = board.copy()
                after.push(move)
                waiting.append((next_state, after))
        found.setdefault(position_of(str(fields_of(board))), moves)
    return found


def move_of(number: int) -> Move:
    """Returns the move of the format's number; raises ValueError if it is none."""
    from_rank, from_file, to_rank, to_file = (number >> shift & 15 for shift in (0, 4, 8, 12))
    is_drop = from_rank == from_file == 0
    is_from = 1 <= from_rank <= 9 and 1 <= from_file <= 9
    if not (1 <= to_rank <= 9 and 1 <= to_file <= 9 and (is_drop or is_from)):
        raise ValueError(f"expected a move, received {number:#x}")
    to = 9 * (to_file - 1) + to_rank - 1
    if is_from:
        return make_move(9 * (from_file - 1) + from_rank - 1, to, bool(number >> 19 & 1))
    kind = number >> 24 & 15
    if not 1 <= kind <= len(DROPPED):
        raise ValueError(f"expected the drop of a piece, received {number:#x}")
    return make_drop(DROPPED[kind - 1], to)
