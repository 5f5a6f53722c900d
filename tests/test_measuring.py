"""Measuring threads and batch size: what is chosen, when, and what is remembered."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from goryu.evaluators.uniform import UniformEvaluator
from goryu.players import measuring
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.loading import LoadedEvaluator
from goryu.players.measuring import Rate, Settings
from goryu.players.player import Player
from goryu.usi.actions import Load
from goryu.usi.engine import UsiEngine

LOADED = LoadedEvaluator(
    UniformEvaluator(), "backend=X model=a.onnx sha=1a2b3c4d batch=4 threads=1", 4, EvaluatorConfig(), ()
)


@pytest.fixture
def on(native: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lets the engine measure; returns its file in an empty cache folder."""
    monkeypatch.delenv(measuring.VARIABLE)
    monkeypatch.setattr(measuring, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(measuring, "MEASURED_S", 0.01)
    return tmp_path / "cache" / "measured.json"


def rates(*numbers: tuple[int, int, float]) -> Sequence[Rate]:
    """Returns rates from threads, batch size and evaluations per second."""
    return [Rate(Settings(threads, batch), rate, rate) for threads, batch, rate in numbers]


def test_the_usual_settings_stay_unless_others_are_clearly_faster() -> None:
    assert measuring.best(rates((2, 4, 100), (4, 4, 109))).settings == Settings(2, 4)
    assert measuring.best(rates((2, 4, 100), (4, 4, 111))).settings == Settings(4, 4)


def test_of_settings_that_are_nearly_as_fast_the_smallest_is_chosen() -> None:
    """Positions on the way were chosen without knowing each other's values."""
    found = rates((2, 1, 100), (8, 8, 200), (8, 2, 195), (8, 1, 180))
    assert measuring.best(found).settings == Settings(8, 2)


def test_the_latency_is_that_of_the_positions_on_the_way() -> None:
    assert Rate(Settings(2, 50), 1000.0, 900.0).latency_ms == 100.0


def test_a_measurement_counts_what_a_search_evaluates(native: ModuleType) -> None:
    seconds = iter(range(1000))
    rate = measuring.measure(UniformEvaluator(), Settings(1, 8), 3.0, lambda: float(next(seconds)))
    assert rate.evaluations_per_s > 0
    assert rate.playouts_per_s > 0


def test_what_was_measured_is_remembered_for_the_machine_and_the_network(on: Path) -> None:
    assert measuring.remembered(LOADED) is None
    measuring.remember(LOADED, Settings(6, 2))
    assert measuring.remembered(LOADED) == Settings(6, 2)
    other_batch = replace(LOADED, description=LOADED.description.replace("batch=4", "batch=8"))
    assert measuring.remembered(other_batch) == Settings(6, 2)
    trained_further = replace(LOADED, description=LOADED.description.replace("1a2b3c4d", "99999999"))
    assert measuring.remembered(trained_further) is None
    measuring.remember(trained_further, Settings(3, 1))
    assert measuring.remembered(LOADED) == Settings(6, 2)


@pytest.mark.parametrize(
    "content", ["", "[1]", "{", '{"KEY": 3}', '{"KEY": {"threads": 0, "batch_size": 1}}', '{"KEY": {"x": 1}}']
)
def test_a_damaged_file_is_measured_anew(content: str, on: Path) -> None:
    on.parent.mkdir()
    on.write_text(content.replace("KEY", json.dumps(measuring.key_of(LOADED))[1:-1]), encoding="utf-8")
    assert measuring.remembered(LOADED) is None
    measuring.remember(LOADED, Settings(2, 2))
    assert measuring.remembered(LOADED) == Settings(2, 2)


def test_a_folder_that_cannot_be_written_is_reported(on: Path) -> None:
    on.parent.write_text("a file, no folder")
    messages: list[str] = []
    measuring.measure_and_remember(LOADED, messages.append)
    assert "cannot be kept" in messages[-1]


def load(config: EngineConfig, *, measures: bool = True) -> tuple[Player, list[str]]:
    player, messages = Player(), list[str]()
    player.load(config, messages.append, measures=measures)
    return player, messages


def test_the_player_measures_at_first_use_and_remembers(on: Path) -> None:
    _, messages = load(EngineConfig())
    assert any(text.startswith("measuring threads and batch size") for text in messages)
    _, messages = load(EngineConfig())
    assert not any(text.startswith("measuring") for text in messages)


def test_the_player_searches_with_what_was_measured(on: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "remembered", lambda loaded: Settings(3, 2))
    player, messages = load(EngineConfig(), measures=False)
    assert "searchers=3" in messages[-1]
    assert player._loaded is not None
    assert player._loaded.batch_size == 2
    again: list[str] = []
    player.load(EngineConfig(), again.append)
    assert "searchers=3" in again[-1]


@pytest.mark.parametrize(
    "config",
    [
        EngineConfig(evaluator=EvaluatorConfig(threads=1)),
        EngineConfig(evaluator=EvaluatorConfig(kind="material")),
        EngineConfig(seed=1),
    ],
)
def test_nothing_is_measured_if_the_user_has_chosen(config: EngineConfig, on: Path) -> None:
    _, messages = load(config)
    assert not any("measur" in text for text in messages)
    assert not on.exists()


def test_the_batch_size_of_the_user_stays(on: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "remembered", lambda loaded: Settings(3, 2))
    player, _ = load(EngineConfig(evaluator=EvaluatorConfig(batch_size=5)))
    assert player._loaded is not None
    assert player._loaded.batch_size == 5


def test_matches_and_tests_measure_nothing(on: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(measuring.VARIABLE, "off")
    monkeypatch.setattr(measuring, "remembered", lambda loaded: Settings(3, 2))
    _, messages = load(EngineConfig())
    assert "searchers=2" in messages[-1]


def test_the_engine_measures_after_isready_but_not_on_the_clock() -> None:
    engine = UsiEngine()
    (loading,) = [action for action in engine.receive("isready", 0.0) if isinstance(action, Load)]
    assert loading.measures
    engine.loaded()
    engine.receive("setoption name DNN_Model value other.onnx", 1.0)
    engine.receive("position startpos", 1.0)
    actions = engine.receive("go btime 1000 wtime 1000", 1.0)
    (loading,) = [action for action in actions if isinstance(action, Load)]
    assert not loading.measures
