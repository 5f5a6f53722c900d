"""The players of the view "Play": the levels of shogi, the algorithms of the small games, and hints."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from time import perf_counter
from typing import Any

from goryu.base.errors import GoryuError
from goryu.base.language import both, tr
from goryu.engines.engines_file import engine_named, user_engines
from goryu.evaluators.network.model_files import models_folder
from goryu.games.state import Move, State
from goryu.implementation import Board, make_puct
from goryu.kifu.record import Ending
from goryu.players.agents.agents import AgentSetup, make_agent
from goryu.players.agents.catalogue import ALGORITHMS
from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.levels.levels import FULL_STRENGTH, LEVELS, evaluator_of
from goryu.players.player import Player
from goryu.players.request import Answer, Request, SearchControl
from goryu.players.set_up.evaluator_slot import EvaluatorSlot
from goryu.players.set_up.loading import SharedEvaluators
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.result import SearchResult
from goryu_page.dojo.timing import TIMING, Timing
from goryu_page.session.session import Job, StoppedError
from goryu_page.views.game import PageGame
from goryu_page.views.usi_engines import UsiEngines, move_of

_log = logging.getLogger("goryu_page.server")

HINT_PLAYOUTS = 400
HINT_MOVES = 3
LEAST_HINT_SHARE = 0.03
"""Of the visits: a hint shows no move that the search has hardly looked at."""

CAPACITY_BYTES = 256 << 20
"""Memory of the search of one tab."""

SMALL_GAME_AGENTS = {
    "tictactoe": ("random", "flat-mc:10", "uct:100", "puct:50", "alpha-beta"),
    "reversi": (
        "random", "depth-limited:1", "flat-mc:10", "uct:100", "depth-limited:3",
        "value:2", "gumbel:16", "puct:30", "puct:400",
    ),
    "reversi6": (
        "random", "depth-limited:1", "flat-mc:10", "depth-limited:3", "uct:100", "uct:1000",
        "gumbel:16", "puct:30", "puct:400",
    ),
    "reversi4": (
        "random", "depth-limited:1", "flat-mc:10", "uct:100", "alpha-beta",
        "gumbel:16", "puct:30", "puct:400",
    ),
}  # fmt: skip
"""The opponents of each game, the weakest first; see `agents.py`. Each answers within seconds.

None comes with a network for the smaller boards: a user may put one into `models/`.
"""

USER_ENGINE = "usi:"
"""Begins the name of an opponent that is an engine of the user."""


class EngineError(GoryuError, RuntimeError):
    """The engine has no move in a position in which there is one."""


class Opponents:
    """The engines of one tab. They are loaded on first use; call from one job at a time."""

    def __init__(self, config: EngineConfig, networks: SharedEvaluators, timing: Timing = TIMING) -> None:
        """config: of all levels, until `use` is called. networks: those of all tabs."""
        self._networks = networks
        self._config = self._full = _with_capacity(config)
        self._players: dict[EvaluatorConfig, Player] = {}
        self._fresh: set[EvaluatorConfig] = set()  # Those whose player has searched nothing before this game.
        self._setups: dict[str, AgentSetup] = {}
        self._usi_engines = UsiEngines(timing)

    def load(self, kind: str, name: str) -> None:
        """Loads the networks of a player of `reply`, so that the first move need not wait for them."""
        if name.startswith(USER_ENGINE):
            self._usi_engines.load(engine_named(name.removeprefix(USER_ENGINE)))
        elif kind == "shogi":
            self._shogi(self._at_level(name))
        else:
            self._setup(kind)

    def new_game(self, name: str) -> None:
        """Has the next searches forget the earlier ones, of which one may still be ending in its job.

        name: of the next opponent, as in `reply`.
        """
        self._fresh = set()
        is_users = name.startswith(USER_ENGINE)
        self._usi_engines.new_game(engine_named(name.removeprefix(USER_ENGINE)) if is_users else None)

    def use(self, config: EngineConfig) -> None:
        """Plays at full strength, and gives hints, with another config from now on."""
        self._full = _with_capacity(config)

    def _at_level(self, name: str) -> EngineConfig:
        config = self._full if name == str(FULL_STRENGTH) else self._config
        return replace(config, level=int(name))

    def pause(self) -> None:
        """Ends the user's engine, which starts again when it has to move."""
        self._usi_engines.close()

    def reply(
        self, kind: str, state: State, name: str, limits: Limits, started_s: float, job: Job
    ) -> Move | Ending:
        """Returns the move of the player `name`, Ending.RESIGNATION or Ending.DECLARATION.

        name: a level of shogi ("3"), an engine of the user ("usi:NAME"), or an agent ("uct:100").
        """
        if isinstance(state, Board) and name.startswith(USER_ENGINE):
            engine = engine_named(name.removeprefix(USER_ENGINE))
            return move_of(self._usi_engines.search(engine, state, limits, job), state, engine)
        if isinstance(state, Board):
            config = self._at_level(name)
            answer = self._search(state, limits, config, started_s, job)
            if answer.declares:
                return Ending.DECLARATION
            if answer.move is None and answer.info_string:
                raise EngineError(answer.info_string)
            return Ending.RESIGNATION if answer.move is None else answer.move
        return make_agent(name, stoppable(self._setup(kind), job), StoppableRandom(job))(state)

    def hints(self, kind: str, state: State, job: Job) -> list[dict[str, Any]]:
        """Returns the best moves, with their share of the visits and their win rate in percent."""
        if isinstance(state, Board):
            config = replace(self._full, level=0, limits_strength=False)
            limits = Limits(nodes=HINT_PLAYOUTS)
            result = self._search(state, limits, config, perf_counter(), job).result
            moves: Sequence[Any] = result.moves if result else ()
        else:
            moves = self._search_small(kind, state, job).moves
        total = sum(move.visits for move in moves) or 1
        best = sorted(moves, key=lambda move: -move.visits)[:HINT_MOVES]
        best = [one for one in best if one is best[0] or one.visits >= LEAST_HINT_SHARE * total]
        return [
            {"move": one.move, "share": one.visits / total, "rate": round(50 + 50 * one.value, 1)}
            for one in best
        ]

    def _search(
        self, board: Board, limits: Limits, config: EngineConfig, started_s: float, job: Job
    ) -> Answer:
        player = self._shogi(config)
        control = SearchControl()
        job.on_stop(control.stop)
        request = Request(board, limits, config, started_s)
        had_gpu = _uses_gpu(player)
        answer = player.search(request, control, lambda _result, _elapsed_ms: None)
        if had_gpu and not _uses_gpu(player):
            text = tr("the GPU has failed; the opponent goes on with the CPU and is weaker")
            job.send("play.problem", text=text)
        return answer

    def _search_small(self, kind: str, state: State, job: Job) -> SearchResult:
        setup = self._setup(kind)
        search = make_puct(setup.evaluator, setup.puct)
        return search.search(state, lambda _stats: job.is_stopped, max_playouts=HINT_PLAYOUTS)

    def _shogi(self, config: EngineConfig) -> Player:
        """Returns the player for a config: the levels and full strength may have different networks."""
        evaluator = evaluator_of(config)
        if evaluator not in self._players:
            rules = config.rules
            # A player sets another value of a draw in its network, and other searches must not see it.
            is_alone = (rules.draw_value_black, rules.draw_value_white) != (0.0, 0.0)
            slot = EvaluatorSlot(None if is_alone else self._networks.get(evaluator))
            self._players[evaluator] = Player(slot=slot)
        if evaluator not in self._fresh:
            self._players[evaluator].load(config, _log.info)  # Again, if a GPU was lost in the game before.
            self._players[evaluator].new_game()
            self._fresh.add(evaluator)
        return self._players[evaluator]

    def _setup(self, kind: str) -> AgentSetup:
        if kind not in self._setups:
            from goryu.players.agents.presets import board_setup  # It imports and loads networks.

            self._setups[kind] = board_setup(kind, Random(), _log.info)  # Nobody chose what is missing.
        return self._setups[kind]


def _with_capacity(config: EngineConfig) -> EngineConfig:
    """Returns a config whose search uses no more memory than one tab may."""
    capacity_bytes = min(config.hash_bytes(uses_gpu=False), CAPACITY_BYTES)
    return replace(config, search=replace(config.search, capacity_bytes=capacity_bytes))


def _uses_gpu(player: Player) -> bool:
    return player.slot.loaded is not None and player.slot.loaded.uses_gpu


class StoppableRandom(Random):
    """Random numbers that end the algorithm which uses them when its job is stopped."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def random(self) -> float:
        """Returns a number in [0, 1); raises StoppedError after the job was stopped."""
        if self._job.is_stopped:
            raise StoppedError
        return super().random()

    def getrandbits(self, bits: int, /) -> int:
        """Returns random bits; raises StoppedError after the job was stopped."""
        if self._job.is_stopped:
            raise StoppedError
        return super().getrandbits(bits)


class StoppableEvaluator:
    """An evaluator that ends the algorithm which uses it when its job is stopped."""

    def __init__(self, evaluator: Evaluator, job: Job) -> None:
        self._evaluator = evaluator
        self._job = job

    def evaluate(self, states: Sequence[Any]) -> list[Evaluation]:
        """Evaluates the states; raises StoppedError after the job was stopped."""
        if self._job.is_stopped:
            raise StoppedError
        return self._evaluator.evaluate(states)


def stoppable(setup: AgentSetup, job: Job) -> AgentSetup:
    """Returns a setup whose evaluators end the algorithm when the job is stopped."""

    def heuristic(state: State) -> float:
        if job.is_stopped:
            raise StoppedError
        return setup.heuristic(state)

    return replace(
        setup,
        evaluator=StoppableEvaluator(setup.evaluator, job),
        values=StoppableEvaluator(setup.values, job),
        heuristic=heuristic,
    )


def levels() -> list[dict[str, Any]]:
    """Returns the levels for the page."""
    return [
        {
            "name": str(level.number),
            "en": f"{level.number} {level.english}",
            "ja": f"{level.number} {level.japanese}",
            "about": both(level.about),
        }
        for level in LEVELS
    ]


def agents() -> dict[str, list[str]]:
    """Returns the opponents of each small game whose networks are there: in a browser tab none is."""
    return {game: [one for one in names if _can_play(one, game)] for game, names in SMALL_GAME_AGENTS.items()}


def _can_play(agent: str, game: str) -> bool:
    algorithm = agent.partition(":")[0]
    file = f"{game}-value.onnx" if algorithm == "value" else f"{game}.onnx"
    return ALGORITHMS[algorithm].uses != "network" or (models_folder() / file).is_file()


def is_opponent(kind: str, name: str) -> bool:
    """Is this the name of a player of the game? Raises InputError if the user's engines cannot be read."""
    if kind == "shogi" and name.startswith(USER_ENGINE):
        return name.removeprefix(USER_ENGINE) in {engine.name for engine in user_engines()}
    if kind == "shogi":
        return name in {str(level.number) for level in LEVELS}
    return name in agents()[kind]


def limits_of(game: PageGame, opponent: str, thinking_s: float) -> Limits:
    """Returns the limits of the opponent's search. thinking_s: for a move without a clock, at most."""
    if game.clocks:
        return game.clocks.limits(game.turn)
    if game.kind == "shogi" and opponent == str(FULL_STRENGTH):
        return Limits(movetime_ms=1000 * thinking_s)
    return Limits()
