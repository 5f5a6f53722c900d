"""Damaged and hostile model files of every format: a ModelError that names the file, and never a crash.

The files are read in a process of their own, so that a crash is a failed test and nothing else.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goryu_lab.benchmark.random_network import TENSORS, write_random_network

np: Any = pytest.importorskip("numpy")
onnx: Any = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

LOAD = """
import json, sys
from goryu.evaluators.network.network import NetworkEvaluator
for line in sys.stdin:
    path, backend, packs = json.loads(line)
    try:
        found = NetworkEvaluator(path, backend=backend, batch_size=2, packs=packs).backend
    except BaseException as error:
        found = f"{type(error).__name__}: {error}"
    print(json.dumps([path, backend, packs, found]), flush=True)
"""

Change = Callable[[Any], None]
"""Spoils the graph of a model."""


def external(location: str) -> Change:
    def change(graph: Any) -> None:
        tensor = graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", location

    return change


def with_huge_weights(graph: Any) -> None:
    graph.initializer[0].dims[:] = [1 << 40, 1 << 40, 3, 3]


def with_negative_weights(graph: Any) -> None:
    graph.initializer[0].dims[0] = -1


def with_weights_of_another_type(graph: Any) -> None:
    graph.initializer[0].data_type = onnx.TensorProto.INT64


def with_huge_constant(graph: Any) -> None:
    graph.initializer.append(onnx.numpy_helper.from_array(np.array([1 << 45], np.int64), "shape"))
    graph.node.insert(0, onnx.helper.make_node("ConstantOfShape", ["shape"], ["huge"]))
    graph.node.insert(1, onnx.helper.make_node("ReduceMax", ["huge"], ["most"], keepdims=0))
    name, graph.node[-1].output[0] = graph.node[-1].output[0], "real"
    graph.node.append(onnx.helper.make_node("Add", ["real", "most"], [name]))


def with_huge_planes(graph: Any) -> None:
    graph.input[0].type.tensor_type.shape.dim[1].dim_value = 1 << 40


def with_huge_batch(graph: Any) -> None:
    for tensor in graph.input:
        tensor.type.tensor_type.shape.dim[0].dim_value = (1 << 63) - 1


def with_unknown_operator(graph: Any) -> None:
    graph.node[-1].op_type = "Nonsense"


def with_unknown_domain(graph: Any) -> None:
    graph.node[-1].domain = "com.example"


def with_a_cycle(graph: Any) -> None:
    graph.node[0].input[0] = graph.node[-1].output[0]


def without_an_output(graph: Any) -> None:
    del graph.output[-1]


def with_words_as_planes(graph: Any) -> None:
    graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.STRING


CHANGES: dict[str, Change] = {
    "external-absolute": external("/etc/passwd"),
    "external-outside": external("../outside.bin"),
    "external-missing": external("missing.bin"),
    "external-device": external("/dev/zero"),
    "external-itself": external("external-itself.onnx"),
    "huge-weights": with_huge_weights,
    "negative-weights": with_negative_weights,
    "other-weights": with_weights_of_another_type,
    "huge-constant": with_huge_constant,
    "huge-planes": with_huge_planes,
    "huge-batch": with_huge_batch,
    "operator": with_unknown_operator,
    "domain": with_unknown_domain,
    "cycle": with_a_cycle,
    "output": without_an_output,
    "words": with_words_as_planes,
}

DESCRIPTIONS = {"huge-planes", "huge-batch", "output", "words", "opset"}
"""Those that change how the file describes its tensors or operators, and no weight or node."""

REPLACED = {
    "empty": b"",
    "text": b"<html><title>404 Not Found</title></html>",
    "archive": b"PK\x03\x04" + bytes(100),
    "bytes": bytes(range(256)) * 40,
}


def hostile_files(folder: Path, kind: str) -> list[Path]:
    """Writes spoiled models of a format into a new folder."""
    folder.mkdir()
    good = folder / "good.onnx"
    write_random_network(1, 8, good, kind=kind)
    content = good.read_bytes()
    files = dict(REPLACED)
    for name, change in CHANGES.items():
        model = onnx.load(good)
        change(model.graph)
        files[name] = model.SerializeToString()
    model = onnx.load(good)
    model.opset_import[0].version = 1 << 40
    files["opset"] = model.SerializeToString()
    for end in (1, 20, len(content) // 2, len(content) - 1):
        files[f"short-{end}"] = content[:end]
    for name, spoiled in files.items():
        (folder / f"{name}.onnx").write_bytes(spoiled)
    return [folder / f"{name}.onnx" for name in files]


Read = tuple[Path, str, bool]
"""A file, a backend, and whether positions travel as bits."""


def read(files: list[Path]) -> dict[Read, str]:
    """Loads files in one process, in all ways; returns the backend that reads each, or the error."""
    ways = (("cpu", False), ("onnxruntime", False), ("onnxruntime", True))
    lines = [json.dumps([str(path), *way]) for path in files for way in ways]
    found = subprocess.run(
        [sys.executable, "-c", LOAD], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    answers = [json.loads(line) for line in found.stdout.splitlines()]
    assert len(answers) == len(lines), (
        f"{lines[len(answers)]}: exit {found.returncode}\n{found.stderr[-2000:]}"
    )
    return {(Path(path), backend, packs): answer for path, backend, packs, answer in answers}


def test_a_hostile_file_is_a_model_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "outside.bin").write_bytes(bytes(1 << 20))
    files = [path for kind in TENSORS for path in hostile_files(tmp_path / kind, kind)]
    for (path, backend, packs), answer in read(files).items():
        if (
            answer == "Winograd"
        ):  # Our own kernel reads the weights, and not what the file says of its tensors.
            assert backend == "cpu"
            assert path.stem in DESCRIPTIONS
            continue
        start = f"ModelError: model {path}: "
        assert answer.startswith(start), (path, backend, packs, answer)
        assert len(answer) > len(start) + 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", TENSORS)
def test_a_file_with_random_damage_loads_or_is_a_model_error(tmp_path: Path, kind: str) -> None:
    """Names, shapes and attributes are at the beginning and at the end; between them are weights."""
    good = tmp_path / "good.onnx"
    write_random_network(1, 8, good, kind=kind)
    rng, files = Random(5), []
    for number in range(30 * int(os.environ.get("GORYU_FUZZ_ROUNDS", "1"))):
        damaged = bytearray(good.read_bytes())
        for _ in range(rng.choice((1, 2, 8))):
            at = rng.randrange(900)
            damaged[at if rng.random() < 0.5 else -1 - at] = rng.randrange(256)
        files.append(tmp_path / f"damaged-{number}.onnx")
        files[-1].write_bytes(damaged)
    for key, answer in read(files).items():
        assert answer in ("Winograd", "CPU") or answer.startswith("ModelError"), (key, answer)
