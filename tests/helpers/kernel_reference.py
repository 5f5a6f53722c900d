"""The reference of the native kernel for networks, in NumPy: the same numbers in the same order."""

import itertools
import math
from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array
from goryu.evaluators.kernel.eight_bits import ByteWeights, byte_weights, suits_bytes
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
from goryu.evaluators.kernel.winograd import (
    MOST_16,
    MOST_32,
    A,
    B,
    IntegerStem,
    IntegerWeights,
    integer_stem,
    integer_weights,
)

Integers = npt.NDArray[np.int64]

ARITHMETICS = ("int16", "int8+int16", "bfloat16+int16")

MOST_8 = np.float32(255.0)
LEAST = np.float32(1e-30)
"""A map or a square of zeros has a unit, too: its greatest number or its range counts as at least this."""

_SQUARES_OF_TILE = [
    [27 * (tile // 3) + 9 * r + 3 * (tile % 3) + c for r in range(3) for c in range(3)] for tile in range(9)
]


class Reference:
    """Computes a network with the integers and the float operations of the native kernel.

    A position takes about 30 ms.
    arithmetic: one of `ARITHMETICS`; the kernel's attribute of that name says which it has chosen.
    """

    def __init__(self, network: ResidualNetwork, arithmetic: str) -> None:
        self._network = network
        layers = list(enumerate(network.layers))
        convolutions = [(i, layer) for i, layer in layers if isinstance(layer, Convolution)]
        self._weights = {i: rounded_weights(layer, arithmetic) for i, layer in convolutions}
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


def rounded_weights(layer: Convolution, arithmetic: str) -> IntegerWeights | ByteWeights | Floats:
    """Returns the weights of a convolution as the kernel has them; bfloat16: [outputs, inputs, k, k]."""
    if arithmetic == "bfloat16+int16" and (suits_bytes(layer) or layer.weights.shape[3] == 3):
        return bfloats(layer.weights)
    if arithmetic == "int8+int16" and suits_bytes(layer):
        return byte_weights(layer)
    return integer_weights(layer)


def convolution(weights: IntegerWeights | ByteWeights | Floats, source: Floats) -> Floats:
    """Returns the sums [81, outputs] of a map [81, inputs], without the bias."""
    if isinstance(weights, ByteWeights):
        return byte_convolution(weights, source)
    if isinstance(weights, np.ndarray):
        return bfloat_convolution(weights, source)
    unit = np.maximum(np.abs(source).max(), LEAST) / np.float32(weights.level)
    rounded = np.rint(source * (np.float32(1.0) / unit)).astype(np.int64)
    factors = weights.factors * unit
    outputs = integer_convolution(weights.integers.astype(np.int64), rounded.reshape(9, 9, -1))
    assert np.abs(outputs).max() <= MOST_32
    return cast(Floats, outputs.astype(np.int32).astype(np.float32) * factors)


def byte_convolution(weights: ByteWeights, source: Floats) -> Floats:
    """Returns the sums [81, outputs] of a map [81, inputs], without the bias."""
    zero = np.float32(0.0)
    low = np.minimum(source.min(1, keepdims=True), zero)
    unit = np.maximum(np.maximum(source.max(1, keepdims=True), zero) - low, LEAST) / MOST_8
    bytes_ = np.rint((source - low) * (np.float32(1.0) / unit)).astype(np.int64)
    assert bytes_.min() >= 0
    assert bytes_.max() <= MOST_8
    sums = (bytes_ @ weights.integers.astype(np.int64).T).astype(np.int32)
    return cast(Floats, sums.astype(np.float32) * (weights.factors * unit) + weights.totals * low)


def bfloats(x: Floats) -> Floats:
    """Returns the nearest numbers that bfloat16 has, ties to even: the first 16 bits of a float32."""
    bits = x.view(np.uint32)
    return (((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) << 16).view(np.float32)


def bfloat_convolution(weights: Floats, source: Floats) -> Floats:
    """Returns the sums [81, outputs] of a map [81, inputs] and weights [outputs, inputs, k, k], k = 1 or 3.

    An instruction (Intel's TDPBF16PS) adds the products of 32 inputs: those of the even ones one after
    another, those of the odd ones, and then both sums to what there is.
    """
    outputs, inputs, side, _ = weights.shape
    border = side // 2
    board = np.pad(bfloats(source).reshape(9, 9, -1), ((border, border), (border, border), (0, 0)))
    total = np.zeros((SQUARES, outputs), np.float32)
    for first in range(0, inputs, 32):
        for rank, file in itertools.product(range(side), repeat=2):
            neighbours = board[rank : rank + 9, file : file + 9].reshape(SQUARES, -1)
            even_and_odd = np.zeros((2, SQUARES, outputs), np.float32)
            for i in range(first, first + 32):
                even_and_odd[i % 2] += np.outer(neighbours[:, i], weights[:, i, rank, file])
            total += even_and_odd[0] + even_and_odd[1]
    return total


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
