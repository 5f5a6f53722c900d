"""Convolutions of 1x1 in 8-bit integers: weights for the native kernel on processors with such products.

A convolution of 1x1 is a product of two matrices: squares times inputs, and inputs times outputs. Bytes are
multiplied twice as fast as 16-bit integers, but a byte has 256 values only. So each square has its own unit:

    q = round((x - low) / unit), from 0 to 255, with low = min(0, x) and unit = (max(0, x) - low) / 255
    y = unit * sum(q w) + low * sum(w)

over the inputs x of a square and the weights w of an output. The weights are integers from -127 to 127 in a
unit of that output. Inputs are more often positive than negative, so the errors of rounded weights do not
cancel; therefore some weights are rounded the other way, until the errors of each output sum to nearly zero.

Sums are exact, so they may be added in any order. Small convolutions stay in 16 bits: they are the last ones
of a policy or a value, where there are few products and each error is an error of the answer.

Source of the units by row: T. Dettmers et al., "LLM.int8(): 8-bit Matrix Multiplication for Transformers at
Scale" (2022).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goryu.evaluators.kernel.layers import Convolution, Floats

LEAST_OUTPUTS = 64
"""Convolutions with fewer outputs stay in 16 bits."""

MOST_WEIGHT = 127


@dataclass(slots=True)
class ByteWeights:
    """Weights of a 1x1 convolution in bytes.

    integers: [outputs, inputs]. factors: [outputs], one unit of each output's weights.
    totals: [outputs], the sum of the weights, in numbers.
    """

    integers: npt.NDArray[np.int8]
    factors: Floats
    totals: Floats


def suits_bytes(layer: Convolution) -> bool:
    """Is it a convolution that is computed in bytes, or with AMX in bfloat16, where that is faster?"""
    outputs, _, rows, columns = layer.weights.shape
    return (rows, columns) == (1, 1) and outputs >= LEAST_OUTPUTS


def byte_weights(layer: Convolution) -> ByteWeights:
    """Returns the weights of a 1x1 convolution, rounded so that their errors nearly cancel."""
    weights = layer.weights[:, :, 0, 0].astype(np.float64)
    factors = np.maximum(np.abs(weights).max(1, keepdims=True), 1e-30) / MOST_WEIGHT
    exact = weights / factors
    integers = np.rint(exact)
    errors = exact - integers
    total = np.rint(errors.sum(1, keepdims=True))
    # The greatest errors of the total's sign are rounded the other way, as many as the total says.
    ranks = np.argsort(np.argsort(-np.sign(total) * errors, axis=1, kind="stable"), axis=1)
    integers += np.where(ranks < np.abs(total), np.sign(total), 0)
    totals = integers.sum(1) * factors[:, 0]
    return ByteWeights(integers.astype(np.int8), factors[:, 0].astype(np.float32), totals.astype(np.float32))
