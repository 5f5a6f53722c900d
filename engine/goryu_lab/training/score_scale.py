"""Fits the scale that turns a teacher's centipawns into win probabilities.

The win probability is 1 / (1 + exp(-score / scale)), with the scale that predicts the results of the
teacher's own games best, by cross-entropy. Every teacher has its own scale, and it depends on the games: in
weak play a lead wins less often.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SCALES = (10.0, 100_000.0)
"""Range of the search for the scale, in centipawns."""


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """The best scale for some positions, and how well the scores then predict the results.

    scale: centipawns at which the win odds are e : 1. cross_entropy: in nats.
    sign_agreement: share of the positions of decided games with a score other than 0 whose score favours the
        winner; NaN if there are none.
    """

    positions: int
    scale: float
    cross_entropy: float
    sign_agreement: float


def value_targets(
    scores: npt.NDArray[np.float64], results: npt.NDArray[np.float64], scale: float, result_weight: float
) -> npt.NDArray[np.float32]:
    """Returns (1 - w) sigmoid(score / scale) + w result, the mix that dlshogi trains on; see `fit_scale`."""
    win_rates = 1.0 / (1.0 + np.exp(-scores / scale))
    return np.asarray((1.0 - result_weight) * win_rates + result_weight * results, np.float32)


def fit_scale(scores: npt.NDArray[np.float64], results: npt.NDArray[np.float64]) -> ScoreScale:
    """Fits the scale by bisection; returns one end of `SCALES` if the scores predict nothing.

    scores: [N] centipawns, results: [N] 0, 0.5 or 1, both from the side to move; N > 0.

    >>> scores = np.array([300.0, 300.0, 300.0, -300.0])
    >>> round(fit_scale(scores, np.array([1.0, 1.0, 0.0, 0.0])).scale * np.log(3.0))
    300
    """
    low, high = SCALES
    while high / low > 1.0001:
        middle = float(np.sqrt(low * high))
        # The loss is convex in 1 / scale: the sign of its slope shows on which side the minimum is.
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
