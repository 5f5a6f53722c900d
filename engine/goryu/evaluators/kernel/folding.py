"""What the tensors of a graph are to the reader of a network, and how constants are folded into weights.

Each tensor is one of a few things: a sum of convolutions that waits for its activation, a feature map,
numbers pooled from a map. A normalisation is folded into the weights before it, an addition into the sum.
"""

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.onnx_graph import Array
from goryu.evaluators.kernel.layers import Floats, UnsupportedError


@dataclass(slots=True, eq=False)
class Planes:
    """An input of the network."""

    index: int


@dataclass(slots=True, eq=False)
class Map:
    """A computed map; is no number in it negative?"""

    number: int
    channels: int
    is_positive: bool


@dataclass(slots=True, eq=False)
class Sum:
    """Convolutions plus maps plus vectors plus a bias, not computed yet."""

    channels: int
    convolutions: list[tuple["Planes | Map", Floats]] = field(default_factory=list)
    maps: list[Map] = field(default_factory=list)
    shift: "Vector | Product | None" = None
    scaled: "tuple[Map, Vector] | None" = None
    bias: Floats | None = None
    is_row: bool = False
    """Is it one row, which waits to be added to nine?"""
    computed: dict[int, Map] = field(default_factory=dict)
    """By activation."""

    @property
    def has_maps(self) -> bool:
        """Does any part of it differ from square to square?"""
        return bool(self.convolutions or self.maps or self.scaled)

    @property
    def is_shifted_map(self) -> bool:
        """Is it a map plus a vector, and nothing else?"""
        others = self.convolutions or self.scaled or self.bias is not None
        return len(self.maps) == 1 and self.shift is not None and not others


@dataclass(slots=True, eq=False)
class Vector:
    """Numbers in a vector; `places` has their places."""

    number: int
    places: npt.NDArray[np.int64]


@dataclass(slots=True, eq=False)
class Pooled:
    """Pooled maps, not computed yet; kind: "mean" or "maximum"."""

    parts: list[tuple[Map, str]]


@dataclass(slots=True, eq=False)
class Flat:
    """A map as a vector, channel by channel, plus a constant if it is a policy."""

    source: Sum | Map
    bias: Floats | None = None


@dataclass(slots=True, eq=False)
class Product:
    """A dense layer without its activation. weights: [outputs, inputs]."""

    source: "Vector | Pooled | Flat"
    weights: Floats
    bias: Floats
    computed: dict[int, Vector] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Gate:
    """sigmoid(x) or tanh(x)."""

    source: "Sum | Map | Vector | Product"
    is_tanh: bool = False


@dataclass(slots=True, eq=False)
class Shape:
    """The lengths of a tensor's axes; None for one that is not known."""

    lengths: tuple[int | None, ...]


Tensor = Planes | Map | Sum | Vector | Pooled | Flat | Product | Gate | Shape | Array


def added(a: Sum, b: Sum) -> Sum:
    """Returns a + b."""
    if a.channels != b.channels or (a.shift and b.shift) or (a.scaled and b.scaled):
        raise UnsupportedError("it adds tensors that do not fit")
    if a.is_row and b.is_row:
        raise UnsupportedError("it adds rows")
    is_row = (a.is_row and not b.has_maps) or (b.is_row and not a.has_maps)
    biases = [each.bias for each in (a, b) if each.bias is not None]
    return Sum(
        a.channels,
        a.convolutions + b.convolutions,
        a.maps + b.maps,
        a.shift or b.shift,
        a.scaled or b.scaled,
        sum(biases[1:], biases[0]) if biases else None,
        is_row,
    )


def affine(x: Any, factor: Array | None, shift: Array | None) -> Sum:
    """Returns x * factor + shift, for constants of one number a channel or one for all."""
    if not isinstance(x, Sum) or x.maps or x.scaled or isinstance(x.shift, Vector):
        raise UnsupportedError("it scales or shifts a map that no convolution computes")

    factors = np.broadcast_to(1.0 if factor is None else factor, (x.channels,)).astype(np.float64)
    shifts = np.broadcast_to(0.0 if shift is None else shift, (x.channels,))
    bias = np.zeros(x.channels) if x.bias is None else x.bias
    scaled = [
        (source, (weights * factors[:, None, None, None]).astype(np.float32))
        for source, weights in x.convolutions
    ]
    vector = None
    if x.shift:
        weights = (x.shift.weights * factors[:, None]).astype(np.float32)
        vector = Product(x.shift.source, weights, (x.shift.bias * factors).astype(np.float32))
    bias = (bias * factors + shifts).astype(np.float32)
    return Sum(x.channels, scaled, shift=vector, bias=bias, is_row=x.is_row)


def constant(x: Any) -> Floats:
    """Returns a constant as float32, or as the integers that it has."""
    if not isinstance(x, np.ndarray):
        raise UnsupportedError("it computes with weights that are not constants")
    if x.dtype.kind == "f":
        x = x.astype(np.float32)
        if not np.isfinite(x).all():
            raise UnsupportedError("it has weights that are not finite")
    return cast(Floats, x)


def each_channel(x: Array) -> Floats:
    """Returns a constant that is added to maps or multiplies them, as one number a channel or one for all."""
    if x.size > 1 and (x.ndim < 3 or x.size != x.shape[-3]):
        raise UnsupportedError("it scales or shifts squares")
    return constant(x).reshape(-1)
