"""Our own kernel against its reference, naive convolutions and onnxruntime; shipped and random networks."""

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from goryu.benchmark.backends import Comparison
from goryu.benchmark.random_network import write_random_network
from goryu.evaluators.formats.dlshogi import fill_dlshogi
from goryu.evaluators.kernel.kernel import INSTRUCTIONS_VARIABLE, best_batch, open_kernel
from goryu.evaluators.kernel.layers import (
    NONE,
    RELU,
    SIGMOID,
    SQUARES,
    SWISH,
    Convolution,
    Dense,
    Floats,
    ResidualNetwork,
    Stem,
    UnsupportedError,
)
from goryu.evaluators.kernel.reading import read_network
from goryu.evaluators.kernel.winograd import (
    GROWTH,
    GROWTH_POSITIVE,
    LEVEL,
    LEVEL_POSITIVE,
    MOST_16,
    MOST_32,
    A,
    B,
    Reference,
    activated,
    convolution,
    exponential,
    integer_convolution,
    integer_weights,
    transformed_weights,
)
from goryu.evaluators.network.model_files import ModelError, models_folder
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import BackendError
from goryu.games.shogi import Board
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.puct import Puct

SHIPPED = models_folder() / "goryu-5x64.onnx"


# Models made here, with random weights.


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

    def save_as(self, path: Path, inputs: dict[str, list[int]], outputs: dict[str, list[int]]) -> Path:
        helper, types = self.onnx.helper, self.onnx.TensorProto
        kind = types.FLOAT16 if self.half else types.FLOAT
        tensors = [
            [helper.make_tensor_value_info(name, kind, ["n", *shape]) for name, shape in named.items()]
            for named in (inputs, outputs)
        ]
        graph = helper.make_graph(self.nodes, "g", *tensors, self.constants)
        opset = helper.make_opsetid("", 17)
        self.onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), str(path))
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


def random_planes(count: int, seed: int, hand_planes: int = 57) -> list[npt.NDArray[np.float32]]:
    random = np.random.default_rng(seed)
    board = (random.random((count, 62, 9, 9)) < 0.05).astype(np.float32)
    hands = np.zeros((count, hand_planes, 9, 9), np.float32)
    hands[random.random((count, hand_planes)) < 0.1] = 1
    return [board, hands]


def planes_of(boards: list[Any]) -> list[npt.NDArray[np.float32]]:
    planes = [np.zeros((len(boards), n, 9, 9), np.float32) for n in (62, 57)]
    fill_dlshogi(boards, planes[0], planes[1])
    return planes


def by_onnxruntime(path: Path, inputs: list[npt.NDArray[np.float32]]) -> tuple[Any, Any]:
    return NetworkEvaluator(path, backend="onnxruntime", batch_size=16).run(inputs)


# The arithmetic.

SIZES = [(1, 1), (3, 3), (9, 1)]


def naive(source: Floats, weights: Floats) -> npt.NDArray[np.float64]:
    """A convolution of a map [81, inputs], as its definition says; one of 9x1 makes nine equal rows."""
    rows, columns = weights.shape[2:]
    board = source.astype(np.float64).reshape(9, 9, -1)
    result = np.zeros((9, 9, len(weights)))
    for r, c in itertools.product(range(9), repeat=2):
        for a, b in itertools.product(range(rows), range(columns)):
            row, column = a if rows == 9 else r + a - rows // 2, c + b - columns // 2
            if 0 <= row < 9 and 0 <= column < 9:
                result[r, c] += weights[:, :, a, b].astype(np.float64) @ board[row, column]
    return result.reshape(SQUARES, -1)


def test_the_transforms_are_a_convolution() -> None:
    random = np.random.default_rng(1)
    weights, patch = random.standard_normal((1, 1, 3, 3)), random.standard_normal((5, 5))
    products = transformed_weights(weights.astype(np.float32)).reshape(5, 5) * (B @ patch @ B.T)
    kernel = weights.astype(np.float32)[0, 0]
    direct = [[np.sum(patch[r : r + 3, c : c + 3] * kernel) for c in range(3)] for r in range(3)]
    assert np.allclose(A @ products @ A.T, direct, atol=1e-9)


def test_no_transformed_input_leaves_16_bits() -> None:
    """The bounds of the docstring, from the matrix itself: the worst patch for each place."""
    for growth, level, low in ((GROWTH_POSITIVE, LEVEL_POSITIVE, 0), (GROWTH, LEVEL, -1)):
        for i, j in itertools.product(range(5), repeat=2):
            factors = np.outer(B[i], B[j])
            plus, minus = np.maximum(factors, 0), np.maximum(-factors, 0)
            greatest = max((plus - low * minus).sum(), (minus - low * plus).sum())
            assert greatest == growth[i, j]
            assert level * greatest <= MOST_16


def layer_of(weights: Floats, *, is_positive: bool) -> Convolution:
    return Convolution(0, 1, weights, np.zeros(len(weights), np.float32), None, NONE, is_positive)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("inputs", "outputs", "is_positive"), [(32, 32, True), (64, 96, False), (192, 64, True)]
)
def test_a_layer_of_integers_is_a_naive_convolution(
    size: tuple[int, int], is_positive: bool, inputs: int, outputs: int
) -> None:
    random = np.random.default_rng(inputs)
    weights = random.standard_normal((outputs, inputs, *size)).astype(np.float32)
    source = random.standard_normal((SQUARES, inputs)).astype(np.float32)
    if is_positive:
        source = np.maximum(source, 0)
    expected = naive(source, weights)
    found = convolution(integer_weights(layer_of(weights, is_positive=is_positive)), source)
    assert np.sqrt(np.mean((found - expected) ** 2)) < 3e-3 * expected.std()


def one_layer(layer: Convolution) -> ResidualNetwork:
    """A network whose policy is one convolution of a stem that copies planes 0-31 of the board."""
    inputs, outputs = layer.weights.shape[1], len(layer.weights)
    board = np.zeros((inputs, 62, 3, 3), np.float32)
    for channel in range(inputs):
        board[channel, channel % 62, 1, 1] = 1
    stem = Stem(0, board, np.zeros((inputs, 119), np.float32), np.zeros(inputs, np.float32), RELU)
    dense = Dense(1, 0, np.ones((SQUARES, 32), np.float32), np.zeros(32, np.float32), SIGMOID, True, 1)
    bias = np.zeros((27, SQUARES), np.float32)
    return ResidualNetwork([stem, layer, dense], [inputs, outputs], [32], (62, 57), 1, bias, 0, 1.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("size", SIZES)
def test_saturated_inputs_do_not_overflow(native: ModuleType, size: tuple[int, int], sign: float) -> None:
    """Every input is the greatest there is; the patches are the worst for each place."""
    inputs = 64
    boards = [np.ones((1, 62, 9, 9), np.float32)]
    if size == (
        3,
        3,
    ):  # Worst cases of each place of the patch; a checkered board has both signs of all sums.
        for i, j in itertools.product(range(5), repeat=2):
            factors = np.outer(B[i], B[j])
            tiled = np.zeros((9, 9), np.float32)
            tiled[2:7, 2:7] = factors > 0
            boards.append(np.broadcast_to(tiled, (1, 62, 9, 9)).astype(np.float32))
    weights = np.full((32, inputs, *size), sign * 1e3, np.float32)
    weights[16:] *= np.random.default_rng(1).choice([-1, 1], (16, 1, *size))
    network = one_layer(layer_of(weights, is_positive=True))
    board = np.concatenate(boards)
    planes = [board, np.zeros((len(board), 57, 9, 9), np.float32)]
    expected = Reference(network).run(planes)  # It computes in 64 bits and checks the bounds.
    for instructions in native.usable_instructions():
        found = native.WinogradNetwork(network, instructions).run(planes)
        assert np.array_equal(found[0], expected[0])


@pytest.mark.parametrize(
    ("size", "is_positive"), [*zip(SIZES, (True, False, True), strict=True), (SIZES[0], False)]
)
def test_no_output_leaves_32_bits(size: tuple[int, int], is_positive: bool) -> None:
    """For the worst board of each output of the middle tile. What each input adds is found one by one."""
    weights = np.random.default_rng(2).standard_normal((32, 32, *size)).astype(np.float32) ** 3
    rounded = integer_weights(layer_of(weights, is_positive=is_positive))
    ranks = range(9) if size == (9, 1) else range(2, 7)
    boards = np.zeros((len(ranks) * 5 * 32, 9, 9, 32), np.int64)
    for board, place in zip(boards, itertools.product(ranks, range(2, 7), range(32)), strict=True):
        board[place] = 1
    middle = [30, 31, 32, 39, 40, 41, 48, 49, 50]
    integers = rounded.integers.astype(np.int64)
    added = np.stack([integer_convolution(integers, board)[middle] for board in boards])
    highest, lowest = np.maximum(added, 0).sum(0), np.minimum(added, 0).sum(0)
    reached = rounded.level * (np.maximum(highest, -lowest) if is_positive else highest - lowest)
    assert reached.max() <= MOST_32
    # One of the limits is nearly used; otherwise the weights would be coarser than they need to be.
    assert ((reached.max(0) > 0.9 * MOST_32) | (np.abs(integers).max((0, 2)) > MOST_16 - 2)).all()


def test_exp_is_that_of_the_library() -> None:
    x = np.linspace(-87, 87, 10_001).astype(np.float32)
    assert np.allclose(exponential(x), np.exp(x.astype(np.float64)), rtol=3e-7)
    assert np.allclose(activated(x, SWISH), x / (1 + np.exp(-x.astype(np.float64))), rtol=1e-6, atol=1e-30)


# The kernel against its reference and onnxruntime.

NETWORKS: dict[str, dict[str, Any]] = {
    "plain": {"blocks": 2, "channels": 64},
    "narrow": {"blocks": 1, "channels": 32, "value": "Tanh"},
    "no multiple of 32": {"blocks": 2, "channels": 40, "squeezes": True},
    "swish": {"blocks": 2, "channels": 96, "act": "swish"},
    "squeeze": {"blocks": 2, "channels": 64, "squeezes": True, "value": ""},
    "pooling": {"blocks": 3, "channels": 64, "pools": True, "has_norms": False},
    "all": {"blocks": 2, "channels": 64, "act": "swish", "squeezes": True, "pools": True},
    "entering king": {"blocks": 1, "channels": 64, "hand_planes": 119},
    "reshaped": {"blocks": 1, "channels": 32, "batch_of": "input1"},
    "miniosl": {"channels": 96, "inside": 32},
}


def model_of(name: str, path: Path) -> Path:
    return (miniosl_like if name == "miniosl" else dlshogi_like)(path, **NETWORKS[name])


def planes_for(network: ResidualNetwork, count: int, seed: int) -> list[npt.NDArray[np.float32]]:
    if len(network.planes) == 2:
        return random_planes(count, seed, network.planes[1])
    random = np.random.default_rng(seed)
    present = random.random((count, 176, 9, 9)) < 0.1
    return [(present * random.integers(1, 5, present.shape) / 4).astype(np.float32)]


@pytest.mark.parametrize("name", NETWORKS)
def test_the_kernel_has_the_bits_of_its_reference(native: ModuleType, name: str, tmp_path: Path) -> None:
    network = read_network(model_of(name, tmp_path / "model.onnx"))
    planes = planes_for(network, 3, seed=3)
    logits, values = Reference(network).run(planes)
    for instructions in native.usable_instructions():
        found = native.WinogradNetwork(network, instructions).run(planes)
        assert np.array_equal(found[0], logits)
        assert np.array_equal(found[1], values)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_kernel_computes_what_onnxruntime_does(native: ModuleType, name: str, tmp_path: Path) -> None:
    path = model_of(name, tmp_path / "model.onnx")
    network = read_network(path)
    planes = planes_for(network, 7, seed=4)
    logits, values = by_onnxruntime(path, planes)
    for instructions in native.usable_instructions():
        for is_integer, tolerance in ((False, 3e-5), (True, 2e-2)):
            found = native.WinogradNetwork(network, instructions, is_integer).run(planes)
            assert np.abs(found[0] - logits).max() < tolerance * np.abs(logits).max()
            assert np.abs(found[1] - values).max() < tolerance


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "channels"), [(10, 128), (15, 192)])
def test_large_networks(native: ModuleType, blocks: int, channels: int, tmp_path: Path) -> None:
    path = dlshogi_like(tmp_path / "model.onnx", blocks, channels, act="swish")
    planes = random_planes(5, seed=5)
    logits, values = by_onnxruntime(path, planes)
    for instructions in native.usable_instructions():
        for is_integer, tolerance in ((False, 1e-4), (True, 3e-2)):
            found = native.WinogradNetwork(read_network(path), instructions, is_integer).run(planes)
            assert np.abs(found[0] - logits).max() < tolerance * np.abs(logits).max()
            assert np.abs(found[1] - values).max() < tolerance


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 9])
def test_the_size_of_a_batch_does_not_matter(native: ModuleType, count: int) -> None:
    planes = random_planes(9, seed=6)
    for is_integer in (True, False):
        kernel = open_kernel(SHIPPED, is_integer=is_integer)
        logits, values = kernel.run(planes)
        for first in range(0, 9, count):
            part = kernel.run([rows[first : first + count] for rows in planes])
            assert np.array_equal(part[0], logits[first : first + count])
            assert np.array_equal(part[1], values[first : first + count])
    assert kernel.run([rows[:0] for rows in planes])[0].shape == (0, 2187)


def test_the_integers_are_close_to_the_float_network(native: ModuleType) -> None:
    """On positions of games that the network plays with itself, 600 of them."""
    boards, random = [], Random(1)
    kernel = open_kernel(SHIPPED, is_integer=False)
    games = [Board() for _ in range(12)]
    for _ in range(50):
        logits, _values = kernel.run(planes_of(games))
        for i, (board, row) in enumerate(zip(games, logits, strict=True)):
            boards.append(board.copy())
            labels = labels_of(board)
            order = sorted(labels, key=lambda move: -row[labels[move]])
            board.push(random.choice(order[:3]) if random.random() < 0.3 else order[0])
            if board.outcome() or not board.legal_moves():
                games[i] = Board()
    planes = planes_of(boards)
    logits, values = by_onnxruntime(SHIPPED, planes)
    found, found_values = open_kernel(SHIPPED).run(planes)
    same = 0
    for board, ours, theirs in zip(boards, found, logits, strict=True):
        legal = list(labels_of(board).values())
        same += int(ours[legal].argmax() == theirs[legal].argmax())
    assert len(boards) == 600
    assert same >= 0.985 * len(boards)
    assert np.sqrt(np.mean((found_values - values) ** 2)) < 0.005


def labels_of(board: Any) -> dict[Any, int]:
    from goryu.evaluators.formats.dlshogi import dlshogi_label

    return {move: dlshogi_label(move, board.turn) for move in board.legal_moves()}


def test_a_network_of_the_benchmark_is_one_for_the_kernel(native: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    path = tmp_path / "random.onnx"
    write_random_network(2, 64, path)
    planes = random_planes(3, seed=8)
    logits, values = by_onnxruntime(path, planes)
    found = open_kernel(path).run(planes)
    assert read_network(path).name == "2x64"
    assert np.abs(found[0] - logits).max() < 2e-2 * np.abs(logits).max()
    assert np.abs(found[1] - values).max() < 2e-2


def test_backends_are_compared_side_by_side(native: ModuleType) -> None:
    networks = [NetworkEvaluator(SHIPPED, backend=name) for name in ("winograd", "onnxruntime")]
    comparison = Comparison(networks, seconds=0.02, batches=(1, 3))
    assert len(list(comparison.run(2))) == 2
    assert {len(rates) for rates in comparison.rates.values()} == {2}
    assert comparison.best_search(0)[1] > comparison.best_search(1)[1]


def test_a_ratio_is_the_median_of_the_rounds_over_the_best_batch_of_the_other() -> None:
    comparison = Comparison([], batches=(1, 2))
    comparison.rates = {
        (0, "search 1"): [30.0, 80.0, 50.0],
        (1, "search 1"): [10.0, 10.0, 10.0],
        (1, "search 2"): [10.0, 20.0, 20.0],
    }
    assert comparison.over(0, 1, 1) == 3.0
    assert comparison.over(1, 1, 1) == 0.5


def test_nodes_that_no_output_needs_are_left_out(tmp_path: Path) -> None:
    """They cost no time, neither in the kernel nor in onnxruntime."""
    onnx = pytest.importorskip("onnx")
    model = onnx.load(str(SHIPPED))
    inner = next(node.output[0] for node in model.graph.node if node.op_type == "Conv")
    model.graph.node.append(onnx.helper.make_node("Cos", [inner], ["output_error"]))
    path = tmp_path / "model.onnx"
    onnx.save(model, str(path))
    planes = random_planes(20, seed=6)
    assert len(read_network(path).layers) == len(read_network(SHIPPED).layers)
    for backend in ("winograd", "onnxruntime"):
        expected = NetworkEvaluator(SHIPPED, backend=backend).run(planes)
        for one, other in zip(NetworkEvaluator(path, backend=backend).run(planes), expected, strict=True):
            assert np.array_equal(one, other)


# The evaluator and the search.


@pytest.mark.parametrize("name", ["shipped", "miniosl"])
def test_the_searches_in_both_languages_agree(native: ModuleType, name: str, tmp_path: Path) -> None:
    """The native search asks the kernel directly, the Python search through planes."""
    sfen = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1"
    path = SHIPPED if name == "shipped" else model_of(name, tmp_path / "model.onnx")
    network = NetworkEvaluator(path, backend="winograd", temperature=1.3)
    for batch_size in (6,):
        config = PuctConfig(batch_size=batch_size)
        found = native.Puct(network, config).search(native.Board(sfen), lambda _: False, max_playouts=150)
        expected = Puct(network, config).search(Board(sfen), lambda _: False, max_playouts=150)
        assert [(each.move, each.visits) for each in found.moves] == [
            (each.move, each.visits) for each in expected.moves
        ]
        assert found.value == expected.value


def test_a_search_with_several_threads(native: ModuleType) -> None:
    network = NetworkEvaluator(SHIPPED, backend="winograd")
    puct = native.Puct(network, PuctConfig(batch_size=2), threads=3)
    result = puct.search(native.Board(), lambda _: False, max_playouts=2000)
    assert result.stats.playouts == 2000
    assert sum(move.visits for move in result.moves) == 2000


def test_numbers_that_are_none_end_a_search(native: ModuleType) -> None:
    network = read_network(SHIPPED)
    bias = np.full((27, SQUARES), np.nan, np.float32)
    evaluator = NetworkEvaluator(SHIPPED, backend="winograd")
    instructions = native.usable_instructions()[0]
    evaluator.kernel = native.WinogradNetwork(replace(network, policy_bias=bias), instructions)
    puct = native.Puct(evaluator, PuctConfig())
    with pytest.raises(ModelError, match="not a number"):
        puct.search(native.Board(), lambda _: False, max_playouts=10)


def test_the_backend_is_chosen_and_named(native: ModuleType) -> None:
    best = native.usable_instructions()[0]
    for backend, name, words in (
        ("cpu", "Winograd", f"arithmetic=int16 instructions={best}"),
        ("winograd-float", "Winograd", f"arithmetic=float32 instructions={best}"),
        ("onnxruntime", "CPU", "ort="),
    ):
        network = NetworkEvaluator(SHIPPED, backend=backend)
        assert network.backend == name
        assert words in network.description
        assert not network.note
    assert NetworkEvaluator(SHIPPED, backend="cpu").batch_size == best_batch(open_kernel(SHIPPED)) == 1


def test_the_environment_limits_the_instructions(native: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for instructions in native.usable_instructions():
        monkeypatch.setenv(INSTRUCTIONS_VARIABLE, instructions)
        assert open_kernel(SHIPPED).instructions == instructions
    monkeypatch.setenv(INSTRUCTIONS_VARIABLE, "mmx")
    with pytest.raises(UnsupportedError, match="mmx, but this machine has"):
        open_kernel(SHIPPED)


def test_16_bit_files_are_read(native: ModuleType, tmp_path: Path) -> None:
    path = dlshogi_like(tmp_path / "half.onnx", 1, 64, half=True)
    planes = random_planes(4, seed=7)
    logits, values = open_kernel(path).run(planes)
    expected = by_onnxruntime(path, planes)
    assert np.abs(logits - expected[0].astype(np.float32)).max() < 0.03 * np.abs(logits).max()
    assert np.abs(values - expected[1]).max() < 0.03


def test_nodes_in_another_order_are_the_same_network(native: ModuleType, tmp_path: Path) -> None:
    """onnxruntime accepts them, and its conversion to 16 bits writes them."""
    path = dlshogi_like(tmp_path / "model.onnx", 2, 32, squeezes=True)
    planes = random_planes(4, seed=7)
    expected = open_kernel(path).run(planes)
    onnx = pytest.importorskip("onnx")
    model = onnx.load(str(path))
    nodes = list(model.graph.node)
    np.random.default_rng(1).shuffle(nodes)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.save(model, str(path))
    assert np.array_equal(open_kernel(path).run(planes)[0], expected[0])


# What the kernel does not know.


def unsupported(path: Path) -> str:
    with pytest.raises(UnsupportedError) as caught:
        read_network(path)
    return str(caught.value)


def simple(m: Model, x: str) -> None:
    m.add("Flatten", m.conv(x, 32, 27, 1), to="output_policy")
    m.add("Sigmoid", m.dense(m.add("ReduceMax", x, axes=[2, 3], keepdims=0), 32, 1), to="output_value")


def row(m: Model, x: str) -> str:
    """Adds a 9x1 convolution of the board, which makes one row of squares."""
    return m.add("Conv", x, m.normal(32, 62, 9, 1), pads=[0] * 4)


def twice(m: Model, x: str, factor: float) -> str:
    """Multiplies by a factor two times."""
    for _ in range(2):
        x = m.add("Mul", x, m.constant(np.array([factor], np.float32)))
    return x


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda m, x: m.add("Softmax", m.conv(x, 62, 32, 3)), "the operator Softmax"),
        (lambda m, x: m.add("Relu", m.conv(x, 62, 32, 5)), "convolutions of (5, 5)"),
        (
            lambda m, x: m.add("Conv", x, m.normal(32, 62, 3, 3), pads=[1] * 4, dilations=[2, 2]),
            "other strides, borders or groups",
        ),
        (lambda m, x: m.add("Conv", x, m.normal(32, 62, 3, 3)), "other strides, borders or groups"),
        (lambda m, x: m.add("Relu", m.conv("input2", 57, 32, 3)), "a 3x3 convolution of constant planes"),
        (lambda m, x: m.add("Add", m.conv(x, 62, 32, 3), m.normal(9, 9)), "scales or shifts squares"),
        (lambda m, x: m.add("Add", m.conv(x, 62, 32, 3), m.normal(9)), "scales or shifts squares"),
        (lambda m, x: twice(m, m.conv(x, 62, 32, 3), 1e30), "overflow"),
        (lambda m, x: m.add("Relu", m.conv(x, 61, 32, 1)), "a convolution (32, 61, 1, 1) of the board"),
        (lambda m, x: m.add("Relu", m.add("Add", row(m, x), m.conv(x, 62, 32, 3))), "(32, 62, 9, 1)"),
        (lambda m, x: m.add("Relu", m.add("Mul", row(m, x), m.normal(1))), "a row of squares"),
        (lambda m, x: m.add("Relu", m.add("Add", row(m, x), m.normal(32, 1, 1))), "a row of squares"),
        (lambda m, x: m.add("Transpose", m.conv(x, 62, 32, 3), perm=[0, 1, 3, 2]), "exchanges axes"),
        (
            lambda m, x: m.add("ReduceMean", m.conv(x, 62, 32, 3), axes=[1], keepdims=1),
            "reduces other axes than the board",
        ),
    ],
)  # fmt: skip
def test_other_networks_are_left_to_onnxruntime(make: Any, reason: str, tmp_path: Path) -> None:
    m = Model(1)
    simple(m, make(m, "input1"))
    assert reason in unsupported(m.save(tmp_path / "other.onnx"))


def test_nodes_that_need_each_other_are_refused(tmp_path: Path) -> None:
    m = Model(1)
    x = m.conv("input1", 62, 32, 3)
    simple(m, m.add("Add", x, m.add("Relu", "circle"), to="circle"))
    assert "its nodes need each other" in unsupported(m.save(tmp_path / "circle.onnx"))


def test_who_runs_a_network_is_said(native: ModuleType, tmp_path: Path) -> None:
    m = Model(1)
    simple(m, m.add("Elu", m.conv("input1", 62, 32, 3)))
    path = m.save(tmp_path / "elu.onnx")
    network = NetworkEvaluator(path, backend="cpu")
    assert network.backend == "CPU"
    assert network.note == "elu.onnx is run by onnxruntime, not by Winograd: it has the operator Elu"
    with pytest.raises(BackendError, match=r"Winograd cannot run elu\.onnx: it has the operator Elu"):
        NetworkEvaluator(path, backend="winograd")


def test_weights_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    m = Model(1)
    weights = m.constant(np.full((32, 62, 3, 3), np.inf, np.float32))
    simple(m, m.add("Relu", m.add("Conv", "input1", weights, pads=[1] * 4)))
    assert "not finite" in unsupported(m.save(tmp_path / "inf.onnx"))


def test_a_negative_variance_is_refused(tmp_path: Path) -> None:
    m = Model(1)
    numbers = [m.constant(np.full(32, each, np.float32)) for each in (1, 0, 0, -1)]
    simple(m, m.add("Relu", m.add("BatchNormalization", m.conv("input1", 62, 32, 3), *numbers)))
    assert "invalid value" in unsupported(m.save(tmp_path / "variance.onnx"))


def test_a_policy_of_61_planes_is_refused(tmp_path: Path) -> None:
    m = Model(1)
    m.add("Flatten", m.conv("input1", 61, 27, 1), to="output_policy")
    x = m.add("Relu", m.conv("input1", 62, 32, 3))
    m.add("Sigmoid", m.dense(m.add("ReduceMax", x, axes=[2, 3], keepdims=0), 32, 1), to="output_value")
    assert "(27, 61, 1, 1) of the board" in unsupported(m.save(tmp_path / "policy.onnx"))


def test_a_row_that_is_scaled_is_one_row(native: ModuleType, tmp_path: Path) -> None:
    """A 9x1 convolution times constants, added to a map, is what onnxruntime computes."""
    m = Model(3)
    x = m.add("Relu", m.conv("input1", 62, 32, 3))
    files = m.add("Conv", x, m.normal(32, 32, 9, 1, scale=0.06), pads=[0] * 4)
    simple(m, m.add("Relu", m.add("Add", m.norm(files, 32), m.conv(x, 32, 32, 3))))
    path, planes = m.save(tmp_path / "row.onnx"), random_planes(8, seed=4)
    logits, values = open_kernel(path, is_integer=False).run(planes)
    expected_logits, expected_values = by_onnxruntime(path, planes)
    np.testing.assert_allclose(logits, expected_logits, rtol=0, atol=1e-3)
    np.testing.assert_allclose(values, expected_values, rtol=0, atol=1e-4)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    """Truncated anywhere or with any bytes changed, a file is read, or refused with a reason."""
    content = dlshogi_like(tmp_path / "whole.onnx", 1, 32, squeezes=True).read_bytes()
    path, random = tmp_path / "damaged.onnx", Random(1)
    outcomes = set()
    # Most of the file are weights; the structure is what is interesting.
    structure = content[:4000]
    for i in range(160):
        damaged = bytearray(content)
        if i % 4 == 0:
            damaged = damaged[: random.randrange(len(structure if i % 8 else damaged))]
        else:
            for _ in range(random.choice((1, 1, 3, 10))):
                damaged[random.randrange(len(structure))] = random.randrange(256)
        path.write_bytes(damaged)
        try:
            read_network(path)
            outcomes.add("read")
        except (UnsupportedError, ModelError) as error:
            outcomes.add(type(error).__name__)
    assert outcomes == {"read", "UnsupportedError", "ModelError"}


def test_the_native_module_refuses_layers_that_do_not_fit(native: ModuleType) -> None:
    network = read_network(SHIPPED)
    instructions = native.usable_instructions()[0]
    with pytest.raises(ValueError, match="instructions"):
        native.WinogradNetwork(network, "none")
    for change in ({"maps": [64, 64]}, {"vectors": [32] * 5}, {"policy": 7}, {"maps": [60, 64, 32]}):
        with pytest.raises(ValueError, match="expected"):
            native.WinogradNetwork(replace(network, **change), instructions)


def test_planes_of_a_wrong_shape_are_refused(native: ModuleType) -> None:
    board, hands = random_planes(2, seed=1)
    for planes in ([board[:, :61], hands], [board, hands[:1]], [board, hands[:, :50]]):
        with pytest.raises(ValueError, match="expected an array of shape"):
            open_kernel(SHIPPED).run(planes)


def test_a_network_runs_without_onnxruntime(native: ModuleType) -> None:
    """The kernel needs no library: where onnxruntime is missing the shipped network plays all the same."""
    program = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from goryu.evaluators.network.network import NetworkEvaluator\n"
        "from goryu.games.shogi import Board\n"
        f"network = NetworkEvaluator({str(SHIPPED)!r}, backend='cpu')\n"
        "print(len(network.evaluate([Board()])[0].policy))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "30"
