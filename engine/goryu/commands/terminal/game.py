"""A game at a terminal without its input and output: lines go in, lines and boards come out."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from goryu.base.errors import InputError, explained
from goryu.base.language import tr
from goryu.commands.terminal.game_display import GameDisplay
from goryu.commands.terminal.scores import Scores
from goryu.games.reversi import Reversi as PythonReversi
from goryu.games.shogi import MoveError
from goryu.games.state import Move, State
from goryu.implementation import Board, Reversi
from goryu.kifu.record import Ending
from goryu.players.agents.agents import Agent
from goryu.players.agents.level_agent import Resignation
from goryu.table.clock import Clocks
from goryu.table.game import Game
from goryu.table.record import save_game
from goryu.table.written_moves import read_move

if TYPE_CHECKING:
    from rich.text import Text

    Shown = str | Text

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
    """Shows a game between agents and persons, and passes on what the persons write.

    agents: by their side; a person plays each other side.
    hint: yields advice for a person in a position; None for none. picture: the position as it is shown.
    scores: shows the values of the moves beside every position.
    has_left: did a person quit? written: the file last saved by a person.
    """

    def __init__(
        self,
        display: GameDisplay,
        game: Game,
        agents: Mapping[int, Agent],
        *,
        hint: Callable[[State], Iterator[str]] | None = None,
        picture: "Callable[[State], Shown] | None" = None,
        scores: Scores | None = None,
    ) -> None:
        self.display = display
        self.game = game
        self.has_left = False
        self.written: Path | None = None
        self._agents = agents
        self._hint = hint
        self._picture = picture or display.board
        self._scores = scores

    def start(self) -> "Iterator[Shown]":
        """Yields the agents' moves until it is a person's turn or the game is over, then the board."""
        yield from self._advance()

    def receive(self, line: str) -> "Iterator[Shown]":
        """Yields the answer to a line of a person, and the agents' moves after a move."""
        text = unicodedata.normalize("NFKC", line).strip() or "help"
        word = text.partition(" ")[0]
        rest = "".join(line.split(None, 1)[1:]).strip()  # A name of a file stays as it is.
        move = self._legal_named(text)
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
            *([tr("declare        wins by an entered king")] if self.display.is_shogi else []),
            *([tr("save FILE.kif  saves the game")] if self.display.is_shogi else []),
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
        game = self.game
        if game.over:
            return tr("save FILE, undo or quit> ") if self.display.is_shogi else tr("undo or quit> ")
        time = f"[{time_text(game.clocks, game.turn)}] " if game.clocks else ""
        return time + tr("{side} to move> ", side=tr(self.display.sides[game.turn]))

    # Commands.

    def _obey(self, command: str) -> "Iterator[Shown]":
        game = self.game
        match command:
            case "quit":
                self.has_left = True
            case "help":
                yield self.help()
            case "board":
                yield self._picture(game.state)
            case "moves":
                yield " ".join(self.display.written(game.state, move) for move in game.legal_moves())
            case "undo":
                yield _problem(game.undo) or self._picture(game.state)
                game.start_clock()
            case _ if game.over:
                yield tr("the game is over")
            case "hint":
                yield from self._hint(game.state) if self._hint else [tr("there are no hints in this game")]
            case "resign":
                game.resign()
                yield self._verdict()
            case "declare":
                yield _problem(game.declare) or self._verdict()

    def _save(self, name: str, replaces: bool) -> str:
        if not self.display.is_shogi:
            return tr("only games of shogi can be saved")
        try:
            path = Path(name).expanduser()
            save_game(path, self.game, replaces=replaces or path == self.written)
        except (InputError, OSError) as error:
            return explained(error)
        except (RuntimeError, ValueError) as error:  # ~nobody, or a name with a zero byte.
            return f"{name}: {error}"
        self.written = path
        return tr("saved as {path}", path=path)

    # Moves.

    def _legal_named(self, text: str) -> Move | None:
        """Returns the legal move of a text that names it as lists of moves do, in capitals or not."""
        known = {self.display.move_name(move).lower(): move for move in self.game.legal_moves()}
        return known.get(text.lower())

    def _read_move(self, text: str) -> "Iterator[Shown]":
        """Plays a move in a notation of its own, or explains why that is not possible."""
        problem = tr("{text} is not a legal move. {help}", text=repr(text), help=self.short_help())
        if self.display.is_shogi and not self.game.over:
            try:
                move = read_move(cast(Board, self.game.state), text)
            except InputError as error:
                problem = explained(error)
            except MoveError:
                pass  # It is no move, or nonsense.
            else:
                yield from self._play(move)
                return
        yield problem

    def _play(self, move: Move) -> "Iterator[Shown]":
        """Plays a person's move and the answer, unless the person's time was over."""
        line = self._line(move)
        if self.game.play(move):
            yield line
            yield from self._advance()
        else:
            yield self._verdict()

    def _advance(self) -> "Iterator[Shown]":
        """Plays the agents' moves until a person must move or the game is over; shows the board once."""
        game = self.game
        while not game.over and (game.must_pass or not game.is_persons_turn):
            if game.is_persons_turn:
                yield self._line(move := game.legal_moves()[0])
                game.push(move, seconds=0.0)
            else:
                if not any(game.people) and not self._scores:
                    yield self._picture(game.state)  # A person who only watches sees every position.
                yield from self._move_of(self._agents[game.turn])
        picture = self._picture(game.state)
        yield self._scores.beside(picture, game.for_search()) if self._scores and not game.over else picture
        if game.over:
            yield self._verdict()
        else:
            yield from self._notes()
            game.start_clock()

    def _move_of(self, agent: Agent) -> "Iterator[Shown]":
        game = self.game
        if game.may_declare():
            game.declare()
            return
        game.start_clock()
        if self._scores:
            self._scores.forget()
        try:
            move = agent(game.for_search())
        except Resignation:
            game.resign()
            return
        line = self._line(move)
        if self._scores:
            yield self._scores.beside(self._picture(game.state), game.for_search())
        if game.play(move):
            yield line

    def _line(self, move: Move) -> str:
        """Returns a legal move with its number and its side."""
        number, text = self.game.state.ply + 1, self.display.written(self.game.state, move)
        if text.startswith(("▲", "△")):
            return f"{number}. {text}"
        return f"{number}. {tr(self.display.sides[self.game.turn])}: {text}"

    def _notes(self) -> Iterator[str]:
        """Yields what a person should know of a position of shogi before moving."""
        if not self.display.is_shogi:
            return
        if self.game.may_declare():
            yield tr("you may declare a win: declare")
        if (times := self.game.occurrences()) > 1:
            yield tr("this position has occurred {times} times; the fourth ends the game", times=times)

    def _verdict(self) -> str:
        """Returns how the game ended."""
        over, state = self.game.over, self.game.state
        assert over is not None
        if over.winner is None:
            return tr("draw: {reason}", reason=tr(over.reason))
        side, discs = tr(self.display.sides[over.winner]), ""
        if isinstance(state, (Reversi, PythonReversi)) and over.ending is Ending.UNKNOWN:
            discs = tr(", {discs} {discs:disc|discs} ahead", discs=abs(state.disc_difference()))
        return tr("{side} wins: {reason}", side=side, reason=tr(over.reason)) + discs


def time_text(clocks: Clocks, side: int) -> str:
    """Returns the time that a side has left for this move, such as `9:58` or `byoyomi 30 s`."""
    left_s, byoyomi_s = clocks.left_s[side], clocks.config.byoyomi_s
    if left_s < 1 and byoyomi_s:
        return tr("byoyomi {seconds:g} s", seconds=byoyomi_s)
    minutes, seconds = divmod(int(left_s), 60)
    return f"{minutes}:{seconds:02}"


def _problem(act: Callable[[], None]) -> str:
    """Does something in the game; returns "", or why that is not possible."""
    try:
        act()
    except InputError as error:
        return explained(error)
    return ""
