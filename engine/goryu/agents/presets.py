"""What Goryu itself knows about each game, for the agents: heuristics and the shipped networks."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import cast

from goryu.agents.agents import AgentSetup
from goryu.evaluators.board_network import BOARD_GAMES, load
from goryu.evaluators.material import MaterialEvaluator
from goryu.evaluators.model_files import models_folder
from goryu.evaluators.rollout import RolloutEvaluator
from goryu.games.state import State
from goryu.implementation import Reversi
from goryu.players.config import EngineConfig
from goryu.players.loading import load_evaluator
from goryu.search.evaluator import Evaluator
from goryu.search.gumbel import GumbelConfig
from goryu.search.puct import PuctConfig

__all__ = ["SMALL_PUCT", "board_setup", "disc_lead", "shogi_setup"]

SMALL_PUCT = PuctConfig(c_init=1.0, c_init_root=1.0, final_move="visits")
"""For the small games' networks, which were taught by few playouts: what they were measured with."""


def disc_lead(state: State) -> float:
    """Returns the disc difference for the side to move as a share of the board: the greedy heuristic."""
    game = cast(Reversi, state)
    return game.disc_difference() / (game.size * game.size)


def shogi_setup(config: EngineConfig, log: Callable[[str], None]) -> AgentSetup:
    """Returns what agents may know of shogi: the network, searched with the constants that the engine has.

    Leaves are not searched for mates, one thread searches, and a draw is worth 0 to both sides.
    """
    material = MaterialEvaluator()
    loaded = load_evaluator(config.evaluator, log)
    puct = config.puct_config(turn=0, batch_size=loaded.batch_size)
    return AgentSetup(
        evaluator=loaded.evaluator,
        values=loaded.evaluator,
        heuristic=lambda state: material.evaluate([state])[0].value,
        puct=replace(puct, mate_nodes=0, draw_value=0.0, threads=1),
    )


def board_setup(game: str, rng: Random, log: Callable[[str], None], model: Path | None = None) -> AgentSetup:
    """Returns what agents may know of "tictactoe" or "reversi".

    model: a network to play with instead of the shipped ones. If one of those is not there, positions are
        judged by random games, and `log` is told so.

    Raises:
        ModelError: a network is broken or another game's, or `model` is missing.
    """
    network = load(model, BOARD_GAMES[game]) if model else _shipped_network(game, game, rng, log)
    has_another = game == "reversi" and model is None
    return AgentSetup(
        evaluator=network,
        values=_shipped_network(game, "reversi-value", rng, log) if has_another else network,
        heuristic=disc_lead if game == "reversi" else lambda _: 0.0,
        puct=SMALL_PUCT,
        gumbel=GumbelConfig(c_scale=0.1),
    )


def _shipped_network(game: str, model: str, rng: Random, log: Callable[[str], None]) -> Evaluator:
    path = models_folder() / f"{model}.onnx"
    if not path.is_file():
        log(f"no network {path}: positions are judged by random games instead")
        return RolloutEvaluator(rng)
    return load(path, BOARD_GAMES[game])
