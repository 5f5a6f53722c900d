"""`goryu play`: a game at a terminal; an algorithm or a person plays each side.

A `Play` does no input or output: lines go in and lines come out, as in the USI engine. Only `main` and
`_reader` use the terminal.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from random import Random
from typing import TextIO

from goryu.agents.agents import AGENTS, Agent, AgentError, AgentSetup, make_agent
from goryu.cli.game_display import GAMES, GameDisplay
from goryu.evaluators.model_files import ModelError
from goryu.games.state import Move, State
from goryu.implementation import Reversi
from goryu.players.config import EngineConfig
from goryu.players.loading import LoadingError
from goryu.players.model_path import read_model_options
from goryu.usi.option_values import OptionValues
from goryu.usi.options_file import read_options_file

PERSON = "person"
NETWORK_AGENTS = [name for name, algorithm in AGENTS.items() if algorithm.uses == "network"]
WORDS = "moves (lists the legal moves), undo (takes your last move back), board, help, quit"


class Play:
    """A game in progress between agents and persons. players: an agent, or None for a person."""

    def __init__(
        self, display: GameDisplay, state: State, players: tuple[Agent | None, Agent | None]
    ) -> None:
        self.display = display
        self.state = state
        self.players = players
        self.is_over = False
        self._movers: list[int | None] = []  # The side of each move; None for a forced pass.

    def start(self) -> Iterator[str]:
        """Yields the board, and the agents' moves until it is a person's turn or the game is over."""
        yield self.display.board(self.state)
        yield from self._advance()

    def receive(self, line: str) -> Iterator[str]:
        """Yields the answer to a line of a person, and the agents' moves after a move."""
        text = line.strip()
        match text.lower():
            case "quit" | "exit":
                self.is_over = True
            case "help" | "?" | "":
                yield self.help()
            case "board":
                yield self.display.board(self.state)
            case "moves":
                yield " ".join(self._names())
            case "undo":
                yield from self._undo()
            case name:
                move = {known.lower(): move for known, move in self._names().items()}.get(name)
                if move is None:
                    yield f"{text!r} is not a legal move. {self.help()}"
                else:
                    yield from self._push(move)
                    yield from self._advance()

    def help(self) -> str:
        """Returns what a person can enter."""
        return f"Write {self.display.example}.\nOr one of: {WORDS}."

    def prompt(self) -> str:
        """Returns the prompt for a person."""
        return f"{self.display.sides[self.state.turn]} to move> "

    def _names(self) -> dict[str, Move]:
        return {self.display.move_name(move): move for move in self.state.legal_moves()}

    def _advance(self) -> Iterator[str]:
        while self.state.outcome() is None:
            agent = self.players[self.state.turn]
            if agent is not None:
                yield from self._push(agent(self.state))
            elif list(self._names()) == ["pass"]:
                yield from self._push(self.state.legal_moves()[0], is_forced=True)
            else:
                return
        yield self._verdict()
        self.is_over = True

    def _push(self, move: Move, is_forced: bool = False) -> Iterator[str]:
        number, side = self.state.ply + 1, self.display.sides[self.state.turn]
        yield f"{number}. {side}: {self.display.move_name(move)}"
        self._movers.append(None if is_forced else self.state.turn)
        self.state.push(move)
        yield self.display.board(self.state)

    def _undo(self) -> Iterator[str]:
        """Takes back the last move of the side to move, and the moves after it."""
        side = self.state.turn
        if side not in self._movers:
            yield "you have no move to take back"
            return
        is_own = False
        while not is_own:
            self.state.pop()
            is_own = self._movers.pop() == side
        yield self.display.board(self.state)

    def _verdict(self) -> str:
        outcome = self.state.outcome()
        assert outcome is not None
        if outcome.value == 0.0:
            return f"draw: {outcome.reason}"
        winner = self.state.turn if outcome.value > 0.0 else 1 - self.state.turn
        discs = (
            f", {abs(self.state.disc_difference())} discs ahead" if isinstance(self.state, Reversi) else ""
        )
        return f"{self.display.sides[winner]} wins: {outcome.reason}{discs}"


def main(arguments: Sequence[str], given: TextIO | None = None, written: TextIO | None = None) -> int:
    """Plays one game at the terminal, or on two streams; returns the exit status."""
    out: TextIO = written or sys.stdout
    options = _parser().parse_args(arguments)
    display = GAMES[options.game]
    rng = Random(options.seed)

    def show(text: str) -> None:
        out.write(text + "\n")
        out.flush()

    try:
        names = _names(options, display)
        play = Play(display, display.new(), _players(options, names, rng, show))
        show(", ".join(f"{side}: {name}" for side, name in zip(display.sides, names, strict=True)))
        if None in play.players:
            show(play.help())
        read = _reader(given, out)
        for text in play.start():
            show(text)
        while not play.is_over:
            for text in play.receive(read(play.prompt())):
                show(text)
    except (AgentError, LoadingError, ModelError) as error:
        sys.stderr.write(f"goryu play: {error}\n")
        return 2
    except (EOFError, KeyboardInterrupt):  # Ctrl-D and Ctrl-C end the session.
        show("")
    return 0


def _reader(given: TextIO | None, out: TextIO) -> Callable[[str], str]:
    """Returns a function that prints a prompt and reads a line; at the end it raises EOFError."""
    if given is None and isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="backslashreplace")  # Other bytes are an illegal move.
    if given is None and sys.stdin.isatty():
        with suppress(ImportError):
            # Arrow keys and history for `input`; not on Windows.
            import readline  # noqa: F401
        return input
    lines = given or sys.stdin

    def read(prompt: str) -> str:
        out.write(prompt)
        out.flush()
        line = lines.readline()
        if not line:
            raise EOFError
        return line

    return read


def _names(options: argparse.Namespace, display: GameDisplay) -> tuple[str, str]:
    """Returns the names of both players; raises AgentError if one would search for years."""
    first: str = options.first
    second: str = options.second or (display.opponent if first == PERSON else PERSON)
    for name in (first, second):
        algorithm = AGENTS.get(name.partition(":")[0])
        if algorithm and algorithm.searches_whole_game and not display.is_small:
            raise AgentError(
                f"{name} searches the whole game, which takes years in {options.game}; "
                "expected another player, such as depth-limited"
            )
    return first, second


def _players(
    options: argparse.Namespace, names: tuple[str, str], rng: Random, show: Callable[[str], None]
) -> tuple[Agent | None, Agent | None]:
    algorithms = {name.partition(":")[0] for name in names}
    if options.model and not algorithms & set(NETWORK_AGENTS):
        raise AgentError(f"--model: expected a player with a network: {', '.join(NETWORK_AGENTS)}")
    setup = AgentSetup()
    if any(AGENTS[name].uses != "nothing" for name in algorithms & AGENTS.keys()):
        from goryu.agents.presets import board_setup, shogi_setup  # They import and load networks.

        if options.game == "shogi":
            setup = shogi_setup(_engine_config(options.model, show), show)
        else:
            setup = board_setup(options.game, rng, show, options.model)

    def player(name: str) -> Agent | None:
        try:
            return None if name == PERSON else make_agent(name, setup, rng)
        except AgentError as error:
            raise AgentError(f"{error}, or {PERSON!r}") from error

    return player(names[0]), player(names[1])


def _engine_config(model: Path | None, show: Callable[[str], None]) -> EngineConfig:
    """Returns the config of the USI engine at its start, with the network `model` if one is given.

    It includes `engine_options.txt` and the options file of the network.
    Raises AgentError if `engine_options.txt` names a network too.
    """
    options = OptionValues()
    text, problem = read_options_file()
    messages = [problem] if problem else []
    messages += options.fix(text)
    if model:
        if refused := options.set("DNN_Model", str(model.absolute())):
            raise AgentError(f"--model: {refused[0]}")
        options.set("AllowFallback", "false")  # A user who names a network wants no other.
    messages += options.set_model_options(read_model_options(options.config.evaluator))
    for message in messages:
        show(message)
    return options.config


def _parser() -> argparse.ArgumentParser:
    players = [f"  {PERSON:<17}you, at this terminal"]
    for name, algorithm in AGENTS.items():
        shown = f"{name}:{algorithm.budget}" if algorithm.budget else name
        players.append(f"  {shown:<17}{algorithm.about}")
    parser = argparse.ArgumentParser(
        prog="goryu play",
        description="""\
Plays a game at the terminal. Shogi uses the engine's options of network and search, with engine_options.txt,
but no clock, no book, and one search thread.""",
        epilog="players (the number after the colon is N, with its default):\n" + "\n".join(players),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("game", choices=GAMES)
    parser.add_argument("--first", default=PERSON, metavar="PLAYER", help="moves first (default: person)")
    parser.add_argument(
        "--second", metavar="PLAYER", help="moves second (default: an algorithm, or person)"
    )
    parser.add_argument(
        "--model", type=Path, metavar="FILE.onnx", help="network that replaces the shipped one"
    )
    parser.add_argument("--seed", type=int, help="makes random moves reproducible")
    return parser
