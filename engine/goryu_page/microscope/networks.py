"""The evaluators that an observed search can use, by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.evaluators.cached import CachedEvaluator
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.network.model_files import models_folder, shipped_model
from goryu.evaluators.rollout import RolloutEvaluator
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.reversi import Reversi as PythonReversi
from goryu.games.state import State
from goryu.implementation import Reversi
from goryu.players.agents.presets import disc_lead, line_lead
from goryu.players.config import EvaluatorConfig
from goryu.players.set_up.loading import load_evaluator
from goryu.search.depth_limited import Heuristic
from goryu.search.evaluator import Evaluation, Evaluator

NAMES = {
    "network": "the network",
    "material": "material: pieces, discs or open lines",
    "uniform": "none: all moves alike, every position a draw",
    "rollout": "one random game",
    "noise": "pseudo-random numbers",
}
"""What the evaluators are called: texts of `tr`."""

KINDS = {
    "tictactoe": ("network", "material", "uniform", "rollout", "noise"),
    "reversi": ("network", "material", "uniform", "rollout", "noise"),
    "shogi": ("network", "material", "uniform", "noise"),
    "numbers": ("uniform", "rollout", "noise"),
}
"""The evaluators of each game. Random games of shogi are too long."""


def kinds(game: str) -> list[str]:
    """Returns the evaluators of a game that can be used here: in a browser tab most networks are missing."""
    return [kind for kind in KINDS[game] if kind != "network" or _network_file(game).is_file()]


def _network_file(game: str) -> Path:
    return shipped_model() if game == "shogi" else models_folder() / f"{game}.onnx"


EVALUATOR = EvaluatorConfig(backend="cpu", threads=1)


@dataclass(frozen=True, slots=True)
class HeuristicEvaluator:
    """Every move equally likely; the value is a heuristic's."""

    heuristic: Heuristic

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order."""
        return [self._evaluate(state) for state in states]

    def _evaluate(self, state: State) -> Evaluation:
        n = len(state.legal_moves())
        return Evaluation([1.0 / n] * n, self.heuristic(state))


def open_evaluator(
    game: str,
    state: State,
    name: str,
    config: EvaluatorConfig = EVALUATOR,
    report: Callable[[str], None] = lambda _: None,
) -> Evaluator:
    """Returns an evaluator for a game. report: takes a line for every fallback.

    config: of the network; a `model` in it replaces the default one. The small games use nothing else of it.

    Raises InputError if there is none for the game or the board's size; ModelError, LoadingError.
    """
    if name not in KINDS[game]:
        known = ", ".join(KINDS[game])
        told = tr("network {name!r}: expected one of {names} for {game}", name=name, names=known, game=game)
        raise InputError(told)
    if name == "uniform":
        return UniformEvaluator()
    if name == "noise":
        return HashedEvaluator()
    if name == "rollout":
        return RolloutEvaluator(Random(1))
    if game == "shogi":
        return CachedEvaluator(load_evaluator(replace(config, kind=name, threads=1), report).evaluator)
    if name == "material":
        return HeuristicEvaluator(line_lead if game == "tictactoe" else disc_lead)
    if isinstance(state, (Reversi, PythonReversi)) and state.size != 8:
        raise InputError(tr("the network plays reversi on 8x8 only, received {size}x{size}", size=state.size))
    from goryu.evaluators.board_network import BOARD_GAMES, load  # NumPy is imported only for a network.

    path = Path(config.model) if config.model else _network_file(game)
    return CachedEvaluator(load(path, BOARD_GAMES[game]))
