"""Which of a book's moves is played.

The rules are YaneuraOu's. Moves that are too rare, too bad or too much worse than the best one are left
out; among the rest chance decides, evenly or by the counts. Where the book's best move was not searched
deeply enough, the book is not asked at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from goryu.players.books.book import BookMove

__all__ = ["BookSettings", "choose", "ranked"]

NARROW_SHARE = 0.1
"""What share of all games a move of a narrow book was played in, at least (YaneuraOu's value)."""


@dataclass(frozen=True, slots=True)
class BookSettings:
    """How a book is used; centipawns from the side to move. A move without evaluation or depth passes.

    max_ply: the last move number at which the book is asked.
    plays_best: never leave the choice to chance.
    least_depth: the best move's, or the book is not asked; 0 for any.
    most_worse_cp: than the best move.
    least_cp: for black and for white.
    flips: look for the flipped position too.
    pv_moves: how many moves of the book are shown.
    """

    max_ply: int = 16
    plays_best: bool = False
    draws_by_count: bool = False
    is_narrow: bool = False
    least_depth: int = 16
    most_worse_cp: int = 30
    least_cp: tuple[int, int] = (0, -140)
    flips: bool = True
    pv_moves: int = 8


def ranked(moves: Sequence[BookMove]) -> list[BookMove]:
    """Returns the moves, the best first: by evaluation, then by count, then as the book has them.

    Books of games without evaluations have 0 everywhere, so that their counts decide.
    """
    return sorted(moves, key=lambda move: (-(move.eval_cp or 0), -move.count))


def choose(moves: Sequence[BookMove], turn: int, settings: BookSettings, rng: Random) -> BookMove | None:
    """Returns the move to play, None if none of them will do. turn: 0 if black is to move."""
    candidates = ranked(_often_enough(moves) if settings.is_narrow else moves)
    if not candidates:
        return None
    best = candidates[0]
    if best.depth is not None and best.depth < settings.least_depth:
        return None
    least_cp = max(settings.least_cp[turn], (best.eval_cp or 0) - settings.most_worse_cp)
    candidates = [move for move in candidates if move.eval_cp is None or move.eval_cp >= least_cp]
    if not candidates or settings.plays_best:
        return candidates[0] if candidates else None
    if not settings.draws_by_count or not any(move.count for move in candidates):
        return rng.choice(candidates)
    return rng.choices(candidates, [move.count for move in candidates])[0]


def _often_enough(moves: Sequence[BookMove]) -> list[BookMove]:
    total = sum(move.count for move in moves)
    return [move for move in moves if move.count >= NARROW_SHARE * total]
