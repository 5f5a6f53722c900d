"""The operators of a graph, one function each: what they make of their inputs.

Those that only name or cast a tensor return it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS
from goryu.evaluators.formats.onnx_graph import Array, GraphNode
from goryu.evaluators.kernel.builder import MOST_CHANNELS, LayerBuilder
from goryu.evaluators.kernel.folding import (
    Flat,
    Gate,
    Map,
    Planes,
    Pooled,
    Product,
    Shape,
    Sum,
    Tensor,
    Vector,
    added,
    affine,
    constant,
    each_channel,
)
from goryu.evaluators.kernel.layers import RELU, SQUARES, SWISH, UnsupportedError


def _identity(build: LayerBuilder, node: GraphNode, x: Any, *_: Any) -> Tensor:
    return cast(Tensor, x)


def _constant_of(build: LayerBuilder, node: GraphNode) -> Tensor:
    (value,) = node.attributes.values()
    return value if isinstance(value, np.ndarray) else np.array(value)


def _conv(build: LayerBuilder, node: GraphNode, x: Any, weights: Any, bias: Any = None) -> Tensor:
    kernel = constant(weights)
    size = kernel.shape[2:]
    if kernel.ndim != 4 or size not in ((1, 1), (3, 3), (9, 1)):
        raise UnsupportedError(f"it has convolutions of {size}")
    expected = {
        "group": 1, "strides": [1, 1], "dilations": [1, 1], "kernel_shape": [*size],
        "pads": [1 if size == (3, 3) else 0] * 4,
    }  # fmt: skip
    attributes = {"pads": [0, 0, 0, 0], **node.attributes}
    if attributes.pop("auto_pad", b"NOTSET") != b"NOTSET" or any(
        attributes[name] != wanted for name, wanted in expected.items() if name in attributes
    ):
        raise UnsupportedError("it has convolutions with other strides, borders or groups")
    shift = np.zeros(len(kernel), np.float32) if bias is None else constant(bias).reshape(-1)
    if len(shift) != len(kernel) or len(kernel) > MOST_CHANNELS:
        raise UnsupportedError(f"it has a convolution of {len(kernel)} channels with {len(shift)} biases")
    if isinstance(x, Pooled | Vector | Product):  # Squeeze-and-excitation by 1x1 convolutions.
        return build.product(x, kernel.reshape(kernel.shape[:2]), shift)
    is_shifted = size == (1, 1) and isinstance(x, Sum) and x.is_shifted_map
    source = x.maps[0] if is_shifted else x if isinstance(x, Planes) and build.has_stem else build.map(x)
    if isinstance(source, Map) and source.channels != kernel.shape[1]:
        raise UnsupportedError(f"a convolution of {kernel.shape[1]} channels reads {source.channels}")
    if is_shifted:  # W (map + shift) = W map + W shift.
        return build.shifted_convolution(x, kernel, shift)
    return Sum(len(kernel), [(source, kernel)], bias=shift, is_row=size == (9, 1))


def _slice(build: LayerBuilder, node: GraphNode, x: Any, *bounds: Any) -> Tensor:
    if not isinstance(x, Planes) or x.index != 1:
        raise UnsupportedError("it cuts out a part of a tensor")
    starts, _, axes = (constant(each).tolist() for each in bounds[:3])
    if any(starts) or not set(axes) <= {2, 3}:
        raise UnsupportedError("it cuts out a part of the planes")
    return x  # Planes of hands are constant, so any part of them is the whole.


def _batch_normalization(
    build: LayerBuilder, node: GraphNode, x: Any, scale: Any, bias: Any, mean: Any, variance: Any
) -> Tensor:
    epsilon: Any = node.attributes.get("epsilon", 1e-5)
    gamma, beta, means, variances = (
        constant(each).astype(np.float64) for each in (scale, bias, mean, variance)
    )
    factor = gamma / np.sqrt(variances + epsilon)
    return affine(x, factor, beta - means * factor)


def _add(build: LayerBuilder, node: GraphNode, a: Any, b: Any) -> Tensor:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return cast(Array, a + b)
    if isinstance(a, np.ndarray):
        a, b = b, a
    if isinstance(b, np.ndarray):
        if isinstance(a, Flat):
            bias = constant(b).reshape(-1)
            if len(bias) != DLSHOGI_LABELS:
                raise UnsupportedError(f"it adds {len(bias)} constants to a vector of squares")
            return replace(a, bias=bias if a.bias is None else a.bias + bias)
        if isinstance(a, Product):
            return replace(a, bias=a.bias + constant(b).reshape(-1), computed={})
        return affine(a, None, each_channel(b))
    a, b = build.as_sum(a), build.as_sum(b)
    if a.shift and b.shift:  # A layer adds one vector.
        a = build.as_sum(build.map(a))
    return added(a, b)


def _mul(build: LayerBuilder, node: GraphNode, a: Any, b: Any) -> Tensor:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return cast(Array, a * b)
    for x, other in ((a, b), (b, a)):
        if isinstance(other, np.ndarray):
            return affine(x, each_channel(other), None)
        if isinstance(other, Gate) and other.source is x and not other.is_tanh:
            return build.activated(x, SWISH)
        if isinstance(x, Map | Sum) and isinstance(other, Gate | Vector | Product):
            return Sum(x.channels, scaled=(build.map(x), build.vector(other)))
    raise UnsupportedError("it multiplies two tensors")


def _relu(build: LayerBuilder, node: GraphNode, x: Any) -> Tensor:
    return build.activated(x, RELU)


def _sigmoid(build: LayerBuilder, node: GraphNode, x: Any) -> Tensor:
    return Gate(x)


def _tanh(build: LayerBuilder, node: GraphNode, x: Any) -> Tensor:
    return Gate(x, is_tanh=True)


def _gemm(build: LayerBuilder, node: GraphNode, x: Any, weights: Any, bias: Any = None) -> Tensor:
    given = node.attributes
    if given.get("transA", 0) != 0 or given.get("alpha", 1.0) != 1.0 or given.get("beta", 1.0) != 1.0:
        raise UnsupportedError("it has a Gemm with factors")
    matrix = constant(weights) if given.get("transB", 0) == 1 else constant(weights).T
    shift = np.zeros(len(matrix), np.float32) if bias is None else constant(bias).reshape(-1)
    return build.product(x, matrix, shift)


def _matmul(build: LayerBuilder, node: GraphNode, x: Any, weights: Any) -> Tensor:
    matrix = constant(weights).T
    return build.product(x, matrix, np.zeros(len(matrix), np.float32))


def _reduce(build: LayerBuilder, node: GraphNode, x: Any, axes: Any = None) -> Tensor:
    found: Any = node.attributes.get("axes") if axes is None else constant(axes).tolist()
    if found is None or sorted(axis % 4 for axis in found) != [2, 3]:
        raise UnsupportedError("it reduces other axes than the board")
    return Pooled([(build.map(x), "mean" if node.op_type == "ReduceMean" else "maximum")])


def _global_pool(build: LayerBuilder, node: GraphNode, x: Any) -> Tensor:
    return Pooled([(build.map(x), "mean" if node.op_type == "GlobalAveragePool" else "maximum")])


def _board_pool(build: LayerBuilder, node: GraphNode, x: Any) -> Tensor:
    given = {"pads": [0, 0, 0, 0], "auto_pad": b"NOTSET", "dilations": [1, 1], **node.attributes}
    expected = {"pads": [0, 0, 0, 0], "auto_pad": b"NOTSET", "dilations": [1, 1], "kernel_shape": [9, 9]}
    if any(given.get(name) != wanted for name, wanted in expected.items()):
        raise UnsupportedError("it pools a part of the board")
    return Pooled([(build.map(x), "mean" if node.op_type == "AveragePool" else "maximum")])


def _concat(build: LayerBuilder, node: GraphNode, *parts: Any) -> Tensor:
    if all(isinstance(part, Pooled) for part in parts) and node.attributes.get("axis") in (1, -3):
        return Pooled([each for part in parts for each in part.parts])
    lengths: list[int | None] = []
    for part in parts:
        if isinstance(part, Shape):
            lengths += part.lengths
        elif isinstance(part, np.ndarray):
            lengths += constant(part).astype(np.int64).reshape(-1).tolist()
        else:
            raise UnsupportedError("it joins tensors")
    return Shape(tuple(lengths))


def _flatten(build: LayerBuilder, node: GraphNode, x: Any) -> Tensor:
    if node.attributes.get("axis", 1) != 1:
        raise UnsupportedError("it flattens the batch")
    return Flat(x) if isinstance(x, Map | Sum) else _same(x)


def _reshape(build: LayerBuilder, node: GraphNode, x: Any, shape: Any) -> Tensor:
    if isinstance(x, np.ndarray):
        return x.reshape(constant(shape).astype(np.int64).tolist())
    lengths = shape.lengths if isinstance(shape, Shape) else tuple(constant(shape).tolist())
    if not isinstance(x, Map | Sum):
        return _same(x)
    if len(lengths) != 2 or lengths[1] not in (-1, None, x.channels * SQUARES):
        raise UnsupportedError(f"it reshapes a map to {lengths}")
    return Flat(x)


def _unsqueeze(build: LayerBuilder, node: GraphNode, x: Any, axes: Any = None) -> Tensor:
    if not isinstance(x, np.ndarray):
        return _same(x)
    found: Any = node.attributes.get("axes") if axes is None else tuple(constant(axes).tolist())
    return np.expand_dims(x, tuple(found))


def _squeeze(build: LayerBuilder, node: GraphNode, x: Any, axes: Any = None) -> Tensor:
    return np.squeeze(x) if isinstance(x, np.ndarray) else _same(x)


def _transpose(build: LayerBuilder, node: GraphNode, x: Any) -> Tensor:
    if not isinstance(x, np.ndarray):
        raise UnsupportedError("it exchanges axes")
    axes: Any = node.attributes.get("perm")
    return np.transpose(x, axes)


def _shape(build: LayerBuilder, node: GraphNode, x: Any) -> Tensor:
    channels = x.channels if isinstance(x, Map | Sum) else None
    lengths = (None, channels, 9, 9) if channels else (None, None, None, None)
    start: Any = node.attributes.get("start", 0)
    end: Any = node.attributes.get("end")
    return Shape(lengths[start:end])


def _gather(build: LayerBuilder, node: GraphNode, x: Any, index: Any) -> Tensor:
    if not isinstance(x, Shape):
        raise UnsupportedError("it gathers")
    return Shape((x.lengths[int(constant(index).reshape(-1)[0])],))


def _same(x: Any) -> Tensor:
    if not isinstance(x, Vector | Pooled | Product | Gate | Shape | Flat):
        raise UnsupportedError("it reshapes a map")
    return x


OPERATORS: dict[str, Callable[..., Tensor]] = {
    "Add": _add,
    "AveragePool": _board_pool,
    "BatchNormalization": _batch_normalization,
    "Cast": _identity,
    "Concat": _concat,
    "Constant": _constant_of,
    "Conv": _conv,
    "Dropout": _identity,
    "Flatten": _flatten,
    "Gather": _gather,
    "Gemm": _gemm,
    "GlobalAveragePool": _global_pool,
    "GlobalMaxPool": _global_pool,
    "Identity": _identity,
    "MatMul": _matmul,
    "MaxPool": _board_pool,
    "Mul": _mul,
    "ReduceMax": _reduce,
    "ReduceMean": _reduce,
    "Relu": _relu,
    "Reshape": _reshape,
    "Shape": _shape,
    "Sigmoid": _sigmoid,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Tanh": _tanh,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
"""By name: a function of the layers so far, the node and its inputs, None for one that is left out."""
