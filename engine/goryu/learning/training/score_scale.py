"""How much a teacher's centipawns are worth: the scale that turns its scores into win probabilities.

The probability to win is taken to be 1 / (1 + exp(-score / scale)); the scale is the one that foretells the
results of the teacher's own games best, by cross-entropy. Every teacher has its own, and it depends on the
games: where they are decided by weak play, a lead is worth less.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SCALES = (10.0, 100_000.0)
"""Between these the scale is looked for, in centipawns."""


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """The best scale of a set of positions, and how well the scores then foretell the results.

    scale: centipawns at which the win odds are e : 1. cross_entropy: in nats.
    sign_agreement: share of the positions with a score other than 0, in decided games, whose score is on the
        winner's side; NaN if there are none.
    """

    positions: int
    scale: float
    cross_entropy: float
    sign_agreement: float


def fit_scale(scores: npt.NDArray[np.float64], results: npt.NDArray[np.float64]) -> ScoreScale:
    """Fits the scale by bisection; it comes out as one end of `SCALES` if the scores foretell nothing.

    scores: [N] centipawns, results: [N] 0, 0.5 or 1, both from the side to move; N > 0.

    >>> scores = np.array([300.0, 300.0, 300.0, -300.0])
    >>> round(fit_scale(scores, np.array([1.0, 1.0, 0.0, 0.0])).scale * np.log(3.0))
    300
    """
    low, high = SCALES
    while high / low > 1.0001:
        middle = float(np.sqrt(low * high))
        # Convex in 1 / scale: the sign of its slope there says on which side the minimum lies.
        slope = (scores * (np.exp(-np.logaddexp(0.0, -scores / middle)) - results)).mean()
        low, high = (middle, high) if slope > 0.0 else (low, middle)
    scale = float(np.sqrt(low * high))
    logits = scores / scale
    counted = (scores != 0.0) & (results != 0.5)
    agreement = ((scores > 0.0) == (results > 0.5))[counted]
    return ScoreScale(
        positions=len(scores),
        scale=scale,
        cross_entropy=float((np.logaddexp(0.0, logits) - results * logits).mean()),
        sign_agreement=float(agreement.mean()) if len(agreement) else float("nan"),
    )
