"""Evaluators that several searches of one process share."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from goryu.analysis.position_searcher import PositionSearcher
from goryu.evaluators.network.model_files import larger_model, shipped_model
from goryu.evaluators.network.providers import BackendError
from goryu.games.shogi import START_SFEN
from goryu.implementation import Board
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.set_up import loading, measuring, model_path
from goryu.players.set_up.loading import (
    LoadedEvaluator,
    LoadingError,
    LostError,
    SharedEvaluators,
    load_evaluator,
)
from goryu.search.evaluator import Evaluator


def test_a_network_is_in_memory_once_until_its_file_changes(tmp_path: Path) -> None:
    model = tmp_path / "network.onnx"
    shutil.copy(shipped_model(), model)
    config, shared = EvaluatorConfig(model=str(model), threads=1), SharedEvaluators(print)

    def evaluator(_number: int) -> Evaluator:
        return shared.get(config).evaluator

    with ThreadPoolExecutor(3) as pool:
        first, *others = pool.map(evaluator, range(3))
    assert all(other is first for other in others)
    assert shared.get(config).name == "network.onnx"
    assert shared.get(EvaluatorConfig("uniform")).evaluator is not first
    model.write_bytes(model.read_bytes()[:1000])
    assert shared.get(config).problem.startswith(f"model {model}")
    shutil.copy(shipped_model(), model)
    whole = shared.get(config)
    assert (whole.problem, whole.name) == ("", "network.onnx")
    model.unlink()
    assert shared.get(config) is whole


def test_an_evaluator_does_not_wait_for_another_one_to_load(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = SharedEvaluators(print)

    def load(config: EvaluatorConfig, report: Callable[[str], None]) -> LoadedEvaluator:
        if config.kind == "hashed":
            assert pool.submit(shared.get, EvaluatorConfig("uniform")).result(timeout=60)
        return load_evaluator(config, report)

    monkeypatch.setattr(loading, "load_evaluator", load)
    with ThreadPoolExecutor(1) as pool:
        assert shared.get(EvaluatorConfig("hashed")).name == "hashed"


def test_the_batch_for_a_gpu_is_not_for_the_cpu_that_stands_in() -> None:
    config, lines = EvaluatorConfig(backend="cuda", batch_size=1024, threads=1), list[str]()
    loaded = load_evaluator(config, lines.append)
    if loaded.uses_gpu:
        pytest.skip("a GPU is there")
    usual = load_evaluator(EvaluatorConfig(backend="cpu", threads=1), print)
    assert (loaded.batch_size, loaded.wanted_batch) == (usual.batch_size, 0)
    assert any(line.startswith("DNN_Batch_Size 1024 is for the GPU") for line in lines)
    assert measuring.choices(loaded) == measuring.choices(usual)
    wanted = load_evaluator(EvaluatorConfig(backend="cpu", batch_size=16, threads=1), print)
    assert wanted.batch_size == wanted.wanted_batch == 16


def test_a_missing_network_is_looked_for_again(tmp_path: Path) -> None:
    model = tmp_path / "network.onnx"
    config, shared = EvaluatorConfig(model=str(model), allows_fallback=False), SharedEvaluators(print)
    with pytest.raises(LoadingError, match="network"):
        shared.get(config)
    shutil.copy(shipped_model(), model)
    assert isinstance(shared.get(config), LoadedEvaluator)


@pytest.mark.parametrize(("error", "raised"), [(BackendError, LostError), (AssertionError, AssertionError)])
def test_an_evaluator_is_lost_if_its_backend_has_failed_and_by_no_other_error(
    failing: Callable[..., Evaluator], error: type[Exception], raised: type[Exception]
) -> None:
    loaded = replace(load_evaluator(EvaluatorConfig("hashed"), print), evaluator=failing(0, "gone", error))
    for evaluate in (
        lambda: loaded.evaluate([Board()]),
        lambda: PositionSearcher(loaded, EngineConfig(loaded.config)).search(
            START_SFEN, (), 5, lambda: False
        ),
    ):
        loaded.lost.clear()
        with pytest.raises(raised, match="gone"):
            evaluate()
        assert loaded.lost.is_set() == (raised is LostError)


def test_the_small_network_replaces_a_named_one_and_the_larger_one_a_damaged_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(model_path.VARIABLE)
    monkeypatch.setattr("goryu.implementation.IMPLEMENTATION", "native")
    monkeypatch.setattr(model_path, "_has_kernel", lambda: True)
    (tmp_path / "damaged.onnx").write_bytes(b"damaged")
    monkeypatch.setattr(model_path, "downloaded_model", lambda: tmp_path / "damaged.onnx")
    lines: list[str] = []

    def name(model: str = "") -> str:
        return load_evaluator(EvaluatorConfig(model=model, threads=1), lines.append).name

    assert name("/none.onnx") == shipped_model().name, "a level must not become stronger"
    assert "none.onnx: no such file; playing with the shipped goryu-5x64.onnx" in lines[-1]
    (tmp_path / "loop.onnx").symlink_to(tmp_path / "loop.onnx")
    assert name(str(tmp_path / "loop.onnx")) == shipped_model().name
    assert "playing with the shipped goryu-5x64.onnx" in lines[-1]
    assert name() == larger_model().name
    assert "playing with the shipped goryu-10x96.onnx" in lines[-1]
    monkeypatch.setattr(model_path, "larger_model", lambda: tmp_path / "none.onnx")
    assert name() == shipped_model().name, "the larger one is damaged"
    assert "playing with the shipped goryu-5x64.onnx" in lines[-1]
