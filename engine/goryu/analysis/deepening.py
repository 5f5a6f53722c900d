"""Searches the mistakes of a review deeper, and corrects their judgement."""

from collections.abc import Callable
from dataclasses import dataclass

from goryu.analysis.review import GameReview
from goryu.analysis.reviewer import OnChange, Reviewer


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a deeper search is.

    done, of: how many of the mistakes are judged anew, and how many there are.
    ply: of the mistake whose positions are searched now; None before the first search.
    share: of all playouts that are needed, in [0, 1]; it grows while a position is searched.
    """

    done: int
    of: int
    ply: int | None = None
    share: float = 0.0


OnProgress = Callable[[Progress], None]


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
    playouts: for each of these positions. on_change, on_progress: called from several threads, one at a time,
        and quick.
    """
    indices = sorted(ply.ply - 1 for ply in review.mistakes())
    waiting = set(indices)
    deep = GameReview(review.start, review.moves, playouts)
    spent: dict[tuple[str, ...], int] = {}  # Playouts of each position, by the moves to it.
    needed = len({position for move in indices for position in (move, move + 1)}) + len(indices)

    def on_deep_change(_deep: GameReview, index: int) -> None:
        done = [move for move in (index - 1, index) if move in waiting and deep.is_judged(move)]
        for move in done:
            waiting.remove(move)
            review.take(deep, move)
            on_change(review, move)
            on_change(review, move + 1)

    def on_search(moves: tuple[str, ...], now: int) -> None:
        spent[moves] = min(playouts, now)
        # The position after the mistake, or that after the better move; or the one before the mistake.
        ply = len(moves) if len(moves) - 1 in waiting else len(moves) + 1
        share = min(1.0, sum(spent.values()) / (needed * playouts))
        on_progress(Progress(len(indices) - len(waiting), len(indices), ply, share))

    on_progress(Progress(0, len(indices)))
    if not reviewer.review(deep, on_deep_change, should_stop, indices, on_search):
        return False
    on_progress(Progress(len(indices), len(indices), None, 1.0))
    known = [index for index in range(len(review.moves)) if review.ply(index) is not None]
    return reviewer.review(review, on_change, should_stop, known)
