"""Convolutions of 3x3 by Winograd's F(3x3, 3x3), in 16-bit integers: the weights of the native kernel.

A convolution computes a tile of 3x3 outputs from a patch d of 5x5 inputs and a kernel g of 3x3 weights.
Directly that is 81 products; Winograd's algorithm needs 25, one for each place of the transformed patch:

    y = A^T [(G g G^T) * (B^T d B)] A

with the small matrices below, where * multiplies number by number. B and A have small integers, so both
transforms are additions. Nine tiles cover the 9x9 squares exactly. Over many channels the products become 25
products of matrices, one for each place of the patch, and these may be computed in integers:

- The inputs of each position are divided by a *unit*, so that the greatest becomes `level`, and rounded.
  The unit is found for each position anew; nothing is calibrated.
- `level` is so small that B^T d B cannot leave 16 bits: see `GROWTH`.
- The transformed weights of each output channel are multiplied by a factor and rounded; the factor is so
  small that no output can leave 32 bits, whatever the inputs are. The sums on the way to an output may leave
  them: integers of 32 bits that wrap around end at the right number if that fits. So all 25 places can have
  the same factor, and the outputs are transformed in integers.

So no output can overflow, and integers may be added in any order. What follows (factor, bias, residual,
activation) is computed in float32 in one order and without fused multiply-add. Therefore the kernel returns
the same bits with any kind of vector instructions, apart from two kinds of large networks. Some processors
compute large convolutions of 1x1 in bytes (`eight_bits.py`), and AMX computes all of 1x1 and 3x3 in bfloat16,
without a transform, if the network has such or more than `BFLOAT_WEIGHTS` weights.
`kernel_reference.py` among the tests computes a network with the same numbers, and is shorter to read.

Sources: S. Winograd, "Arithmetic Complexity of Computations" (1980); A. Lavin and S. Gray, "Fast Algorithms
for Convolutional Neural Networks" (2016), whose F(2x2, 3x3) wastes 23 % of a board of 9x9.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goryu.evaluators.kernel.layers import Convolution, Floats, Stem

Halves = npt.NDArray[np.int16]

B = np.array([[2, -1, -2, 1, 0], [0, -2, -1, 1, 0], [0, 2, -3, 1, 0], [0, -1, 0, 1, 0], [0, 2, -1, -2, 1]])
G = np.array(
    [[1 / 2, 0, 0], [-1 / 2, -1 / 2, -1 / 2], [-1 / 6, 1 / 6, -1 / 6], [1 / 6, 1 / 3, 2 / 3], [0, 0, 1]]
)
A = np.array([[1, 1, 1, 1, 0], [0, 1, -1, 2, 0], [0, 1, 1, 4, 1]])
"""The transposed matrices B^T and A^T, and G, for the points 0, 1, -1, 2 and infinity."""

MOST_14, MOST_16, MOST_32 = 2**13 - 1, 2**15 - 1, 2**31 - 1

_PLUS, _MINUS = np.maximum(B, 0).sum(1), np.maximum(-B, 0).sum(1)
GROWTH_POSITIVE = np.maximum(
    np.outer(_PLUS, _PLUS) + np.outer(_MINUS, _MINUS), np.outer(_PLUS, _MINUS) + np.outer(_MINUS, _PLUS)
)
"""How many times the greatest input each of the 5x5 transformed inputs can be, if no input is negative."""
GROWTH = np.outer(_PLUS + _MINUS, _PLUS + _MINUS)
"""The same for inputs of both signs."""

LEVEL_POSITIVE = MOST_16 // int(GROWTH_POSITIVE.max())
LEVEL = MOST_16 // int(GROWTH.max())
LEVEL_1X1 = 2**13 - 1
"""Convolutions of 1x1 and 9x1 have no transform; 13 bits leave the weights about as many."""


@dataclass(slots=True)
class IntegerWeights:
    """Weights of a convolution in integers.

    integers: [places, outputs, inputs]; 25 places for a 3x3 convolution, one for 1x1, nine rows for 9x1.
    factors: [outputs] float32: one unit of an output, for inputs of unit 1.
    level: the greatest integer that an input may become.
    """

    integers: Halves
    factors: Floats
    level: int


def transformed_weights(weights: Floats) -> npt.NDArray[np.float64]:
    """Returns G g G^T of weights [outputs, inputs, 3, 3], as [25, outputs, inputs]."""
    double = weights.astype(np.float64)
    result: npt.NDArray[np.float64] = np.einsum("ia,ocab,jb->ijoc", G, double, G, optimize=True)
    return result.reshape(25, *weights.shape[:2])


def integer_weights(layer: Convolution) -> IntegerWeights:
    """Returns the weights of a convolution, rounded so that no output can overflow."""
    outputs, _, size, _ = layer.weights.shape
    flat = layer.weights.astype(np.float64).reshape(outputs, -1)
    if size != 3:
        rows = layer.weights[..., 0].astype(np.float64).transpose(2, 0, 1)
        level, errors = LEVEL_1X1, np.full((1, size), LEVEL_1X1)
    else:
        rows = transformed_weights(layer.weights)
        level = LEVEL_POSITIVE if layer.is_positive else LEVEL
        growth = GROWTH_POSITIVE if layer.is_positive else GROWTH
        errors = level * np.einsum("ri,sj,ij->rsij", abs(A), abs(A), growth).reshape(9, 25)
    if layer.is_positive:
        reach = level * np.maximum(np.maximum(flat, 0).sum(1), np.maximum(-flat, 0).sum(1))
    else:
        reach = level * np.abs(flat).sum(1)
    return _rounded(rows, level, reach, errors)


def _rounded(
    rows: npt.NDArray[np.float64], level: int, reach: npt.NDArray[np.float64], errors: npt.NDArray[np.float64]
) -> IntegerWeights:
    """Rounds weights [places, outputs, inputs].

    reach: [outputs] the greatest output that the exact weights can make of integers up to `level`.
    errors: [squares, places] how much an error of 1 in a weight can change an output.
    """
    factors = np.minimum(
        MOST_32 / np.maximum(reach, 1e-30), MOST_16 / np.maximum(np.abs(rows).max((0, 2)), 1e-30)
    )
    factors = np.minimum(factors, 1e30)
    while True:
        exact = rows * factors[:, None]
        integers = np.rint(exact)
        reached = factors * reach + (errors @ np.abs(integers - exact).sum(2)).max(0)
        if reached.max() <= MOST_32:
            return IntegerWeights(integers.astype(np.int16), (1.0 / factors).astype(np.float32), level)
        factors = factors * np.minimum(1.0, 0.999 * MOST_32 / np.maximum(reached, 1.0))


@dataclass(slots=True)
class IntegerStem:
    """The stem in integers: board [62, 9, outputs], hands [119, outputs], factors [outputs] float32."""

    board: Halves
    hands: Halves
    factors: Floats


def integer_stem(layer: Stem) -> IntegerStem:
    """Returns the weights of the stem, rounded to 14 bits for each output channel.

    Four of them can be added in 16 bits, and all 62 * 9 + 119 in 32.
    """
    outputs = len(layer.bias)
    board = layer.board.astype(np.float64).reshape(outputs, -1, 9)
    greatest = np.maximum(np.abs(board).max((1, 2)), np.abs(layer.hands).max(1))
    factors = MOST_14 / np.maximum(greatest, 1e-30)
    return IntegerStem(
        np.rint(board.transpose(1, 2, 0) * factors).astype(np.int16),
        np.rint(layer.hands.T * factors).astype(np.int16),
        (1.0 / factors).astype(np.float32),
    )
