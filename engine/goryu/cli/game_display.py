"""How each game looks at a terminal: its sides, its moves in writing, its board."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from goryu.games.shogi import move_to_usi
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Board, Reversi

__all__ = ["GAMES", "GameDisplay"]


@dataclass(frozen=True, slots=True)
class GameDisplay:
    """How a game is played by people.

    sides: the names of the first and the second player. move_name: a move as people write it.
    example: how a newcomer is told to write moves. opponent: the agent that a newcomer meets.
    board: the position as text. is_small: can a search reach its end within seconds?
    """

    new: Callable[[], State]
    sides: tuple[str, str]
    move_name: Callable[[Move], str]
    example: str
    opponent: str
    board: Callable[[State], str] = str
    is_small: bool = False


def numbered_squares(state: State) -> str:
    """Returns the tic-tac-toe board with the free squares as their numbers."""
    cells = str(state).replace("\n", "")
    numbered = [str(square) if cell == "." else cell for square, cell in enumerate(cells)]
    return "\n".join(" " + " ".join(numbered[row : row + 3]) for row in (0, 3, 6))


def marked_discs(state: State) -> str:
    """Returns the reversi board with `*` where the side to move may play, and the discs counted."""
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
    """Returns the board, hands and SFEN, without the key, and says if the side to move is in check."""
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
