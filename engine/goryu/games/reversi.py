"""Reversi (Othello): discs change sides, so a lead in discs means little before the end.

A move is the number of its square, `row * size + column`, row by row from the top left;
`PASS` is the only legal move of a player who cannot flip anything while the opponent can.
The game ends when neither can. Black moves first.

Known results, both sides playing perfectly: 4x4 is won by White, 11 discs to 3;
6x6 by White, 20 to 16 (J. Feinstein, 1993); 8x8 is a draw (H. Takizawa, arXiv:2310.19387).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Self

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.games.splitmix import GOLDEN_GAMMA, splitmix64
from goryu.games.state import Move, Outcome

__all__ = ["PASS", "Reversi", "read_board"]

PASS = Move(64)

ZOBRIST_SEED = 0x7265766572736900  # "reversi" in ASCII
BLACK_WORDS, WHITE_WORDS = (
    tuple(splitmix64(ZOBRIST_SEED + (player * 64 + square) * GOLDEN_GAMMA) for square in range(64))
    for player in (0, 1)
)
FLIP_WORDS = tuple(black ^ white for black, white in zip(BLACK_WORDS, WHITE_WORDS, strict=True))
# 60 discs are played, and no two passes follow each other: fewer than 128 plies.
PLY_WORDS = tuple(splitmix64(ZOBRIST_SEED + (128 + ply) * GOLDEN_GAMMA) for ply in range(128))

OUTCOMES = {sign: Outcome(float(sign), "no move left for either side") for sign in (-1, 0, 1)}


@dataclass(frozen=True, slots=True)
class Geometry:
    """The masks of a board of one size.

    lines: for each of the four axes, how far a step shifts a bitboard, and the squares
        that can be strictly between two discs of such a line. Without the edge columns
        no run wraps round into the next row.
    """

    full: int
    lines: tuple[tuple[int, int], ...]
    black: int
    white: int


@cache
def geometry(size: int) -> Geometry:
    """Returns the masks of a board of `size` x `size`; size is even, 4 to 8."""
    if size not in (4, 6, 8):
        raise ValueError(f"board size {size!r}: expected 4, 6 or 8")
    full = (1 << size * size) - 1
    row = (1 << size - 1) - 2  # without both edge columns
    inner = sum(row << size * i for i in range(size))
    lines = ((1, inner), (size - 1, inner), (size, full), (size + 1, inner))
    upper_left = (size // 2 - 1) * (size + 1)
    lower_left = upper_left + size
    white = 1 << upper_left | 1 << lower_left + 1
    black = 1 << upper_left + 1 | 1 << lower_left
    return Geometry(full, lines, black, white)


class Reversi:
    """Two bitboards: the discs of the side to move and of the opponent; bit s is square s.

    >>> game = Reversi(moves=[19])
    >>> print(game)
      a b c d e f g h
    1 . . . . . . . .
    2 . . . . . . . .
    3 . . . X . . . .
    4 . . . X X . . .
    5 . . . X O . . .
    6 . . . . . . . .
    7 . . . . . . . .
    8 . . . . . . . .
    >>> [game.move_name(move) for move in game.legal_moves()]
    ['c3', 'e3', 'c5']
    >>> game.disc_difference()
    -3
    """

    def __init__(self, size: int = 8, moves: Iterable[int] = ()) -> None:
        """Starts a game and plays `moves`, which must be legal; size is 4, 6 or 8."""
        self.size = size
        self.geometry = geometry(size)
        self.own, self.opponent = self.geometry.black, self.geometry.white
        self.move_stack: list[Move] = []
        self._undo_stack: list[tuple[int, int, int]] = []  # (own, opponent, discs key) before each move
        self._discs_key = discs_key(self.own, self.opponent)
        for move in moves:
            self.push(Move(move))

    @property
    def turn(self) -> int:
        return len(self.move_stack) % 2

    @property
    def ply(self) -> int:
        """Moves played so far, passes included."""
        return len(self.move_stack)

    @property
    def key(self) -> int:
        # The ply's word also encodes the side to move.
        return self._discs_key ^ PLY_WORDS[len(self.move_stack)]

    def legal_moves(self) -> list[Move]:
        targets = self._targets(self.own, self.opponent)
        if not targets:
            return [PASS] if self._targets(self.opponent, self.own) else []
        moves = []
        while targets:
            lowest = targets & -targets
            moves.append(Move(lowest.bit_length() - 1))
            targets ^= lowest
        return moves

    def push(self, move: Move) -> None:
        self._undo_stack.append((self.own, self.opponent, self._discs_key))
        if move != PASS:
            flips = self._flips(move)
            self._discs_key ^= (WHITE_WORDS if self.turn else BLACK_WORDS)[move]
            rest = flips
            while rest:
                lowest = rest & -rest
                self._discs_key ^= FLIP_WORDS[lowest.bit_length() - 1]
                rest ^= lowest
            self.own |= flips | 1 << move
            self.opponent ^= flips
        self.own, self.opponent = self.opponent, self.own
        self.move_stack.append(move)

    def pop(self) -> Move:
        self.own, self.opponent, self._discs_key = self._undo_stack.pop()
        return self.move_stack.pop()

    def outcome(self) -> Outcome | None:
        if self._targets(self.own, self.opponent) or self._targets(self.opponent, self.own):
            return None
        difference = self.disc_difference()
        return OUTCOMES[(difference > 0) - (difference < 0)]

    def repetition(self) -> Outcome | None:
        """Returns None: no disc is ever removed, so no position repeats."""
        return None

    def copy(self) -> Self:
        state = type(self).__new__(type(self))  # Without the start position's key: searches copy often.
        state.size, state.geometry = self.size, self.geometry
        state.own, state.opponent, state._discs_key = self.own, self.opponent, self._discs_key
        state.move_stack, state._undo_stack = self.move_stack[:], self._undo_stack[:]
        return state

    def disc_difference(self) -> int:
        """Returns the discs of the side to move minus the opponent's."""
        return self.own.bit_count() - self.opponent.bit_count()

    def move_name(self, move: Move) -> str:
        """Returns the usual name of a move: column letter and row number from the top, or "pass"."""
        if move == PASS:
            return "pass"
        row, column = divmod(move, self.size)
        return f"{'abcdefgh'[column]}{row + 1}"

    def __str__(self) -> str:
        black, white = (self.own, self.opponent) if self.turn == 0 else (self.opponent, self.own)
        rows = ["  " + " ".join("abcdefgh"[: self.size])]
        for row in range(self.size):
            squares = range(row * self.size, (row + 1) * self.size)
            cells = ("X" if black >> s & 1 else "O" if white >> s & 1 else "." for s in squares)
            rows.append(f"{row + 1} " + " ".join(cells))
        return "\n".join(rows)

    def _targets(self, own: int, opponent: int) -> int:
        """Returns the empty squares on which a disc of `own` would flip something.

        For each of the eight directions at once for all discs: slide over neighbouring
        opponent discs as far as they go, then one step further must be empty.
        """
        beyond = 0
        steps = range(self.size - 3)
        for shift, between in self.geometry.lines:
            passable = opponent & between
            up = passable & own << shift
            down = passable & own >> shift
            for _ in steps:
                up |= passable & up << shift
                down |= passable & down >> shift
            beyond |= up << shift | down >> shift
        return beyond & self.geometry.full & ~(own | opponent)

    def _flips(self, move: Move) -> int:
        """Returns the opponent's discs that a disc of the side to move on `move` flips."""
        own, flips = self.own, 0
        square = 1 << move
        for shift, between in self.geometry.lines:
            passable = self.opponent & between
            run, end = 0, square << shift
            while end & passable:
                run |= end
                end <<= shift
            if end & own:
                flips |= run
            run, end = 0, square >> shift
            while end & passable:
                run |= end
                end >>= shift
            if end & own:
                flips |= run
        return flips


def discs_key(black: int, white: int) -> int:
    """Returns the exclusive or of the Zobrist words of all discs."""
    key = 0
    for square in range(64):
        if black >> square & 1:
            key ^= BLACK_WORDS[square]
        elif white >> square & 1:
            key ^= WHITE_WORDS[square]
    return key


def read_board(text: str) -> Reversi:
    """Returns the position of a board and the side to move, such as ".X../.XX./.XO./.... O"; X is black.

    Without a side black is to move. White's position has a pass before it, so that the first player is black.
    Raises InputError if the text is no board of 4x4, 6x6 or 8x8.

    >>> print(read_board(".X../.XX./.XO./.... O"))
      a b c d
    1 . X . .
    2 . X X .
    3 . X O .
    4 . . . .
    """
    board, _, side = text.strip().upper().partition(" ")
    rows = board.split("/")
    size, cells = len(rows), "".join(rows)
    if size not in (4, 6, 8) or any(len(row) != size for row in rows) or set(cells) - set("XO."):
        expected = tr("expected 4, 6 or 8 rows of as many X, O and ., as in ..../.XO./.OX./.... X")
        raise InputError(tr("board {text!r}: {problem}", text=text[:100], problem=expected))
    if side.strip() not in ("", "X", "O"):
        problem = tr("expected X or O after the board: the side to move")
        raise InputError(tr("board {text!r}: {problem}", text=text[:100], problem=problem))
    state = Reversi(size)
    state.own, state.opponent = (
        sum(1 << square for square, cell in enumerate(cells) if cell == disc) for disc in "XO"
    )
    state._discs_key = discs_key(state.own, state.opponent)
    if side.strip() == "O":
        state.push(PASS)
    return state
