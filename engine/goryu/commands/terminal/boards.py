"""Boards in colour for a terminal that shows kanji.

The pieces of white have a v before them, as in KIF diagrams, because a terminal cannot turn a letter round.
Without colours (NO_COLOR) an asterisk marks the square of the last move.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goryu.base.language import either, tr
from goryu.games.reversi import Reversi as PythonReversi
from goryu.games.shogi import is_drop, move_from, move_to
from goryu.games.shogi.pieces import HAND_KINDS, KING, WHITE_PIECE
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Board, Reversi

if TYPE_CHECKING:
    from rich.text import Text

PIECES = (
    "・", "歩", "香", "桂", "銀", "角", "飛", "金", "玉", "と", "杏", "圭", "全", "馬", "龍",
)  # fmt: skip
"""The kanji of each kind of piece; one for each, so that the columns stay straight."""

NUMBERS = ("", "", *"二三四五六七八九十", *(f"十{digit}" for digit in "一二三四五六七八"))
"""The number of a piece in hand, in Japanese; 1 is left out."""

WOOD, DARKER_WOOD = "on #ecd09a", "on #e6c688"
MOVED_TO, MOVED_FROM = "on #f6a96c", "on #f2d06b"
BLACK_PIECE, WHITE_PIECE_INK, PROMOTED_INK, EMPTY_INK = "#000000", "#1b3a8c", "#b3121d", "#c0a36a"
FELT, FELT_LAST = "on #1f7a4d", "on #2f9e68"


def shogi_text(board: Board, names: Sequence[str] = ("", ""), has_colour: bool = True) -> "Text":
    """Returns the position with both hands, the names of black and white, and a line if there is check."""
    from rich.text import Text

    text = Text()
    text.append(_hand(board, 1, names) + "\n")
    text.append("  ")
    for digit in either("987654321", "９８７６５４３２１"):
        text.append(" ").append(
            digit.rjust(2) if digit.isascii() else digit, style="bold" if has_colour else ""
        )
        text.append(" ")
    text.append("\n")
    for rank in range(9):
        text.append("  ")
        _append_rank(text, board, rank, has_colour)
        text.append(" " + either("abcdefghi", "一二三四五六七八九")[rank] + "\n")
    text.append(_hand(board, 0, names))
    if board.is_check():
        text.append("\n" + tr("check"), style="bold red" if has_colour else "")
    return text


def _append_rank(text: "Text", board: Board, rank: int, has_colour: bool) -> None:
    last = board.move_stack[-1] if board.move_stack else None
    pieces = board.pieces
    for file in range(8, -1, -1):
        square = 9 * file + rank
        is_last = last is not None and square == move_to(last)
        mark = "*" if is_last and not has_colour else " "
        sign = "v" if pieces[square] > WHITE_PIECE else " "
        cell = f"{sign}{PIECES[pieces[square] % WHITE_PIECE]}{mark}"
        text.append(cell, style=_style(pieces[square], square, last) if has_colour else "")


def _style(piece: int, square: int, last: Move | None) -> str:
    if last is not None and square == move_to(last):
        ground = MOVED_TO
    elif last is not None and not is_drop(last) and square == move_from(last):
        ground = MOVED_FROM
    else:
        ground = DARKER_WOOD if (square // 9 + square % 9) % 2 else WOOD
    kind = piece % WHITE_PIECE
    if not kind:
        return f"{EMPTY_INK} {ground}"
    ink = PROMOTED_INK if kind > KING else WHITE_PIECE_INK if piece > WHITE_PIECE else BLACK_PIECE
    return f"bold {ink} {ground}"


def _hand(board: Board, side: int, names: Sequence[str]) -> str:
    """Returns the name of a side and the pieces that it holds, the rook first."""
    held = [
        PIECES[kind] + (either(str(count), NUMBERS[count]) if count > 1 else "")
        for kind, count in reversed(list(zip(HAND_KINDS, board.hands[side], strict=True)))
        if count
    ]
    return f"{'▲△'[side]}{names[side]}  " + tr("in hand: {pieces}", pieces="　".join(held) or tr("nothing"))


def reversi_text(state: State, names: Sequence[str] = ("", "")) -> "Text":
    """Returns the board with `*` where the side to move may play, and the number of discs."""
    from rich.text import Text

    assert isinstance(state, (Reversi, PythonReversi))
    size, legal = state.size, set(state.legal_moves())
    discs = (state.own, state.opponent) if state.turn == 0 else (state.opponent, state.own)
    last = state.move_stack[-1] if state.move_stack else None
    text = Text("   " + " ".join("abcdefgh"[:size]) + "\n")
    for row in range(size):
        text.append(f" {row + 1} ")
        for square in range(size * row, size * row + size):
            ground = FELT_LAST if square == last else FELT
            side = next((side for side in (0, 1) if discs[side] >> square & 1), None)
            if side is None:
                text.append("* " if square in legal else "  ", style=f"#d8e8a0 {ground}")
            else:
                text.append("● ", style=f"{('#000000', '#ffffff')[side]} {ground}")
        text.append("\n")
    sides = zip(("black (X)", "white (O)"), names, discs, strict=True)
    return text.append(
        " " + tr(", ").join(f"{tr(side)} {name}: {held.bit_count()}" for side, name, held in sides)
    )


def tictactoe_text(state: State) -> "Text":
    """Returns the board with a number on each free square."""
    from rich.text import Text

    assert isinstance(state, TicTacToe)
    text = Text()
    last = state.move_stack[-1] if state.move_stack else None
    for square, cell in enumerate(str(state).replace("\n", "")):
        style = {"X": "bold #c8442b", "O": "bold #1b6ac9"}.get(cell, "dim")
        text.append(
            f" {square if cell == '.' else cell} ", style=f"{style} reverse" if square == last else style
        )
        text.append("\n" if square in (2, 5) else "" if square == 8 else "│", style="dim")
    return text
