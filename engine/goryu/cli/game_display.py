"""The display of each game at a terminal: the names of its sides and moves, and its board."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from goryu.games.shogi import move_to_usi
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Board, Reversi


@dataclass(frozen=True, slots=True)
class GameDisplay:
    """How people play a game at a terminal.

    new: returns the start of a game. sides: the names of the first and the second player.
    move_name: a move as people write it. example: explains how to write moves.
    opponent: the default agent. board: the position as text.
    is_small: can a search of the whole game end within seconds?
    """

    new: Callable[[], State]
    sides: tuple[str, str]
    move_name: Callable[[Move], str]
    example: str
    opponent: str
    board: Callable[[State], str] = str
    is_small: bool = False


def numbered_squares(state: State) -> str:
    """Returns the tic-tac-toe board with a number on each free square."""
    cells = str(state).replace("\n", "")
    numbered = [str(square) if cell == "." else cell for square, cell in enumerate(cells)]
    return "\n".join(" " + " ".join(numbered[row : row + 3]) for row in (0, 3, 6))


def marked_discs(state: State) -> str:
    """Returns the reversi board with `*` where the side to move may play, and the number of discs."""
    game = cast(Reversi, state)
    header, *rows = str(game).splitlines()
    cells = [list(row) for row in rows]
    for move in game.legal_moves():
        row, column = divmod(move, game.size)
        if row < game.size:  # A pass has no square.
            cells[row][2 + 2 * column] = "*"
    black, white = game.own.bit_count(), game.opponent.bit_count()
    if game.turn == 1:
        black, white = white, black
    return "\n".join([header, *map("".join, cells), f"X {black}, O {white}"])


def shogi_diagram(state: State) -> str:
    """Returns board, hands and SFEN, and `check` if the side to move is in check."""
    board = cast(Board, state)
    *lines, _key = str(board).splitlines()
    return "\n".join([*lines, "check"] if board.is_check() else lines)


GAMES = {
    "tictactoe": GameDisplay(
        TicTacToe,
        ("X", "O"),
        lambda move: str(int(move)),
        "the number of a free square, such as 4",
        "puct:100",
        numbered_squares,
        is_small=True,
    ),
    "reversi": GameDisplay(
        Reversi,
        ("black (X)", "white (O)"),
        lambda move: Reversi().move_name(move),
        "column and row of a square marked *, such as d3",
        "puct:100",
        marked_discs,
    ),
    "shogi": GameDisplay(
        Board,
        ("black (sente)", "white (gote)"),
        move_to_usi,
        "from and to, such as 7g7f; 8h2b+ promotes, P*5e drops a pawn; capitals are black",
        "puct:200",
        shogi_diagram,
    ),
}
