"""Which network plays where none is named."""

from pathlib import Path

import pytest

from goryu.evaluators.network.model_files import larger_model, shipped_model
from goryu.players.config import EngineConfig, EvaluatorConfig, with_fields
from goryu.players.levels.levels import evaluator_of
from goryu.players.set_up import model_path as module
from goryu.players.set_up.model_path import default_model, model_path, told_choice, why_shipped


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


@pytest.mark.parametrize(
    ("is_native", "has_kernel", "is_downloaded", "reason"),
    [
        (True, True, True, ""),
        (True, True, False, module.NOT_DOWNLOADED),
        (True, False, True, module.NO_KERNEL),
        (False, False, False, module.PYTHON_SEARCH),
    ],
)
def test_the_downloaded_network_plays_if_it_is_there_and_the_machine_runs_it_well(
    is_native: bool, has_kernel: bool, is_downloaded: bool, reason: str
) -> None:
    found = why_shipped(is_native=is_native, has_kernel=has_kernel, is_downloaded=is_downloaded)
    assert found == reason


def test_the_default_follows_the_folder_and_the_variable(
    downloaded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert default_model() == (downloaded, module.STRONGEST)
    assert told_choice(EvaluatorConfig()) == "miniosl.onnx (the strongest network here)"
    assert model_path(EvaluatorConfig(model="goryu-5x64.onnx")) == shipped_model()
    monkeypatch.setenv(module.VARIABLE, "shipped")
    assert default_model() == (shipped_model(), module.REFUSED)
    monkeypatch.delenv(module.VARIABLE)
    downloaded.unlink()
    assert default_model() == (larger_model(), module.NOT_DOWNLOADED)
    monkeypatch.setattr("goryu.implementation.IMPLEMENTATION", "python")
    assert default_model() == (shipped_model(), module.PYTHON_SEARCH)


def test_levels_below_full_strength_keep_the_shipped_network(downloaded: Path) -> None:
    for fields in ({"level": 9}, {"limits_strength": True, "elo": 500}):
        assert model_path(evaluator_of(with_fields(EngineConfig(), fields))) == shipped_model()
    for level in (0, 10):
        assert model_path(evaluator_of(with_fields(EngineConfig(), {"level": level}))) == downloaded
    named = with_fields(EngineConfig(), {"level": 3, "evaluator.model": "/my.onnx"})
    assert evaluator_of(named).model == "/my.onnx"
