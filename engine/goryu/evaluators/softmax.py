"""Boltzmann softmax: converts the logits of the legal moves to probabilities.

The temperature T divides the logits: p_i is proportional to exp(z_i / T). T = 1 leaves the network's policy
as it is; a larger T makes the probabilities more equal, so that a search explores more.

The native implementation does the same operations in double, in this order, with `exp` of the C library.
"""

from collections.abc import Sequence
from math import exp


def softmax(logits: Sequence[float], temperature: float = 1.0) -> list[float]:
    """Returns exp((z_i - max z) / T), divided by their sum; at least one logit, all finite, temperature > 0.

    The greatest logit is subtracted first: the largest weight is exp(0) = 1, so nothing overflows and the
    sum is at least 1.

    >>> softmax([-1000.0, -1000.0])
    [0.5, 0.5]
    >>> softmax([3.0, 3.0, -2000.0], temperature=2.0)
    [0.5, 0.5, 0.0]
    """
    greatest = logits[0]
    for logit in logits:
        if logit > greatest:
            greatest = logit
    weights = [exp((logit - greatest) / temperature) for logit in logits]
    total = 0.0
    for weight in weights:
        total += weight
    return [weight / total for weight in weights]
