"""A game as the page shows it: moves by their names, and the position after each."""

from typing import Any, Literal

from goryu.base.errors import InputError
from goryu.base.language import both, tr
from goryu.games.shogi import STANDARD_RULES, MoveError, Rules, move_to_usi
from goryu.games.state import Move, State
from goryu.games.tictactoe import LINES, TicTacToe
from goryu.implementation import Board, Reversi
from goryu.kifu.handicaps import has_handicap
from goryu.kifu.notation import japanese_move, western_move
from goryu.table.clock import ClockConfig
from goryu.table.game import Game, Played, new_board
from goryu.table.record import record_text
from goryu.table.written_moves import read_move

GameKind = Literal["shogi", "reversi", "reversi6", "reversi4", "tictactoe"]

BOARD_SIZES = {"reversi": 8, "reversi6": 6, "reversi4": 4}


class PageGame(Game):
    """A game of shogi, reversi or tic-tac-toe.

    start: the SFEN of shogi, "" for the usual start.
    shown: what the page knows of each move.
    """

    def __init__(
        self,
        kind: GameKind,
        start: str = "",
        people: tuple[bool, bool] = (True, False),
        names: tuple[str, str] = ("", ""),
        clock: ClockConfig | None = None,
        rules: Rules = STANDARD_RULES,
    ) -> None:
        """Raises SfenError for a start that breaks the rules."""
        state: State = TicTacToe()
        if kind != "tictactoe":
            state = new_board(start, rules) if kind == "shogi" else Reversi(BOARD_SIZES[kind])
        super().__init__(state, people, names, clock)
        self.kind = kind
        self.first_position = self.position()
        self.shown: list[dict[str, Any]] = []

    def names_of_moves(self) -> dict[str, Move]:
        """Returns the legal moves by their names: USI, or the number of the square."""
        name = move_to_usi if self.kind == "shogi" else lambda move: str(int(move))
        return {name(move): move for move in self.legal_moves()}

    def move_named(self, name: str) -> Move:
        """Returns the legal move of a name; raises InputError."""
        if self.over:
            raise InputError(tr("the game is over"))
        legal = self.names_of_moves()
        if name not in legal:
            raise InputError(tr("{move!r} is not legal", move=name[:20]))
        return legal[name]

    def move_written(self, text: str) -> Move:
        """Returns the legal move that a person has written, in Japanese, Western notation or USI.

        In the small games it is the English name, or the number of the square. Raises InputError.
        """
        if isinstance(self.state, Board):
            try:
                return read_move(self.state, text)
            except MoveError as error:
                raise InputError(tr("“{text}” is not a legal move here.", text=text)) from error
        legal = self.names_of_moves()
        names = {one: move for name, move in legal.items() for one in (self.texts(move)["en"], name)}
        if text.lower() not in names:
            expected = ", ".join(sorted(names))
            raise InputError(
                tr("{text!r} is not a legal move; expected one of {moves}", text=text, moves=expected)
            )
        return names[text.lower()]

    def texts(self, move: Move) -> dict[str, str]:
        """Returns the name of a legal move, and the move as people write it in Japanese and in English."""
        if isinstance(self.state, Board):
            return {
                "name": move_to_usi(move),
                "ja": japanese_move(self.state, move),
                "en": western_move(self.state, move),
            }
        name = str(int(move))
        if isinstance(self.state, Reversi):
            return {"name": name, **both(self.state.move_name(move))}  # "pass" is a word.
        square = f"{'abc'[move % 3]}{move // 3 + 1}"
        return {"name": name, "ja": square, "en": square}

    def push(self, move: Move, seconds: float | None = None) -> None:
        """Plays a legal move, as `Game.push`."""
        shown = self.texts(move)
        super().push(move, seconds)
        last = self.played[-1]
        shown_time = {"seconds": round(last.seconds, 3), "left": last.left_s}
        self.shown.append({**shown, **shown_time, "position": self.position(), "check": self.is_check()})

    def pop(self) -> Played:
        """Takes the last move back, as `Game.pop`."""
        self.shown.pop()
        return super().pop()

    def is_check(self) -> bool:
        """Is the side to move in check?"""
        return isinstance(self.state, Board) and self.state.is_check()

    def position(self) -> str:
        """Returns the SFEN, or the squares row by row."""
        return self.state.sfen() if isinstance(self.state, Board) else cells(self.state)

    def winning_line(self) -> list[int]:
        """Returns the three squares that won tic-tac-toe."""
        if not isinstance(self.state, TicTacToe):
            return []
        full = next((line for line in LINES if self.state.opponent & line == line), 0)
        return [square for square in range(9) if full >> square & 1]

    def to_json(self) -> dict[str, Any]:
        """Returns what the page draws."""
        return {
            "game": self.kind,
            "position": self.position(),
            "start": self.first_position,
            "isHandicap": has_handicap(self.first_position),
            "turn": self.turn,
            "legal": list(self.names_of_moves()) if self.is_persons_turn else [],
            "check": self.is_check(),
            "people": self.people,
            "moves": self.shown,
            "over": {"ending": self.over.ending.value, "winner": self.over.winner} if self.over else None,
            "undoes": self.can_undo,
            "declares": self.is_persons_turn and self.may_declare(),
            "line": self.winning_line(),
            "clock": self.clocks
            and {
                "left": self.clocks.main_left_s(),
                "running": self.clocks.running,
                "byoyomi": self.clocks.config.byoyomi_s,
            },
        }

    def saved(self, form: str) -> dict[str, str]:
        """Returns the record: its text and a name for the file. form: of shogi, kif or csa."""
        stamp = self.began.strftime("%Y%m%d-%H%M")
        if self.kind == "shogi":
            return {"name": f"goryu-{stamp}.{form}", "text": record_text(f".{form}", self)}
        moves = "".join(one["en"] for one in self.shown if one["en"] != "pass")
        return {"name": f"goryu-{self.kind}-{stamp}.txt", "text": f"{moves}\n"}


def cells(state: Any) -> str:
    """Returns the squares of reversi or tic-tac-toe row by row: X for the first player, O, or a dot.

    >>> cells(TicTacToe([4, 0]))
    'O...X....'
    """
    first, second = (state.own, state.opponent) if state.turn == 0 else (state.opponent, state.own)
    squares = 9 if isinstance(state, TicTacToe) else state.size**2
    return "".join("X" if first >> s & 1 else "O" if second >> s & 1 else "." for s in range(squares))
