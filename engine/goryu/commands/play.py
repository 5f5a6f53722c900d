"""`goryu play`: a game at a terminal; an algorithm or a person plays each side.

A `Play` (`game.py`) does no input or output. Only `main`, `_reader` and `Screen` use the terminal.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from io import TextIOWrapper
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TextIO, cast

from goryu.base.arguments import ArgumentParser
from goryu.base.errors import GoryuError, InputError, explained
from goryu.base.files import check_writable
from goryu.base.language import language, tr
from goryu.commands.starting import HANDICAP_SIDES, new_state
from goryu.commands.terminal.game import Play
from goryu.commands.terminal.game_clock import ClockConfig, GameClock
from goryu.commands.terminal.game_display import GAMES, NOTATIONS, GameDisplay
from goryu.commands.terminal.saving import check_name, record_text, save_game
from goryu.commands.terminal.screen import BOARDS, Screen
from goryu.games.state import State
from goryu.implementation import Board
from goryu.players.agents.agents import AGENTS, Agent, AgentError, AgentSetup, make_agent
from goryu.players.agents.catalogue import ALGORITHMS
from goryu.players.agents.level_agent import ShogiPlayer
from goryu.players.clock.limits import Limits
from goryu.players.levels.levels import LEVELS, level_by_name
from goryu.players.set_up.model_path import named_model
from goryu.usi.start_config import start_config

if TYPE_CHECKING:
    from goryu.commands.terminal.game import Shown

PERSON = "person"
NETWORK_AGENTS = [name for name in AGENTS if ALGORITHMS[name].uses == "network"]

QUICK_AGENTS = {"random", *(f"level:{level.number}" for level in LEVELS if not level.is_full_strength)}

HINT_PLAYOUTS = 400
"""The search for a hint."""

HINT_PLIES = 5
"""How many moves of the expected line a hint shows."""


def main(arguments: Sequence[str], given: TextIO | None = None, written: TextIO | None = None) -> int:
    """Plays one game at the terminal, or on two streams; returns the exit status."""
    out: TextIO = written or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        session = Session(options, out)
        session.run(_reader(given, out))
    except GoryuError as error:
        sys.stderr.write(f"goryu play: {explained(error)}\n")
        return 2
    except OSError as error:
        if not error.filename:
            raise  # The output is gone.
        sys.stderr.write(f"goryu play: {explained(error)}\n")
        return 2
    except (EOFError, KeyboardInterrupt):  # Ctrl-D and Ctrl-C end the session.
        out.write("\n")
        out.flush()
    return 0


class Session:
    """One game with everything that the options say. Raises AgentError and other errors of bad options."""

    def __init__(self, options: argparse.Namespace, out: TextIO) -> None:
        self._options = options
        if options.save:
            _check_save(options.save, options.game)
        self._rng = Random(options.seed)
        display = GAMES[options.game]
        self._screen = Screen(out, options.board, display)
        self._display = self._with_notation(display)
        self._names = _names(options, display)
        self._clock = _clock(options)
        self._setup = cache(self._new_setup)
        state, seconds = new_state(options.sfen, options.record, options.ply, options.handicap, display)
        if options.handicap:
            self._display = replace(self._display, sides=HANDICAP_SIDES)
        self.play = Play(
            self._display,
            state,
            self._players(),
            names=cast(tuple[str, str], tuple(map(_shown_name, self._names))),
            clock=self._clock,
            hint=self._hint if self._has_hints else None,
            picture=self._picture,
        )
        self.play.seconds_given = seconds

    def run(self, read: Callable[[str], str]) -> None:
        """Plays the game; read: takes a prompt and returns a line."""
        play, show = self.play, self._screen.show
        sides = zip(self._display.sides, play.names, strict=True)
        show(tr(", ").join(tr("{side}: {name}", side=tr(side), name=name) for side, name in sides))
        if None in play.players:
            show(play.short_help())
        try:
            self._screen.show_all(play.start(), self._is_slow)
            while not (play.has_left if self._screen.is_terminal else play.is_over):
                self._screen.show_all(play.receive(read(play.prompt())), self._is_slow)
        finally:
            self._save_at_end()

    @property
    def _is_slow(self) -> bool:
        """May an opponent think for seconds?"""
        return not {name for name in self._names if name != PERSON} <= QUICK_AGENTS

    def _save_at_end(self) -> None:
        if not self._options.save:
            return
        try:
            save_game(self._options.save, self.play, replaces=self._options.save == self.play.written)
        except (GoryuError, OSError):  # The disk is full, or another program made the file meanwhile.
            self._screen.show(record_text(self._options.save, self.play))
            raise
        self._screen.show(tr("saved as {path}", path=self._options.save))

    def _picture(self, state: State) -> "Shown":
        return self._screen.picture(state, self.play.names)

    def _with_notation(self, display: GameDisplay) -> GameDisplay:
        """Returns the display with shogi moves in the notation that the user reads."""
        wanted = self._options.notation
        if display.read is None or wanted == "usi":
            return display
        if wanted == "auto":
            wanted = "japanese" if language() == "ja" and self._screen.shows_kanji else "usi"
        return replace(display, write=NOTATIONS[wanted])

    # Players.

    def _players(self) -> tuple[Agent | None, Agent | None]:
        options = self._options
        algorithms = {name.partition(":")[0] for name in self._names}
        if options.model and not algorithms & set(NETWORK_AGENTS):
            expected = ", ".join(NETWORK_AGENTS)
            raise AgentError(tr("--model: expected a player with a network: {players}", players=expected))
        return self._player(self._names[0]), self._player(self._names[1])

    def _player(self, name: str) -> Agent | None:
        if name == PERSON:
            return None
        algorithm = ALGORITHMS.get(name.partition(":")[0])
        setup = self._setup() if algorithm and algorithm.uses != "rules" else AgentSetup()
        try:
            return make_agent(name, setup, self._rng)
        except AgentError as error:
            raise AgentError(tr("{error}, or {person!r}", error=error, person=PERSON)) from error

    def _new_setup(self) -> AgentSetup:
        from goryu.players.agents.presets import board_setup, shogi_setup  # They import and load networks.

        options, show = self._options, self._screen.show
        if options.game != "shogi":
            return board_setup(options.game, self._rng, show, options.model)
        config = replace(start_config(options.model, show), seed=options.seed or 0)
        return shogi_setup(config, show, self._clock.limits if self._clock else Limits)

    @property
    def _has_hints(self) -> bool:
        return self._options.game in ("tictactoe", "reversi", "shogi")

    def _hint(self, state: State) -> Iterator[str]:
        """Yields the move that a search prefers; in shogi also its win rate and what it expects."""
        setup = self._setup()
        if setup.at_level is None:
            move = make_agent(f"puct:{HINT_PLAYOUTS}", setup, self._rng)(state)
            yield tr("hint: {move}", move=self._display.written(state, move))
            return
        player = cast(ShogiPlayer, setup.at_level(LEVELS[-1]))
        board = cast(Board, state)
        answer = player.search(board, Limits(nodes=HINT_PLAYOUTS))
        if answer.declares:
            yield tr("you may declare a win: declare")
        elif answer.result is not None:
            best = answer.result.moves[0]
            line = " ".join(_written_line(self._display, board, best.pv[:HINT_PLIES]))
            yield tr("hint: {move}", move=line) + tr(" (win rate {rate:.0f} %)", rate=50 * (best.value + 1))


def _check_save(path: Path, game: str) -> None:
    """Raises InputError if the game could not be saved in this file at its end."""
    if game != "shogi":
        raise InputError(tr("only games of shogi can be saved"))
    check_writable(path)
    check_name(path, replaces=True)
    if path.exists():
        raise InputError(tr("{path} exists: name another file", path=path))


def _written_line(display: GameDisplay, board: Board, moves: Sequence[int]) -> Iterator[str]:
    """Yields the moves of a line as people write them."""
    after = board.copy()
    for move in moves:
        yield display.written(after, move)  # type: ignore[arg-type]
        after.push(move)  # type: ignore[arg-type]


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
    """Returns the agents of both players; raises AgentError if one would search for years."""
    names = _chosen_names(options, display)
    for name in names:
        algorithm = ALGORITHMS.get(name.partition(":")[0])
        if algorithm and algorithm.searches_whole_game and not display.is_small:
            raise AgentError(
                tr(
                    "{name} searches the whole game, which takes years in {game}; "
                    "expected another player, such as depth-limited",
                    name=name,
                    game=options.game,
                )
            )
    return names


def _chosen_names(options: argparse.Namespace, display: GameDisplay) -> tuple[str, str]:
    opponent = display.opponent
    if options.level or options.side:
        if options.first or options.second:
            raise AgentError(tr("--level and --side: expected no --first or --second with them"))
        if options.level:
            opponent = f"level:{level_by_name(options.level).number}"
        return (opponent, PERSON) if options.side == "second" else (PERSON, opponent)
    first: str = options.first or PERSON
    return first, options.second or (opponent if first == PERSON else PERSON)


def _shown_name(name: str) -> str:
    """Returns a player's name for people; that of a level has its own."""
    word, _, number = name.partition(":")
    if word != "level":
        return tr(name) if name == PERSON else name
    level = int(number) if number.isdecimal() else AGENTS["level"].budget
    if not 1 <= level <= len(LEVELS):
        return name
    return tr("{name} (level {number})", name=LEVELS[level - 1].name, number=level)


def _clock(options: argparse.Namespace) -> GameClock | None:
    if options.time is None and options.byoyomi is None and options.increment is None:
        return None
    times = ClockConfig(60 * (options.time or 0), options.byoyomi or 0, options.increment or 0)
    if not times.main_s + times.byoyomi_s:
        raise InputError(tr("--increment: expected --time or --byoyomi with it"))
    return GameClock(times)


def _parser() -> argparse.ArgumentParser:
    players = [f"  {PERSON:<17}{tr('you, at this terminal')}"]
    for name, kind in AGENTS.items():
        shown = f"{name}:{kind.budget}" if kind.budget else name
        counted = f" (N: {tr(kind.counts)})" if kind.counts else ""
        players.append(f"  {shown:<17}{tr(ALGORITHMS[name].about)}{counted}")
    players += ["", tr("levels:")]
    players += [f"  {level.number:<3}{level.name}: {level.about}" for level in LEVELS]
    parser = ArgumentParser(
        "goryu play",
        description=tr(
            "Plays a game at the terminal. During the game, help lists what you can write.\n"
            "Shogi uses the engine's options in engine_options.txt; level 10 also uses the opening book."
        ),
        epilog=tr("players (the number after the colon is N, with its default):") + "\n" + "\n".join(players),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("game", choices=GAMES)
    _add_players(parser.add_argument_group(tr("players")))
    _add_start(parser.add_argument_group(tr("start and clock")))
    _add_display(parser.add_argument_group(tr("display")))
    return parser


def _add_players(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--level", metavar="N", help=tr("strength of the opponent, 1 to 10 or a name"))
    group.add_argument(
        "--side", choices=("first", "second"), help=tr("your side; black is the first (default: first)")
    )
    group.add_argument("--first", metavar="PLAYER", help=tr("plays black (default: person)"))
    group.add_argument(
        "--second", metavar="PLAYER", help=tr("plays white (default: an algorithm, or person)")
    )
    group.add_argument(
        "--model", type=named_model, metavar="FILE.onnx", help=tr("network that replaces the shipped one")
    )
    group.add_argument("--seed", type=int, help=tr("makes random moves reproducible"))


def _add_start(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--sfen", help=tr("position of shogi to start from"))
    group.add_argument("--record", type=Path, metavar="FILE", help=tr("game to go on with: KIF, CSA ..."))
    group.add_argument("--ply", type=int, metavar="N", help=tr("with --record: go on after this move"))
    group.add_argument("--handicap", metavar="NAME", help=tr("such as 4-piece or 四枚落ち"))
    group.add_argument("--time", type=_positive, metavar="MIN", help=tr("main time in minutes"))
    group.add_argument("--byoyomi", type=_positive, metavar="S", help=tr("seconds for every move after it"))
    group.add_argument("--increment", type=_positive, metavar="S", help=tr("seconds gained by every move"))


def _add_display(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--board", choices=BOARDS, default="auto", help=tr("kanji and colours, or letters (default: auto)")
    )
    group.add_argument(
        "--notation",
        choices=("auto", *NOTATIONS),
        default="auto",
        help=tr("of shown moves of shogi; you may write any (default: auto)"),
    )
    group.add_argument("--save", type=Path, metavar="FILE", help=tr("writes the game there at the end"))


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(tr("{text}: expected a number above 0", text=text))
    return number
