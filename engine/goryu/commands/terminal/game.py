"""A game at a terminal without its input and output: lines go in, lines and boards come out."""

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from goryu.base.errors import explained
from goryu.base.language import tr
from goryu.commands.terminal.game_clock import GameClock
from goryu.commands.terminal.game_display import GameDisplay
from goryu.commands.terminal.saving import SaveError, save_game
from goryu.games.shogi import EnteringKingRule, IllegalMoveError, MoveError
from goryu.games.shogi.pieces import PAWN, WHITE_PIECE
from goryu.games.state import Move, Outcome, State
from goryu.implementation import Board, Reversi
from goryu.kifu.notation import AmbiguousMoveError
from goryu.players.agents.agents import Agent
from goryu.players.agents.level_agent import Resignation

if TYPE_CHECKING:
    from rich.text import Text

    Shown = str | Text

DECLARATION = "entering-king declaration"
"""The reason of an outcome that a player must claim."""

WORDS = {
    "help": ("?", "ヘルプ"),
    "board": ("盤", "盤面"),
    "moves": ("合法手",),
    "undo": ("待った",),
    "hint": ("ヒント",),
    "resign": ("投了", "負けました"),
    "declare": ("宣言",),
    "save": ("save!", "保存", "保存!"),
    "quit": ("exit", "終了"),
}
"""The commands and their other names."""

COMMAND_OF = {name: word for word, others in WORDS.items() for name in (word, *others)}


class Play:
    """A game in progress between agents and persons.

    players: an agent, or None for a person. names: of the players, for records.
    clock: of both sides; None for none. hint: yields advice for a person in a position; None for none.
    picture: the position as it is shown.
    is_over: is the game decided? has_left: did a person quit? written: the file last saved by a person.
    """

    def __init__(
        self,
        display: GameDisplay,
        state: State,
        players: tuple[Agent | None, Agent | None],
        *,
        names: tuple[str, str] = ("", ""),
        clock: GameClock | None = None,
        hint: Callable[[State], Iterator[str]] | None = None,
        picture: "Callable[[State], Shown] | None" = None,
    ) -> None:
        self.display = display
        self.state = state
        self.players = players
        self.names = names
        self.clock = clock
        self.is_over = False
        self.has_left = False
        self.ending = ""
        self.winner: int | None = None
        self._hint = hint
        self._picture = picture or display.board
        self._movers: list[int | None] = []  # The side of each move; None for a forced pass.
        self._seconds: list[float | None] = []  # That each move took.
        self.seconds_given: list[float | None] = [None] * len(getattr(state, "move_stack", ()))
        self.written: Path | None = None

    def start(self) -> "Iterator[Shown]":
        """Yields the agents' moves until it is a person's turn or the game is over, then the board."""
        yield from self._advance()

    def receive(self, line: str) -> "Iterator[Shown]":
        """Yields the answer to a line of a person, and the agents' moves after a move."""
        text = unicodedata.normalize("NFKC", line).strip() or "help"
        word = text.partition(" ")[0]
        rest = "".join(line.split(None, 1)[1:]).strip()  # A name of a file stays as it is.
        move = None if self.is_over else self._legal_named(text)
        command = COMMAND_OF.get(text.lower()) or (COMMAND_OF.get(word.lower()) if rest else None)
        if move is not None:
            yield from self._play(move)
        elif command == "save":
            yield self._save(rest, replaces=word.endswith("!"))
        elif command and not rest:
            yield from self._obey(command)
        else:
            yield from self._read_move(text)

    def help(self) -> str:
        """Returns what a person can enter, with a line for each command."""
        lines = [
            tr("moves          lists the legal moves"),
            tr("undo           takes your last move back, and the answer"),
            *([tr("hint           shows what the engine would play")] if self._hint else []),
            tr("resign         gives up the game"),
            *([tr("declare        wins by an entered king")] if self._is_shogi else []),
            *([tr("save FILE.kif  saves the game")] if self._is_shogi else []),
            tr("board          shows the board again"),
            tr("quit           ends"),
        ]
        example = tr("Write {example}.", example=tr(self.display.example))
        return "\n  ".join([example, *lines])

    def short_help(self) -> str:
        """Returns how a person writes a move, and how to see the rest."""
        return tr("Write {example}. help lists the commands.", example=tr(self.display.example))

    def prompt(self) -> str:
        """Returns the prompt for a person."""
        if self.is_over:
            return tr("save FILE, undo or quit> ") if self._is_shogi else tr("undo or quit> ")
        time = f"[{self.clock.text(self.state.turn)}] " if self.clock else ""
        return time + tr("{side} to move> ", side=tr(self.display.sides[self.state.turn]))

    @property
    def _is_shogi(self) -> bool:
        return self.display.read is not None

    # Commands.

    def _obey(self, command: str) -> "Iterator[Shown]":
        match command:
            case "quit":
                self.is_over = self.has_left = True
            case "help":
                yield self.help()
            case "board":
                yield self._picture(self.state)
            case "moves":
                yield " ".join(self._written_moves())
            case "undo":
                yield from self._undo()
            case _ if self.is_over:
                yield tr("the game is over")
            case "hint":
                yield from self._hint(self.state) if self._hint else [tr("there are no hints in this game")]
            case "resign":
                yield self._end("resignation", 1 - self.state.turn)
            case "declare":
                yield self._declare()

    def _read_move(self, text: str) -> "Iterator[Shown]":
        """Plays a move in a notation of its own, or explains why that is not possible."""
        problem = tr("{text} is not a legal move. {help}", text=repr(text), help=self.short_help())
        if self.display.read and not self.is_over:
            try:
                yield from self._play(self.display.read(self.state, text))
                return
            except IllegalMoveError:
                problem = why_illegal(cast(Board, self.state), text)
            except AmbiguousMoveError as error:
                problem = tr("{text} may be {moves}", text=text, moves=error.moves)
            except MoveError:
                pass  # It is no move, or nonsense.
        yield problem

    def _declare(self) -> str:
        outcome = self.state.outcome()
        if outcome is None or outcome.reason != DECLARATION:
            return tr("you cannot declare a win here")
        return self._end("declaration", self.state.turn)

    def _undo(self) -> "Iterator[Shown]":
        """Takes back the last move of a person, and the moves after it."""
        persons = [side for side, player in enumerate(self.players) if player is None]
        if not set(persons) & set(self._movers):
            yield tr("you have no move to take back")
            return
        is_own = False
        while not is_own:
            self.state.pop()
            self._seconds.pop()
            is_own = self._movers.pop() in persons
        self.is_over, self.ending, self.winner = False, "", None
        yield self._picture(self.state)
        self._start_clock()

    def _save(self, name: str, replaces: bool) -> str:
        if not self._is_shogi:
            return tr("only games of shogi can be saved")
        try:
            path = Path(name).expanduser()
            save_game(path, self, replaces=replaces or path == self.written)
        except (SaveError, OSError) as error:
            return explained(error)
        except (RuntimeError, ValueError) as error:  # ~nobody, or a name with a zero byte.
            return f"{name}: {error}"
        self.written = path
        return tr("saved as {path}", path=path)

    # Moves.

    def _legal_named(self, text: str) -> Move | None:
        """Returns the legal move of a text that names it as lists of moves do, in capitals or not."""
        known = {self.display.move_name(move).lower(): move for move in self.state.legal_moves()}
        return known.get(text.lower())

    def _written_moves(self) -> list[str]:
        return [self.display.written(self.state, move) for move in self.state.legal_moves()]

    def _play(self, move: Move) -> "Iterator[Shown]":
        """Plays a person's move and the answer, unless the person's time was over."""
        if self.clock and not self.clock.stop():
            yield self._end("time", 1 - self.state.turn)
            return
        yield self._push(move, self.clock.seconds if self.clock else None)
        yield from self._advance()

    def _advance(self) -> "Iterator[Shown]":
        """Plays the agents' moves until a person must move or the game is over; shows the board once."""
        while not self.is_over and self._outcome() is None:
            agent = self.players[self.state.turn]
            if agent is None and self._only_pass():
                yield self._push(self.state.legal_moves()[0], is_forced=True)
            elif agent is None:
                break
            else:
                if None not in self.players:
                    yield self._picture(self.state)  # A person who only watches sees every position.
                yield from self._move_of(agent)
        yield self._picture(self.state)
        if not self.is_over and (outcome := self._outcome()) is not None:
            yield self._verdict(outcome)
        elif not self.is_over:
            yield from self._notes()
            self._start_clock()

    def _move_of(self, agent: Agent) -> "Iterator[Shown]":
        self._start_clock()
        side = self.state.turn
        try:
            move = agent(self.state)
        except Resignation:
            yield self._end("resignation", 1 - side)
            return
        if self.clock and not self.clock.stop():
            yield self._end("time", 1 - side)
            return
        yield self._push(move, self.clock.seconds if self.clock else None)

    def _start_clock(self) -> None:
        if self.clock:
            self.clock.start(self.state.turn)

    def _only_pass(self) -> bool:
        return [self.display.move_name(move) for move in self.state.legal_moves()] == ["pass"]

    def _push(self, move: Move, seconds: float | None = None, is_forced: bool = False) -> str:
        number, side = self.state.ply + 1, tr(self.display.sides[self.state.turn])
        text = self.display.written(self.state, move)
        line = f"{number}. {text}" if text.startswith(("▲", "△")) else f"{number}. {side}: {text}"
        self._movers.append(None if is_forced else self.state.turn)
        self._seconds.append(seconds)
        self.state.push(move)
        return line

    # The end.

    def _outcome(self) -> Outcome | None:
        """Returns the outcome; a person must declare a win by an entered king."""
        outcome = self.state.outcome()
        if outcome is None or outcome.reason != DECLARATION or self.players[self.state.turn] is not None:
            return outcome
        board = cast(Board, self.state).copy()
        board.rules = replace(board.rules, entering_king=EnteringKingRule.NoEnteringKing)
        return board.outcome()

    def _notes(self) -> Iterator[str]:
        """Yields what a person should know of a position of shogi before moving."""
        if not self._is_shogi:
            return
        board = cast(Board, self.state)
        if board.declaration():
            yield tr("you may declare a win: declare")
        if (times := occurrences(board)) > 1:
            yield tr("this position has occurred {times} times; the fourth ends the game", times=times)

    def _verdict(self, outcome: Outcome) -> str:
        if outcome.value == 0.0:
            return self._end(outcome.reason, None)
        return self._end(outcome.reason, self.state.turn if outcome.value > 0.0 else 1 - self.state.turn)

    def _end(self, reason: str, winner: int | None) -> str:
        """Ends the game and returns the verdict."""
        self.is_over, self.ending, self.winner = True, reason, winner
        if winner is None:
            return tr("draw: {reason}", reason=tr(reason))
        side, discs = tr(self.display.sides[winner]), ""
        if isinstance(self.state, Reversi) and not self._was_cut_short:
            discs = tr(", {discs} discs ahead", discs=abs(self.state.disc_difference()))
        return tr("{side} wins: {reason}", side=side, reason=tr(reason)) + discs

    @property
    def _was_cut_short(self) -> bool:
        return self.ending in ("resignation", "time")

    def seconds_of_moves(self) -> list[float | None]:
        """Returns the seconds that each move of the board's history took, None where unknown."""
        return self.seconds_given + self._seconds


def occurrences(board: Board) -> int:
    """Returns how often the position has occurred in the game, this time included."""
    past, count, key = board.copy(), 1, board.position_key
    while past.move_stack:
        past.pop()
        count += past.position_key == key
    return count


def why_illegal(board: Board, text: str) -> str:
    """Returns why a move cannot be played, as far as a beginner may have overlooked it."""
    reason = ""
    if board.is_check():
        reason = tr(": your king is in check")
    elif _is_second_pawn(board, text):
        reason = tr(": a second pawn on the file (nifu)")
    return tr("{text} is not legal here{reason}", text=text, reason=reason)


def _is_second_pawn(board: Board, text: str) -> bool:
    """Does the text drop a pawn on a file with an own pawn?"""
    digit = next((letter for letter in text if letter.isdecimal()), "")
    is_pawn = "歩" in text or text.upper().startswith("P*")
    if not (is_pawn and digit and board.hands[board.turn][0]):
        return False
    file = 9 * (int(digit) - 1)
    return file >= 0 and PAWN + WHITE_PIECE * board.turn in board.pieces[file : file + 9]
