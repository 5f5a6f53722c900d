"""Random openings: the first moves drawn by their visit counts.

The engine of the first book draws its first plies in proportion to the visits, so that no two games
are alike. dlshogi adds a temperature and a cut-off, both falling move by move: nearly uniform
among equals, never a blunder.
"""

from random import Random

from goryu.players.config import RandomSettings
from goryu.search.result import RootMove, SearchResult

__all__ = ["choose_move"]

COLDEST = 0.05
"""Below this temperature the most visited move is as good as certain."""


def choose_move(result: SearchResult, settings: RandomSettings, ply: int, rng: Random) -> RootMove:
    """Returns the move to play: the best, or while the opening lasts one drawn by visits.

    ply: moves played so far. The result must have at least one move. A proven result is never left to chance.
    """
    best = result.moves[0]
    own_moves = ply // 2
    temperature = settings.temperature - settings.temperature_drop * own_moves
    if ply >= settings.plies or temperature < COLDEST or best.mate is not None or best.visits == 0:
        return best
    cutoff = max(0.0, settings.cutoff - settings.cutoff_drop * own_moves)
    eligible = [
        move
        for move in result.moves
        if move is best or (move.mate is None and move.value >= best.value - cutoff)
    ]
    # Divided by the greatest count first: the power of a large number could overflow.
    largest = max(move.visits for move in eligible)
    weights = [(move.visits / largest) ** (1.0 / temperature) for move in eligible]
    return rng.choices(eligible, weights)[0]
