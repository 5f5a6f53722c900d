"""Makes the searcher that the option Algorithm names."""

from collections.abc import Callable
from random import Random

from goryu.evaluators.material import material_value
from goryu.evaluators.uniform import UniformEvaluator
from goryu.implementation import Board
from goryu.players.agents.alpha_beta import AlphaBetaSearcher
from goryu.players.agents.catalogue import ALGORITHMS
from goryu.players.agents.gumbel import GumbelSearcher
from goryu.players.agents.mcts_player import MctsPlayerSearcher
from goryu.players.agents.monte_carlo import FlatMonteCarloSearcher, UctSearcher
from goryu.players.agents.searcher import TextbookSearcher
from goryu.players.agents.single_step import PolicySearcher, RandomSearcher, ValueSearcher
from goryu.players.config import EngineConfig
from goryu.players.set_up.loading import LoadedEvaluator


def needs_evaluator(config: EngineConfig) -> bool:
    """Does the algorithm use the evaluator that the options name?"""
    algorithm = config.algorithm
    if algorithm.name == "alpha-beta":
        return algorithm.leaf_value == "network"
    return ALGORITHMS[algorithm.name].uses == "network"


def make_searcher(
    config: EngineConfig,
    turn: int,
    loaded: LoadedEvaluator | None,
    rng: Random,
    time_left_ms: Callable[[], float],
    last: object = None,
) -> TextbookSearcher:
    """Returns a new searcher; not for `puct`, whose graph outlives a search.

    turn: the side to move at the root. loaded: None only if `needs_evaluator` is false.
    time_left_ms: returns the milliseconds that are left for the move. last: the search before, if any.
    """
    searcher = _searcher(config, loaded, rng, time_left_ms, last)
    searcher.draw_value_first = config.rules.draw_value_of_black(turn)
    return searcher


def _searcher(
    config: EngineConfig,
    loaded: LoadedEvaluator | None,
    rng: Random,
    time_left_ms: Callable[[], float],
    last: object,
) -> TextbookSearcher:
    evaluator = loaded.evaluator if loaded is not None else UniformEvaluator()
    capacity_bytes = config.hash_bytes(uses_gpu=False)

    def network_value(board: Board) -> float:
        return evaluator.evaluate([board])[0].value

    match config.algorithm.name:
        case "gumbel":
            return GumbelSearcher(evaluator, time_left_ms=time_left_ms, capacity_bytes=capacity_bytes)
        case "mcts-player":
            kept = last if isinstance(last, MctsPlayerSearcher) else None
            return MctsPlayerSearcher(evaluator, config.search.capacity, kept)
        case "uct":
            return UctSearcher(rng, capacity_bytes=capacity_bytes)
        case "flat-mc":
            return FlatMonteCarloSearcher(rng)
        case "alpha-beta":
            evaluate = network_value if config.algorithm.leaf_value == "network" else material_value
            return AlphaBetaSearcher(evaluate, lines=config.output.lines)
        case "value":
            assert loaded is not None
            return ValueSearcher(evaluator, loaded.batch_size)
        case "policy":
            # The evaluator has applied its own temperature to the policy already.
            temperature = config.algorithm.temperature / getattr(evaluator, "temperature", 1.0)
            return PolicySearcher(evaluator, rng, temperature)
        case "random":
            return RandomSearcher(rng)
    raise AssertionError(config.algorithm.name)
