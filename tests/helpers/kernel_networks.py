"""ONNX files of networks with random weights, and what onnxruntime says of them."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from goryu.evaluators.kernel.layers import (
    RELU,
    SIGMOID,
    SQUARES,
    Convolution,
    Dense,
    ResidualNetwork,
    Stem,
)
from goryu.evaluators.network.network import NetworkEvaluator


class Model:
    """Builds an ONNX file node by node."""

    def __init__(self, seed: int, *, hand_planes: int = 57, half: bool = False) -> None:
        self.onnx = pytest.importorskip("onnx")
        self.random = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.hand_planes = hand_planes
        self.half = half

    def constant(self, values: npt.NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        if self.half and values.dtype == np.float32:
            values = values.astype(np.float16)
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def normal(self, *shape: int, scale: float = 1.0) -> str:
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def add(self, op_type: str, *inputs: str, to: str = "", **attributes: Any) -> str:
        name = to or f"t{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(op_type, list(inputs), [name], **attributes))
        return name

    def conv(self, x: str, inputs: int, outputs: int, size: int, *, bias: bool = True) -> str:
        weights = self.normal(outputs, inputs, size, size, scale=(inputs * size * size) ** -0.5)
        more = [self.normal(outputs, scale=0.1)] if bias else []
        return self.add("Conv", x, weights, *more, pads=[size // 2] * 4, kernel_shape=[size, size])

    def norm(self, x: str, channels: int) -> str:
        means = [self.normal(channels, scale=0.2) for _ in range(2)]
        gains = [self.constant(self.random.uniform(0.5, 1.5, channels).astype(np.float32)) for _ in range(2)]
        return self.add("BatchNormalization", x, gains[0], means[0], means[1], gains[1], epsilon=1e-3)

    def act(self, x: str, kind: str) -> str:
        if kind == "relu":
            return self.add("Relu", x)
        return self.add("Mul", x, self.add("Sigmoid", x))

    def dense(self, x: str, inputs: int, outputs: int) -> str:
        weights = self.normal(outputs, inputs, scale=inputs**-0.5)
        return self.add("Gemm", x, weights, self.normal(outputs, scale=0.1), transB=1)

    def column(self, x: str) -> str:
        return self.add("Unsqueeze", x, self.constant(np.array([2, 3])))

    def flatten(self, x: str, length: int, source: str = "") -> str:
        """Flattens a map; with `source`, an input, as PyTorch's exporter does it since 2.9."""
        if not source:
            return self.add("Flatten", x)
        batch = self.add("Shape", source, start=0, end=1)
        shape = self.add("Concat", batch, self.constant(np.array([length])), axis=0)
        return self.add("Reshape", x, shape, allowzero=1)

    def squeeze(self, x: str, channels: int) -> str:
        """Adds squeeze-and-excitation."""
        pooled = self.add("GlobalAveragePool", x)
        hidden = self.add("Relu", self.conv(pooled, channels, channels // 4, 1))
        return self.add("Mul", x, self.add("Sigmoid", self.conv(hidden, channels // 4, channels, 1)))

    def pool(self, x: str, channels: int) -> str:
        """Adds the global pooling of our trainer."""
        means = self.add("ReduceMean", x, axes=[2, 3], keepdims=0)
        joined = self.add("Concat", means, self.add("ReduceMax", x, axes=[2, 3], keepdims=0), axis=1)
        return self.add("Add", x, self.column(self.dense(joined, 2 * channels, channels)))

    def save(self, path: Path) -> Path:
        inputs = {"input1": [62, 9, 9], "input2": [self.hand_planes, 9, 9]}
        return self.save_as(path, inputs, {"output_policy": [2187], "output_value": [1]})

    def save_as(
        self,
        path: Path,
        inputs: dict[str, list[int]],
        outputs: dict[str, list[int]],
        batch: str | int = "n",
        opset: int = 17,
    ) -> Path:
        helper, types = self.onnx.helper, self.onnx.TensorProto
        kind = types.FLOAT16 if self.half else types.FLOAT
        tensors = [
            [helper.make_tensor_value_info(name, kind, [batch, *shape]) for name, shape in named.items()]
            for named in (inputs, outputs)
        ]
        graph = helper.make_graph(self.nodes, "g", *tensors, self.constants)
        opsets = [helper.make_opsetid("", opset)]
        self.onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))
        return path


def dlshogi_like(
    path: Path,
    blocks: int,
    channels: int,
    *,
    act: str = "relu",
    has_norms: bool = True,
    squeezes: bool = False,
    pools: bool = False,
    value: str = "Sigmoid",
    batch_of: str = "",
    **options: Any,
) -> Path:
    """Writes a network of dlshogi's architecture, normally with normalisations that are not folded.

    batch_of: the input whose length is that of reshaped maps.
    """
    m = Model(blocks * 1000 + channels, **options)
    norm = m.norm if has_norms else lambda x, _: x
    parts = m.add("Add", m.conv("input1", 62, channels, 3, bias=False), m.conv("input1", 62, channels, 1))
    parts = m.add("Add", parts, m.conv("input2", m.hand_planes, channels, 1, bias=False))
    x = m.act(norm(parts, channels), act)
    for block in range(blocks):
        y = m.act(norm(m.conv(x, channels, channels, 3), channels), act)
        y = norm(m.conv(y, channels, channels, 3), channels)
        if squeezes:
            y = m.squeeze(y, channels)
        x = m.act(m.add("Add", y, x), act)
        if pools and block == blocks // 2:
            x = m.act(m.pool(x, channels), act)
    flat = m.flatten(m.conv(x, channels, 27, 1, bias=False), 2187, batch_of)
    m.add("Add", flat, m.normal(2187, scale=0.1), to="output_policy")
    planes = m.act(norm(m.conv(x, channels, 27, 1), 27), act)
    hidden = m.act(m.dense(m.flatten(planes, 2187, batch_of), 2187, 48), act)
    if value:
        m.add(value, m.dense(hidden, 48, 1), to="output_value")
    else:
        m.add("Identity", m.dense(hidden, 48, 1), to="output_value")
    return m.save(path)


def miniosl_like(path: Path, channels: int, inside: int) -> Path:
    """Writes a network of miniosl's kind: a bottleneck with a 9x1 convolution, a pooling block, heads."""
    m = Model(channels)
    x = m.add("Relu", m.conv("input", 176, channels, 3))
    a = m.add("Relu", m.conv(x, channels, inside, 1))
    b = m.conv(m.add("Relu", m.conv(a, inside, inside, 3)), inside, inside, 3)
    c = m.act(m.add("Add", a, b), "swish")
    d = m.conv(m.add("Relu", m.conv(c, inside, inside, 3)), inside, inside, 3)
    weights = m.normal(inside, inside, 9, 1, scale=(9 * inside) ** -0.5)
    files = m.add("Conv", a, weights, m.normal(inside, scale=0.1), kernel_shape=[9, 1], pads=[0, 0, 0, 0])
    e = m.act(m.add("Add", m.add("Add", c, files), d), "swish")
    x = m.act(m.add("Add", x, m.conv(e, inside, channels, 1)), "swish")
    a, b = (m.add("Relu", m.conv(x, channels, channels, 1)) for _ in range(2))
    pooled = [m.add(kind, b, kernel_shape=[9, 9], strides=[9, 9]) for kind in ("MaxPool", "AveragePool")]
    axes = m.constant(np.array([-1]))
    joined = m.add("Squeeze", m.add("Squeeze", m.add("Concat", *pooled, axis=1), axes), axes)
    shift = m.column(m.dense(joined, 2 * channels, channels))
    x = m.act(m.add("Add", m.conv(m.add("Add", a, shift), channels, channels, 1), x), "swish")
    policy = m.conv(m.add("Relu", m.conv(x, channels, channels, 1)), channels, 27, 1)
    m.add("Flatten", policy, to="move")
    hidden = m.add("Relu", m.dense(m.add("Flatten", m.add("Relu", m.conv(x, channels, 1, 1))), 81, 48))
    m.add("Tanh", m.dense(hidden, 48, 4), to="value")
    m.add("Flatten", m.add("Relu", m.conv(x, channels, 22, 1)), to="aux")
    return m.save_as(path, {"input": [176, 9, 9]}, {"move": [2187], "value": [4], "aux": [22 * 81]})


def one_layer(layer: Convolution) -> ResidualNetwork:
    """Returns a network whose policy is one convolution of a stem that copies the planes of the board."""
    inputs, outputs = layer.weights.shape[1], len(layer.weights)
    board = np.zeros((inputs, 62, 3, 3), np.float32)
    for channel in range(inputs):
        board[channel, channel % 62, 1, 1] = 1
    stem = Stem(0, board, np.zeros((inputs, 119), np.float32), np.zeros(inputs, np.float32), RELU)
    dense = Dense(1, 0, np.ones((SQUARES, 32), np.float32), np.zeros(32, np.float32), SIGMOID, True, 1)
    bias = np.zeros((27, SQUARES), np.float32)
    return ResidualNetwork([stem, layer, dense], [inputs, outputs], [32], (62, 57), 1, bias, 0, 1.0)


def random_planes(count: int, seed: int, hand_planes: int = 57) -> list[npt.NDArray[np.float32]]:
    random = np.random.default_rng(seed)
    board = (random.random((count, 62, 9, 9)) < 0.05).astype(np.float32)
    hands = np.zeros((count, hand_planes, 9, 9), np.float32)
    hands[random.random((count, hand_planes)) < 0.1] = 1
    return [board, hands]


def by_onnxruntime(path: Path, inputs: list[npt.NDArray[np.float32]]) -> tuple[Any, Any]:
    return NetworkEvaluator(path, backend="onnxruntime", batch_size=16).run(inputs)
