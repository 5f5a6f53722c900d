"""Networks whose weights are in a second file, as PyTorch's exporter writes them since version 2.9."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goryu.evaluators.formats.external_data import MOST_NODES, read_model
from goryu.evaluators.formats.onnx_edit import halved
from goryu.evaluators.formats.onnx_fields import GRAPH_NODE, MODEL_GRAPH
from goryu.evaluators.formats.onnx_graph import read_graph
from goryu.evaluators.formats.protobuf import field_of
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.implementation import Board
from goryu_lab.benchmark.random_network import write_random_network
from links import link

onnx: Any = pytest.importorskip("onnx")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return with_data(tmp_path, 1)


def with_data(folder: Path, seed: int) -> Path:
    """Writes model.onnx and model.onnx.data with random weights, and whole.onnx with the same weights."""
    whole, model = folder / "whole.onnx", folder / "model.onnx"
    write_random_network(2, 32, whole, seed=seed)
    (folder / "model.onnx.data").unlink(missing_ok=True)
    onnx.save(
        onnx.load(str(whole)), str(model), save_as_external_data=True, location="model.onnx.data",
        size_threshold=0,
    )  # fmt: skip
    return model


def test_the_weights_are_those_of_the_second_file(model: Path) -> None:
    assert model.stat().st_size < 0.2 * (model.parent / "whole.onnx").stat().st_size
    whole, graph = read_graph(model.parent / "whole.onnx"), read_graph(model)
    assert graph.constants.keys() == whole.constants.keys()
    for name, constant in whole.constants.items():
        assert np.array_equal(graph.constants[name], constant)
    onnx.checker.check_model(onnx.load_from_string(read_model(model)), full_check=True)


@pytest.mark.parametrize("backend", ["cpu", "onnxruntime"])
@pytest.mark.parametrize("packs", [False, True])
def test_it_answers_as_the_whole_network(model: Path, backend: str, packs: bool) -> None:
    networks = [
        NetworkEvaluator(path, backend=backend, batch_size=2, packs=packs)
        for path in (model, model.parent / "whole.onnx")
    ]
    assert networks[0].backend == networks[1].backend
    assert bool(networks[0].packed) == bool(networks[1].packed), networks[0].note
    assert networks[0].evaluate([Board()]) == networks[1].evaluate([Board()])


def test_its_graph_can_be_edited(model: Path) -> None:
    assert len(halved(read_model(model))) == pytest.approx(len(read_model(model)) / 2, rel=0.2)


def test_other_weights_are_another_network(model: Path) -> None:
    """The graphs are equal, so a cache for the file alone would serve the old network."""
    before, graph = NetworkEvaluator(model, backend="cpu").sha256, model.read_bytes()
    with_data(model.parent, 2)
    assert model.read_bytes() == graph
    assert NetworkEvaluator(model, backend="cpu").sha256 != before


def missing(folder: Path) -> None:
    (folder / "model.onnx.data").unlink()


def short(folder: Path) -> None:
    data = folder / "model.onnx.data"
    data.write_bytes(data.read_bytes()[:-1])


def elsewhere(folder: Path) -> None:
    data = folder / "model.onnx.data"
    target = folder.parent / "elsewhere.data"
    target.write_bytes(data.read_bytes())
    data.unlink()
    link(data, target)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [(missing, "which is missing"), (short, "beyond the end of"), (elsewhere, "outside the folder")],
)
def test_a_missing_or_wrong_second_file_is_an_error_that_names_it(
    model: Path, spoil: Callable[[Path], None], reason: str
) -> None:
    spoil(model.parent)
    with pytest.raises(ModelError, match=f"model.onnx.data.*{reason}|{reason}.*model.onnx.data"):
        read_model(model)
    with pytest.raises(ModelError):
        NetworkEvaluator(model, backend="cpu")


def test_a_model_of_too_many_nodes_is_refused(tmp_path: Path) -> None:
    node = field_of(GRAPH_NODE, b"")
    for count in (MOST_NODES, MOST_NODES + 1):
        graph = field_of(MODEL_GRAPH, count * node)
        (tmp_path / f"{count}.onnx").write_bytes(graph)
    read_model(tmp_path / f"{MOST_NODES}.onnx")
    with pytest.raises(ModelError, match="more than 10000 nodes"):
        read_model(tmp_path / f"{MOST_NODES + 1}.onnx")
