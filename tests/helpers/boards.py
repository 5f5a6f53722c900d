"""Positions of shogi: after moves, from the files of tests/data, of random games, and of scattered pieces."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Protocol, TypeVar

import pytest

from goryu.games.shogi import Board, SfenError, move_to_usi, parse_sfen
from goryu.games.shogi.pieces import WHITE_PIECE, piece_letters
from goryu.games.state import Move
from paths import DATA


class Playable(Protocol):
    """A board of any implementation or library."""

    def push_usi(self, text: str, /) -> object: ...


B = TypeVar("B", bound=Playable)


def played(board: B, moves: str) -> B:
    """Plays moves, with blanks between them, and returns the board."""
    for move in moves.split():
        board.push_usi(move)
    return board


def before_a_repetition() -> Board:
    """Bare kings that have stepped out and back but for the last step, which repeats the position."""
    return played(Board("4k4/9/9/9/9/9/9/9/4K4 b - 1"), "5i5h 5a5b 5h5i")


def lines_of(name: str) -> list[str]:
    """Returns the lines of a file of positions without its comments."""
    lines = (DATA / "positions" / name).read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


POSITIONS = [
    (sfen.strip(), int(count)) for sfen, count, *_ in (line.split(";") for line in lines_of("shogi.sfen"))
]
"""SFEN, number of legal moves."""

MATES = [(int(plies), sfen) for plies, sfen in (line.split("\t") for line in lines_of("mates.sfen"))]
"""Length of the shortest mate by cshogi, SFEN of a position from a real game."""


def random_games(rng: Random, games: int, plies: int, new: Callable[[], Any] = Board) -> Iterator[Any]:
    """Yields the board at every ply of random games."""
    for _ in range(games):
        board = new()
        for _ in range(plies):
            yield board
            moves = board.legal_moves()
            if not moves:
                break
            board.push(rng.choice(moves))


def sfen_of(pieces: dict[int, int], turn: str, hands: str, number: int = 1) -> str:
    """Returns the SFEN of pieces by square, legal or not."""
    ranks = []
    for rank in range(9):
        row = [pieces.get(9 * file + rank) for file in range(8, -1, -1)]
        ranks.append("".join("1" if piece is None else piece_letters(piece) for piece in row))
    return f"{'/'.join(ranks)} {turn} {hands} {number}"


def legal_sfens(sfens: Iterator[str], count: int) -> Iterator[str]:
    """Yields the first of the SFENs that obey the rules, in canonical form."""
    while count:
        try:
            yield str(parse_sfen(next(sfens)))
        except SfenError:
            continue
        count -= 1


def scattered(rng: Random, count: int, least: int, most: int, hands: tuple[str, ...]) -> Iterator[str]:
    """Yields legal SFENs of few pieces on random squares: pins, checks, dropped pawns that mate."""

    def sfens() -> Iterator[str]:
        while True:
            squares = rng.sample(range(81), rng.randint(least, most))
            kinds = [8, 8 + WHITE_PIECE]
            kinds += [rng.choice((*range(1, 8), *range(9, 15))) + 16 * rng.randrange(2) for _ in squares[2:]]
            pieces = dict(zip(squares, kinds, strict=True))
            yield sfen_of(pieces, rng.choice("bw"), rng.choice(hands), rng.randint(1, 300))

    return legal_sfens(sfens(), count)


def entered(rng: Random, count: int) -> Iterator[str]:
    """Yields legal SFENs with the mover's king and about ten of its pieces in the far ranks."""

    def sfens() -> Iterator[str]:
        while True:
            turn = rng.randrange(2)
            far = [9 * file + (8 - rank if turn else rank) for file in range(9) for rank in range(3)]
            squares = rng.sample(far, rng.randint(10, 13))
            pieces = {squares[0]: 8 + 16 * turn, rng.randrange(81): 24 - 16 * turn}
            for square in squares[1:]:
                pieces[square] = rng.choice((3, 4, 4, 7, 7, 9, 9, 9, 10, 11, 12, 13, 14)) + 16 * turn
            hands = rng.choice(("RBG7P", "RGSN6P", "2R8P", "B12P", "9P", "-"))
            yield sfen_of(pieces, "bw"[turn], hands.lower() if turn else hands, rng.randint(1, 300))

    return legal_sfens(sfens(), count)


def turned(sfen: str) -> str:
    """Returns the position with the board turned round and the colours exchanged."""
    board, turn, hands, number = sfen.split()
    letters = board.replace("+", "\0")[::-1].swapcase()
    for letter in "PLNSBRplnsbr":
        letters = letters.replace(f"{letter}\0", f"+{letter}")
    return f"{letters} {'bw'[turn == 'b']} {hands.swapcase()} {number}"


def assert_line_mates(sfen: str, moves: tuple[Move, ...]) -> None:
    """Replays a mate on the board of another library: legal moves, checks of the attacker, the mate."""
    cshogi = pytest.importorskip("cshogi")
    board = cshogi.Board(sfen)
    for i, move in enumerate(moves):
        assert board.move_from_usi(move_to_usi(move)) in list(board.legal_moves)
        board.push_usi(move_to_usi(move))
        assert i % 2 == 1 or board.is_check()
    assert board.is_game_over()
    assert board.is_check()
