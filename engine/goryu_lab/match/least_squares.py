"""Least squares: the linear model that fits the scores of a match best, with its errors."""

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


def least_squares(matrix: Vector, scores: Vector) -> tuple[Vector, Vector]:
    """Returns the weights [T] of the terms that explain the scores best, and their covariance [T, T].

    matrix: [N, T], the terms of each pair of games. scores: [N]. N is greater than T.
    """
    weights = np.asarray(np.linalg.lstsq(matrix, scores)[0], np.float64)
    noise = float(np.sum((scores - matrix @ weights) ** 2)) / (len(scores) - matrix.shape[1])
    inverse = np.linalg.pinv(matrix.T @ matrix)
    return weights, np.asarray(noise * inverse, np.float64)
