"""The games: positions from text, moves as people write them, and boards to draw."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from goryu.base.errors import InputError
from goryu.base.language import language, tr
from goryu.games import reversi, tictactoe
from goryu.games.given_tree import GivenTree, read_tree
from goryu.games.shogi import move_to_usi
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Board, Reversi
from goryu.kifu.notation import KANJI, japanese_move
from goryu.kifu.reading import parse_record

SQUARES = [f"{column}{row}" for row in "123" for column in "abc"]
"""The names of the squares of tic-tac-toe, as in reversi: column and row from the top left."""

MINIMAX_TREE = "A: B C; B: D E; C: F G; D: H=2 I=5; E: J=10 K=4; F: L=1 M=3; G: N=6 O=8"
CUT_TREE = "A: B C; B: D E; C: F G; D: H=4 I=5; E: J=6 K=8; F: L=1 M=3; G: N=7 O=2"
"""The trees of a lesson on minimax and alpha-beta. It names I, J and A to F; we chose the rest."""

Example = tuple[str, str]
"""A position's text, and its name: a text of `tr`."""


@dataclass(frozen=True, slots=True)
class Game:
    """parse: a position from text; raises InputError. help: explains the text, and is one of `tr`.

    move_name: a move as people write it, in the user's language; the state is the position before it.
    board: the rows of the board, one text a square ("" if empty); white pieces of shogi begin with "v". Empty
        for a game without a board.
    """

    name: str
    parse: Callable[[str], State]
    examples: tuple[Example, ...]
    help: str
    move_name: Callable[[State, Move], str]
    board: Callable[[State], list[list[str]]]


def _parse_tictactoe(text: str) -> State:
    if "/" in text:
        return tictactoe.read_board(text.strip())
    state = TicTacToe()
    for word in re.findall(r"[a-c][1-3]|\S", text.strip().lower()):
        number = SQUARES.index(word) if word in SQUARES else int(word) if word in "012345678" else -1
        if number not in state.legal_moves():
            raise InputError(
                tr(
                    "move {word!r}: expected a free square, 0 to 8 or a1 to c3, in a game that goes on",
                    word=word,
                )
            )
        state.push(Move(number))
    return state


def _parse_reversi(text: str) -> State:
    if "/" in text:
        return reversi.read_board(text)
    words = re.findall(r"[468]x[468]|[a-h][1-8]|pass|\S+", text.strip().lower())
    size = int(words.pop(0)[0]) if words and re.fullmatch(r"([468])x\1", words[0]) else 8
    state = Reversi(size)
    for word in words:
        names = {state.move_name(move): move for move in state.legal_moves()}
        if word not in names:
            expected = ", ".join(names) or tr("no move, the game is over")
            text = "move {word!r} after {count} {count:move|moves}: expected one of {moves}"
            raise InputError(tr(text, word=word, count=state.ply, moves=expected))
        state.push(names[word])
    return state


def _parse_numbers(text: str) -> State:
    return GivenTree(read_tree(text if text.strip() else MINIMAX_TREE))


def _parse_shogi(text: str) -> State:
    text = text.strip()
    if not text:
        return Board()
    if re.match(r"([1-9][a-i]){2}", text):
        text = f"startpos moves {text}"
    record = parse_record(text)
    board = Board(record.start)
    for ply in record.plies:
        board.push_usi(ply.move)
    return board


def _name_tictactoe(_state: State, move: Move) -> str:
    return SQUARES[move]


def _name_reversi(state: State, move: Move) -> str:
    return tr(cast(Reversi, state).move_name(move))  # "pass" is a word.


def _name_numbers(state: State, move: Move) -> str:
    return cast(GivenTree, state).move_name(move)


def _name_shogi(state: State, move: Move) -> str:
    return japanese_move(cast(Board, state), move) if language() == "ja" else move_to_usi(move)


def _rows_of_text(state: State) -> list[list[str]]:
    return [["" if cell == "." else cell for cell in line] for line in str(state).splitlines()]


def _rows_of_reversi(state: State) -> list[list[str]]:
    _, *lines = str(state).splitlines()
    return [["" if cell == "." else cell for cell in line.split()[1:]] for line in lines]


def _rows_of_shogi(state: State) -> list[list[str]]:
    pieces = cast(Board, state).pieces
    return [[_piece(pieces[9 * file + rank]) for file in range(8, -1, -1)] for rank in range(9)]


def _piece(code: int) -> str:
    return ("v" if code > 16 else "") + KANJI[code & 15]


GAMES = {
    "tictactoe": Game(
        "tictactoe",
        _parse_tictactoe,
        (
            ("", "the empty board"),
            ("4 0 8 1", "X must block"),
            ("0 4 8", "a trap for O"),
            ("0 4 8 2 6 7", "both threaten"),
        ),
        "the moves, as squares 0 to 8 (row by row) or a1 to c3, such as 4 0 8; or a board, XO./.X./..O",
        _name_tictactoe,
        _rows_of_text,
    ),
    "reversi": Game(
        "reversi",
        _parse_reversi,
        (
            ("", "the start"),
            ("4x4", "the start on 4×4"),
            ("4x4 c4 b4 a1 d2 d4 d3 a2", "4×4, late"),
            ("6x6", "the start on 6×6"),
        ),
        "the moves, such as d3 c3, 4x4 or 6x6 before them; or a board of any size, ..../.XO./.OX./.... X",
        _name_reversi,
        _rows_of_reversi,
    ),
    "shogi": Game(
        "shogi",
        _parse_shogi,
        (
            ("", "the start"),
            ("startpos moves 7g7f 3c3d 2g2f 8c8d", "an opening"),
            ("4k4/9/4P4/9/9/9/9/9/4K4 b 2G 1", "a mate in one"),
            ("sfen 4k4/9/9/9/9/9/9/R8/4K4 b - 1 moves 9h9g 5a5b 9g9h", "a repetition"),
        ),
        "an SFEN, startpos moves 7g7f …, moves in USI, or a record in KIF, KI2 or CSA",
        _name_shogi,
        _rows_of_shogi,
    ),
    "numbers": Game(
        "numbers",
        _parse_numbers,
        (
            (MINIMAX_TREE, "a tree for minimax"),
            (CUT_TREE, "a tree with an α cut and a β cut"),
        ),
        "a tree for minimax and alpha-beta, such as A: B C; B: D=5 E=10; C: F=3 G=7; A takes the greater",
        _name_numbers,
        lambda _: [],
    ),
}


def parse_position(game: str, text: str) -> State:
    """Returns a position in which the game goes on.

    Raises InputError if the game is unknown, the text cannot be read or the game is over.
    """
    if game not in GAMES:
        raise InputError(f"game {game!r}: expected one of {', '.join(GAMES)}")
    state = GAMES[game].parse(text)
    if (outcome := state.outcome()) is not None:
        raise InputError(
            tr(
                "position {text!r}: expected a game that goes on, it is over ({reason})",
                text=text[:200],
                reason=tr(outcome.reason),
            )
        )
    return state


def scale_of(state: State) -> float:
    """Returns the factor by which minimax's values are shown: given numbers appear as they were given."""
    return state.tree.scale if isinstance(state, GivenTree) else 1.0


def after(state: State, moves: Sequence[Move]) -> State:
    """Returns a copy of a position with these moves played."""
    state = state.copy()
    for move in moves:
        state.push(move)
    return state
