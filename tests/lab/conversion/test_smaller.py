"""goryu convert --fp16 and --int8: the smaller networks answer alike and keep their format."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx")

from checkpoints import save_checkpoint  # noqa: E402
from foreign_networks import Net, relu, second_book  # noqa: E402
from goryu.__main__ import run as goryu  # noqa: E402
from goryu.evaluators.formats.base import planes_of  # noqa: E402
from goryu.evaluators.formats.python_dlshogi2 import PythonDlshogi2Format  # noqa: E402
from goryu.evaluators.formats.value_scale import from_probability  # noqa: E402
from goryu.evaluators.network.model_files import ModelError  # noqa: E402
from goryu.evaluators.network.network import NetworkEvaluator  # noqa: E402
from goryu.table.random_positions import random_positions  # noqa: E402
from goryu_lab.benchmark.random_network import write_random_network  # noqa: E402
from goryu_lab.conversion.convert import convert, reorder, shrink  # noqa: E402
from goryu_lab.conversion.smaller import open_plain, played_positions  # noqa: E402
from goryu_lab.conversion.tensors import ConversionError  # noqa: E402
from paths import MODELS  # noqa: E402

MODEL = MODELS / "goryu-5x64.onnx"


def book_network(tmp_path: Path) -> Path:
    book, net = PythonDlshogi2Format("planes", "policy", "value", from_probability), Net()
    second_book(net, planes_of(book, random_positions(40, seed=77))[0], relu, channels=16)
    return save_checkpoint(tmp_path / "checkpoint.pth", {"model": net.weights})


@pytest.mark.parametrize(
    ("precision", "least"), [("fp16", 0.97), pytest.param("int8", 0.75, marks=pytest.mark.slow)]
)
def test_a_checkpoint_becomes_a_smaller_network(precision: Any, least: float, tmp_path: Path) -> None:
    source, full, small = book_network(tmp_path), tmp_path / "full.onnx", tmp_path / "small.onnx"
    convert([source], full)
    found = convert([source], small, precision=precision, positions=64)
    assert found.agreement
    assert found.agreement.policy_top1 >= least
    assert small.stat().st_size < 0.75 * full.stat().st_size
    assert open_plain(small).format.name == open_plain(full).format.name
    metadata = {entry.key: entry.value for entry in onnx.load(str(small)).metadata_props}
    assert metadata["goryu.format"] == "python-dlshogi2"


def test_an_onnx_file_is_halved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "half.onnx"
    arguments = [str(MODEL), "--out", str(target), "--fp16", "--positions", "64"]
    assert goryu("convert", arguments) == 0
    assert capsys.readouterr().out.startswith("fp16: same first move in ")
    halves = [t for t in onnx.load(str(target)).graph.initializer if t.data_type == onnx.TensorProto.FLOAT16]
    assert sum(np.prod(t.dims) for t in halves) > 400_000
    assert goryu("convert", [str(MODEL), "--out", str(tmp_path / "same.onnx")]) == 2
    assert "is an ONNX file already; choose --fp16 or --int8" in capsys.readouterr().err


def write_planes_last(source: Path, target: Path) -> None:
    """Writes a network of nshogi as onnx's own helpers make it read [N, 9, 9, planes]."""
    model = onnx.load(str(source))
    compose, helper = onnx.compose, onnx.helper
    planes = model.graph.input[0].type.tensor_type.shape.dim[1].dim_value
    last = helper.make_tensor_value_info("last", onnx.TensorProto.FLOAT, ["n", 9, 9, planes])
    first = helper.make_tensor_value_info("first", onnx.TensorProto.FLOAT, ["n", planes, 9, 9])
    transposed = helper.make_node("Transpose", ["last"], ["first"], perm=[0, 3, 1, 2])
    front = helper.make_model(
        helper.make_graph([transposed], "front", [last], [first]),
        opset_imports=model.opset_import, ir_version=model.ir_version,
    )  # fmt: skip
    joined = compose.merge_models(front, compose.add_prefix(model, "x_"), [("first", "x_input")])
    joined = onnx.shape_inference.infer_shapes(joined)
    names = {"last": "input", **{f"x_{name}": name for name in ("policy", "value", "draw")}}
    for node in joined.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    for tensor in (*joined.graph.input, *joined.graph.output):
        tensor.name = names[tensor.name]
    onnx.save(joined, str(target))


@pytest.mark.parametrize("kind", ["nshogi", "nshogi-93"])
def test_a_network_with_the_planes_last_plays_after_its_conversion(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original, source, target = (tmp_path / f"{name}.onnx" for name in ("first", "last", "converted"))
    write_random_network(1, 8, original, kind=kind)
    write_planes_last(original, source)
    with pytest.raises(ModelError, match=r"The planes are the last axis; `goryu convert"):
        NetworkEvaluator(source)
    assert goryu("convert", [str(source), "--out", str(target)]) == 0
    assert "the planes are the first axis now; largest difference of the answers: 0.0e+00" in (
        capsys.readouterr().out
    )
    boards = random_positions(12, seed=3)
    expected = NetworkEvaluator(original, batch_size=4).evaluate(boards)
    for packs in (False, True):
        network = NetworkEvaluator(target, batch_size=4, packs=packs)
        assert bool(network.packed) == packs, network.note
        for found, exact in zip(network.evaluate(boards), expected, strict=True):
            assert found.value == pytest.approx(exact.value, abs=1e-6)
            assert found.policy == pytest.approx(exact.policy, abs=1e-6)
    assert shrink(source, tmp_path / "half.onnx", "fp16", positions=16).policy_error < 0.003


def test_an_unknown_network_with_the_planes_last_is_refused(tmp_path: Path) -> None:
    original, source, target = (tmp_path / f"{name}.onnx" for name in ("first", "last", "converted"))
    write_random_network(1, 8, original, kind="nshogi")
    write_planes_last(original, source)
    model = onnx.load(str(source))
    del model.graph.output[2]  # An nshogi network without its probability of draws.
    onnx.save(model, str(source))
    with pytest.raises(ModelError, match=r"found input \[N, 86, 9, 9\] -> policy \[N, 2187\], value"):
        reorder(source, target)
    assert not target.exists()


def test_the_played_positions_are_those_of_games(tmp_path: Path) -> None:
    boards = played_positions(open_plain(MODEL), 100)
    assert len({board.position_key for board in boards}) == 100
    assert all(board.outcome() is None for board in boards)
    assert played_positions(open_plain(MODEL), 100)[7].sfen() == boards[7].sfen()


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "a/../../secret"])
def test_a_file_with_tensors_outside_its_folder_is_refused(location: str, tmp_path: Path) -> None:
    model = onnx.load(str(MODEL))
    tensor = max(model.graph.initializer, key=lambda each: len(each.raw_data))
    length = len(tensor.raw_data)
    (tmp_path / "secret").write_bytes(bytes(length))
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    tensor.external_data.add(key="length", value=str(length))
    folder = tmp_path / "models"
    folder.mkdir()
    source = folder / "model.onnx"
    source.write_bytes(model.SerializeToString())
    with pytest.raises(ModelError, match=r"External data|outside the folder"):
        shrink(source, tmp_path / "out.onnx", "fp16")


def test_a_damaged_onnx_file_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "model.onnx"
    for content in (MODEL.read_bytes()[:1000], b"\x08\x07", b"\x08" + bytes(100)):
        source.write_bytes(content)
        with pytest.raises((ConversionError, ModelError)):
            shrink(source, tmp_path / "out.onnx", "fp16")
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_too_few_positions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="5 positions: expected at least 16"):
        shrink(MODEL, tmp_path / "out.onnx", "int8", positions=5)
