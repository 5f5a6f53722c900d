"""The operations of a network in NumPy: slow, and as close to the original network as possible.

A converted file is compared with it. Nothing is folded or fused.
"""

from collections.abc import Sequence

import numpy as np

from goryu_lab.conversion.network import Activation, Convolution, Dense, Normalization
from goryu_lab.conversion.tensors import Floats

SIDE = 9


class NumpyForward:
    """Implements `Operations`; tensors are float32 arrays."""

    def convolve(
        self, terms: Sequence[tuple[Floats, Convolution]], norm: Normalization | None = None
    ) -> Floats:
        result = _convolve(*terms[0])
        for x, convolution in terms[1:]:
            result = result + _convolve(x, convolution)
        return result if norm is None else self.normalize(result, norm)

    def normalize(self, x: Floats, norm: Normalization) -> Floats:
        factor = norm.scale / np.sqrt(norm.variance + np.float32(norm.epsilon))
        return (x - _channels(norm.mean)) * _channels(factor) + _channels(norm.shift)

    def activate(self, x: Floats, activation: Activation) -> Floats:
        match activation:
            case "relu":
                return np.maximum(x, np.float32(0))
            case "swish":
                return x * _sigmoid(x)
            case "sigmoid":
                return _sigmoid(x)
            case "tanh":
                return np.tanh(x)

    def add(self, x: Floats, y: Floats) -> Floats:
        return x + y

    def multiply(self, x: Floats, y: Floats) -> Floats:
        return x * y

    def mean(self, x: Floats) -> Floats:
        return np.asarray(x.mean(axis=(2, 3), keepdims=True))

    def dense(self, x: Floats, layer: Dense) -> Floats:
        return x.reshape(len(x), -1) @ layer.weight.T + layer.bias

    def flatten(self, x: Floats, bias: Floats | None = None) -> Floats:
        flat = x.reshape(len(x), -1)
        return flat if bias is None else flat + bias

    def unflatten(self, x: Floats) -> Floats:
        return x.reshape(len(x), -1, SIDE, SIDE)

    def zeros(self, x: Floats, length: int) -> Floats:
        return np.zeros((len(x), length), np.float32)


def _convolve(x: Floats, convolution: Convolution) -> Floats:
    """Returns the convolution of maps [N, C, h, w]: a matrix product for each place of the kernel."""
    outputs, _, kernel, _ = convolution.weight.shape
    count, channels, height, width = x.shape
    edge = kernel // 2
    # Channels first: then a product is one call of BLAS, which needs contiguous matrices.
    padded = np.pad(x.transpose(1, 0, 2, 3), ((0, 0), (0, 0), (edge, edge), (edge, edge)))
    places = np.ascontiguousarray(convolution.weight.transpose(2, 3, 0, 1))
    result = np.zeros((outputs, count * height * width), np.float32)
    for i in range(kernel):
        for j in range(kernel):
            part = padded[:, :, i : i + height, j : j + width].reshape(channels, -1)
            result += places[i, j] @ part
    if convolution.bias is not None:
        result += convolution.bias[:, None]
    return result.reshape(outputs, count, height, width).transpose(1, 0, 2, 3)


def _channels(values: Floats) -> Floats:
    return values[:, None, None]


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(0.5 * (np.tanh(0.5 * x) + 1.0), np.float32)  # Does not overflow.
