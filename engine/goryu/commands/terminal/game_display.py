"""The display of each game at a terminal: the names of its sides and moves, and its board."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from goryu.commands.terminal import boards
from goryu.games.shogi import move_to, move_to_usi
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Board, Reversi
from goryu.kifu.notation import japanese_move, kif_move, western_move
from goryu.table.game import new_board

if TYPE_CHECKING:
    from rich.text import Text

Names = tuple[str, str]


@dataclass(frozen=True, slots=True)
class GameDisplay:
    """How people play a game at a terminal.

    new: returns the start of a game. sides: the names of the first and the second player.
    move_name: a move as people write it. example: explains how to write moves.
    opponent: the default agent. board: the position as text.
    is_small: can a search of the whole game end within seconds?
    picture: the position with the names of the players, in colour or not, for a terminal with kanji; None if
        `board` serves every terminal. needs_colour: is `picture` for colour only?
    write: a legal move in a position as people write it, if that takes more than `move_name`.
    is_shogi: are there records, handicaps and notations?
    """

    new: Callable[[], State]
    sides: tuple[str, str]
    move_name: Callable[[Move], str]
    example: str
    opponent: str
    board: Callable[[State], str] = str
    is_small: bool = False
    picture: "Callable[[State, Names, bool], Text] | None" = None
    needs_colour: bool = False
    write: Callable[[State, Move], str] | None = None
    is_shogi: bool = False

    def written(self, state: State, move: Move) -> str:
        """Returns a legal move of the position as people write it."""
        return self.write(state, move) if self.write else self.move_name(move)


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
    """Returns board, hands and SFEN, `*` before the piece that moved last, and `check` if there is check."""
    board = cast(Board, state)
    *lines, _key = str(board).splitlines()
    if board.move_stack:
        file, rank = divmod(move_to(board.move_stack[-1]), 9)
        row, column = lines[1 + rank], 1 + 3 * (8 - file)
        marked = "*" + row[column : column + 3].strip()
        lines[1 + rank] = row[:column] + marked.rjust(3) + row[column + 3 :]
    return "\n".join([*lines, "check"] if board.is_check() else lines)


NOTATIONS: dict[str, Callable[[State, Move], str]] = {
    "usi": lambda _state, move: move_to_usi(move),
    "japanese": lambda state, move: japanese_move(cast(Board, state), move),
    "kif": lambda state, move: kif_move(cast(Board, state), move),
    "western": lambda state, move: western_move(cast(Board, state), move),
}
"""The notations of shogi moves."""

REVERSI = GameDisplay(
    Reversi,
    ("black (X)", "white (O)"),
    Reversi().move_name,
    "column and row of a square marked *, such as d3",
    "puct:100",
    marked_discs,
    picture=lambda state, names, _colour: boards.reversi_text(state, names),
    needs_colour=True,
)

GAMES = {
    "tictactoe": GameDisplay(
        TicTacToe,
        ("X", "O"),
        lambda move: str(int(move)),
        "the number of a free square, such as 4",
        "puct:100",
        numbered_squares,
        is_small=True,
        picture=lambda state, _names, _colour: boards.tictactoe_text(state),
        needs_colour=True,
    ),
    "reversi": REVERSI,
    "reversi6": replace(REVERSI, new=lambda: Reversi(6), move_name=Reversi(6).move_name, opponent="uct:400"),
    "reversi4": replace(
        REVERSI, new=lambda: Reversi(4), move_name=Reversi(4).move_name, opponent="alpha-beta", is_small=True
    ),
    "shogi": GameDisplay(
        new_board,
        ("black (sente)", "white (gote)"),
        move_to_usi,
        "a move such as 7g7f, P-7f or 7六歩; 8h2b+ promotes, P*5e drops a pawn",
        "level:3",
        shogi_diagram,
        picture=lambda state, names, colour: boards.shogi_text(cast(Board, state), names, colour),
        is_shogi=True,
    ),
}
