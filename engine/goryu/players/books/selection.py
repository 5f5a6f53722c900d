"""Chooses one of a book's moves, by YaneuraOu's rules.

Moves that are too rare, too bad or too much worse than the best one are left out; one of the others is drawn,
evenly or by the counts. If the book's best move was not searched deep enough, no move is chosen.
"""

from collections.abc import Sequence
from random import Random

from goryu.players.books.book import BookMove
from goryu.players.books.config import BookConfig

NARROW_SHARE = 0.1
"""The least share of all games for a move of a narrow book (YaneuraOu's value)."""


def ranked(moves: Sequence[BookMove]) -> list[BookMove]:
    """Returns the moves, the best first: by evaluation, then by count, then in the book's order.

    Books made from games have the evaluation 0 everywhere, so that the counts decide.
    """
    return sorted(moves, key=lambda move: (-(move.eval_cp or 0), -move.count))


def choose(moves: Sequence[BookMove], turn: int, config: BookConfig, rng: Random) -> BookMove | None:
    """Returns the move to play, None if none is suitable. turn: 0 if black is to move."""
    candidates = ranked(_often_enough(moves) if config.is_narrow else moves)
    if not candidates:
        return None
    best = candidates[0]
    if best.depth is not None and best.depth < config.least_depth:
        return None
    least_of_colour_cp = config.least_cp_white if turn else config.least_cp_black
    least_cp = max(config.least_cp, least_of_colour_cp, (best.eval_cp or 0) - config.most_worse_cp)
    candidates = [move for move in candidates if move.eval_cp is None or move.eval_cp >= least_cp]
    if not candidates or config.plays_best:
        return candidates[0] if candidates else None
    if not config.draws_by_count or not any(move.count for move in candidates):
        return rng.choice(candidates)
    return rng.choices(candidates, [move.count for move in candidates])[0]


def _often_enough(moves: Sequence[BookMove]) -> list[BookMove]:
    total = sum(move.count for move in moves)
    return [move for move in moves if move.count >= NARROW_SHARE * total]
