"""Tic-tac-toe: the smallest game that exercises every part of the search core.

A move is the number of its square, 0 to 8, row by row. Played perfectly by both sides the
game is a draw; 5,478 positions can be reached, in 255,168 different games.
"""

from collections.abc import Iterable
from typing import Self

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.games.splitmix import GOLDEN_GAMMA, splitmix64
from goryu.games.state import Move, Outcome

__all__ = ["TicTacToe", "read_board"]

# One octal digit a row.
LINES = (0o700, 0o070, 0o007, 0o444, 0o222, 0o111, 0o421, 0o124)
FULL = 0o777
LOSS = Outcome(-1.0, "three in a row")
DRAW = Outcome(0.0, "full board")

ZOBRIST_SEED = 0x746963746163746F  # "tictacto" in ASCII
STONE_WORDS = tuple(
    tuple(splitmix64(ZOBRIST_SEED + (player * 9 + square) * GOLDEN_GAMMA) for square in range(9))
    for player in (0, 1)
)
PLY_WORDS = tuple(splitmix64(ZOBRIST_SEED + (18 + ply) * GOLDEN_GAMMA) for ply in range(10))


class TicTacToe:
    """Two 9-bit boards: the stones of the side to move and of the opponent.

    >>> game = TicTacToe([4, 0, 2])
    >>> print(game)
    O.X
    .X.
    ...
    >>> game.legal_moves()
    [1, 3, 5, 6, 7, 8]
    >>> TicTacToe([4, 0, 2, 1, 6]).outcome()
    Outcome(value=-1.0, reason='three in a row')
    """

    def __init__(self, moves: Iterable[int] = ()) -> None:
        """Starts a game and plays `moves`, which must be legal."""
        self.own = 0
        self.opponent = 0
        self.move_stack: list[Move] = []
        self._stones_key = 0
        for move in moves:
            self.push(Move(move))

    @property
    def turn(self) -> int:
        return len(self.move_stack) % 2

    @property
    def ply(self) -> int:
        return len(self.move_stack)

    @property
    def key(self) -> int:
        # The ply's word also encodes the side to move.
        return self._stones_key ^ PLY_WORDS[len(self.move_stack)]

    def legal_moves(self) -> list[Move]:
        if self.outcome() is not None:
            return []
        occupied = self.own | self.opponent
        return [Move(square) for square in range(9) if not occupied >> square & 1]

    def push(self, move: Move) -> None:
        self._stones_key ^= STONE_WORDS[self.turn][move]
        self.own, self.opponent = self.opponent, self.own | 1 << move
        self.move_stack.append(move)

    def pop(self) -> Move:
        move = self.move_stack.pop()
        self.own, self.opponent = self.opponent ^ 1 << move, self.own
        self._stones_key ^= STONE_WORDS[self.turn][move]
        return move

    def outcome(self) -> Outcome | None:
        # Only the player who has just moved can have completed a line.
        for line in LINES:
            if self.opponent & line == line:
                return LOSS
        return DRAW if self.own | self.opponent == FULL else None

    def repetition(self) -> Outcome | None:
        """Returns None: no stone is ever removed, so no position repeats."""
        return None

    def line_difference(self) -> int:
        """Returns the lines that the side to move can still fill, less those that the opponent can."""
        own = sum(not self.opponent & line for line in LINES)
        return own - sum(not self.own & line for line in LINES)

    def copy(self) -> Self:
        state = type(self)()
        state.own, state.opponent = self.own, self.opponent
        state.move_stack, state._stones_key = self.move_stack[:], self._stones_key
        return state

    def __str__(self) -> str:
        first, second = (self.own, self.opponent) if self.turn == 0 else (self.opponent, self.own)
        cells = "".join("X" if first >> s & 1 else "O" if second >> s & 1 else "." for s in range(9))
        return "\n".join(cells[row : row + 3] for row in (0, 3, 6))


def read_board(text: str) -> TicTacToe:
    """Returns the position of a board such as "XO./.X./..O", row by row; X moves first.

    The order of the moves before it is made up. Raises InputError if no game leads to the board.

    >>> print(read_board("XO./.X./..O"))
    XO.
    .X.
    ..O
    """
    rows = text.upper().split("/")
    cells = "".join(rows)
    if [len(row) for row in rows] != [3, 3, 3] or set(cells) - set("XO."):
        raise InputError(
            tr("board {text!r}: expected three rows of X, O and ., as in XO./.X./..O", text=text)
        )
    crosses, noughts = ([square for square in range(9) if cells[square] == side] for side in "XO")
    if len(crosses) - len(noughts) not in (0, 1):
        counts = {"crosses": len(crosses), "noughts": len(noughts)}
        problem = tr("expected as many X as O, or one more, received {crosses} and {noughts}", **counts)
        raise InputError(tr("board {text!r}: {problem}", text=text, problem=problem))
    state = TicTacToe()
    for i in range(len(crosses) + len(noughts)):
        state.push(Move((crosses, noughts)[i % 2][i // 2]))
    if any(state.own & line == line for line in LINES):
        problem = tr("the side to move has three in a row already")
        raise InputError(tr("board {text!r}: {problem}", text=text, problem=problem))
    return state
