"""Least squares: the linear model that fits the scores of a match best, with its errors.

Also what the two experiments that are fitted so have in common, `tuning.py` and `screening.py`.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from goryu.base.errors import GoryuError
from goryu.base.language import plural

Vector = npt.NDArray[np.float64]


def least_squares(matrix: Vector, scores: Vector) -> tuple[Vector, Vector]:
    """Returns the weights [T] of the terms that explain the scores best, and their covariance [T, T].

    matrix: [N, T], the terms of each pair of games. scores: [N]. N is greater than T.
    """
    weights = np.asarray(np.linalg.lstsq(matrix, scores)[0], np.float64)
    noise = float(np.sum((scores - matrix @ weights) ** 2)) / (len(scores) - matrix.shape[1])
    inverse = np.linalg.pinv(matrix.T @ matrix)
    return weights, np.asarray(noise * inverse, np.float64)


class ExperimentError(GoryuError):
    """Options with which no experiment can be made, or too few pairs."""


def require_once(names: Sequence[str], texts: Sequence[str]) -> None:
    """Raises ExperimentError if an option is named twice. texts: what the user wrote."""
    if len({name.lower() for name in names}) < len(names):
        raise ExperimentError(f"{' '.join(texts)!r}: expected each option once")


def require(pairs: int, needed: int, what: str) -> None:
    """Raises ExperimentError if there are fewer pairs than needed. what: is fitted to them."""
    if pairs < needed:
        text = f"{plural(pairs, 'pair')}: expected {needed} for {what}, that is --games {2 * needed} or more"
        raise ExperimentError(text)
