"""Which network plays where none is named."""

from pathlib import Path

import pytest

from goryu.evaluators.network.model_files import larger_model, shipped_model
from goryu.players.config import EngineConfig, EvaluatorConfig, with_fields
from goryu.players.levels.levels import evaluator_of
from goryu.players.set_up import model_path as module
from goryu.players.set_up.model_path import default_model, default_shipped_model, model_path, told_choice


@pytest.fixture
def downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A downloaded network on a machine that runs it well."""
    monkeypatch.setattr("goryu.implementation.IMPLEMENTATION", "native")
    monkeypatch.setattr(module, "_has_kernel", lambda: True)
    monkeypatch.delenv(module.VARIABLE)
    path = tmp_path / "miniosl.onnx"
    path.touch()
    monkeypatch.setattr(module, "downloaded_model", lambda: path)
    return path


def test_the_default_follows_the_folder_and_the_variable(
    downloaded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert default_model() == (downloaded, module.STRONGEST)
    assert default_shipped_model()[0] == larger_model()
    assert told_choice(EvaluatorConfig()) == "miniosl.onnx (the strongest network here)"
    assert model_path(EvaluatorConfig(model="goryu-5x64.onnx")) == shipped_model()
    monkeypatch.setenv(module.VARIABLE, "shipped")
    assert default_model() == (shipped_model(), module.REFUSED)
    monkeypatch.delenv(module.VARIABLE)
    downloaded.unlink()
    assert default_model() == default_shipped_model() == (larger_model(), module.NOT_DOWNLOADED)
    monkeypatch.setattr(module, "_has_kernel", lambda: False)
    assert default_model() == (shipped_model(), module.NO_KERNEL)
    monkeypatch.setattr("goryu.implementation.IMPLEMENTATION", "python")
    assert default_model() == (shipped_model(), module.PYTHON_SEARCH)


def test_levels_below_full_strength_keep_the_shipped_network(downloaded: Path) -> None:
    for fields in ({"level": 9}, {"limits_strength": True, "elo": 500}):
        assert model_path(evaluator_of(with_fields(EngineConfig(), fields))) == shipped_model()
    for level in (0, 10):
        assert model_path(evaluator_of(with_fields(EngineConfig(), {"level": level}))) == downloaded
    named = with_fields(EngineConfig(), {"level": 3, "evaluator.model": "/my.onnx"})
    assert evaluator_of(named).model == "/my.onnx"
