"""The network in 8 bits: its ranges, and how close the shipped one is to the float network."""

import argparse
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx")
pytest.importorskip("rsshogi")

from goryu.commands.training.quantize import load  # noqa: E402
from goryu.evaluators.network.network import NetworkEvaluator  # noqa: E402
from goryu.learning.quantization.calibration import best_range  # noqa: E402
from goryu.learning.quantization.comparison import agreement  # noqa: E402
from goryu.learning.quantization.quantize import quantize  # noqa: E402
from goryu.learning.quantization.saturation import saturated_pairs  # noqa: E402
from goryu.learning.records.conversion import read_records  # noqa: E402
from goryu.learning.training.dataset import Dataset  # noqa: E402
from paths import MODELS  # noqa: E402

FLOAT = MODELS / "goryu-5x64.onnx"
SMALL = FLOAT.with_name("goryu-5x64-int8.onnx")


def positions(count: int) -> Dataset:
    records = read_records(FLOAT.parent / "data" / "fsf_20261123.games")[:count]
    return Dataset(records, np.zeros(len(records), np.float32))


class Foreign:
    """Builds a network of the dlshogi format: random weights, nodes named after their types."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(1)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: Any) -> str:
        name = f"constant-{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.asarray(values, np.float32), name))
        return name

    def random(self, *shape: int) -> Any:
        return self.rng.normal(0, 1, shape) / np.sqrt(np.prod(shape[1:]))

    def add(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        name = f"{kind}-{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(kind, inputs, [output or name], name, **attributes))
        return output or name

    def convolution(self, x: str, weight: Any, bias: Any = None) -> str:
        size = weight.shape[-1]
        inputs = [self.constant(weight)] + ([] if bias is None else [self.constant(bias)])
        return self.add("Conv", x, *inputs, kernel_shape=[size] * 2, pads=[size // 2] * 4)

    def trunk(self, planes: int = 57) -> str:
        """Adds the first layers of dlshogi's own networks: two of the three read the same planes.

        planes: of input2.
        """
        self.planes = planes
        weights = (("input1", (8, 62, 3, 3)), ("input1", (8, 62, 1, 1)), ("input2", (8, planes, 1, 1)))
        first, second, third = (self.convolution(x, self.random(*shape)) for x, shape in weights)
        return self.add("Relu", self.add("Add", self.add("Add", first, second), third))

    def save(self, path: Path, x: str, inputs: tuple[str, str] = ("input1", "input2")) -> Path:
        """Adds the heads and writes the file, with the inputs in this order."""
        self.add("Flatten", self.convolution(x, self.random(27, 8, 1, 1)), output="output_policy")
        pooled = self.add("GlobalAveragePool", self.convolution(x, self.random(1, 8, 1, 1)))
        self.add("Sigmoid", self.add("Flatten", pooled), output="output_value")
        planes = {"input1": (62, 9, 9), "input2": (self.planes, 9, 9)}
        shapes = planes | {"output_policy": (2187,), "output_value": (1,)}
        values = {
            name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", *shape])
            for name, shape in shapes.items()
        }
        outputs = [values["output_policy"], values["output_value"]]
        ends = [values[name] for name in inputs]
        graph = onnx.helper.make_graph(self.nodes, "foreign", ends, outputs, self.constants)
        operators = [onnx.helper.make_opsetid("", 17)]
        onnx.save(onnx.helper.make_model(graph, opset_imports=operators, ir_version=8), path)
        return path


def test_a_range_is_narrow_where_large_values_are_rare() -> None:
    rng = np.random.default_rng(1)
    values = np.maximum(rng.normal(0, 1, 50_000), 0).astype(np.float32)
    values[:3] = 20.0, 3.0, 4.0
    lowest, highest = best_range(values)
    assert lowest == 0
    assert 19 < highest <= 20  # Three values in a hundred thousand, but the error of one would be 15.
    spread = rng.normal(-2, 2, 50_000).astype(np.float32)
    assert best_range(spread) == pytest.approx((spread.min(), spread.max()), rel=0.2)
    assert best_range(np.zeros(100, np.float32)) == pytest.approx((0, 1e-3), rel=0.7)


def test_the_shipped_8_bit_network_is_close_to_the_float_one_on_other_games() -> None:
    networks = [NetworkEvaluator(path, backend="onnxruntime") for path in (FLOAT, SMALL)]
    found = agreement(networks[0], networks[1], positions(1000))
    assert found.policy_top1 > 0.97
    assert found.policy_error < 0.0024  # 0.0022; with one scale for all channels 0.0025
    nodes = onnx.load(SMALL).graph.node
    writer = {node.output[0]: node for node in nodes}
    sums = [node for node in nodes if node.op_type == "Add" and "/tower." in node.name]
    assert len(sums) == 6
    assert all("Relu" in [writer[term].op_type for term in node.input] for node in sums)  # Not rounded.


def test_a_filter_of_almost_nothing_keeps_its_bias(tmp_path: Path) -> None:
    """In units of such small weights the bias is greater than 32 bits can hold."""
    net = Foreign()
    x = net.trunk()
    weight = net.random(8, 8, 3, 3)
    weight[3] = 0
    weight[4:6] *= 1e-9
    y = net.convolution(x, weight, np.full(8, 3.0))
    path = net.save(tmp_path / "float.onnx", net.add("Relu", net.add("Add", x, y)))
    for start in range(0, 64, 16):
        data = positions(64).select(np.arange(start, start + 16))
        quantize(path, tmp_path / "int8.onnx", data)
        networks = [NetworkEvaluator(tmp_path / name, backend="cpu") for name in ("float.onnx", "int8.onnx")]
        assert agreement(networks[0], networks[1], data).value_error < 0.01


def test_small_channels_that_are_added_to_large_ones_keep_their_precision(tmp_path: Path) -> None:
    """The heads, which stay float, weight all channels equally."""
    net = Foreign()
    x = net.trunk()
    sizes = np.logspace(0, -2, 8)[:, None, None, None]
    small = net.convolution(x, net.random(8, 8, 3, 3) * sizes, np.zeros(8))
    large = net.convolution(x, net.random(8, 8, 1, 1) * sizes)
    x = net.add("Relu", net.add("Add", small, large))
    x = net.add("Mul", x, net.constant(1.0 / sizes.reshape(1, 8, 1, 1)))
    path = net.save(tmp_path / "float.onnx", x)
    heads = [node.name for node in net.nodes if node.op_type == "Conv"][-3:]
    quantize(path, tmp_path / "int8.onnx", positions(64), exclude=heads)
    networks = [NetworkEvaluator(tmp_path / name, backend="cpu") for name in ("float.onnx", "int8.onnx")]
    found = agreement(networks[0], networks[1], positions(64))
    assert found.policy_error < 0.0002  # With one scale for all channels 0.0008.


def test_with_7_bits_the_weights_of_all_planes_keep_8(tmp_path: Path) -> None:
    net = Foreign()
    x = net.trunk()
    path = net.save(tmp_path / "float.onnx", x)
    quantize(path, tmp_path / "int7.onnx", positions(16), reduce_range=True)
    graph = onnx.load(tmp_path / "int7.onnx").graph
    weights = [
        onnx.numpy_helper.to_array(tensor)
        for tensor in graph.initializer
        if tensor.data_type == onnx.TensorProto.INT8
    ]
    greatest = [int(np.abs(values.astype(int)).max()) for values in weights if values.ndim == 4]
    assert sorted(greatest) == [64, 64, 127, 127, 127]
    assert saturated_pairs(tmp_path / "int7.onnx", positions(16))[0] == 0


def test_the_padding_has_the_zero_point(tmp_path: Path) -> None:
    """With a zero point of 200 any two bytes saturate with the largest weights, in the padding too."""
    number, node = onnx.numpy_helper.from_array, onnx.helper.make_node
    constants = [
        number(np.array(1, np.float32), "scale"),
        number(np.array(200, np.uint8), "zero"),
        number(np.full((1, 62, 3, 3), 127, np.int8), "weight"),
        number(np.array(0, np.int8), "no shift"),
    ]
    nodes = [
        node("QuantizeLinear", ["input1", "scale", "zero"], ["bytes"]),
        node("DequantizeLinear", ["bytes", "scale", "zero"], ["x"]),
        node("DequantizeLinear", ["weight", "scale", "no shift"], ["w"]),
        node("Conv", ["x", "w"], ["y"], kernel_shape=[3, 3], pads=[1] * 4),
    ]
    values = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", planes, 9, 9])
        for name, planes in (("input1", 62), ("input2", 57), ("y", 1))
    ]
    graph = onnx.helper.make_graph(nodes, "shifted", values[:2], values[2:], constants)
    operators = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=operators, ir_version=8), tmp_path / "net.onnx")
    pairs = 2 * 81 * 9 * 62 // 2
    assert saturated_pairs(tmp_path / "net.onnx", positions(2)) == (pairs, pairs)


def test_inputs_may_be_in_another_order(tmp_path: Path) -> None:
    net = Foreign()
    path = net.save(tmp_path / "float.onnx", net.trunk(), inputs=("input2", "input1"))
    quantize(path, tmp_path / "int8.onnx", positions(16))
    assert saturated_pairs(tmp_path / "int8.onnx", positions(16))[1] > 0


def test_networks_are_compared_on_onnxruntime() -> None:
    """Our own kernel would compute the float network in 16-bit integers."""
    args = argparse.Namespace(batch_size=4, threads=1)
    assert load(FLOAT, args).kernel is load(SMALL, args).kernel is None


def test_a_network_of_other_planes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    net = Foreign()
    net.save(tmp_path / "float.onnx", net.trunk(119))
    data = str(FLOAT.parent / "data" / "fsf_20261123.games")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["quantize", "float.onnx", "--data", data, "--out", "int8.onnx"])
    tool = vars(import_module("goryu.commands.training.quantize"))
    assert tool["main"]() == 2
    assert "float.onnx: expected inputs of 62 and 57 planes, found [62, 119]" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["float.onnx"]


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_an_interrupted_quantization_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(FLOAT.parent / "data" / "fsf_20261123.games")
    monkeypatch.setattr(
        sys, "argv", ["quantize", str(FLOAT), "--data", data, "--out", str(tmp_path / "int8.onnx")]
    )
    tool = vars(import_module("goryu.commands.training.quantize"))
    seen: list[int] = []

    def write_smaller(*_: object) -> None:
        seen.append(len(list(tmp_path.iterdir())))
        signal.raise_signal(signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setitem(tool["run"].__globals__, "write_smaller", write_smaller)
    try:
        assert tool["main"]() == 130
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == [0]
    assert capsys.readouterr().err == "goryu quantize: interrupted\n"
    assert not list(tmp_path.iterdir())
