"""Which of a book's moves is played.

The rules are YaneuraOu's. Moves that are too rare, too bad or too much worse than the best one are left
out; among the rest chance decides, evenly or by the counts. Where the book's best move was not searched
deeply enough, the book is not asked at all.
"""

from collections.abc import Sequence
from random import Random

from goryu.players.books.book import BookMove
from goryu.players.books.config import BookConfig

__all__ = ["choose", "ranked"]

NARROW_SHARE = 0.1
"""What share of all games a move of a narrow book was played in, at least (YaneuraOu's value)."""


def ranked(moves: Sequence[BookMove]) -> list[BookMove]:
    """Returns the moves, the best first: by evaluation, then by count, then as the book has them.

    Books of games without evaluations have 0 everywhere, so that their counts decide.
    """
    return sorted(moves, key=lambda move: (-(move.eval_cp or 0), -move.count))


def choose(moves: Sequence[BookMove], turn: int, settings: BookConfig, rng: Random) -> BookMove | None:
    """Returns the move to play, None if none of them will do. turn: 0 if black is to move."""
    candidates = ranked(_often_enough(moves) if settings.is_narrow else moves)
    if not candidates:
        return None
    best = candidates[0]
    if best.depth is not None and best.depth < settings.least_depth:
        return None
    least_of_colour_cp = settings.least_cp_white if turn else settings.least_cp_black
    least_cp = max(settings.least_cp, least_of_colour_cp, (best.eval_cp or 0) - settings.most_worse_cp)
    candidates = [move for move in candidates if move.eval_cp is None or move.eval_cp >= least_cp]
    if not candidates or settings.plays_best:
        return candidates[0] if candidates else None
    if not settings.draws_by_count or not any(move.count for move in candidates):
        return rng.choice(candidates)
    return rng.choices(candidates, [move.count for move in candidates])[0]


def _often_enough(moves: Sequence[BookMove]) -> list[BookMove]:
    total = sum(move.count for move in moves)
    return [move for move in moves if move.count >= NARROW_SHARE * total]
