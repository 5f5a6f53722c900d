"""A session of `goryu play`: one game with everything that the options say.

A `Play` (`game.py`) does no input or output; `Screen` shows what it yields.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TextIO, cast

from goryu.base.errors import GoryuError, InputError
from goryu.base.files import check_writable
from goryu.base.language import language, tr
from goryu.commands.terminal.game import Play
from goryu.commands.terminal.game_display import GAMES, NOTATIONS, GameDisplay
from goryu.commands.terminal.players import check_players
from goryu.commands.terminal.scores import Scores
from goryu.commands.terminal.screen import Screen
from goryu.commands.terminal.starting import HANDICAP_SIDES, new_state
from goryu.games.shogi import Rules
from goryu.games.state import State
from goryu.implementation import Board
from goryu.players.agents.agents import AGENTS, Agent, AgentError, AgentSetup, make_agent
from goryu.players.agents.catalogue import ALGORITHMS
from goryu.players.agents.level_agent import ShogiPlayer
from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig
from goryu.players.levels.levels import LEVELS, level_by_name
from goryu.players.position import rules_of
from goryu.table.clock import ClockConfig
from goryu.table.game import Game
from goryu.table.record import check_name, record_text, save_game
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
        self._setup = cache(self._new_setup)
        self._scores = Scores(lambda move: self._display.move_name(move)) if options.scores else None
        rules = rules_of(self._config) if display.is_shogi else Rules()
        start = options.position, options.record, options.ply, options.handicap
        state, seconds = new_state(*start, options.game, rules)
        if options.handicap:
            self._display = replace(self._display, sides=HANDICAP_SIDES)
        first, second = self._names
        self._game = Game(
            state,
            (first == PERSON, second == PERSON),
            (_shown_name(first), _shown_name(second)),
            _clock(options),
            seconds_before=seconds,
        )
        hint = self._hint
        agents = self._agents()
        if self._scores:
            self._scores.agent = self._scoring(agents)
        self.play = Play(
            self._display, self._game, agents, hint=hint, picture=self._picture, scores=self._scores
        )

    def run(self, read: Callable[[str], str]) -> None:
        """Plays the game; read: takes a prompt and returns a line."""
        play, show = self.play, self._screen.show
        sides = zip(self._display.sides, self._game.names, strict=True)
        show(tr(", ").join(tr("{side}: {name}", side=tr(side), name=name) for side, name in sides))
        if any(self._game.people):
            show(play.short_help())
        try:
            self._screen.show_all(play.start(), self._is_slow)
            while not play.has_left and (self._screen.is_terminal or not self._game.over):
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
            save_game(self._options.save, self._game, replaces=self._options.save == self.play.written)
        except (GoryuError, OSError):  # The disk is full, or another program made the file meanwhile.
            self._screen.show(record_text(self._options.save.suffix, self._game))
            raise
        self._screen.show(tr("saved as {path}", path=self._options.save))

    def _picture(self, state: State) -> "Shown":
        return self._screen.picture(state, self._game.names)

    def _with_notation(self, display: GameDisplay) -> GameDisplay:
        """Returns the display with shogi moves in the notation that the user reads."""
        wanted = self._options.notation
        if not display.is_shogi or wanted == "usi":
            return display
        if wanted == "auto":
            wanted = "japanese" if language() == "ja" and self._screen.shows_kanji else "usi"
        return replace(display, write=NOTATIONS[wanted])

    # Players.

    def _agents(self) -> dict[int, Agent]:
        """Returns the agents by their sides."""
        algorithms = {name.partition(":")[0] for name in self._names}
        if self._options.model and not algorithms & set(NETWORK_AGENTS):
            expected = ", ".join(NETWORK_AGENTS)
            raise AgentError(tr("--model: expected a player with a network: {players}", players=expected))
        return {side: self._agent(name) for side, name in enumerate(self._names) if name != PERSON}

    def _agent(self, name: str) -> Agent:
        algorithm = ALGORITHMS.get(name.partition(":")[0])
        setup = self._setup() if algorithm and algorithm.uses != "rules" else AgentSetup()
        if self._scores:
            setup = replace(setup, report=self._scores.receive)
        try:
            return make_agent(name, setup, self._rng)
        except AgentError as error:
            raise AgentError(tr("{error}, or {person!r}", error=error, person=PERSON)) from error

    def _scoring(self, agents: dict[int, Agent]) -> Agent:
        """Returns the agent whose values a person sees; AgentError if no player knows any."""
        for side, name in enumerate(self._names):
            kind = AGENTS.get(name.partition(":")[0])
            if side in agents and kind and kind.has_values:
                return agents[side]
        known = ", ".join(name for name, kind in AGENTS.items() if kind.has_values)
        raise AgentError(tr("--scores: expected a player that knows values: {players}", players=known))

    def _new_setup(self) -> AgentSetup:
        from goryu.players.agents.presets import board_setup, shogi_setup  # They import and load networks.

        options, show = self._options, self._screen.show
        if options.game != "shogi":
            return board_setup(options.game, self._rng, show, options.model)
        return shogi_setup(self._config, show, self._limits)

    @cached_property
    def _config(self) -> EngineConfig:
        """The engine's options for shogi; what is wrong with them is shown."""
        config = start_config(self._options.model, self._screen.show)
        return replace(config, seed=self._options.seed or 0)

    def _limits(self) -> Limits:
        clocks = self._game.clocks
        return clocks.limits(self._game.turn) if clocks else Limits()

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


def _names(options: argparse.Namespace, display: GameDisplay) -> tuple[str, str]:
    """Returns the agents of both players; raises AgentError if one would search for years."""
    names = _chosen_names(options, display)
    check_players(names, options.game)
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
    level = int(number) if number.isdecimal() else int(AGENTS["level"].budget)
    if not 1 <= level <= len(LEVELS):
        return name
    return tr("{name} (level {number})", name=LEVELS[level - 1].name, number=level)


def _clock(options: argparse.Namespace) -> ClockConfig | None:
    if options.time is None and options.byoyomi is None and options.increment is None:
        return None
    times = ClockConfig(60 * (options.time or 0), options.byoyomi or 0, options.increment or 0)
    if not times.main_s + times.byoyomi_s:
        raise InputError(tr("--increment: expected --time or --byoyomi with it"))
    return times
