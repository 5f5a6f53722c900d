"""goryu convert: AobaZero's weights, written as its scripts write them from a Caffe network."""

import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

from foreign_networks import relu, swish
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.implementation import Board
from goryu_lab.conversion.convert import convert
from goryu_lab.conversion.tensors import ConversionError

SCALE = 999.982


class Caffe:
    """A network of Caffe's layers, whose parameters become lines of three digits, and its outputs."""

    def __init__(self, version: int = 2, planes: int = 139, blocks: int = 2, channels: int = 6) -> None:
        self.random = np.random.default_rng(1)
        self.lines = [str(version)]
        self.act: Callable[[Any], Any] = relu if version == 2 else swish
        self.planes, self.blocks, self.channels = planes, blocks, channels

    def parameter(self, *shape: int, scale: float, around: float = 0.0) -> Any:
        values = (around + scale * self.random.standard_normal(shape)).ravel()
        texts = [f"{value:.3g}".replace("0.", ".", 1) for value in values]
        self.lines.append(" ".join(texts))
        return np.array([float(text) for text in texts], np.float32).reshape(shape)

    def conv(self, x: Any, outputs: int, kernel: int) -> Any:
        weight = self.parameter(outputs, x.shape[1], kernel, kernel, scale=(x.shape[1] * kernel**2) ** -0.5)
        edge = kernel // 2
        padded = np.pad(x, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(2, 3))
        y = np.einsum("nchwij,ocij->nohw", windows, weight, optimize=True)
        return y + self.parameter(outputs, scale=0.1)[None, :, None, None]

    def norm(self, x: Any) -> Any:
        mean = self.parameter(x.shape[1], scale=0.1 * SCALE) / SCALE
        variance = np.abs(self.parameter(x.shape[1], scale=0.1 * SCALE, around=SCALE)) / SCALE
        return (x - mean[None, :, None, None]) / np.sqrt(variance[None, :, None, None] + 1e-5)

    def dense(self, x: Any, outputs: int) -> Any:
        x = x.reshape(len(x), -1)
        return x @ self.parameter(outputs, x.shape[1], scale=x.shape[1] ** -0.5).T + self.parameter(
            outputs, scale=0.1
        )

    def __call__(self, x: Any) -> tuple[Any, Any]:
        x = self.act(self.norm(self.conv(x, self.channels, 3)))
        for _ in range(self.blocks):
            y = self.act(self.norm(self.conv(x, self.channels, 3)))
            x = self.act(x + self.norm(self.conv(y, self.channels, 3)))
        y = self.act(self.norm(self.conv(x, 10, 1)))
        policy = self.conv(y, self.planes, 1).reshape(len(x), -1)
        y = self.act(self.norm(self.conv(x, 4, 1)))
        return policy, np.tanh(self.dense(self.act(self.dense(y, 16)), 1))

    @property
    def text(self) -> bytes:
        return "".join(f"{line}\n" for line in self.lines).encode()


def planes(count: int) -> Any:
    return np.random.default_rng(5).random((count, 362, 9, 9)).astype(np.float32)


@pytest.mark.parametrize(("version", "compress"), [(2, gzip.compress), (3, lzma.compress)])
def test_weights_answer_alike(version: int, compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    import onnxruntime

    network, x = Caffe(version), planes(5)
    expected = network(x)
    source, target = tmp_path / "w000000004096", tmp_path / "out.onnx"
    source.write_bytes(compress(network.text))
    found = convert([source], target)
    assert found.network.format == "aobazero"
    assert found.network.size == f"2x6 {'relu' if version == 2 else 'swish'}"
    session = onnxruntime.InferenceSession(str(target), providers=["CPUExecutionProvider"])
    policy, value = session.run(["output_policy", "output_value"], {"input": x})
    np.testing.assert_allclose(policy, expected[0], atol=1e-4)
    np.testing.assert_allclose(value, expected[1], atol=1e-5)
    assert found.verification.is_played
    assert NetworkEvaluator(target).format.name.startswith("aobazero")
    assert len(NetworkEvaluator(target).evaluate([Board()])[0].policy) == 30


def test_a_later_network_is_converted_but_not_played(tmp_path: Path) -> None:
    network = Caffe(3, planes=27)
    network(planes(1))
    source = tmp_path / "w"
    source.write_bytes(network.text)
    found = convert([source], tmp_path / "out.onnx")
    assert found.network.labels == 2187
    assert not found.verification.is_played


def text(change: Callable[[list[str]], None]) -> bytes:
    network = Caffe()
    network(planes(1))
    change(network.lines)
    return network.text


def replace(number: int, line: str) -> Callable[[list[str]], None]:
    def change(lines: list[str]) -> None:
        lines[number] = line

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (replace(0, "2.5"), "expected a Chainer snapshot|the first line is b'2.5'"),
        (lambda lines: lines.pop(), "33 lines of numbers; expected 18 and 8 more for each block"),
        (replace(1, "1 2 3"), r"line 2 has 3 numbers; expected \[6, 362, 3, 3\]"),
        (replace(2, "1 2 x 4 5 6"), "line 3 has no list of numbers"),
        (replace(2, "1 2 nan 4 5 6"), "line 3 has numbers that are not finite"),
        (replace(2, "1 2 1e99 4 5 6"), "line 3 has numbers that are not finite"),
        (replace(4, "-1 1 1 1 1 1"), "line 5 has a negative variance"),
        (replace(2, "1"), r"line 2 has 19548 numbers; expected \[1, 362, 3, 3\]"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_damaged_weights_are_refused(
    change: Callable[[list[str]], None], message: str, tmp_path: Path
) -> None:
    source = tmp_path / "w"
    source.write_bytes(text(change))
    with pytest.raises(ConversionError, match=message):
        convert([source], tmp_path / "out.onnx")


def test_damaged_compression_is_refused(tmp_path: Path) -> None:
    network, source = Caffe(), tmp_path / "w"
    network(planes(1))
    for compress in (gzip.compress, lzma.compress):
        content = compress(network.text)
        for damaged in (content[: len(content) // 2], content[:200] + bytes(20) + content[220:], content[:8]):
            source.write_bytes(damaged)
            with pytest.raises(ConversionError):
                convert([source], tmp_path / "out.onnx")


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_a_compressed_bomb_stops_at_the_limit(
    compress: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goryu_lab.conversion.aobazero.MOST_LINE_BYTES", 1 << 18)
    monkeypatch.setattr("goryu_lab.conversion.tensors.MOST_BYTES", 1 << 20)
    source = tmp_path / "w"
    source.write_bytes(compress(b"2\n" + b"0" * (2 << 20)))
    with pytest.raises(ConversionError, match="too many or too long lines"):
        convert([source], tmp_path / "out.onnx")
    source.write_bytes(compress(b"2\n" + (b"0 " * 50_000 + b"\n") * 50))
    with pytest.raises(ConversionError, match="its tensors would take 1 MiB; expected at most 1"):
        convert([source], tmp_path / "out.onnx")


def test_another_compressed_file_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "w"
    file = io.BytesIO()
    np.savez(file, W=np.zeros(3))
    source.write_bytes(gzip.compress(file.getvalue()))
    with pytest.raises(ConversionError, match="expected the version of AobaZero's weights, 2 or 3"):
        convert([source], tmp_path / "out.onnx")
