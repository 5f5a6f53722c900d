"""The ranges of the activations of a network in 8 bits, and who reads them rounded.

A byte has 256 steps. A wide range cuts nothing off, a narrow one has finer steps. The best one is looked for
on real positions and where it counts: what a residual block adds may be cut off far below zero, as a ReLU
follows.

Large errors do more harm than many small ones: with squares as the measure ranges became so narrow that the
policy was further from the float network's than without any search; hence the fourth power.
"""

from collections import defaultdict
from collections.abc import Iterable
from itertools import product

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from goryu.evaluators.model_format import Array
from goryu.learning.onnx_watch import Floats, watch

__all__ = ["best_range", "fit_ranges", "read_before_rounding"]

STEPS = 255
"""Of an unsigned byte."""

LEAST = 1e-3
"""No range is smaller: a channel that was never active on the positions may be on others."""

LOW_SHARES = tuple(0.8**i for i in range(11))
HIGH_SHARES = tuple(0.93**i for i in range(13))
"""Ranges that are tried, as shares of the lowest and the highest value seen."""

EVERY = 7
"""Only every seventh value is looked at, for speed."""


LARGEST_BIAS = 2**30
"""In units of its scale: a sum of 32 bits has room for as much again."""


def fit_ranges(small: onnx.ModelProto, source: onnx.ModelProto, batches: Iterable[dict[str, Array]]) -> None:
    """Gives each tensor of activations that `small` rounds its best range, and the biases their new scales.

    small: the network in 8 bits (QDQ form), changed in place; its inputs keep their scales. source: the float
    network that it was made from, with the same names. batches: inputs of the network, by name.
    """
    inputs = {value.name for value in source.graph.input}
    rounded = [n for n in small.graph.node if n.op_type == "QuantizeLinear" and n.input[0] not in inputs]
    addends = {node.input[0]: _added_before_a_relu(source, node.input[0]) for node in rounded}
    names = [*addends, *filter(None, addends.values())]
    values: defaultdict[str, list[Floats]] = defaultdict(list)
    added: defaultdict[str, list[Floats]] = defaultdict(list)
    for seen in watch(source, names, batches):
        for name, addend in addends.items():
            terms = np.broadcast_arrays(seen[name], seen[addend]) if addend else [seen[name]]
            for parts, term in zip((values, added), terms, strict=False):
                parts[name].append(term.ravel()[::EVERY])
    constants = {tensor.name: tensor for tensor in small.graph.initializer}
    for node in rounded:
        name = node.input[0]
        addend_values = np.concatenate(added[name]) if addends[name] else None
        scale, zero = _grid(*best_range(np.concatenate(values[name]), addend_values))
        _set(constants[node.input[1]], scale)
        _set(constants[node.input[2]], zero)
    _round_biases(small, source)


def best_range(values: Floats, addend: Floats | None = None) -> tuple[float, float]:
    """Returns the lowest and the highest value of the range with the smallest error on `values`.

    addend: what is added to the values before a ReLU that hears the error; None if all of it is heard.
    """
    lowest, highest = min(0.0, float(values.min())), max(LEAST, float(values.max()))

    def error(limits: tuple[float, float]) -> float:
        scale, zero = _grid(*limits)
        rounded = (np.clip(np.round(values / scale) + zero, 0, STEPS) - zero) * np.float32(scale)
        if addend is None:
            difference = rounded - values
        else:
            difference = np.maximum(rounded + addend, 0) - np.maximum(values + addend, 0)
        return float(np.square(np.square(difference)).mean())

    low_shares = LOW_SHARES if lowest < 0 else (1.0,)
    return min(((lowest * a, highest * b) for a, b in product(low_shares, HIGH_SHARES)), key=error)


def read_before_rounding(small: onnx.ModelProto) -> None:
    """Lets all but convolutions read activations as they were before rounding, where these are at hand.

    So a residual connection carries its values on unrounded, block after block. What a convolution writes is
    at hand as bytes only.
    """
    writer = {output: node for node in small.graph.node for output in node.output}
    for node in small.graph.node:
        if node.op_type in ("Conv", "QuantizeLinear", "DequantizeLinear"):
            continue
        for i, name in enumerate(node.input):
            if name not in writer or writer[name].op_type != "DequantizeLinear":
                continue
            rounded = writer.get(writer[name].input[0])  # None for weights
            if rounded and (exact := rounded.input[0]) in writer and writer[exact].op_type != "Conv":
                node.input[i] = exact


def _grid(lowest: float, highest: float) -> tuple[float, int]:
    """Returns scale and zero point of a range."""
    scale = (highest - lowest) / STEPS
    return scale, round(-lowest / scale)


def _added_before_a_relu(model: onnx.ModelProto, name: str) -> str | None:
    """Returns what is added to a tensor that only this sum reads, and the sum only a ReLU; else None."""
    readers = [node for node in model.graph.node if name in node.input]
    if len(readers) != 1 or readers[0].op_type != "Add":
        return None
    after = [node for node in model.graph.node if readers[0].output[0] in node.input]
    if len(after) != 1 or after[0].op_type != "Relu":
        return None
    other = [term for term in readers[0].input if term != name]
    return other[0] if other else None


def _round_biases(small: onnx.ModelProto, source: onnx.ModelProto) -> None:
    """Rounds biases to multiples of the scales of activation times weight, in which products are summed.

    A filter whose weights are next to nothing gets greater ones if its bias would not fit in 32 bits.
    """
    exact = {tensor.name: numpy_helper.to_array(tensor) for tensor in source.graph.initializer}
    original = {node.name: node for node in source.graph.node}
    constants = {tensor.name: tensor for tensor in small.graph.initializer}
    dequantize = {n.output[0]: n for n in small.graph.node if n.op_type == "DequantizeLinear"}
    layers = [
        (*(dequantize[name].input for name in node.input), exact[original[node.name].input[2]])
        for node in small.graph.node
        if node.op_type == "Conv" and len(node.input) == 3 and node.input[2] in dequantize
    ]

    def number(name: str) -> Floats:
        return numpy_helper.to_array(constants[name])

    for activation, weight, _, values in layers:
        scale = number(weight[1])
        wider = np.maximum(np.abs(values) / LARGEST_BIAS / (number(activation[1]) * scale), 1)
        filters = number(weight[0])
        _set(constants[weight[1]], scale * wider)
        _set(constants[weight[0]], np.round(filters / wider.reshape(-1, *[1] * (filters.ndim - 1))))
    for activation, weight, bias, values in layers:
        scale = number(activation[1]) * number(weight[1])
        _set(constants[bias[1]], scale)
        _set(constants[bias[0]], np.round(values / scale))


def _set(tensor: onnx.TensorProto, values: npt.ArrayLike) -> None:
    """Replaces the values of a constant; its type and shape stay."""
    old = numpy_helper.to_array(tensor)
    tensor.CopyFrom(numpy_helper.from_array(np.asarray(values, old.dtype).reshape(old.shape), tensor.name))
