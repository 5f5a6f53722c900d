"""Adds the layers of a network one by one, when a tensor that is not computed yet is needed."""

from typing import Any

import numpy as np

from goryu.evaluators.formats.dlshogi_planes import BOARD_PLANES, HAND_PLANES, NYUGYOKU_PLANES
from goryu.evaluators.formats.miniosl import MINIOSL_PLANES
from goryu.evaluators.kernel.folding import Flat, Gate, Map, Planes, Pooled, Product, Sum, Tensor, Vector
from goryu.evaluators.kernel.layers import (
    NONE,
    RELU,
    SIGMOID,
    SQUARES,
    Convolution,
    Dense,
    Floats,
    Input,
    Layer,
    Pool,
    Spread,
    Stem,
    UnsupportedError,
)

WIDTH = 32
"""Channels are padded to a multiple of this."""

MOST_CHANNELS = 4096
"""More are refused: such a network would take seconds for a position."""


class LayerBuilder:
    """The layers so far, with the sizes of their buffers.

    maps: the channels of each map. vectors: the length of each vector.
    has_stem: are the planes two inputs, which a `Stem` reads?
    hand_planes: of the second input, as far as it is known.
    """

    def __init__(self, *, has_stem: bool) -> None:
        self.layers: list[Layer] = []
        self.maps: list[int] = []
        self.vectors: list[int] = []
        self.has_stem = has_stem
        self.hand_planes = HAND_PLANES
        self._input_map: Map | None = None

    def as_sum(self, x: Any) -> Sum:
        """Returns a sum that has x alone."""
        if isinstance(x, Sum):
            return x
        if isinstance(x, Map):
            return Sum(x.channels, maps=[x])
        if isinstance(x, Vector):
            return Sum(len(x.places), shift=x)
        if isinstance(x, Product):
            return Sum(len(x.weights), shift=x)
        raise UnsupportedError("it adds tensors that are not maps")

    def activated(self, x: Any, activation: int) -> Tensor:
        """Returns activation(x), computed."""
        if isinstance(x, Product):
            return self.vector(x, activation)
        if isinstance(x, Map):
            x = self.as_sum(x)
        if not isinstance(x, Sum):
            raise UnsupportedError("it has an activation that is not behind a sum")
        return self._computed(x, activation)

    def map(self, x: Any) -> Map:
        """Returns x as a computed map."""
        if isinstance(x, Map):
            return x
        if isinstance(x, Planes) and not self.has_stem:
            if self._input_map is None:
                self._input_map = self._new_map(MINIOSL_PLANES, is_positive=True)
                self.layers.append(Input(self._input_map.number, MINIOSL_PLANES))
            return self._input_map
        if not isinstance(x, Sum):
            raise UnsupportedError("it has another tensor where a map is expected")
        return self._computed(x, NONE)

    def vector(self, x: Any, activation: int = NONE) -> Vector:
        """Returns x as a computed vector."""
        if isinstance(x, Vector):
            return x
        if isinstance(x, Gate) and isinstance(x.source, Product) and not x.is_tanh:
            return self.vector(x.source, SIGMOID)
        if not isinstance(x, Product):
            raise UnsupportedError("it has another tensor where a vector is expected")
        if activation not in x.computed:
            x.computed[activation] = self._dense(x, activation)
        return x.computed[activation]

    def product(self, x: Any, weights: Floats, bias: Floats) -> Product:
        """Returns weights @ x + bias, not computed yet."""
        if isinstance(x, Product):
            x = self.vector(x)
        if not isinstance(x, Vector | Pooled | Flat) or (isinstance(x, Flat) and x.bias is not None):
            raise UnsupportedError("it has a dense layer behind an unknown tensor")
        if weights.ndim != 2 or weights.shape[0] != len(bias) or weights.shape[0] > MOST_CHANNELS:
            raise UnsupportedError(f"it has a dense layer of the shape {weights.shape}")
        return Product(x, weights, bias)

    def shifted_convolution(self, x: Sum, weights: Floats, bias: Floats) -> Sum:
        """Returns the 1x1 convolution of a map plus a vector as that of the map plus another vector.

        So the map is rounded without what its squares share, and two dense layers become one, unless the
        first reads a map: with more outputs it could be very large.
        """
        matrix = weights[:, :, 0, 0]
        if isinstance(x.shift, Product) and not isinstance(x.shift.source, Flat):
            columns = np.column_stack([x.shift.weights, x.shift.bias])
            # Not by `@`: BLAS rounds otherwise on other processors, and Apple's reports false overflows.
            folded = np.einsum("oi,ij->oj", matrix, columns, dtype=np.float64).astype(np.float32)
            shift = Product(x.shift.source, folded[:, :-1], folded[:, -1])
        else:
            shift = self.product(x.shift, matrix, np.zeros(len(matrix), np.float32))
        return Sum(len(matrix), [(x.maps[0], weights)], shift=shift, bias=bias)

    def _computed(self, x: Sum, activation: int) -> Map:
        """Adds the layer that computes a sum, unless there is one."""
        if x.is_row:
            raise UnsupportedError("it has a row of squares where a map is expected")
        if activation not in x.computed:
            result = self._new_map(x.channels, activation == RELU)
            if x.convolutions and all(isinstance(source, Planes) for source, _ in x.convolutions):
                self._add_stem(x, result, activation)
            elif x.convolutions:
                self._add_convolution(x, result, activation)
            else:
                self._add_spread(x, result, activation)
            x.computed[activation] = result
        return x.computed[activation]

    def _add_stem(self, x: Sum, result: Map, activation: int) -> None:
        if x.maps or x.shift or x.scaled:
            raise UnsupportedError("its first sum has more than convolutions of the planes")
        width = self.maps[result.number]
        board = np.zeros((width, BOARD_PLANES, 3, 3), np.float32)
        hands = np.zeros((width, HAND_PLANES + NYUGYOKU_PLANES), np.float32)
        for source, weights in x.convolutions:
            assert isinstance(source, Planes)
            if source.index == 1:
                expected = (HAND_PLANES, HAND_PLANES + NYUGYOKU_PLANES)
                if weights.shape[1] not in expected or weights.shape[2] != 1:
                    raise UnsupportedError("it has a 3x3 convolution of constant planes")
                self.hand_planes = weights.shape[1]
                hands[: x.channels, : weights.shape[1]] += weights[:, :, 0, 0]
            elif weights.shape[1] != BOARD_PLANES or weights.shape[2] not in (1, 3):
                raise UnsupportedError(f"it has a convolution {weights.shape} of the board")
            elif weights.shape[2] == 3:
                board[: x.channels] += weights
            else:
                board[: x.channels, :, 1, 1] += weights[:, :, 0, 0]
        self.layers.append(Stem(result.number, board, hands, self._bias(x, width), activation))

    def _add_convolution(self, x: Sum, result: Map, activation: int) -> None:
        """Adds a layer for each convolution; each has the sum so far as its residual."""
        if len(x.maps) > 1 or x.scaled:
            raise UnsupportedError("it adds a convolution and two other maps")
        outputs = self.maps[result.number]
        residual = x.maps[0].number if x.maps else None
        for i, (source, weights) in enumerate(x.convolutions, 1):
            if not isinstance(source, Map):
                raise UnsupportedError("it adds convolutions of planes and of maps")
            padded = np.zeros((outputs, self.maps[source.number], *weights.shape[2:]), np.float32)
            padded[: weights.shape[0], : weights.shape[1]] = weights
            is_last = i == len(x.convolutions)
            bias = self._bias(x, outputs) if is_last else np.zeros(outputs, np.float32)
            to = result if is_last else self._new_map(x.channels, is_positive=False)
            self.layers.append(
                Convolution(
                    source.number, to.number, padded, bias, residual, activation if is_last else NONE,
                    source.is_positive, self._as_channels(x.shift) if x.shift and is_last else None,
                )
            )  # fmt: skip
            residual = to.number

    def _add_spread(self, x: Sum, result: Map, activation: int) -> None:
        maps = list(x.maps)
        scale = None
        if x.scaled:
            maps.insert(0, x.scaled[0])
            scale = self._as_channels(x.scaled[1])
        if not 1 <= len(maps) <= 2 or x.bias is not None:
            raise UnsupportedError("it adds tensors that no layer adds")
        shift = self._as_channels(x.shift) if x.shift else None
        residual = maps[1].number if len(maps) == 2 else None
        self.layers.append(Spread(maps[0].number, result.number, scale, shift, residual, activation))

    def _as_channels(self, x: Vector | Product) -> int:
        vector = self.vector(x)
        if not np.array_equal(vector.places, np.arange(len(vector.places))):
            raise UnsupportedError("it scales or shifts channels by pooled numbers")
        return vector.number

    def _bias(self, x: Sum, width: int) -> Floats:
        bias = np.zeros(width, np.float32)
        if x.bias is not None:
            bias[: x.channels] = x.bias
        return bias

    def _dense(self, x: Product, activation: int) -> Vector:
        source = self._pooled(x.source) if isinstance(x.source, Pooled) else x.source
        outputs = len(x.weights)
        width = _padded(outputs)
        result = self._new_vector(outputs)
        reads_map = isinstance(source, Flat)
        if isinstance(source, Flat):
            map_ = self.map(source.source)
            used, number, inputs = map_.channels, map_.number, SQUARES * map_.channels
            places = np.arange(inputs)
        else:
            used, number, inputs = self.vectors[source.number], source.number, len(source.places)
            places = source.places
        if x.weights.shape[1] != inputs:
            raise UnsupportedError(f"a dense layer of {x.weights.shape[1]} numbers reads {inputs}")
        weights = np.zeros((SQUARES * used if reads_map else used, width), np.float32)
        columns = x.weights.T
        if reads_map:  # From channel by channel to square by square.
            columns = columns.reshape(used, SQUARES, outputs).swapaxes(0, 1).reshape(inputs, outputs)
        weights[places, :outputs] = columns
        bias = np.zeros(width, np.float32)
        bias[:outputs] = x.bias
        self.layers.append(Dense(number, result.number, weights, bias, activation, reads_map, used))
        return result

    def _pooled(self, x: Pooled) -> Vector:
        """Adds the layers that pool; every part begins at a multiple of the width."""
        sizes = [_padded(map_.channels) for map_, _ in x.parts]
        starts = np.cumsum([0, *sizes])
        vector = self._new_vector(int(starts[-1]))
        for (map_, kind), start in zip(x.parts, starts.tolist(), strict=False):
            mean_at, maximum_at = (start, None) if kind == "mean" else (None, start)
            self.layers.append(Pool(map_.number, vector.number, mean_at, maximum_at))
        places = [start + np.arange(map_.channels) for (map_, _), start in zip(x.parts, starts, strict=False)]
        return Vector(vector.number, np.concatenate(places))

    def _new_map(self, channels: int, is_positive: bool) -> Map:
        self.maps.append(_padded(channels))
        return Map(len(self.maps) - 1, channels, is_positive)

    def _new_vector(self, length: int) -> Vector:
        self.vectors.append(_padded(length))
        return Vector(len(self.vectors) - 1, np.arange(length))


def _padded(count: int) -> int:
    if not 1 <= count <= MOST_CHANNELS:
        raise UnsupportedError(f"it has a tensor of {count} channels")
    return -(-count // WIDTH) * WIDTH
