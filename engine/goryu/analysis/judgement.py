"""Judges a move by the win rate that it loses; all thresholds and formulas of the review are here.

Win rates are in [0, 1]. The loss of a move is the win rate of the better move less the win rate of the played
move, both for the player who moved.

The names of the classes are those of Japanese commentaries; the thresholds are those of ShogiHome, but for
the highest one (0.5 there: an even game could not be lost by a 大悪手).
"""

from collections.abc import Sequence
from enum import StrEnum
from math import exp, sqrt
from statistics import fmean, harmonic_mean, pstdev


class MoveClass(StrEnum):
    """The class of a move."""

    GREAT = "great"  # 好手
    BEST = "best"  # 最善手
    GOOD = "good"
    INACCURACY = "inaccuracy"  # 緩手
    DUBIOUS = "dubious"  # 疑問手
    MISTAKE = "mistake"  # 悪手
    BLUNDER = "blunder"  # 大悪手


LEAST_LOSS = {
    MoveClass.BLUNDER: 0.35,
    MoveClass.MISTAKE: 0.20,
    MoveClass.DUBIOUS: 0.10,
    MoveClass.INACCURACY: 0.05,
}
"""The least loss of each class, the worst class first."""

MISTAKES = (MoveClass.DUBIOUS, MoveClass.MISTAKE, MoveClass.BLUNDER)
"""The classes that a review lists as mistakes."""

MARGIN = 0.4
"""Over the square root of the playouts: how much a loss must exceed a threshold, 0.02 for 400 playouts.

A threshold picks the losses that a short search has overestimated more often than the others. Without the
margin fewer of the mistakes of 400 playouts are mistakes after 10,000; `review_quality.py` measures it.
"""

GREAT_PRIOR = 0.15
"""A great move is the best one although the policy gives it at most this probability ..."""

GREAT_LEAD = 0.10
"""... and every other move loses at least this much."""

SYMBOLS = {
    MoveClass.GREAT: "!",
    MoveClass.INACCURACY: "–",
    MoveClass.DUBIOUS: "?!",
    MoveClass.MISTAKE: "?",
    MoveClass.BLUNDER: "??",
}
"""The marks of Western commentaries, but for that of inaccuracies; classes that are not here have none."""


def class_of_loss(loss: float, playouts: int) -> MoveClass:
    """Returns the class of a move that is not the best one.

    playouts: of the searches that gave the loss.

    >>> class_of_loss(0.13, 400), class_of_loss(0.11, 400)
    (<MoveClass.DUBIOUS: 'dubious'>, <MoveClass.INACCURACY: 'inaccuracy'>)
    """
    certain = certain_loss(loss, playouts)
    return next((name for name, least in LEAST_LOSS.items() if certain >= least), MoveClass.GOOD)


def certain_loss(loss: float, playouts: int) -> float:
    """Returns the loss less the margin by which searches of so many playouts may overestimate it."""
    return loss - margin(playouts)


def margin(playouts: int) -> float:
    """Returns how much a loss that searches of so many playouts gave must exceed a threshold."""
    return MARGIN / sqrt(max(1, playouts))


def move_accuracy(loss: float) -> float:
    """Returns the accuracy of a move in [0, 100].

    Source: lichess.org/page/accuracy, and AccuracyPercent.scala in lichess's source, which adds 1 because no
    analysis is perfect.

    >>> move_accuracy(0.0), round(move_accuracy(0.2), 1)
    (100.0, 41.0)
    """
    percent = 103.1668100711649 * exp(-0.04354415386753951 * 100 * loss) - 3.166924740191411 + 1
    return min(100.0, max(0.0, percent))


def game_accuracy(losses: Sequence[float], win_rates: Sequence[float], side: int) -> float | None:
    """Returns the accuracy of one player in [0, 100], or None if the player has no move.

    losses: of all moves of the game, both players'. side: 0 if the player made the first of them, else 1.
    win_rates: of black, before the first move and after each.

    The mean of two means of the accuracies of the moves: one weighted by how much the win rate moves around,
    and the harmonic one, which a single blunder lowers much. Source: lichess's `gameAccuracy`.
    """
    accuracies = [move_accuracy(loss) for loss in losses][side::2]
    if not accuracies:
        return None
    weights = _volatilities(win_rates)[side::2]
    weighted = fmean(accuracies, weights)
    return (weighted + harmonic_mean(accuracies)) / 2


def _volatilities(win_rates: Sequence[float]) -> list[float]:
    """Returns the weight of each move: the spread of the win rates, in percent, in a window around it."""
    percents = [100 * rate for rate in win_rates]
    moves = len(percents) - 1
    size = min(8, max(2, moves // 10))
    # The first windows are equal, so that there are as many windows as moves.
    starts = [0] * (min(size, len(percents)) - 2) + list(range(len(percents) - size + 1))
    return [min(12.0, max(0.5, pstdev(percents[start : start + size]))) for start in starts[:moves]]
