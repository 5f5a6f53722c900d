"""Searches the mistakes of a review deeper, and corrects their judgement."""

from collections.abc import Callable

from goryu.analysis.review import GameReview
from goryu.analysis.reviewer import OnChange, Reviewer

OnProgress = Callable[[int, int], None]
"""Takes how many of the mistakes are judged anew, and how many there are."""


def deepen(
    reviewer: Reviewer,
    review: GameReview,
    playouts: int,
    on_change: OnChange,
    on_progress: OnProgress,
    should_stop: Callable[[], bool],
) -> bool:
    """Judges the mistakes of a review anew with more playouts; returns False if `should_stop` ended it.

    The positions before and after each mistake, and after the better move, are searched. A judgement is
    replaced only when all three are known, so a stopped search leaves no mixture. The moves beside a mistake
    are then compared again where its better move has changed.
    playouts: for each of these positions. on_change, on_progress: called from several threads, one at a time.
    """
    indices = sorted(ply.ply - 1 for ply in review.mistakes())
    waiting = set(indices)
    deep = GameReview(review.start, review.moves, playouts)

    def on_deep_change(_deep: GameReview, index: int) -> None:
        done = [move for move in (index - 1, index) if move in waiting and deep.is_judged(move)]
        for move in done:
            waiting.remove(move)
            review.take(deep, move)
            on_change(review, move)
            on_change(review, move + 1)
        if done:
            on_progress(len(indices) - len(waiting), len(indices))

    on_progress(0, len(indices))
    if not reviewer.review(deep, on_deep_change, should_stop, indices):
        return False
    known = [index for index in range(len(review.moves)) if review.ply(index) is not None]
    return reviewer.review(review, on_change, should_stop, known)
