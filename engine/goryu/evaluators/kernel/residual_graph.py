"""Reads a residual network from an ONNX file, as a list of layers that our own kernel can compute.

The file is interpreted operator by operator. Each tensor becomes one of a few things: a sum of convolutions
that waits for its activation, a feature map, numbers pooled from a map. Normalisations are folded into the
weights before them, additions into the sums. So the networks of our trainer, of dlshogi and of miniosl are
read, with and without bottlenecks, squeeze-and-excitation or global pooling, with ReLU or swish, of any width
and depth; everything else raises `UnsupportedError` with the reason, and onnxruntime runs it.

Maps have 81 squares in the order of the planes, and their channels are padded with zeros to a multiple of 32.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from goryu.base.errors import GoryuError
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS
from goryu.evaluators.formats.dlshogi_planes import BOARD_PLANES, HAND_PLANES, NYUGYOKU_PLANES
from goryu.evaluators.formats.miniosl import MINIOSL_PLANES
from goryu.evaluators.formats.onnx_graph import Array, Graph, GraphNode, read_graph

Floats = npt.NDArray[np.float32]

WIDTH = 32
"""Channels are padded to a multiple of this."""
SQUARES = 81
POLICY_CHANNELS = DLSHOGI_LABELS // SQUARES
MOST_CHANNELS = 4096
"""More are refused: such a network would take seconds for a position."""

TENSORS = (("input1", "input2", "output_policy", "output_value"), ("input", "move", "value"))
"""The tensors of a file, inputs first: of the dlshogi format, of miniosl's."""

NONE, RELU, SWISH, SIGMOID = range(4)
"""The activations of a layer."""


class UnsupportedError(GoryuError, ValueError):
    """The network is not of the kind that the kernel computes; the message says why."""


# Layers. Buffers of maps and of vectors are known by their numbers.


@dataclass(slots=True)
class Stem:
    """The first map: a 3x3 convolution of the board planes and a 1x1 convolution of constant planes.

    board: [outputs, 62, 3, 3]. hands: [outputs, 57 or 119].
    """

    to: int
    board: Floats
    hands: Floats
    bias: Floats
    activation: int


@dataclass(slots=True)
class Input:
    """Any planes, as the first channels of a map."""

    to: int
    planes: int


@dataclass(slots=True)
class Convolution:
    """to = activation(convolution(source) + bias + residual).

    weights: [outputs, inputs, k, k], k = 1 or 3; or [outputs, inputs, 9, 1], which makes one row of squares
        of all nine: the same sums in each row of the map.
    """

    source: int
    to: int
    weights: Floats
    bias: Floats
    residual: int | None
    activation: int
    is_positive: bool
    """Is no number in the source negative?"""


@dataclass(slots=True)
class Pool:
    """Writes mean and maximum of each channel over the board into a vector, at these places if not None."""

    source: int
    to: int
    mean_at: int | None
    maximum_at: int | None


@dataclass(slots=True)
class Dense:
    """A matrix times a vector, or times the first `used` channels of a map, square by square.

    weights: [used, outputs], or [81 * used, outputs] for a map.
    """

    source: int
    to: int
    weights: Floats
    bias: Floats
    activation: int
    reads_map: bool
    used: int


@dataclass(slots=True)
class Spread:
    """to = activation(source * scale + shift + residual); scale and shift are vectors, a number a channel."""

    source: int
    to: int
    scale: int | None
    shift: int | None
    residual: int | None
    activation: int


Layer = Stem | Input | Convolution | Pool | Dense | Spread


@dataclass(slots=True)
class ResidualNetwork:
    """A network: its layers in order, the sizes of the buffers, and where the outputs are.

    maps: the channels of each map. vectors: the length of each vector.
    planes: of each input: (62, 57) or (62, 119), which a `Stem` reads, or (176,), which an `Input` reads.
    policy: a map whose first 27 channels, plus policy_bias [27, 81], are the logits.
    value: a vector whose first number is x; the value is 2 / (1 + exp(-steepness * x)) - 1.
    """

    layers: list[Layer]
    maps: list[int]
    vectors: list[int]
    planes: tuple[int, ...]
    policy: int
    policy_bias: Floats
    value: int
    steepness: float

    @property
    def name(self) -> str:
        """Returns the size, such as 5x64: two convolutions are a block."""
        convolutions = [each for each in self.layers if isinstance(each, Convolution)]
        towers = [each for each in convolutions if each.weights.shape[2] == 3]
        return f"{(len(towers) + 1) // 2}x{towers[0].weights.shape[0] if towers else 0}"


# What a tensor of the graph may be.


@dataclass(slots=True, eq=False)
class _Planes:
    """An input of the network."""

    index: int


@dataclass(slots=True, eq=False)
class _Map:
    number: int
    channels: int
    is_positive: bool


@dataclass(slots=True, eq=False)
class _Sum:
    """Convolutions plus maps plus vectors plus a bias, not computed yet."""

    channels: int
    convolutions: list[tuple["_Planes | _Map", Floats]] = field(default_factory=list)
    maps: list[_Map] = field(default_factory=list)
    shift: "_Vector | None" = None
    scaled: "tuple[_Map, _Vector] | None" = None
    bias: Floats | None = None
    is_row: bool = False
    """Is it one row, which waits to be added to nine?"""
    computed: dict[int, _Map] = field(default_factory=dict)
    """By activation."""

    @property
    def has_maps(self) -> bool:
        """Does any part of it differ from square to square?"""
        return bool(self.convolutions or self.maps or self.scaled)


@dataclass(slots=True, eq=False)
class _Vector:
    """Numbers in a vector; `places` has their places."""

    number: int
    places: npt.NDArray[np.int64]


@dataclass(slots=True, eq=False)
class _Pooled:
    """Pooled maps, not computed yet; kind: "mean" or "maximum"."""

    parts: list[tuple[_Map, str]]


@dataclass(slots=True, eq=False)
class _Flat:
    """A map as a vector, channel by channel, plus a constant if it is a policy."""

    source: _Sum | _Map
    bias: Floats | None = None


@dataclass(slots=True, eq=False)
class _Product:
    """A dense layer without its activation. weights: [outputs, inputs]."""

    source: "_Vector | _Pooled | _Flat"
    weights: Floats
    bias: Floats
    computed: dict[int, _Vector] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Gate:
    """sigmoid(x) or tanh(x)."""

    source: "_Sum | _Map | _Vector | _Product"
    is_tanh: bool = False


@dataclass(slots=True, eq=False)
class _Shape:
    """The lengths of a tensor's axes; None for one that is not known."""

    lengths: tuple[int | None, ...]


_Tensor = _Planes | _Map | _Sum | _Vector | _Pooled | _Flat | _Product | _Gate | _Shape | Array


def read_network(path: Path) -> ResidualNetwork:
    """Returns the network in an ONNX file of the dlshogi format or of miniosl's.

    Raises:
        UnsupportedError: it is of another kind.
        ModelError: the file is damaged.
        OSError: it cannot be read.
    """
    return _Interpreter(read_graph(path)).network()


class _Interpreter:
    """Interprets a graph; `tensors` has what is known so far, by name."""

    def __init__(self, graph: Graph) -> None:
        known = [
            names
            for names in TENSORS
            if sorted(graph.inputs) == sorted(names[:-2]) and {*names[-2:]} <= {*graph.outputs}
        ]
        if not known:
            raise UnsupportedError("the tensors are not those of the dlshogi format or of miniosl")
        if any(node.op_type in ("QLinearConv", "ConvInteger", "DequantizeLinear") for node in graph.nodes):
            raise UnsupportedError("its weights have 8 bits; the float file of the same network is faster")
        self._graph = graph
        *inputs, self._policy_name, self._value_name = known[0]
        self._tensors: dict[str, _Tensor] = dict(graph.constants)
        self._tensors |= {name: _Planes(i) for i, name in enumerate(inputs)}
        self._has_stem = len(inputs) == 2
        self._input_map: _Map | None = None
        self._layers: list[Layer] = []
        self._maps: list[int] = []
        self._vectors: list[int] = []
        self._hand_planes = HAND_PLANES

    def network(self) -> ResidualNetwork:
        outputs = (self._policy_name, self._value_name)
        for node in _needed(self._graph, outputs):
            with _interpreting(node.op_type):
                self._interpret(node)
        with _interpreting("the output"):
            return _with_few_maps(self._with_outputs(*(self._tensors.get(name) for name in outputs)))

    def _with_outputs(self, policy: _Tensor | None, value: _Tensor | None) -> ResidualNetwork:
        if not isinstance(policy, _Flat) or policy.source.channels != POLICY_CHANNELS:
            raise UnsupportedError("the policy is not a convolution to 27 channels")
        map_ = self._map(policy.source)
        bias = np.zeros(DLSHOGI_LABELS, np.float32) if policy.bias is None else policy.bias
        steepness = 2.0 if isinstance(value, _Gate) and value.is_tanh else 1.0
        logit = value.source if isinstance(value, _Gate) else value
        if not isinstance(logit, _Product) or len(logit.weights) not in (1, 1 if self._has_stem else 4):
            raise UnsupportedError("the value is not computed by a dense layer")
        vector = self._vector(replace(logit, weights=logit.weights[:1], bias=logit.bias[:1], computed={}))
        planes = (BOARD_PLANES, self._hand_planes) if self._has_stem else (MINIOSL_PLANES,)
        return ResidualNetwork(
            self._layers, self._maps, self._vectors, planes, map_.number,
            bias.reshape(POLICY_CHANNELS, SQUARES), vector.number, steepness,
        )  # fmt: skip

    def _interpret(self, node: GraphNode) -> None:
        operator: Callable[..., _Tensor] | None = getattr(self, f"_do_{node.op_type.lower()}", None)
        if operator is None or node.domain not in ("", "ai.onnx"):
            raise UnsupportedError(f"it has the operator {node.op_type}")
        try:
            inputs = [self._tensors[name] if name else None for name in node.inputs]
        except KeyError as error:
            raise UnsupportedError(f"{node.op_type} reads {error}, which nothing computes") from error
        result = operator(node, *inputs)
        if node.outputs:
            self._tensors[node.outputs[0]] = result

    # Operators. Those that only name or cast a tensor return it.

    def _do_identity(self, node: GraphNode, x: Any, *_: Any) -> _Tensor:
        return cast(_Tensor, x)

    _do_cast = _do_dropout = _do_identity

    def _do_constant(self, node: GraphNode) -> _Tensor:
        (value,) = node.attributes.values()
        return value if isinstance(value, np.ndarray) else np.array(value)

    def _do_conv(self, node: GraphNode, x: Any, weights: Any, bias: Any = None) -> _Tensor:
        kernel = _constant(weights)
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
        shift = np.zeros(len(kernel), np.float32) if bias is None else _constant(bias).reshape(-1)
        if len(shift) != len(kernel) or len(kernel) > MOST_CHANNELS:
            raise UnsupportedError(f"it has a convolution of {len(kernel)} channels with {len(shift)} biases")
        if isinstance(x, _Pooled | _Vector | _Product):  # Squeeze-and-excitation by 1x1 convolutions.
            return self._product(x, kernel.reshape(kernel.shape[:2]), shift)
        source = x if isinstance(x, _Planes) and self._has_stem else self._map(x)
        if isinstance(source, _Map) and source.channels != kernel.shape[1]:
            raise UnsupportedError(f"a convolution of {kernel.shape[1]} channels reads {source.channels}")
        return _Sum(len(kernel), [(source, kernel)], bias=shift, is_row=size == (9, 1))

    def _do_slice(self, node: GraphNode, x: Any, *bounds: Any) -> _Tensor:
        if not isinstance(x, _Planes) or x.index != 1:
            raise UnsupportedError("it cuts out a part of a tensor")
        starts, _, axes = (_constant(each).tolist() for each in bounds[:3])
        if any(starts) or not set(axes) <= {2, 3}:
            raise UnsupportedError("it cuts out a part of the planes")
        return x  # Planes of hands are constant, so any part of them is the whole.

    def _do_batchnormalization(
        self, node: GraphNode, x: Any, scale: Any, bias: Any, mean: Any, variance: Any
    ) -> _Tensor:
        epsilon: Any = node.attributes.get("epsilon", 1e-5)
        gamma, beta, means, variances = (
            _constant(each).astype(np.float64) for each in (scale, bias, mean, variance)
        )
        factor = gamma / np.sqrt(variances + epsilon)
        return self._affine(x, factor, beta - means * factor)

    def _do_add(self, node: GraphNode, a: Any, b: Any) -> _Tensor:
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            return cast(Array, a + b)
        if isinstance(a, np.ndarray):
            a, b = b, a
        if isinstance(b, np.ndarray):
            if isinstance(a, _Flat):
                bias = _constant(b).reshape(-1)
                if len(bias) != DLSHOGI_LABELS:
                    raise UnsupportedError(f"it adds {len(bias)} constants to a vector of squares")
                return replace(a, bias=bias if a.bias is None else a.bias + bias)
            if isinstance(a, _Product):
                return replace(a, bias=a.bias + _constant(b).reshape(-1), computed={})
            return self._affine(a, None, _each_channel(b))
        return self._added(self._as_sum(a), self._as_sum(b))

    def _do_mul(self, node: GraphNode, a: Any, b: Any) -> _Tensor:
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            return cast(Array, a * b)
        for x, other in ((a, b), (b, a)):
            if isinstance(other, np.ndarray):
                return self._affine(x, _each_channel(other), None)
            if isinstance(other, _Gate) and other.source is x and not other.is_tanh:
                return self._activated(x, SWISH)
            if isinstance(x, _Map | _Sum) and isinstance(other, _Gate | _Vector | _Product):
                return _Sum(x.channels, scaled=(self._map(x), self._vector(other)))
        raise UnsupportedError("it multiplies two tensors")

    def _do_relu(self, node: GraphNode, x: Any) -> _Tensor:
        return self._activated(x, RELU)

    def _do_sigmoid(self, node: GraphNode, x: Any) -> _Tensor:
        return _Gate(x)

    def _do_tanh(self, node: GraphNode, x: Any) -> _Tensor:
        return _Gate(x, is_tanh=True)

    def _do_gemm(self, node: GraphNode, x: Any, weights: Any, bias: Any = None) -> _Tensor:
        given = node.attributes
        if given.get("transA", 0) != 0 or given.get("alpha", 1.0) != 1.0 or given.get("beta", 1.0) != 1.0:
            raise UnsupportedError("it has a Gemm with factors")
        matrix = _constant(weights) if given.get("transB", 0) == 1 else _constant(weights).T
        shift = np.zeros(len(matrix), np.float32) if bias is None else _constant(bias).reshape(-1)
        return self._product(x, matrix, shift)

    def _do_matmul(self, node: GraphNode, x: Any, weights: Any) -> _Tensor:
        matrix = _constant(weights).T
        return self._product(x, matrix, np.zeros(len(matrix), np.float32))

    def _do_reducemean(self, node: GraphNode, x: Any, axes: Any = None) -> _Tensor:
        found: Any = node.attributes.get("axes") if axes is None else _constant(axes).tolist()
        if found is None or sorted(axis % 4 for axis in found) != [2, 3]:
            raise UnsupportedError("it reduces other axes than the board")
        return _Pooled([(self._map(x), "mean" if node.op_type == "ReduceMean" else "maximum")])

    _do_reducemax = _do_reducemean

    def _do_globalaveragepool(self, node: GraphNode, x: Any) -> _Tensor:
        return _Pooled([(self._map(x), "mean" if node.op_type == "GlobalAveragePool" else "maximum")])

    _do_globalmaxpool = _do_globalaveragepool

    def _do_averagepool(self, node: GraphNode, x: Any) -> _Tensor:
        given = {"pads": [0, 0, 0, 0], "auto_pad": b"NOTSET", "dilations": [1, 1], **node.attributes}
        expected = {"pads": [0, 0, 0, 0], "auto_pad": b"NOTSET", "dilations": [1, 1], "kernel_shape": [9, 9]}
        if any(given.get(name) != wanted for name, wanted in expected.items()):
            raise UnsupportedError("it pools a part of the board")
        return _Pooled([(self._map(x), "mean" if node.op_type == "AveragePool" else "maximum")])

    _do_maxpool = _do_averagepool

    def _do_concat(self, node: GraphNode, *parts: Any) -> _Tensor:
        if all(isinstance(part, _Pooled) for part in parts) and node.attributes.get("axis") in (1, -3):
            return _Pooled([each for part in parts for each in part.parts])
        lengths: list[int | None] = []
        for part in parts:
            if isinstance(part, _Shape):
                lengths += part.lengths
            elif isinstance(part, np.ndarray):
                lengths += _constant(part).astype(np.int64).reshape(-1).tolist()
            else:
                raise UnsupportedError("it joins tensors")
        return _Shape(tuple(lengths))

    def _do_flatten(self, node: GraphNode, x: Any) -> _Tensor:
        if node.attributes.get("axis", 1) != 1:
            raise UnsupportedError("it flattens the batch")
        return _Flat(x) if isinstance(x, _Map | _Sum) else self._same(x)

    def _do_reshape(self, node: GraphNode, x: Any, shape: Any) -> _Tensor:
        if isinstance(x, np.ndarray):
            return x.reshape(_constant(shape).astype(np.int64).tolist())
        lengths = shape.lengths if isinstance(shape, _Shape) else tuple(_constant(shape).tolist())
        if not isinstance(x, _Map | _Sum):
            return self._same(x)
        if len(lengths) != 2 or lengths[1] not in (-1, None, x.channels * SQUARES):
            raise UnsupportedError(f"it reshapes a map to {lengths}")
        return _Flat(x)

    def _do_unsqueeze(self, node: GraphNode, x: Any, axes: Any = None) -> _Tensor:
        if not isinstance(x, np.ndarray):
            return self._same(x)
        found: Any = node.attributes.get("axes") if axes is None else tuple(_constant(axes).tolist())
        return np.expand_dims(x, tuple(found))

    def _do_squeeze(self, node: GraphNode, x: Any, axes: Any = None) -> _Tensor:
        return np.squeeze(x) if isinstance(x, np.ndarray) else self._same(x)

    def _do_transpose(self, node: GraphNode, x: Any) -> _Tensor:
        if not isinstance(x, np.ndarray):
            raise UnsupportedError("it exchanges axes")
        axes: Any = node.attributes.get("perm")
        return np.transpose(x, axes)

    def _do_shape(self, node: GraphNode, x: Any) -> _Tensor:
        channels = x.channels if isinstance(x, _Map | _Sum) else None
        lengths = (None, channels, 9, 9) if channels else (None, None, None, None)
        start: Any = node.attributes.get("start", 0)
        end: Any = node.attributes.get("end")
        return _Shape(lengths[start:end])

    def _do_gather(self, node: GraphNode, x: Any, index: Any) -> _Tensor:
        if not isinstance(x, _Shape):
            raise UnsupportedError("it gathers")
        return _Shape((x.lengths[int(_constant(index).reshape(-1)[0])],))

    # What the operators need.

    def _same(self, x: Any) -> _Tensor:
        if not isinstance(x, _Vector | _Pooled | _Product | _Gate | _Shape | _Flat):
            raise UnsupportedError("it reshapes a map")
        return x

    def _as_sum(self, x: Any) -> _Sum:
        """Returns a sum that has x alone."""
        if isinstance(x, _Sum):
            return x
        if isinstance(x, _Map):
            return _Sum(x.channels, maps=[x])
        if isinstance(x, _Vector | _Product):
            vector = self._vector(x)
            return _Sum(len(vector.places), shift=vector)
        raise UnsupportedError("it adds tensors that are not maps")

    def _added(self, a: _Sum, b: _Sum) -> _Sum:
        if a.channels != b.channels or (a.shift and b.shift) or (a.scaled and b.scaled):
            raise UnsupportedError("it adds tensors that do not fit")
        if a.is_row and b.is_row:
            raise UnsupportedError("it adds rows")
        is_row = (a.is_row and not b.has_maps) or (b.is_row and not a.has_maps)
        biases = [each.bias for each in (a, b) if each.bias is not None]
        return _Sum(
            a.channels,
            a.convolutions + b.convolutions,
            a.maps + b.maps,
            a.shift or b.shift,
            a.scaled or b.scaled,
            sum(biases[1:], biases[0]) if biases else None,
            is_row,
        )

    def _affine(self, x: Any, factor: Array | None, shift: Array | None) -> _Sum:
        """Returns x * factor + shift, for constants of one number a channel or one for all."""
        if not isinstance(x, _Sum) or x.maps or x.shift or x.scaled:
            raise UnsupportedError("it scales or shifts a map that no convolution computes")

        factors = np.broadcast_to(1.0 if factor is None else factor, (x.channels,)).astype(np.float64)
        shifts = np.broadcast_to(0.0 if shift is None else shift, (x.channels,))
        bias = np.zeros(x.channels) if x.bias is None else x.bias
        scaled = [
            (source, (weights * factors[:, None, None, None]).astype(np.float32))
            for source, weights in x.convolutions
        ]
        return _Sum(x.channels, scaled, bias=(bias * factors + shifts).astype(np.float32), is_row=x.is_row)

    def _activated(self, x: Any, activation: int) -> _Tensor:
        if isinstance(x, _Product):
            return self._vector(x, activation)
        if isinstance(x, _Map):
            x = self._as_sum(x)
        if not isinstance(x, _Sum):
            raise UnsupportedError("it has an activation that is not behind a sum")
        return self._computed(x, activation)

    def _map(self, x: Any) -> _Map:
        """Returns x as a computed map."""
        if isinstance(x, _Map):
            return x
        if isinstance(x, _Planes) and not self._has_stem:
            if self._input_map is None:
                self._input_map = self._new_map(MINIOSL_PLANES, is_positive=True)
                self._layers.append(Input(self._input_map.number, MINIOSL_PLANES))
            return self._input_map
        if not isinstance(x, _Sum):
            raise UnsupportedError("it has another tensor where a map is expected")
        return self._computed(x, NONE)

    def _computed(self, x: _Sum, activation: int) -> _Map:
        """Adds the layer that computes a sum, unless there is one."""
        if x.is_row:
            raise UnsupportedError("it has a row of squares where a map is expected")
        if activation not in x.computed:
            result = self._new_map(x.channels, activation == RELU)
            if x.convolutions and all(isinstance(source, _Planes) for source, _ in x.convolutions):
                self._add_stem(x, result, activation)
            elif x.convolutions:
                self._add_convolution(x, result, activation)
            else:
                self._add_spread(x, result, activation)
            x.computed[activation] = result
        return x.computed[activation]

    def _add_stem(self, x: _Sum, result: _Map, activation: int) -> None:
        if x.maps or x.shift or x.scaled:
            raise UnsupportedError("its first sum has more than convolutions of the planes")
        width = self._maps[result.number]
        board = np.zeros((width, BOARD_PLANES, 3, 3), np.float32)
        hands = np.zeros((width, HAND_PLANES + NYUGYOKU_PLANES), np.float32)
        for source, weights in x.convolutions:
            assert isinstance(source, _Planes)
            if source.index == 1:
                expected = (HAND_PLANES, HAND_PLANES + NYUGYOKU_PLANES)
                if weights.shape[1] not in expected or weights.shape[2] != 1:
                    raise UnsupportedError("it has a 3x3 convolution of constant planes")
                self._hand_planes = weights.shape[1]
                hands[: x.channels, : weights.shape[1]] += weights[:, :, 0, 0]
            elif weights.shape[1] != BOARD_PLANES or weights.shape[2] not in (1, 3):
                raise UnsupportedError(f"it has a convolution {weights.shape} of the board")
            elif weights.shape[2] == 3:
                board[: x.channels] += weights
            else:
                board[: x.channels, :, 1, 1] += weights[:, :, 0, 0]
        self._layers.append(Stem(result.number, board, hands, self._bias(x, width), activation))

    def _add_convolution(self, x: _Sum, result: _Map, activation: int) -> None:
        """Adds a layer for each convolution; each has the sum so far as its residual."""
        if len(x.maps) > 1 or x.shift or x.scaled:
            raise UnsupportedError("it adds a convolution and two other tensors")
        outputs = self._maps[result.number]
        residual = x.maps[0].number if x.maps else None
        for i, (source, weights) in enumerate(x.convolutions, 1):
            if not isinstance(source, _Map):
                raise UnsupportedError("it adds convolutions of planes and of maps")
            padded = np.zeros((outputs, self._maps[source.number], *weights.shape[2:]), np.float32)
            padded[: weights.shape[0], : weights.shape[1]] = weights
            is_last = i == len(x.convolutions)
            bias = self._bias(x, outputs) if is_last else np.zeros(outputs, np.float32)
            to = result if is_last else self._new_map(x.channels, is_positive=False)
            self._layers.append(
                Convolution(
                    source.number, to.number, padded, bias, residual, activation if is_last else NONE,
                    source.is_positive,
                )
            )  # fmt: skip
            residual = to.number

    def _add_spread(self, x: _Sum, result: _Map, activation: int) -> None:
        maps = list(x.maps)
        scale = None
        if x.scaled:
            maps.insert(0, x.scaled[0])
            scale = self._as_channels(x.scaled[1])
        if not 1 <= len(maps) <= 2 or x.bias is not None:
            raise UnsupportedError("it adds tensors that no layer adds")
        shift = self._as_channels(x.shift) if x.shift else None
        residual = maps[1].number if len(maps) == 2 else None
        self._layers.append(Spread(maps[0].number, result.number, scale, shift, residual, activation))

    def _as_channels(self, vector: _Vector) -> int:
        if not np.array_equal(vector.places, np.arange(len(vector.places))):
            raise UnsupportedError("it scales or shifts channels by pooled numbers")
        return vector.number

    def _bias(self, x: _Sum, width: int) -> Floats:
        bias = np.zeros(width, np.float32)
        if x.bias is not None:
            bias[: x.channels] = x.bias
        return bias

    def _product(self, x: Any, weights: Floats, bias: Floats) -> _Product:
        if isinstance(x, _Product):
            x = self._vector(x)
        if not isinstance(x, _Vector | _Pooled | _Flat) or (isinstance(x, _Flat) and x.bias is not None):
            raise UnsupportedError("it has a dense layer behind an unknown tensor")
        if weights.ndim != 2 or weights.shape[0] != len(bias) or weights.shape[0] > MOST_CHANNELS:
            raise UnsupportedError(f"it has a dense layer of the shape {weights.shape}")
        return _Product(x, weights, bias)

    def _vector(self, x: Any, activation: int = NONE) -> _Vector:
        """Returns x as a computed vector."""
        if isinstance(x, _Vector):
            return x
        if isinstance(x, _Gate) and isinstance(x.source, _Product) and not x.is_tanh:
            return self._vector(x.source, SIGMOID)
        if not isinstance(x, _Product):
            raise UnsupportedError("it has another tensor where a vector is expected")
        if activation not in x.computed:
            x.computed[activation] = self._dense(x, activation)
        return x.computed[activation]

    def _dense(self, x: _Product, activation: int) -> _Vector:
        source = self._pooled(x.source) if isinstance(x.source, _Pooled) else x.source
        outputs = len(x.weights)
        width = _padded(outputs)
        result = self._new_vector(outputs)
        reads_map = isinstance(source, _Flat)
        if isinstance(source, _Flat):
            map_ = self._map(source.source)
            used, number, inputs = map_.channels, map_.number, SQUARES * map_.channels
            places = np.arange(inputs)
        else:
            used, number, inputs = self._vectors[source.number], source.number, len(source.places)
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
        self._layers.append(Dense(number, result.number, weights, bias, activation, reads_map, used))
        return result

    def _pooled(self, x: _Pooled) -> _Vector:
        """Adds the layers that pool; every part begins at a multiple of the width."""
        sizes = [_padded(map_.channels) for map_, _ in x.parts]
        starts = np.cumsum([0, *sizes])
        vector = self._new_vector(int(starts[-1]))
        for (map_, kind), start in zip(x.parts, starts.tolist(), strict=False):
            mean_at, maximum_at = (start, None) if kind == "mean" else (None, start)
            self._layers.append(Pool(map_.number, vector.number, mean_at, maximum_at))
        places = [start + np.arange(map_.channels) for (map_, _), start in zip(x.parts, starts, strict=False)]
        return _Vector(vector.number, np.concatenate(places))

    def _new_map(self, channels: int, is_positive: bool) -> _Map:
        self._maps.append(_padded(channels))
        return _Map(len(self._maps) - 1, channels, is_positive)

    def _new_vector(self, length: int) -> _Vector:
        self._vectors.append(_padded(length))
        return _Vector(len(self._vectors) - 1, np.arange(length))


@contextmanager
def _interpreting(what: str) -> Iterator[None]:
    """Translates the errors of a network that makes no sense, such as shapes that do not fit, attributes of
    another type, missing inputs, or weights that are not finite after they were scaled.
    """
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except UnsupportedError:
        raise
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError, MemoryError) as error:
        raise UnsupportedError(f"{what} cannot be interpreted ({error})") from error


def _constant(x: Any) -> Floats:
    """Returns a constant as float32, or as the integers that it has."""
    if not isinstance(x, np.ndarray):
        raise UnsupportedError("it computes with weights that are not constants")
    if x.dtype.kind == "f":
        x = x.astype(np.float32)
        if not np.isfinite(x).all():
            raise UnsupportedError("it has weights that are not finite")
    return cast(Floats, x)


def _each_channel(x: Array) -> Floats:
    """Returns a constant that is added to maps or multiplies them, as one number a channel or one for all."""
    if x.size > 1 and (x.ndim < 3 or x.size != x.shape[-3]):
        raise UnsupportedError("it scales or shifts squares")
    return _constant(x).reshape(-1)


def _padded(count: int) -> int:
    if not 1 <= count <= MOST_CHANNELS:
        raise UnsupportedError(f"it has a tensor of {count} channels")
    return -(-count // WIDTH) * WIDTH


def _sources(layer: Layer) -> list[int]:
    """Returns the maps that a layer reads."""
    if isinstance(layer, Stem | Input):
        return []
    if isinstance(layer, Dense):
        return [layer.source] if layer.reads_map else []
    residual = None if isinstance(layer, Pool) else layer.residual
    return [layer.source] if residual is None else [layer.source, residual]


def _with_few_maps(network: ResidualNetwork) -> ResidualNetwork:
    """Returns the network with buffers used again when their maps are not needed any more.

    A few maps stay in the first- and second-level caches. A convolution may write to the buffer of its
    residual, not to that of its source.
    """
    last_use = {network.policy: len(network.layers)}
    for i, layer in enumerate(network.layers):
        for number in _sources(layer):
            last_use[number] = max(i, last_use.get(number, 0))
    sizes: list[int] = []
    free: list[int] = []
    buffer_of: dict[int, int] = {}
    layers: list[Layer] = []
    for i, layer in enumerate(network.layers):
        sources = _sources(layer)
        source = buffer_of[layer.source] if sources and isinstance(layer, Convolution) else None
        ended = [buffer_of[number] for number in dict.fromkeys(sources) if last_use[number] == i]
        free += [buffer for buffer in ended if buffer != source]
        changes: dict[str, Any] = {}
        if sources:
            changes["source"] = buffer_of[sources[0]]
        if len(sources) > 1:
            changes["residual"] = buffer_of[sources[1]]
        if isinstance(layer, Stem | Input | Convolution | Spread):
            width = network.maps[layer.to]
            fitting = [buffer for buffer in free if sizes[buffer] == width]
            if fitting:
                buffer = fitting[-1]
                free.remove(buffer)
            else:
                buffer = len(sizes)
                sizes.append(width)
            buffer_of[layer.to] = changes["to"] = buffer
        if source in ended and source is not None:
            free.append(source)
        layers.append(replace(layer, **changes))
    return replace(network, layers=layers, maps=sizes, policy=buffer_of[network.policy])


def _needed(graph: Graph, outputs: Sequence[str]) -> list[GraphNode]:
    """Returns the nodes that compute these outputs, each after those that it needs.

    A file may have others, which cost time, and tools append nodes that are needed first, as onnxruntime's
    conversion to 16 bits does. Otherwise the order is the file's.
    """
    producers = {name: i for i, node in enumerate(graph.nodes) for name in node.outputs}
    needs: dict[int, set[int]] = {}
    waiting = [producers[name] for name in outputs if name in producers]
    while waiting:
        i = waiting.pop()
        if i not in needs:
            needs[i] = {producers[name] for name in graph.nodes[i].inputs if name in producers}
            waiting += needs[i]
    sorter = TopologicalSorter(needs)
    try:
        sorter.prepare()
    except CycleError as error:
        raise UnsupportedError("its nodes need each other") from error
    order: list[int] = []
    ready: list[int] = []
    while sorter:
        for i in sorter.get_ready():
            heappush(ready, i)
        order.append(heappop(ready))
        sorter.done(order[-1])
    return [graph.nodes[i] for i in order]


def weights_in(layers: Sequence[Layer]) -> int:
    """Returns the number of weights of the convolutions, of 3x3 in Winograd's form, at least 1."""
    return 1 + sum(places * pairs for places, pairs in _sizes(layers))


def products_in(layers: Sequence[Layer]) -> int:
    """Returns how many products the convolutions of one position need, at least 1."""
    return 1 + sum((81 if places < 25 else 9 * 25) * pairs for places, pairs in _sizes(layers))


def _sizes(layers: Sequence[Layer]) -> list[tuple[int, int]]:
    """Returns the places of each convolution's weights, and how many pairs of channels it has."""
    shapes = [each.weights.shape for each in layers if isinstance(each, Convolution)]
    return [(25 if rows == 3 else rows, outputs * inputs) for outputs, inputs, rows, _ in shapes]
