"""Setups of agents for each game: heuristics and the shipped networks."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import cast

from goryu.evaluators.material import MaterialEvaluator
from goryu.evaluators.network.model_files import models_folder
from goryu.evaluators.rollout import RolloutEvaluator
from goryu.games.state import State
from goryu.games.tictactoe import LINES, TicTacToe
from goryu.implementation import Reversi
from goryu.players.agents.agents import AgentSetup
from goryu.players.agents.level_agent import ShogiPlayer
from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig
from goryu.players.levels.levels import Level, evaluator_of
from goryu.players.set_up.evaluator_slot import EvaluatorSlot
from goryu.players.set_up.loading import load_evaluator
from goryu.search.evaluator import Evaluator
from goryu.search.graph.config import Formula, PuctConfig
from goryu.search.gumbel import GumbelConfig

SMALL_PUCT = PuctConfig(Formula(c_init=1.0), Formula(c_init=1.0, fpu_reduction=0.1), final_move="visits")
"""For the networks of the small games, which were trained and measured with few playouts."""


def disc_lead(state: State) -> float:
    """Returns the disc difference for the side to move, divided by the squares of the board: a heuristic."""
    game = cast(Reversi, state)
    return game.disc_difference() / (game.size * game.size)


def line_lead(state: State) -> float:
    """Returns the lead in open lines for the side to move, divided by all eight: N. J. Nilsson's, 1971."""
    return cast(TicTacToe, state).line_difference() / len(LINES)


def shogi_setup(
    config: EngineConfig, log: Callable[[str], None], limits: Callable[[], Limits] = Limits
) -> AgentSetup:
    """Returns the setup for shogi: the network and the constants of the search that the engine uses.

    The search has one thread and no mate search at the leaves, and a draw has the value 0 for both sides.
    The agents of a level are the engine itself. limits: returns the limits of their next move.
    """
    material = MaterialEvaluator()
    loaded = load_evaluator(config.evaluator, log)
    slot = EvaluatorSlot(loaded)

    def at_level(level: Level) -> ShogiPlayer:
        wanted = evaluator_of(replace(config, level=level.number))
        fitting = slot if wanted == config.evaluator else EvaluatorSlot(load_evaluator(wanted, log))
        return ShogiPlayer(fitting, config, level, limits, log)

    puct = config.puct_config(turn=0, batch_size=loaded.batch_size)
    return AgentSetup(
        evaluator=loaded.evaluator,
        values=loaded.evaluator,
        heuristic=lambda state: material.evaluate([state])[0].value,
        puct=replace(puct, draw_value=0.0),
        at_level=at_level,
    )


def board_setup(game: str, rng: Random, log: Callable[[str], None], model: Path | None = None) -> AgentSetup:
    """Returns the setup for "tictactoe", "reversi" or a smaller board, "reversi6" or "reversi4".

    model: a network that replaces the shipped ones. If a shipped network is missing, random games evaluate
        positions instead, and `log` gets a message; none is shipped for the smaller boards.

    Raises:
        ModelError: a network is broken or made for another game, or `model` is missing.
    """
    network = _board_network(game, model) if model else _shipped_network(game, game, rng, log)
    has_value_network = game == "reversi" and model is None
    return AgentSetup(
        evaluator=network,
        values=_shipped_network(game, "reversi-value", rng, log) if has_value_network else network,
        heuristic=line_lead if game == "tictactoe" else disc_lead,
        puct=SMALL_PUCT,
        gumbel=GumbelConfig(c_scale=0.1),
    )


def _shipped_network(game: str, model: str, rng: Random, log: Callable[[str], None]) -> Evaluator:
    path = models_folder() / f"{model}.onnx"
    if not path.is_file():
        log(f"no network {path}: random games evaluate positions instead")
        return RolloutEvaluator(rng)
    return _board_network(game, path)


def _board_network(game: str, path: Path) -> Evaluator:
    from goryu.evaluators.board_network import BOARD_GAMES, load  # NumPy is imported only for a network.

    return load(path, BOARD_GAMES[game])
