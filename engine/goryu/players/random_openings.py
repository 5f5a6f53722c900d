"""Random openings: the first moves drawn by their visit counts.

The engine of the first book draws its first plies in proportion to the visits, so that no two games
are alike. dlshogi adds a temperature and a cut-off, both falling move by move: nearly uniform
among equals, never a blunder. Its second way is to draw now and then, with a small probability at each
move, as long as the position is not too good to be gambled with.
"""

from random import Random

from goryu.players.config import RandomMoveConfig, RandomOpeningConfig
from goryu.search.boltzmann import boltzmann_distribution
from goryu.search.result import RootMove, SearchResult

__all__ = ["choose_move"]

COLDEST = 0.05
"""Below this temperature the most visited move is as good as certain."""


def choose_move(
    result: SearchResult, settings: RandomOpeningConfig, occasional: RandomMoveConfig, ply: int, rng: Random
) -> RootMove:
    """Returns the move to play: the best, or while the opening lasts one drawn by visits.

    ply: moves played so far. The result must have at least one move. A proven result is never left to chance.
    """
    best = result.moves[0]
    if best.mate is not None or best.visits == 0:
        return best
    own_moves = ply // 2
    if ply < settings.plies:
        temperature = settings.temperature - settings.temperature_drop * own_moves
        return _draw(result, temperature, settings.cutoff - settings.cutoff_drop * own_moves, rng)
    may_draw = ply < occasional.plies and best.value < occasional.value_limit
    if may_draw and rng.random() < occasional.probability:
        return _draw(result, occasional.temperature, occasional.cutoff, rng)
    return best


def _draw(result: SearchResult, temperature: float, cutoff: float, rng: Random) -> RootMove:
    """Returns a move drawn by visits, none that is worse than the best by more than `cutoff`."""
    best = result.moves[0]
    if temperature < COLDEST:
        return best
    eligible = [
        move
        for move in result.moves
        if move is best or (move.mate is None and move.value >= best.value - max(0.0, cutoff))
    ]
    weights = boltzmann_distribution([move.visits for move in eligible], temperature)
    return rng.choices(eligible, weights)[0]
