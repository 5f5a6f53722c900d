"""Calibrates an 8-bit network: chooses the ranges of its activations on real positions.

A byte has 256 steps. A wide range clips nothing; a narrow range has finer steps. `best_range` minimises the
mean fourth power of the error. With squares the ranges became so narrow that the policy was further from that
of the float network than with the full ranges: large errors do more harm than many small ones.

The inputs of a convolution share one range for all channels; otherwise its products could not be summed as
integers. The outputs that it adds to the trunk have one range per channel: the scales of the channels are
folded into the scales of its weights and divided out after the bytes are floats again. These ranges clip only
values that the following ReLU sets to zero.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from goryu.evaluators.formats.base import Array
from goryu.learning.quantization.activations import Floats, record

STEPS = 255
"""Of an unsigned byte."""

LEAST = 1e-3
"""Least upper end of a range: a channel that was never active may be active on other positions."""

LOW_SHARES = tuple(0.8**i for i in range(11))
HIGH_SHARES = tuple(0.93**i for i in range(13))
"""Candidate ranges, as shares of the lowest and the highest value."""

MARGIN = 1.05
"""The range of a channel is wider than its values by this factor."""

EVERY = 7
"""Use only every seventh value, for speed."""


LARGEST_BIAS = 2**30
"""In units of its scale; a 32-bit sum can hold twice as much."""


def fit_ranges(small: onnx.ModelProto, source: onnx.ModelProto, batches: Iterable[dict[str, Array]]) -> None:
    """Gives each rounded tensor of activations its best range, and each bias its new scale.

    small: the network in 8 bits (QDQ form), changed in place; its inputs keep their scales. source: the float
    network that it was made from, with the same names. batches: inputs of the network, by name.
    """
    inputs = {value.name for value in source.graph.input}
    rounded = [n for n in small.graph.node if n.op_type == "QuantizeLinear" and n.input[0] not in inputs]
    writers = _writers(small)
    addends = {
        name: addend
        for name in (node.input[0] for node in rounded)
        if name in writers and (addend := _added_before_a_relu(source, name))
    }
    channels = {name: _Channels() for name in addends}
    values: dict[str, list[Floats]] = {node.input[0]: [] for node in rounded if node.input[0] not in addends}
    for seen in record(source, [*values, *addends, *addends.values()], batches):
        for name, parts in values.items():
            parts.append(seen[name].ravel()[::EVERY])
        for name, addend in addends.items():
            channels[name].observe(*np.broadcast_arrays(seen[name], seen[addend]))
    constants = {tensor.name: tensor for tensor in small.graph.initializer}
    scales: dict[str, Floats] = {}
    for node in rounded:
        name = node.input[0]
        if name in channels:
            writer, scale = writers[name], 1.0
            scales[writer.name], zero = channels[name].grid()
            _scale_channels(small, writer, node, scales[writer.name])
        else:
            scale, zero = _grid(*best_range(np.concatenate(values[name])))
        _set(constants[node.input[1]], scale)
        _set(constants[node.input[2]], zero)
    _round_biases(small, source, scales)


def best_range(values: Floats) -> tuple[float, float]:
    """Returns the lowest and the highest value of the range with the smallest error on `values`."""
    lowest, highest = min(0.0, float(values.min())), max(LEAST, float(values.max()))

    def error(limits: tuple[float, float]) -> float:
        scale, zero = _grid(*limits)
        rounded = (np.clip(np.round(values / scale) + zero, 0, STEPS) - zero) * np.float32(scale)
        return float(np.square(np.square(rounded - values)).mean())

    low_shares = LOW_SHARES if lowest < 0 else (1.0,)
    return min(((lowest * a, highest * b) for a, b in product(low_shares, HIGH_SHARES)), key=error)


class _Channels:
    """Statistics of the channels of a tensor [N, C, H, W] that is added to another one before a ReLU."""

    def __init__(self) -> None:
        self._lowest: Floats = np.zeros(1, np.float32)
        self._highest: Floats = np.full(1, LEAST, np.float32)
        self._lowest_needed: Floats = np.zeros(1, np.float32)

    def observe(self, values: Floats, addend: Floats) -> None:
        """Extends the ranges by some values and the numbers that are added to them."""
        self._lowest = np.minimum(self._lowest, values.min((0, 2, 3)))
        self._highest = np.maximum(self._highest, values.max((0, 2, 3)))
        self._lowest_needed = np.minimum(self._lowest_needed, -addend.max((0, 2, 3)))

    def grid(self) -> tuple[Floats, int]:
        """Returns the scales of the channels and their common zero point, the one with the smallest scales.

        A scale is negative where more steps are needed below zero than above, so that one zero point suits
        all.
        """
        below = -MARGIN * np.maximum(self._lowest, self._lowest_needed)
        above = MARGIN * self._highest
        less, more = np.minimum(below, above), np.maximum(below, above)

        def scales(zero: int) -> Floats:
            return np.asarray(np.maximum(less / zero, more / (STEPS - zero)), np.float32)

        zero = min(range(1, STEPS), key=lambda zero: float(np.square(scales(zero)).sum()))
        return np.where(below > above, -scales(zero), scales(zero)), zero


def _writers(small: onnx.ModelProto) -> dict[str, onnx.NodeProto]:
    """Returns the 8-bit convolutions with a bias whose constants no other node reads, by their outputs."""
    dequantize = {node.output[0] for node in small.graph.node if node.op_type == "DequantizeLinear"}
    reads = Counter(name for node in small.graph.node for name in node.input)
    return {
        node.output[0]: node
        for node in small.graph.node
        if node.op_type == "Conv"
        and len(node.input) == 3
        and dequantize.issuperset(node.input)
        and reads[node.input[1]] == reads[node.input[2]] == 1
    }


def _scale_channels(
    small: onnx.ModelProto, writer: onnx.NodeProto, rounding: onnx.NodeProto, scales: Floats
) -> None:
    """Makes a convolution write bytes in the scales of its channels, and multiplies by the scales after them.

    The bytes of a channel with a negative scale have the opposite sign.
    """
    constants = {tensor.name: tensor for tensor in small.graph.initializer}
    (weight,) = (node for node in small.graph.node if node.output[0] == writer.input[1])
    filters, sizes = (constants[name] for name in weight.input[:2])
    _set(filters, numpy_helper.to_array(filters) * np.sign(scales).reshape(-1, 1, 1, 1))
    _set(sizes, numpy_helper.to_array(sizes) / np.abs(scales))
    factors = f"{rounding.input[0]}_channels"
    small.graph.initializer.append(numpy_helper.from_array(scales.reshape(-1, 1, 1), factors))
    nodes = []
    for node in small.graph.node:
        nodes.append(node)
        if node.op_type == "DequantizeLinear" and node.input[0] == rounding.output[0]:
            output, node.output[0] = node.output[0], f"{node.output[0]}_unscaled"
            nodes.append(onnx.helper.make_node("Mul", [node.output[0], factors], [output]))
    del small.graph.node[:]
    small.graph.node.extend(nodes)


def keep_residuals_unrounded(small: onnx.ModelProto) -> None:
    """Makes all operators but convolutions read activations before rounding, where these exist as floats.

    A residual connection then carries unrounded values through the blocks. The outputs of a convolution exist
    as bytes only.
    """
    writer = {output: node for node in small.graph.node for output in node.output}
    for node in small.graph.node:
        if node.op_type in ("Conv", "QuantizeLinear", "DequantizeLinear"):
            continue
        for i, name in enumerate(node.input):
            if name not in writer or writer[name].op_type != "DequantizeLinear":
                continue
            rounded = writer.get(writer[name].input[0])  # None for weights.
            if rounded and (exact := rounded.input[0]) in writer and writer[exact].op_type != "Conv":
                node.input[i] = exact


def _grid(lowest: float, highest: float) -> tuple[float, int]:
    """Returns scale and zero point of a range."""
    scale = (highest - lowest) / STEPS
    return scale, round(-lowest / scale)


def _added_before_a_relu(model: onnx.ModelProto, name: str) -> str | None:
    """Returns the other addend of the only reader of a tensor, if only a ReLU reads the sum; else None."""
    readers = [node for node in model.graph.node if name in node.input]
    if len(readers) != 1 or readers[0].op_type != "Add":
        return None
    after = [node for node in model.graph.node if readers[0].output[0] in node.input]
    if len(after) != 1 or after[0].op_type != "Relu":
        return None
    other = [term for term in readers[0].input if term != name]
    return other[0] if other else None


def _round_biases(small: onnx.ModelProto, source: onnx.ModelProto, channels: Mapping[str, Floats]) -> None:
    """Rounds biases to multiples of activation scale times weight scale, the unit of the sums of products.

    channels: the scales of the output channels, by the name of the convolution.
    A filter of tiny weights gets a greater weight scale if its bias would otherwise not fit in 32 bits.
    """
    exact = {tensor.name: numpy_helper.to_array(tensor) for tensor in source.graph.initializer}
    original = {node.name: node for node in source.graph.node}
    constants = {tensor.name: tensor for tensor in small.graph.initializer}
    dequantize = {n.output[0]: n for n in small.graph.node if n.op_type == "DequantizeLinear"}
    layers = [
        (
            *(dequantize[name].input for name in node.input),
            exact[original[node.name].input[2]] / channels.get(node.name, 1),
        )
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
    """Replaces the values of a constant and keeps its type and shape."""
    old = numpy_helper.to_array(tensor)
    tensor.CopyFrom(numpy_helper.from_array(np.asarray(values, old.dtype).reshape(old.shape), tensor.name))
