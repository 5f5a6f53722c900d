"""Random openings: the first moves are drawn by their visit counts, so that no two games are equal.

python-dlshogi (山岡忠夫『将棋AIで学ぶディープラーニング』, 2018) draws its first moves in proportion to the
visits. dlshogi adds a temperature and a cut-off, both of which fall move by move: it draws nearly uniformly
among equally good moves, and no blunder.
"""

from random import Random

from goryu.players.config import RandomOpeningConfig
from goryu.search.boltzmann import boltzmann_distribution
from goryu.search.result import RootMove, SearchResult

COLDEST = 0.05
"""Below this temperature the most visited move is practically certain."""


def choose_move(result: SearchResult, config: RandomOpeningConfig, ply: int, rng: Random) -> RootMove:
    """Returns the move to play: the best, or in the opening one that is drawn by visits.

    ply: moves played so far. The result must have at least one move. With a proven result the best is played.
    """
    best = result.moves[0]
    if best.mate is not None or best.visits == 0 or ply >= config.plies:
        return best
    own_moves = ply // 2
    temperature = config.temperature - config.temperature_drop * own_moves
    return _draw(result, temperature, config.cutoff - config.cutoff_drop * own_moves, rng)


def _draw(result: SearchResult, temperature: float, cutoff: float, rng: Random) -> RootMove:
    """Returns a move drawn by visits among those not worse than the best by more than `cutoff`."""
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
