"""Which ONNX files the kernel takes, and why it leaves others to onnxruntime."""

from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from goryu.evaluators.kernel.kernel import open_kernel
from goryu.evaluators.kernel.layers import UnsupportedError
from goryu.evaluators.kernel.reading import read_network
from goryu.evaluators.network.model_files import ModelError, models_folder
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import BackendError
from kernel_networks import Model, by_onnxruntime, dlshogi_like, random_planes

SHIPPED = models_folder() / "goryu-5x64.onnx"


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


def infinite(m: Model, x: str) -> str:
    return m.add("Conv", x, m.constant(np.full((32, 62, 3, 3), np.inf, np.float32)), pads=[1] * 4)


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
        (lambda m, x: m.add("Relu", infinite(m, x)), "not finite"),
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


def test_who_runs_a_network_is_said(native: ModuleType, tmp_path: Path) -> None:
    m = Model(1)
    simple(m, m.add("Elu", m.conv("input1", 62, 32, 3)))
    path = m.save(tmp_path / "elu.onnx")
    network = NetworkEvaluator(path, backend="cpu")
    assert network.backend == "CPU"
    assert network.note == "elu.onnx is run by onnxruntime, not by Winograd: it has the operator Elu"
    with pytest.raises(BackendError, match=r"Winograd cannot run elu\.onnx: it has the operator Elu"):
        NetworkEvaluator(path, backend="winograd")


def test_a_negative_variance_is_refused(tmp_path: Path) -> None:
    m = Model(1)
    numbers = [m.constant(np.full(32, each, np.float32)) for each in (1, 0, 0, -1)]
    simple(m, m.add("Relu", m.add("BatchNormalization", m.conv("input1", 62, 32, 3), *numbers)))
    assert "invalid value" in unsupported(m.save(tmp_path / "variance.onnx"))


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


def flat_shift(m: Model, x: str) -> str:
    """Adds a dense layer of all squares to a map."""
    return m.add("Add", x, m.column(m.dense(m.flatten(m.conv(x, 32, 1, 1), 81), 81, 32)))


def two(m: Model, x: str) -> str:
    """Adds two convolutions that both read a map plus a vector."""
    other = m.pool(m.add("Relu", m.conv(x, 32, 32, 1)), 32)
    return m.add("Add", m.conv(m.pool(x, 32), 32, 32, 1), m.conv(other, 32, 32, 1))


@pytest.mark.parametrize(
    "make",
    [
        lambda m, x: m.conv(m.pool(x, 32), 32, 32, 1),
        lambda m, x: m.norm(m.conv(m.pool(x, 32), 32, 32, 1, bias=False), 32),
        lambda m, x: m.add("Add", m.conv(m.pool(x, 32), 32, 32, 1), m.normal(32, 1, 1)),
        lambda m, x: m.conv(flat_shift(m, x), 32, 32, 1),
        two,
        lambda m, x: m.add("Add", m.pool(x, 32), m.conv(m.pool(x, 32), 32, 32, 1)),
        lambda m, x: m.add("Add", m.pool(x, 32), m.conv(x, 32, 32, 3)),
    ],
)
def test_a_map_plus_a_vector_goes_through_a_convolution(
    native: ModuleType, make: Any, tmp_path: Path
) -> None:
    m = Model(4)
    simple(m, m.add("Relu", make(m, m.add("Relu", m.conv("input1", 62, 32, 3)))))
    path, planes = m.save(tmp_path / "shifted.onnx"), random_planes(5, seed=4)
    logits, values = open_kernel(path, is_integer=False).run(planes)
    expected_logits, expected_values = by_onnxruntime(path, planes)
    np.testing.assert_allclose(logits, expected_logits, rtol=0, atol=1e-4)
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
