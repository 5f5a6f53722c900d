"""The network evaluator on tiny models made here: formats, scales, backends, batches, unusable files."""

import math
import os
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from boards import random_games
from goryu.evaluators.formats.dlshogi import dlshogi_label
from goryu.evaluators.formats.onnx_graph import producer
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import (
    KNOWN,
    BackendError,
    Session,
    backend_chain,
    import_onnxruntime,
    open_on_first,
    open_session,
)
from goryu.evaluators.network.providers import _provider_options as provider_options
from goryu.evaluators.network.runners import PlanesRunner
from goryu.evaluators.softmax import softmax
from goryu.games.shogi import Board
from linear_network import write_model
from present import present

onnx: Any = pytest.importorskip("onnx")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "linear.onnx")


def boards(count: int, seed: int = 1) -> list[Board]:
    """The positions after 0, 1, 2 and more random moves."""
    return [board.copy() for board in random_games(Random(seed), 1, count)]


def test_the_policy_is_the_softmax_of_the_legal_moves_logits_in_their_order(model: Path) -> None:
    evaluator = NetworkEvaluator(model, backend="cpu", temperature=1.5)
    for board in boards(12):
        inputs = evaluator.new_inputs(1)
        evaluator.format.fill(board, [rows[0] for rows in inputs])
        logits, values = evaluator.run(inputs)
        evaluation = evaluator.evaluate([board])[0]
        labels = [dlshogi_label(move, board.turn) for move in board.legal_moves()]
        assert list(evaluation.policy) == softmax([float(logits[0, label]) for label in labels], 1.5)
        assert math.fsum(evaluation.policy) == pytest.approx(1.0, abs=1e-12)
        assert evaluation.value == values[0]
        assert -1.0 <= evaluation.value <= 1.0


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13])
def test_padding_and_splitting_of_batches_do_not_change_evaluations(model: Path, count: int) -> None:
    evaluator = NetworkEvaluator(model, backend="cpu", batch_size=5)
    states = boards(count)
    together = evaluator.evaluate(states)
    for state, evaluation in zip(states, together, strict=True):
        alone = evaluator.evaluate([state])[0]
        assert evaluation.value == pytest.approx(alone.value, abs=1e-5)
        assert list(evaluation.policy) == pytest.approx(list(alone.policy), abs=1e-5)
    assert NetworkEvaluator(model, backend="cpu").evaluate([]) == []


def test_a_bound_call_equals_run(model: Path) -> None:
    evaluator = NetworkEvaluator(model, backend="cpu", batch_size=8)
    inputs = evaluator.new_inputs(8)
    bound = present(evaluator.bind(inputs))
    positions = iter(boards(24))
    for count in (8, 1, 3, 8, 4):
        for i, board in zip(range(count), positions, strict=False):
            for rows in inputs:
                rows[i] = 0
            evaluator.format.fill(board, [rows[i] for rows in inputs])
        bound.run(count)
        planes = [rows[:count] for rows in inputs]
        answer = evaluator.format.interpret([rows[:count] for rows in bound.outputs.values()], planes)
        for found, expected in zip(answer, evaluator.run(planes), strict=True):
            assert np.array_equal(found, expected)


@pytest.mark.parametrize("unfit", [{"dtype": "FLOAT16"}, {"batch": 4}])
def test_a_model_of_other_types_or_a_fixed_batch_has_no_bound_call(
    tmp_path: Path, unfit: dict[str, Any]
) -> None:
    evaluator = NetworkEvaluator(write_model(tmp_path / "m.onnx", **unfit), backend="cpu", batch_size=4)
    assert evaluator.bind(evaluator.new_inputs(4)) is None


def test_probability_logit_and_tanh_become_values_from_minus_one_to_one(tmp_path: Path) -> None:
    states = boards(10)
    values = {}
    for head in ("Sigmoid", "Identity", "Tanh"):
        path = write_model(tmp_path / f"{head}.onnx", head=head)
        values[head] = [e.value for e in NetworkEvaluator(path, backend="cpu").evaluate(states)]
    assert max(map(abs, values["Sigmoid"])) > 0.1
    assert values["Identity"] == pytest.approx(values["Sigmoid"], abs=1e-6)
    for tanh_of_x, tanh_of_half_x in zip(values["Tanh"], values["Identity"], strict=True):
        assert math.atanh(tanh_of_x) == pytest.approx(2.0 * math.atanh(tanh_of_half_x), abs=1e-4)


def test_the_operator_behind_an_output_is_found_through_reshapes(model: Path) -> None:
    assert producer(model, "output_value") == "Sigmoid"
    assert producer(model, "output_policy") == "Conv"
    assert producer(model, "no such output") == ""


def test_a_model_with_a_fixed_batch_is_padded_to_it(tmp_path: Path, model: Path) -> None:
    fixed = NetworkEvaluator(write_model(tmp_path / "fixed.onnx", batch=4), backend="cpu", batch_size=16)
    free = NetworkEvaluator(model, backend="cpu", batch_size=16)
    for a, b in zip(fixed.evaluate(boards(7)), free.evaluate(boards(7)), strict=True):
        assert a.value == pytest.approx(b.value, abs=1e-5)


def test_the_description_names_backend_and_model(model: Path) -> None:
    evaluator = NetworkEvaluator(model, backend="cpu", batch_size=3, threads=1)
    words = dict(word.split("=") for word in evaluator.description.split())
    assert words["backend"] == evaluator.backend == "CPU"
    assert words["model"] == "linear.onnx"
    assert words["format"] == "dlshogi-62+57"
    assert (words["batch"], words["threads"]) == ("3", "1")


def open_with_fallback(model: Path, backend: str, **arguments: Any) -> tuple[NetworkEvaluator, list[str]]:
    """Returns the network on the requested backend or the next one that works, and the messages."""
    messages: list[str] = []

    def open_on(backend: str) -> NetworkEvaluator:
        return NetworkEvaluator(model, backend=backend, **arguments)

    return open_on_first(backend_chain(backend, allows_fallback=True), open_on, messages.append), messages


@pytest.mark.parametrize(("wanted", "found"), [("cuda", "CPU"), ("tensorrt", "CUDA")])
def test_a_backend_that_opens_a_model_but_cannot_run_it_is_followed_by_the_next(
    model: Path, monkeypatch: pytest.MonkeyPatch, wanted: str, found: str
) -> None:
    names = {"cuda": "CUDA", "tensorrt": "TensorRT"}

    class Broken:
        def __init__(self, handle: Any) -> None:
            self.get_inputs, self.get_outputs = handle.get_inputs, handle.get_outputs

        def run(self, *_: object) -> None:
            raise RuntimeError("Target GPU SM 61 is not supported by this TensorRT release")

    def open_broken(path: Path, backend: str, *, axes: Any = None, **_: Any) -> Session:
        session = open_session(path, "cpu", threads=1, axes=axes)
        handle = Broken(session.handle) if backend == wanted else session.handle
        return replace(session, handle=handle, backend=names.get(backend, "CPU"))

    monkeypatch.setattr("goryu.evaluators.network.onnx_model.open_session", open_broken)
    evaluator, messages = open_with_fallback(model, wanted)
    assert evaluator.backend == found
    assert found != "CPU" or evaluator.batch_size == 4
    assert "SM 61" in messages[-1]
    with pytest.raises(BackendError, match="SM 61"):
        NetworkEvaluator(model, backend=wanted)


@pytest.mark.parametrize("packs", [False, True])
@pytest.mark.parametrize("backend", ["CUDA", "DirectML"])
def test_on_a_gpu_every_batch_size_has_its_own_session(
    model: Path, monkeypatch: pytest.MonkeyPatch, backend: str, packs: bool
) -> None:
    """A convolution of CUDA holds the plan of the last shape only; DirectML wants to know shapes before."""
    states = boards(6)
    values = [evaluation.value for evaluation in NetworkEvaluator(model, backend="cpu").evaluate(states)]
    requested: list[dict[str, int]] = []

    def open_elsewhere(
        path: Path, wanted: str, *, axes: dict[str, int] | None = None, content: bytes | None = None, **_: Any
    ) -> Session:
        assert wanted == backend.lower()
        requested.append(axes or {})
        return replace(open_session(path, "cpu", axes=axes, content=content), backend=backend)

    monkeypatch.setattr("goryu.evaluators.network.onnx_model.open_session", open_elsewhere)
    monkeypatch.setitem(KNOWN, "cuda", replace(KNOWN["cuda"], buffers="cpu"))
    evaluator = NetworkEvaluator(
        model, backend=backend.lower(), batch_size=6, packs=packs, streams=2, halves=False
    )
    assert bool(evaluator.packed) == packs, evaluator.note
    if packs:  # One for each size and stream, then one for the comparison with planes.
        assert requested == [{}, *({"batch_size": size} for size in (1, 2, 4, 6, 1, 2, 4, 6, 6))]
    else:
        assert requested == [{}, *({"batch_size": size} for size in (6, 1, 2, 4))]
    for count in (3, 1, 6, 5, 2):
        found = [evaluation.value for evaluation in evaluator.evaluate(states[:count])]
        assert found == pytest.approx(values[:count], abs=1e-5)


@pytest.mark.parametrize("logit, value", [(0.0, np.nan), (np.nan, 0.0), (np.inf, 0.0)])
def test_an_answer_that_is_not_a_number_is_an_error(
    logit: float, value: float, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator = NetworkEvaluator(model, backend="cpu")

    class Overflown:
        def run(self, *_: object) -> list[Any]:
            return [np.full((1, 2187), logit, np.float32), np.full((1, 1), value, np.float32)]

    assert isinstance(evaluator.runner, PlanesRunner)
    monkeypatch.setattr(evaluator.runner, "handle", lambda _: Overflown())
    with pytest.raises(ModelError, match="not a number"):
        evaluator.evaluate([Board()])


def test_the_default_batch_size_depends_on_the_device(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_elsewhere(path: Path, backend: str, **settings: Any) -> Session:
        return replace(open_session(path, "cpu", threads=1), backend="CUDA")

    assert NetworkEvaluator(model, backend="cpu").batch_size == 4
    assert NetworkEvaluator(write_model(tmp_path / "fixed.onnx", batch=6), backend="cpu").batch_size == 6
    monkeypatch.setattr("goryu.evaluators.network.onnx_model.open_session", open_elsewhere)
    assert NetworkEvaluator(model, backend="cuda").batch_size == 128
    assert NetworkEvaluator(model, backend="cuda", batch_size=9).batch_size == 9


def test_without_a_home_folder_only_tensorrt_fails(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr("goryu.evaluators.network.providers._obstacle", lambda *_: None)
    assert backend_chain("auto", allows_fallback=True) == ("cuda", "directml", "cpu")
    _, messages = open_with_fallback(model, "tensorrt")
    assert messages[0] == "TensorRT cannot be used: the user has no home folder; set HOME"


def test_the_cache_of_tensorrt_depends_on_model_device_and_library(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    trained = tmp_path / model.name
    producer_version = b"\x1a\x07another"
    trained.write_bytes(model.read_bytes() + producer_version)

    def cache(path: Path, device: int) -> str:
        options = provider_options("tensorrt", path, device)  # onnxruntime refuses "1".
        assert options["trt_fp16_enable"] == options["trt_engine_cache_enable"] == "True"
        return options["trt_engine_cache_path"]

    folders = {cache(model, 0), cache(model, 1), cache(trained, 0)}
    monkeypatch.setattr("goryu.evaluators.network.providers._library_version", lambda: "9.9.9")
    assert len(folders | {cache(model, 0)}) == 4
    assert cache(model, 0) == cache(model, 0)


def test_openvino_computes_what_onnxruntime_does(model: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    if "OpenVINOExecutionProvider" not in onnxruntime.get_available_providers():
        pytest.skip("this onnxruntime does not contain OpenVINO")
    network = NetworkEvaluator(model, backend="openvino", batch_size=4)
    assert network.backend == "OpenVINO"
    states = [Board(), Board("4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1")]
    expected = NetworkEvaluator(model, backend="onnxruntime").evaluate(states)
    for found, wanted in zip(network.evaluate(states), expected, strict=True):
        assert found.value == pytest.approx(wanted.value, abs=1e-4)
        assert found.policy == pytest.approx(wanted.policy, abs=1e-4)
    with pytest.raises(BackendError, match=r"OpenVINO-GPU cannot be used: .*no GPU of Intel"):
        NetworkEvaluator(model, backend="openvino-gpu", device=99)


@pytest.mark.parametrize("backend", ["openvino", "openvino-gpu", "coreml", "directml", "cuda"])
def test_a_backend_that_is_not_installed_falls_back_with_its_reason_or_is_an_error(
    backend: str, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    assert backend_chain(backend, allows_fallback=False) == (backend,)
    evaluator, messages = open_with_fallback(model, backend)
    assert evaluator.backend in ("CPU", "Winograd")
    (message,) = messages
    assert "cannot be used: the installed onnxruntime does not contain it" in message
    with pytest.raises(BackendError, match="cannot be used: the installed onnxruntime does not contain it"):
        NetworkEvaluator(model, backend=backend)


@pytest.mark.parametrize("home", ["shogi", "将棋"])
def test_on_windows_tensorrt_gets_an_ascii_cache_folder(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    (tmp_path / home).mkdir()
    named = tmp_path / "振り飛車.onnx"
    named.write_bytes(model.read_bytes())
    monkeypatch.setattr(Path, "home", lambda: tmp_path / home)
    monkeypatch.setattr("goryu.evaluators.network.providers.sys.platform", "win32")
    monkeypatch.setenv("PROGRAMDATA", str(tmp_path / "ProgramData"))
    folder = provider_options("tensorrt", named, 0)["trt_engine_cache_path"]
    assert folder.isascii()
    assert Path(folder).is_dir()


def test_operators_unknown_to_tensorrt_run_on_cuda(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    requested: list[str] = []

    def open_none(path: str, options: object, providers: list[tuple[str, object]], **_: object) -> None:
        requested.extend(name for name, _ in providers)
        raise RuntimeError("no GPU")

    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr("goryu.evaluators.network.providers._obstacle", lambda *_: None)
    monkeypatch.setattr(onnxruntime, "InferenceSession", open_none)
    with pytest.raises(BackendError, match="no GPU"):
        NetworkEvaluator(model, backend="tensorrt")
    assert requested == ["TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider"]


@pytest.mark.parametrize(
    ("platform", "error", "advice"),
    [
        ("win32", ImportError("DLL load failed"), "vc_redist"),
        ("win32", ModuleNotFoundError("No module"), "tools/dev.py setup cpu"),
        ("linux", ImportError("libstdc++.so.6"), "tools/dev.py setup cpu"),
    ],
)
def test_an_onnxruntime_that_cannot_be_imported_comes_with_advice(
    platform: str, error: ImportError, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "onnxruntime":
                raise error

    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Failing(), *sys.meta_path])
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(BackendError, match=advice):
        import_onnxruntime()


def test_an_unknown_backend_is_refused(model: Path) -> None:
    with pytest.raises(BackendError, match="expected one of tensorrt, cuda"):
        NetworkEvaluator(model, backend="quantum")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_a_model_that_is_no_regular_file_is_a_model_error(tmp_path: Path) -> None:
    """Opening a FIFO waits until a process writes to it."""
    os.mkfifo(tmp_path / "fifo.onnx")
    with pytest.raises(ModelError, match="not a regular file"):
        NetworkEvaluator(tmp_path / "fifo.onnx", backend="cpu")


def test_a_pytorch_checkpoint_gets_advice(tmp_path: Path) -> None:
    path = tmp_path / "model.pth"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", b"")
    with pytest.raises(ModelError, match="goryu convert"):
        NetworkEvaluator(path, backend="cpu")


def test_a_broken_file_is_a_model_error(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "broken.onnx"
    for content in (b"", b"not a model", bytes(range(256)) * 40, model.read_bytes()[:-1000]):
        path.write_bytes(content)
        with pytest.raises(ModelError, match=r"broken\.onnx"):
            NetworkEvaluator(path, backend="cpu")


def test_a_damaged_name_is_a_model_error(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "damaged.onnx"
    path.write_bytes(model.read_bytes().replace(b"batch_size", b"batch\xffsize"))
    with pytest.raises(ModelError, match=r"damaged\.onnx: a name in it is not UTF-8"):
        NetworkEvaluator(path, backend="cpu")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"hand_planes": 58}, r"found input1 \[N, 62, 9, 9\], input2 \[N, 58, 9, 9\]"),
        ({"input_name": "planes"}, r"dlshogi: input1 \[N, 62, 9, 9\]"),
        ({"policy_planes": 26}, r"output_policy \[N, 2106\]"),
    ],
)
def test_a_model_of_another_shape_is_a_model_error(
    tmp_path: Path, changes: dict[str, Any], complaint: str
) -> None:
    path = write_model(tmp_path / "other.onnx", **changes)
    with pytest.raises(ModelError, match=complaint):
        NetworkEvaluator(path, backend="cpu")


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_network_with_a_weight_that_is_no_number_is_refused_when_it_is_loaded(
    number: float, tmp_path: Path
) -> None:
    path = write_model(tmp_path / "nan.onnx")
    content = onnx.load(path)
    weights, *_ = content.graph.initializer  # Those of the policy.
    broken = onnx.numpy_helper.to_array(weights).copy()
    broken.flat[-1] = number
    weights.CopyFrom(onnx.numpy_helper.from_array(broken, weights.name))
    onnx.save(content, path)
    with pytest.raises(ModelError, match=r"nan.onnx: an output is not a number"):
        NetworkEvaluator(path, backend="cpu")
