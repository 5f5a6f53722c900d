"""goryu convert: PyTorch networks of the second book and of dlshogi; nothing in a checkpoint is executed."""

import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

from checkpoints import save_checkpoint
from foreign_networks import (
    Evil,
    Net,
    dlshogi,
    relu,
    resnet10_swish,
    second_book,
    sigmoid,
    swish,
    wideresnet10,
)
from goryu.evaluators.formats.base import planes_of
from goryu.evaluators.formats.dlshogi import DlshogiFormat
from goryu.evaluators.formats.python_dlshogi2 import PythonDlshogi2Format
from goryu.evaluators.formats.value_scale import from_probability
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.implementation import Board
from goryu.table.random_positions import random_positions
from goryu_lab.conversion.convert import convert
from goryu_lab.conversion.tensors import ConversionError
from goryu_lab.conversion.torch_checkpoint import read_checkpoint
from goryu_lab.records.conversion import read_records
from paths import MODELS

ACTIVATIONS = {"relu": relu, "swish": swish}


def planes(sees_nyugyoku: bool = False) -> Any:
    """Positions of other games than those that the conversion looks at."""
    return planes_of(
        DlshogiFormat(from_probability, sees_nyugyoku=sees_nyugyoku), random_positions(40, seed=77)
    )


def book_planes() -> Any:
    book = PythonDlshogi2Format("planes", "policy", "value", from_probability)
    return planes_of(book, random_positions(40, seed=77))[0]


def check(path: Path, expected: Any, **inputs: Any) -> None:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    policy, value = session.run(["output_policy", "output_value"], inputs)
    np.testing.assert_allclose(policy, expected[0], atol=1e-4)
    np.testing.assert_allclose(value, sigmoid(expected[1]), atol=1e-5)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_checkpoint_of_the_second_book_answers_alike(activation: str, tmp_path: Path) -> None:
    net, x, target = Net(), book_planes(), tmp_path / "out.onnx"
    expected = second_book(net, x, ACTIVATIONS[activation])
    checkpoint = {"epoch": 1, "t": 2, "model": OrderedDict(net.weights), "optimizer": {"state": {}}}
    found = convert([save_checkpoint(tmp_path / "checkpoint.pth", checkpoint)], target)
    assert found.network.format == "python-dlshogi2"
    assert found.network.size == f"3x8 {activation}"
    assert found.notes[0].startswith(f"activation {activation}: it fits the statistics in the file")
    check(target, expected, input=x)
    assert NetworkEvaluator(target).evaluate([Board()])[0].value == pytest.approx(0, abs=1)


@pytest.mark.parametrize(
    ("kind", "activation"), [("resnet", "relu"), ("senet", "swish"), ("broadcast", "relu")]
)
def test_a_network_of_dlshogi_answers_alike(kind: str, activation: str, tmp_path: Path) -> None:
    net, (board, hands), target = Net(), planes(), tmp_path / "out.onnx"
    expected = dlshogi(net, board, hands, ACTIVATIONS[activation], kind)
    found = convert([save_checkpoint(tmp_path / "checkpoint.pth", {"model": net.weights})], target)
    assert (found.network.format, found.network.size) == ("dlshogi", f"{kind} 3x8 {activation}")
    check(target, expected, input1=board, input2=hands)


def test_what_pytorch_itself_saves_is_read(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    net, x, target = Net(), book_planes(), tmp_path / "out.onnx"
    expected = second_book(net, x)
    weights = {name: torch.from_numpy(np.array(array)) for name, array in net.weights.items()}
    parameter = torch.nn.Parameter(torch.zeros(3))
    optimizer = torch.optim.SGD([parameter], lr=0.01, momentum=0.9)
    checkpoint = {"epoch": 1, "model": OrderedDict(weights), "optimizer": optimizer.state_dict()}
    torch.save(checkpoint, tmp_path / "checkpoint-001.pth")
    convert([tmp_path / "checkpoint-001.pth"], target)
    check(target, expected, input=x)


def test_the_variant_with_planes_for_entering_kings_is_recognised(tmp_path: Path) -> None:
    net, (board, hands), target = Net(), planes(sees_nyugyoku=True), tmp_path / "out.onnx"
    expected = dlshogi(net, board, hands, swish)
    convert([save_checkpoint(tmp_path / "checkpoint.pth", net.weights)], target)
    check(target, expected, input1=board, input2=hands)
    assert NetworkEvaluator(target).format.name == "dlshogi 62+119"


@pytest.mark.parametrize(("network", "activation"), [(resnet10_swish, "swish"), (wideresnet10, "relu")])
def test_a_file_of_dlshogis_own_serializer_answers_alike(
    network: Any, activation: str, tmp_path: Path
) -> None:
    net = Net(epsilon=2e-5 if network is wideresnet10 else 1e-5)
    (board, hands), target = planes(), tmp_path / "out.onnx"
    expected = network(net, board, hands, ACTIVATIONS[activation])
    source = tmp_path / "model-0000001"
    with source.open("wb") as file:
        np.savez_compressed(file, **{chainer_name(name): array for name, array in net.weights.items()})
    found = convert([source], target)
    kind = network.__name__.partition("10")[0]
    assert (found.network.format, found.network.size) == ("dlshogi", f"{kind} 10x8 {activation}")
    check(target, expected, input1=board, input2=hands)


def chainer_name(name: str) -> str:
    """dlshogi's serializer names the weights of PyTorch as Chainer did."""
    names = {"running_mean": "avg_mean", "running_var": "avg_var", "num_batches_tracked": "N"}
    is_norm = "norm" in name or "bn" in name
    names |= {"weight": "gamma", "bias": "beta"} if is_norm else {"weight": "W", "bias": "b"}
    *path, last = name.split(".")
    return "/".join([*path, names[last]])


def test_auxiliary_heads_are_left_out(tmp_path: Path) -> None:
    net, (board, hands), target = Net(), planes(), tmp_path / "out.onnx"
    expected = dlshogi(net, board, hands, relu)
    weights = net.weights | {"value_fc2_aux.weight": np.zeros((2, 16), np.float32)}
    convert([save_checkpoint(tmp_path / "checkpoint.pth", weights)], target)
    check(target, expected, input1=board, input2=hands)


def test_averaged_weights_are_taken_on_request(tmp_path: Path) -> None:
    net, other, (board, hands) = Net(1), Net(2), planes()
    usual, averaged = dlshogi(net, board, hands, relu), dlshogi(other, board, hands, relu)
    checkpoint = {
        "model": net.weights,
        "swa_model": {"n_averaged": np.array(3)}
        | {f"module.{name}": array for name, array in other.weights.items()},
    }
    source, target = save_checkpoint(tmp_path / "checkpoint.pth", checkpoint), tmp_path / "out.onnx"
    convert([source], target)
    check(target, usual, input1=board, input2=hands)
    convert([source], target, part="swa_model")
    check(target, averaged, input1=board, input2=hands)
    with pytest.raises(ConversionError, match="a dictionary of tensors in ema; found a dictionary of model"):
        convert([source], target, part="ema")


def test_an_untrained_network_does_not_show_its_activation(tmp_path: Path) -> None:
    net, x, target = Net(), book_planes(), tmp_path / "out.onnx"
    second_book(net, x)
    for name, array in net.weights.items():
        if "running" in name:
            net.weights[name] = np.full_like(array, name.endswith("var"))
    expected = second_book(net, x)
    source = save_checkpoint(tmp_path / "checkpoint.pth", net.weights)
    with pytest.raises(ConversionError, match="as in an untrained network; choose it with --activation"):
        convert([source], target)
    convert([source], target, activation="relu")
    check(target, expected, input=x)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_statistics_of_real_games_show_the_activation(activation: str, tmp_path: Path) -> None:
    cshogi = pytest.importorskip("cshogi")
    pytest.importorskip("rsshogi")
    games = MODELS / "data" / "fsf_20261123.games"
    boards, board = [], cshogi.Board()
    for record in read_records(games)[::100][:60]:
        board.set_hcp(np.ascontiguousarray(record["hcp"]))
        boards.append(Board(board.sfen()))
    board_planes, hand_planes = planes_of(DlshogiFormat(from_probability), boards)
    net = Net()
    dlshogi(net, board_planes, hand_planes, ACTIVATIONS[activation], channels=32)
    found = convert([save_checkpoint(tmp_path / "checkpoint.pth", net.weights)], tmp_path / "out.onnx")
    assert found.network.size == f"resnet 3x32 {activation}"


def test_half_precision_weights_are_read(tmp_path: Path) -> None:
    net, x = Net(), book_planes()
    second_book(net, x)
    half = {
        name: array.astype(np.float16) if array.dtype == np.float32 else array
        for name, array in net.weights.items()
    }
    net.weights = {name: array.astype(np.float32) for name, array in half.items()}
    expected = second_book(net, x)
    source = save_checkpoint(tmp_path / "checkpoint.pth", half)
    convert([source], tmp_path / "out.onnx", activation="relu")
    check(tmp_path / "out.onnx", expected, input=x)


# Hostile checkpoints.


def archive(path: Path, description: bytes, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", description)
        for name, content in members.items():
            file.writestr(f"archive/data/{name.removeprefix('n')}", content)
    return path


def storage(count: int = 4, key: str = "0") -> bytes:
    """Returns the pickle of a storage, for `_rebuild_tensor_v2`."""
    numbers = b"(S'storage'\nctorch\nFloatStorage\nS'%s'\nS'cpu'\nI%d\ntQ" % (key.encode(), count)
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + numbers


@pytest.mark.parametrize(
    ("attack", "named"),
    [
        (b"cos\nsystem\n(S'touch executed'\ntR.", "os.system|posix.system"),
        (b"cbuiltins\neval\n(S'1'\ntR.", "builtins.eval"),
        (b"cbuiltins\ngetattr\n(ctorch\nload\nS'x'\ntR.", "builtins.getattr"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "os.system"),
        (b"ctorch._utils\n_rebuild_tensor_v2.__globals__\n.", "torch._utils._rebuild_tensor_v2.__globals__"),
        (b"cnumpy.core.multiarray\n_reconstruct\n.", "numpy.core.multiarray"),
        (b"(S'touch executed'\nios\nsystem\n.", "os.system"),
    ],
)
def test_a_checkpoint_that_asks_for_other_functions_is_refused(
    attack: bytes, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConversionError, match=f"asks for ({named})[^ ]*, which could execute code"):
        read_checkpoint(archive(tmp_path / "checkpoint.pth", attack))
    assert not (tmp_path / "executed").exists()


def test_a_checkpoint_with_an_encrypted_part_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "checkpoint.pth", storage() + b"I0\n(I4\nt(I1\ntI00\nNtR.", n0=bytes(16))
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("archive/byteorder", "little")
    content = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.rindex(signature) + flags] |= 1
    path.write_bytes(content)
    with pytest.raises(ConversionError, match=r"a damaged checkpoint .*encrypted"):
        read_checkpoint(path)


def test_a_checkpoint_with_a_python_object_is_refused(tmp_path: Path) -> None:
    trap = tmp_path / "executed"
    source = archive(tmp_path / "checkpoint.pth", pickle.dumps({"model": Evil(trap)}))
    with pytest.raises(ConversionError, match=r"asks for .*touch.*not read|asks for .*pathlib"):
        convert([source], tmp_path / "out.onnx")
    assert not trap.exists()


@pytest.mark.parametrize(
    ("description", "message"),
    [
        (storage() + b"I0\n(I2\nI2\nt(I2\nI1\ntI00\nNtR.", None),
        (storage() + b"I0\n(I1000000\nI1000000\nt(I0\nI0\ntI00\nNtR.", "in 4 numbers"),
        (storage() + b"I2\n(I3\nt(I1\ntI00\nNtR.", "in 4 numbers"),
        (storage() + b"I-4\n(I2\nt(I1\ntI00\nNtR.", "a tensor of the shape"),
        (storage() + b"I0\n(I2\nt(I-1\ntI00\nNtR.", "a tensor of the shape"),
        (storage() + b"I0\n(I2\nI2\nt(I1\ntI00\nNtR.", "a tensor of the shape"),
        (storage(1 << 40) + b"I0\n(I2\nt(I1\ntI00\nNtR.", "has 16 bytes; expected 1099511627776 numbers"),
        (storage(key="../../secret") + b"I0\n(I2\nt(I1\ntI00\nNtR.", "KeyError"),
        (b"(S'x'\nQ.", "an unknown reference|a damaged checkpoint"),
        (b"ctorch._utils\n_rebuild_tensor_v2\n(NI0\n(t(tI00\nNtR.", "a tensor without numbers"),
        (b"(S'storage'\nctorch\nBFloat16Storage\nS'0'\nS'cpu'\nI4\ntQ.", "BFloat16Storage cannot be read"),
        (b"\x80\x02}q\x00(", "a damaged checkpoint"),
        (b"", "a damaged checkpoint"),
    ],
)
def test_tensors_outside_their_numbers_are_refused(
    description: bytes, message: str | None, tmp_path: Path
) -> None:
    source = archive(tmp_path / "checkpoint.pth", description, n0=np.arange(4, dtype="<f4").tobytes())
    if message is None:
        assert read_checkpoint(source).tolist() == [[0, 1], [2, 3]]
        return
    with pytest.raises(ConversionError, match=message):
        read_checkpoint(source)


def test_a_torchscript_program_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "model.pt"
    with zipfile.ZipFile(source, "w") as file:
        file.writestr("archive/data.pkl", b"N.")
        file.writestr("archive/constants.pkl", b"N.")
    with pytest.raises(ConversionError, match="a TorchScript program"):
        convert([source], tmp_path / "out.onnx")


def test_truncated_checkpoints_are_refused(tmp_path: Path) -> None:
    net = Net()
    second_book(net, book_planes())
    source = save_checkpoint(tmp_path / "checkpoint.pth", {"model": net.weights})
    content = source.read_bytes()
    for length in (10, 1000, len(content) // 2, len(content) - 1):
        source.write_bytes(content[:length])
        with pytest.raises(ConversionError):
            convert([source], tmp_path / "out.onnx")


def test_other_networks_are_refused_with_their_tensors(tmp_path: Path) -> None:
    weights = {"fc.weight": np.zeros((2, 3), np.float32)}
    source = save_checkpoint(tmp_path / "checkpoint.pth", weights)
    with pytest.raises(ConversionError, match=r"found fc.weight \[2, 3\]"):
        convert([source], tmp_path / "out.onnx")
    net = Net()
    second_book(net, book_planes())
    source = save_checkpoint(
        tmp_path / "checkpoint.pth", net.weights | {"blocks.0.conv3.weight": np.zeros(1, "f4")}
    )
    with pytest.raises(ConversionError, match=r"layers that Goryu does not know: blocks.0.conv3.weight"):
        convert([source], tmp_path / "out.onnx")
