"""goryu convert: networks of other programs answer alike as ONNX files; hostile files are refused."""

import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goryu_lab.conversion.convert import convert
from goryu_lab.conversion.tensors import ConversionError
from goryu_lab.conversion.torch_checkpoint import read_checkpoint

onnx: Any = pytest.importorskip("onnx")

from foreign_networks import (  # noqa: E402
    Evil,
    Net,
    policy_network,
    policy_value_network,
    policy_value_resnet,
    sigmoid,
    value_network,
)
from goryu.__main__ import run as goryu  # noqa: E402


def planes(count: int, channels: int, seed: int = 5) -> Any:
    return (np.random.default_rng(seed).random((count, channels, 9, 9)) < 0.1).astype(np.float32)


def answers(path: Path, **inputs: Any) -> tuple[Any, Any]:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    policy, value = session.run(["output_policy", "output_value"], inputs)
    return policy, value


def property_of(path: Path) -> str:
    return str({entry.key: entry.value for entry in onnx.load(str(path)).metadata_props}["goryu.format"])


def chainer(seed: int = 1) -> Net:
    return Net(seed, epsilon=2e-5, is_chainer=True)


def save_npz(path: Path, net: Net) -> Path:
    """Chainer's `save_npz` compresses and gives the file the name as it is."""
    with path.open("wb") as file:
        np.savez_compressed(file, **net.weights)
    return path


def save_hdf5(path: Path, net: Net) -> Path:
    """Chainer's `save_hdf5` writes a dataset for each parameter, in groups."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for name, array in net.weights.items():
            compression = {"compression": 4} if array.shape else {}
            file.create_dataset(name, data=array, **compression)
    return path


@pytest.mark.parametrize("save", [save_npz, save_hdf5])
@pytest.mark.parametrize("network", [policy_value_network, policy_value_resnet])
def test_a_policy_value_network_of_the_first_book_answers_alike(
    network: Any, save: Any, tmp_path: Path
) -> None:
    net, x = chainer(), planes(6, 104)
    policy, value = network(net, x)
    target = tmp_path / "out.onnx"
    found = convert([save(tmp_path / "model", net)], target)
    assert found.network.format == property_of(target) == "python-dlshogi"
    ours = answers(target, input=x)
    np.testing.assert_allclose(ours[0], policy, atol=1e-4)
    np.testing.assert_allclose(ours[1], sigmoid(value), atol=1e-5)
    assert found.verification.positions == 128
    assert found.verification.policy < 1e-5


@pytest.mark.parametrize("normalised", [False, True])
def test_a_policy_network_gets_the_value_of_an_even_game(normalised: bool, tmp_path: Path) -> None:
    net, x = chainer(), planes(6, 104)
    policy = policy_network(net, x, normalised=normalised)
    if normalised:  # Its twelfth normalisation never saw a position.
        for name, value in (("gamma", 1), ("beta", 0), ("avg_mean", 0), ("avg_var", 1)):
            net.weights[f"norm12/{name}"] = np.full(8, value, np.float32)
    target = tmp_path / "out.onnx"
    found = convert([save_npz(tmp_path / "model_policy", net)], target)
    ours = answers(target, input=x)
    np.testing.assert_allclose(ours[0], policy, atol=1e-4)
    assert (ours[1] == 0.5).all()
    assert ours[1].shape == (6, 1)
    assert "a policy network" in found.notes[0]


def test_a_policy_and_a_value_network_become_one_file(tmp_path: Path) -> None:
    one, other, x = chainer(1), chainer(2), planes(6, 104)
    policy, value = policy_network(one, x), value_network(other, x, channels=12)
    sources = [save_npz(tmp_path / "policy", one), save_npz(tmp_path / "value", other)]
    target = tmp_path / "out.onnx"
    assert convert(sources, target).notes == []
    ours = answers(target, input=x)
    np.testing.assert_allclose(ours[0], policy, atol=1e-4)
    np.testing.assert_allclose(ours[1], sigmoid(value), atol=1e-5)
    with pytest.raises(ConversionError, match="policy network first"):
        convert(sources[::-1], target)
    found = convert(sources[1:], target)
    assert "a value network" in found.notes[0]
    assert (answers(target, input=x)[0] == 0).all()


def test_a_snapshot_of_chainers_trainer_is_read(tmp_path: Path) -> None:
    net, x = chainer(), planes(2, 104)
    policy, _ = policy_value_network(net, x)
    net.weights = {f"updater/model:main/{name}": array for name, array in net.weights.items()} | {
        "updater/iteration": np.array(1000)
    }
    target = tmp_path / "out.onnx"
    convert([save_npz(tmp_path / "snapshot", net)], target)
    np.testing.assert_allclose(answers(target, input=x)[0], policy, atol=1e-4)


def changed(net: Net, **changes: Any) -> Net:
    net.weights = {name: array for name, array in (net.weights | changes).items() if array is not None}
    return net


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"l3/W": np.zeros((8, 8, 5, 5), np.float32)}, "l3.weight has the shape"),
        ({"l5/b": np.zeros(9, np.float32)}, r"l5.bias has the shape \[9\]; expected \[8\]"),
        ({"l13_bias/b": None}, "expected a tensor l13_bias.bias"),
        ({"l99/W": np.zeros((8, 8, 3, 3), np.float32)}, "layers that Goryu does not know: l99.weight"),
        ({"l5/b": np.full(8, np.nan, np.float32)}, "l5.bias has numbers that are not finite"),
        ({"l5/b": np.zeros(8, np.int32)}, "l5.bias has the type int32"),
        ({"l1/W": np.zeros((8, 86, 3, 3), np.float32)}, r"expected \[channels, 104, 3, 3\]"),
        ({"l1/W": np.zeros((), np.float32)}, r"l1.weight has the shape \[\]"),
    ],
)
def test_wrong_tensors_are_named(changes: Any, message: str, tmp_path: Path) -> None:
    net = chainer()
    policy_value_network(net, planes(1, 104))
    source = save_npz(tmp_path / "model", changed(net, **changes))
    with pytest.raises(ConversionError, match=message):
        convert([source], tmp_path / "out.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_pickle_in_an_archive_is_not_executed(tmp_path: Path) -> None:
    source, trap = tmp_path / "model.npz", tmp_path / "executed"
    with source.open("wb") as file:
        np.savez(file, W=np.array([Evil(trap)], object))
    with pytest.raises(ConversionError, match="Python objects, which can execute code"):
        convert([source], tmp_path / "out.onnx")
    bare = tmp_path / "model.pth"
    bare.write_bytes(pickle.dumps(Evil(trap)))
    with pytest.raises(ConversionError, match="can execute code and is not read"):
        convert([bare], tmp_path / "out.onnx")
    assert not trap.exists()


def npz_of(member: bytes, name: str = "l1/W.npy") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, member)
    return file.getvalue()


def header(shape: str) -> bytes:
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected a Chainer snapshot"),
        (b"hello", "it begins with b'hello'"),
        (b"PK\x03\x04" + bytes(100), "a damaged zip file"),
        (npz_of(b"nothing"), "not a NumPy array"),
        (npz_of(header("(1000000, 1000000, 1000)") + bytes(8)), "the file is damaged"),
        (npz_of(header("(-1, 4)") + bytes(16)), "the file is damaged"),
        (npz_of(b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535), "not a NumPy array"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "not an HDF5 file, or a damaged one"),
    ],
)
def test_a_damaged_file_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    source = tmp_path / "model"
    source.write_bytes(content)
    if b"HDF" in content:
        pytest.importorskip("h5py")
    with pytest.raises(ConversionError, match=message):
        convert([source], tmp_path / "out.onnx")


def zipped(name: str, compression: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr(name, bytes(range(256)) * 8)
    return file.getvalue()


def damaged_zips() -> list[bytes]:
    """Zip files of which zipfile raises neither BadZipFile nor an error of zlib."""
    lzma = bytearray(zipped("a.npy", zipfile.ZIP_LZMA))
    version = bytearray(zipped("a.npy", zipfile.ZIP_STORED))
    lzma[60:90] = bytes(30)
    version[version.rindex(b"PK\x01\x02") + 6] = 128
    name = zipped("\u00e9.npy", zipfile.ZIP_STORED).replace("\u00e9".encode(), b"\xff\xff")
    return [bytes(lzma), bytes(version), name]


@pytest.mark.parametrize("content", damaged_zips(), ids=["lzma", "version", "name"])
def test_a_damaged_zip_file_is_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "model", tmp_path / "out.onnx"
    source.write_bytes(content)
    with pytest.raises(ConversionError, match="damaged"):
        convert([source], target)
    with pytest.raises(ConversionError, match="damaged"):
        read_checkpoint(source)
    assert goryu("download", ["miniosl", "--from", str(source), "--out", str(target)]) == 2
    assert "or a damaged one" in capsys.readouterr().err


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    net = chainer()
    policy_value_network(net, planes(1, 104))
    source = save_npz(tmp_path / "model", net)
    content = source.read_bytes()
    for length in (4, 100, len(content) // 2, len(content) - 1):
        source.write_bytes(content[:length])
        with pytest.raises(ConversionError):
            convert([source], tmp_path / "out.onnx")


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goryu_lab.conversion.tensors.MOST_BYTES", 1 << 20)
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("unpacked"))
    source = tmp_path / "model"
    source.write_bytes(npz_of(bytes(2 << 20)))
    assert source.stat().st_size < 10_000
    with pytest.raises(ConversionError, match="its tensors would take 2 MiB; expected at most 1"):
        convert([source], tmp_path / "out.onnx")


def test_an_hdf5_file_that_refers_to_other_files_is_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(4 * 8))
    source = tmp_path / "model.h5"
    cases: list[tuple[Callable[[Any], Any], str]] = [
        (lambda file: file.__setitem__("l1/W", h5py.ExternalLink("other.h5", "/x")), "is a link"),
        (lambda file: file.__setitem__("l1/W", h5py.SoftLink("/x")), "is a link"),
        (
            lambda file: file.create_dataset("l1/W", (8,), "<f4", external=[(str(secret), 0, 32)]),
            "is in another file",
        ),
        (
            lambda file: file.create_virtual_dataset("l1/W", h5py.VirtualLayout((8,), "<f4")),
            "is in another file",
        ),
        (lambda file: file.create_dataset("l1/W", (10**6, 10**6), "<f4"), "its tensors would take"),
        (lambda file: file.__setitem__("l1/a", file.require_group("l1")), "a group inside itself"),
    ]
    for make, message in cases:
        with h5py.File(source, "w") as file:
            make(file)
        with pytest.raises(ConversionError, match=message):
            convert([source], tmp_path / "out.onnx")


def test_the_command_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = chainer()
    policy_value_resnet(net, planes(1, 104), blocks=3)
    source, target = save_npz(tmp_path / "model", net), tmp_path / "out.onnx"
    assert goryu("convert", [str(source), "--out", str(target)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{target}: python-dlshogi, policy and value, 2 blocks of 8 channels"
    assert lines[1].startswith("verified on 128 positions: largest difference ")
    written = target.read_bytes()
    assert goryu("convert", [str(source), "--out", str(target)]) == 2
    assert capsys.readouterr().err == f"goryu convert: {target} exists; --force overwrites it\n"
    source.write_bytes(b"")
    assert goryu("convert", [str(source), "--out", str(target), "--force"]) == 2
    assert target.read_bytes() == written
    assert goryu("convert", [str(source), "--out", str(source), "--force"]) == 2
    assert "is also read: name another output" in capsys.readouterr().err
    assert goryu("convert", [str(tmp_path / "none"), "--out", str(target)]) == 2
    assert "none: no such file" in capsys.readouterr().err


def test_without_the_package_onnx_the_advice_is_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = chainer()
    policy_value_network(net, planes(1, 104))
    source = save_npz(tmp_path / "model", net)
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ConversionError, match="pip install onnx"):
        convert([source], tmp_path / "out.onnx")
