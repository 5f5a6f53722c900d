"""The weight of a value in the search, by the error that its network expects.

A network with an error head predicts e, the squared error of the win probability that it gives. The square
root of 4 e is the error to expect of the value in [-1, +1], and a value counts the less the greater it is:

    weight = 0.25 / (sqrt(4 e + 0.001) + 0.03)

The weight is 1 for an error of 0.22; it is 4.1 at most, and 0.12 at least. On leaves of searches the median
of the shipped network is 1.75. `search/graph/node_table.py` and `search/graph/selection.py` use the weights.

Source: KataGo, docs/KataGoMethods.md ("Uncertainty-Weighted MCTS Playouts").
"""

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array

SCALE = 0.25
LEAST_SQUARE = 0.001
OFFSET = 0.03
"""The last two keep the weights of positions that seem certain from growing without bound."""


def value_weights(output: Array) -> npt.NDArray[np.float64]:
    """Returns the weights [N] of values whose expected squared errors are the output, [N] or [N, 1].

    An error outside [0, 1] counts as the nearer end; NaN gives NaN.

    >>> value_weights(np.array([0.0, 0.01, 0.25, 1.0])).round(2).tolist()
    [4.06, 1.08, 0.24, 0.12]
    """
    errors = np.clip(output.reshape(-1).astype(np.float64), 0.0, 1.0)
    weights: npt.NDArray[np.float64] = SCALE / (np.sqrt(4.0 * errors + LEAST_SQUARE) + OFFSET)
    return weights
