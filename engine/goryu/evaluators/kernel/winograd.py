"""Convolutions of 3x3 by Winograd's F(3x3, 3x3), in 16-bit integers: the reference of the native kernel.

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
activation) is computed in float32 in one order and without fused multiply-add. Therefore
`Reference` and `goryu._native.WinogradNetwork` return the same bits with any kind of vector instructions,
apart from the convolutions of 1x1 that some processors compute in bytes (`eight_bits.py`).

Sources: S. Winograd, "Arithmetic Complexity of Computations" (1980); A. Lavin and S. Gray, "Fast Algorithms
for Convolutional Neural Networks" (2016), whose F(2x2, 3x3) wastes 23 % of a board of 9x9.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array
from goryu.evaluators.kernel.eight_bits import (
    LEAST,
    ByteWeights,
    byte_convolution,
    byte_weights,
    suits_bytes,
)
from goryu.evaluators.kernel.layers import (
    NONE,
    RELU,
    SIGMOID,
    SQUARES,
    SWISH,
    Convolution,
    Dense,
    Floats,
    Input,
    Layer,
    Pool,
    ResidualNetwork,
    Spread,
    Stem,
)

Halves = npt.NDArray[np.int16]
Integers = npt.NDArray[np.int64]

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

_SQUARES_OF_TILE = [
    [27 * (tile // 3) + 9 * r + 3 * (tile % 3) + c for r in range(3) for c in range(3)] for tile in range(9)
]


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


class Reference:
    """Computes a network with the integers and the float operations of the native kernel.

    Read it to understand the kernel; the tests compare the kernel with it. A position takes about 30 ms.
    has_bytes: as on processors that have products of bytes, see `eight_bits.py`.
    """

    def __init__(self, network: ResidualNetwork, *, has_bytes: bool) -> None:
        self._network = network
        layers = list(enumerate(network.layers))
        self._weights = {
            i: byte_weights(layer) if has_bytes and suits_bytes(layer) else integer_weights(layer)
            for i, layer in layers
            if isinstance(layer, Convolution)
        }
        self._stems = {i: integer_stem(layer) for i, layer in layers if isinstance(layer, Stem)}

    def run(self, inputs: Sequence[Array]) -> tuple[Floats, npt.NDArray[np.float64]]:
        """Returns logits [N, 2187] and values [N] of planes [N, ..., 9, 9], one array for each input."""
        answers = [self._run(planes) for planes in zip(*inputs, strict=True)]
        logits = np.stack([logits for logits, _ in answers])
        return logits, np.array([value for _, value in answers])

    def _run(self, planes: Sequence[Array]) -> tuple[Floats, float]:
        network = self._network
        maps: list[Floats] = [np.zeros((SQUARES, channels), np.float32) for channels in network.maps]
        vectors: list[Floats] = [np.zeros(length, np.float32) for length in network.vectors]
        for i, layer in enumerate(network.layers):
            if isinstance(layer, Stem):
                maps[layer.to] = stem(self._stems[i], layer, *planes)
            elif isinstance(layer, Input):
                maps[layer.to] = np.zeros_like(maps[layer.to])
                maps[layer.to][:, : layer.planes] = planes[0].reshape(layer.planes, SQUARES).T
            elif isinstance(layer, Convolution):
                bias = layer.bias if layer.shift is None else layer.bias + vectors[layer.shift]
                sums = convolution(self._weights[i], maps[layer.source]) + bias
                if layer.residual is not None:
                    sums = sums + maps[layer.residual]
                maps[layer.to] = activated(sums, layer.activation)
            else:
                _small_layer(layer, maps, vectors)
        logits = maps[network.policy][:, : len(network.policy_bias)].T + network.policy_bias
        x = float(vectors[network.value][0])
        return logits.reshape(-1), 2.0 / (1.0 + math.exp(-network.steepness * x)) - 1.0


def stem(weights: IntegerStem, layer: Stem, board: Array, hands: Array) -> Floats:
    """Returns the first map [81, outputs] of planes [62, 9, 9] and constant planes [57 or 119, 9, 9]."""
    present = np.flatnonzero(hands[:, 0, 0])
    sums = np.zeros((11, 11, len(layer.bias)), np.int32) + weights.hands[present].sum(0, dtype=np.int32)
    for plane, row, column in np.argwhere(board):
        for place in range(9):  # A piece adds its weights to the squares around it.
            to = (row + 2 - place // 3, column + 2 - place % 3)
            sums[to] += weights.board[plane, place]
    inner = sums[1:10, 1:10].reshape(SQUARES, -1)
    return activated(inner.astype(np.float32) * weights.factors + layer.bias, layer.activation)


def convolution(weights: IntegerWeights | ByteWeights, source: Floats) -> Floats:
    """Returns the sums [81, outputs] of a map [81, inputs], without the bias."""
    if isinstance(weights, ByteWeights):
        return byte_convolution(weights, source)
    unit = np.maximum(np.abs(source).max(), LEAST) / np.float32(weights.level)
    rounded = np.rint(source * (np.float32(1.0) / unit)).astype(np.int64)
    factors = weights.factors * unit
    outputs = integer_convolution(weights.integers.astype(np.int64), rounded.reshape(9, 9, -1))
    assert np.abs(outputs).max() <= MOST_32
    return cast(Floats, outputs.astype(np.int32).astype(np.float32) * factors)


def integer_convolution(weights: Integers, board: Integers) -> Integers:
    """Returns the convolution [81, outputs] of a board [9, 9, inputs].

    weights: [25, outputs, inputs], transformed, or [1 or 9, outputs, inputs].
    """
    if len(weights) == 1:
        return cast(Integers, board.reshape(SQUARES, -1) @ weights[0].T)
    if len(weights) == 9:
        row = sum(squares @ place.T for squares, place in zip(board, weights, strict=True))
        return np.tile(cast(Integers, row), (9, 1))
    padded = np.pad(board, ((1, 1), (1, 1), (0, 0)))
    result = np.empty((SQUARES, weights.shape[1]), np.int64)
    for tile, squares in enumerate(_SQUARES_OF_TILE):
        patch = padded[tile // 3 * 3 :, tile % 3 * 3 :][:5, :5]
        transformed = np.einsum("ia,abc,jb->ijc", B, patch, B, optimize=True).reshape(25, -1)
        assert np.abs(transformed).max() <= MOST_16
        sums = np.einsum("xc,xoc->xo", transformed, weights).reshape(5, 5, -1)
        result[squares] = np.einsum("ri,ijo,sj->rso", A, sums, A, optimize=True).reshape(9, -1)
    return result


def _small_layer(layer: Layer, maps: list[Floats], vectors: list[Floats]) -> None:
    if isinstance(layer, Pool):
        source = maps[layer.source]
        channels = source.shape[1]
        if layer.mean_at is not None:
            total = source[0].copy()
            for square in source[1:]:
                total = total + square
            vectors[layer.to][layer.mean_at :][:channels] = total * np.float32(1.0 / SQUARES)
        if layer.maximum_at is not None:
            vectors[layer.to][layer.maximum_at :][:channels] = source.max(0)
    elif isinstance(layer, Dense):
        source = maps[layer.source][:, : layer.used] if layer.reads_map else vectors[layer.source]
        numbers = source.reshape(-1)
        total = layer.bias
        for number, weights in zip(numbers, layer.weights, strict=True):
            total = total + number * weights
        vectors[layer.to] = activated(total, layer.activation)
    elif isinstance(layer, Spread):
        result = maps[layer.source]
        if layer.scale is not None:
            result = result * vectors[layer.scale]
        if layer.shift is not None:
            result = result + vectors[layer.shift]
        if layer.residual is not None:
            result = result + maps[layer.residual]
        maps[layer.to] = activated(result, layer.activation)


def activated(x: Floats, activation: int) -> Floats:
    """Returns the activation of x."""
    if activation == RELU:
        return np.maximum(x, np.float32(0.0))
    if activation == SWISH:
        return x * _sigmoid(x)
    if activation == SIGMOID:
        return _sigmoid(x)
    assert activation == NONE
    return x


def _sigmoid(x: Floats) -> Floats:
    one = np.float32(1.0)
    return one / (one + exponential(np.float32(0.0) - x))


_EXP2 = np.array([1.32647273e-3, 9.67151299e-3, 5.55073359e-2, 2.40222424e-1, 6.93147004e-1, 1.0], np.float32)
"""A polynomial for 2^r, |r| <= 1/2, whose greatest relative error (1e-7) is as small as it can be."""


def exponential(x: Floats) -> Floats:
    """Returns exp(x) in float32, the same on all machines: 2^n 2^r with n + r = x log2(e)."""
    x = np.clip(x, np.float32(-87.0), np.float32(87.0)) * np.float32(1.44269504)
    n = np.rint(x)
    r = x - n
    p = _EXP2[0]
    for coefficient in _EXP2[1:]:
        p = p * r + coefficient
    power = ((n.astype(np.int32) + 127) << 23).view(np.float32)
    return cast(Floats, p * power)
