"""Measuring threads and batch size: what is chosen, when, and what is remembered."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from goryu.evaluators.network.network_group import NetworkGroup
from goryu.evaluators.uniform import UniformEvaluator
from goryu.implementation import Board
from goryu.players.config import DeviceConfig, EngineConfig, EvaluatorConfig
from goryu.players.player import Player
from goryu.players.set_up import measuring
from goryu.players.set_up.loading import LoadedEvaluator, LoadingError
from goryu.players.set_up.measuring import Rate, Settings
from goryu.usi.actions import Load
from goryu.usi.engine import UsiEngine
from gpu.simulated_device import SimulatedDevice
from present import present

LOADED = LoadedEvaluator(
    UniformEvaluator(), "backend=X model=a.onnx sha=1a2b3c4d batch=4 threads=1", 4, EvaluatorConfig(), ()
)


def loads(engine: UsiEngine, *lines: str) -> list[Load]:
    return [a for line in lines for a in engine.receive(line, 0.0) if isinstance(a, Load)]


@pytest.fixture
def on(native: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lets the engine measure; returns its file in an empty cache folder."""
    monkeypatch.delenv(measuring.VARIABLE)
    monkeypatch.setattr(measuring, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(measuring, "MEASURED_S", 0.01)
    return tmp_path / "cache" / "measured.json"


def rates(*numbers: tuple[int, int, float]) -> Sequence[Rate]:
    """Returns rates from threads, batch size and evaluations per second."""
    return [Rate(Settings(threads, batch), rate) for threads, batch, rate in numbers]


def test_the_usual_settings_stay_unless_others_are_clearly_faster() -> None:
    assert measuring.best(rates((2, 4, 100), (4, 4, 109))).settings == Settings(2, 4)
    assert measuring.best(rates((2, 4, 100), (4, 4, 111))).settings == Settings(4, 4)


def test_of_settings_that_are_nearly_as_fast_the_smallest_is_chosen() -> None:
    """Positions on the way were chosen without knowing each other's values."""
    found = rates((2, 1, 100), (8, 8, 200), (8, 2, 195), (8, 1, 180))
    assert measuring.best(found).settings == Settings(8, 2)


def test_a_measurement_counts_what_a_search_evaluates(native: ModuleType) -> None:
    seconds = iter(range(1000))
    puct = measuring.new_search(UniformEvaluator())
    rate = measuring.measure(puct, Settings(1, 8), 3.0, clock=lambda: float(next(seconds)))
    assert rate.evaluations_per_s > 0


def test_what_was_measured_is_remembered_for_the_machine_and_the_network(on: Path) -> None:
    assert measuring.remembered(LOADED) is None
    measuring.remember(LOADED, Rate(Settings(6, 2), 900.0))
    assert measuring.remembered(LOADED) == Settings(6, 2)
    other_batch = replace(LOADED, description=LOADED.description.replace("batch=4", "batch=8"))
    assert measuring.remembered(other_batch) == Settings(6, 2)
    trained_further = replace(LOADED, description=LOADED.description.replace("1a2b3c4d", "99999999"))
    assert measuring.remembered(trained_further) is None
    measuring.remember(trained_further, Rate(Settings(3, 1), 900.0))
    assert measuring.remembered(LOADED) == Settings(6, 2)


@pytest.mark.parametrize(
    "content",
    [
        "", "[1]", "{", '{"KEY": 3}', '{"KEY": {"threads": 0, "batch_size": 1}}', '{"KEY": {"x": 1}}',
        '{"KEY": {"threads": 1e999, "batch_size": 1, "evaluations_per_s": 1}}', "[" * 100_000,
    ],
)  # fmt: skip
def test_a_damaged_file_is_measured_anew(content: str, on: Path) -> None:
    on.parent.mkdir()
    on.write_text(content.replace("KEY", json.dumps(measuring.key_of(LOADED))[1:-1]), encoding="utf-8")
    assert measuring.remembered(LOADED) is None
    measuring.remember(LOADED, Rate(Settings(2, 2), 900.0))
    assert measuring.remembered(LOADED) == Settings(2, 2)


def test_a_slower_measurement_does_not_replace_what_was_measured_before(on: Path) -> None:
    """`goryu doctor` on a busy machine replaced what an idle one had found, without a way back."""
    messages: list[str] = []
    assert measuring.measure_and_remember(LOADED, messages.append) is not None
    found = json.loads(on.read_text("utf-8"))[measuring.key_of(LOADED)]
    assert f", {found['evaluations_per_s']} evaluations/s" in messages[1]

    idle = Settings(99, 1)
    assert idle not in measuring.choices(LOADED)
    measuring.remember(LOADED, Rate(idle, 1e12))
    content = on.read_bytes()
    assert measuring.measure_and_remember(LOADED, messages.append) == idle
    assert messages[-1].startswith(f"kept: {measuring.told(idle)}, measured earlier with 1000000000000 eval")
    assert str(on) in messages[-1], "the way back"
    assert on.read_bytes() == content

    on.unlink()
    measuring.remember(LOADED, Rate(idle, 1.0))
    count = len(messages)
    assert measuring.measure_and_remember(LOADED, messages.append) == measuring.remembered(LOADED) != idle
    assert len(messages) == count + 2, "nothing is kept"


def test_a_folder_that_cannot_be_written_is_reported(on: Path) -> None:
    on.parent.write_text("a file, no folder")
    messages: list[str] = []
    measuring.measure_and_remember(LOADED, messages.append)
    assert "cannot be kept" in messages[-1]


def load(config: EngineConfig, *, measures: bool = True) -> tuple[Player, list[str]]:
    player, messages = Player(), list[str]()
    player.load(config, messages.append, measures=measures)
    return player, messages


def batch_size(player: Player) -> int:
    return present(player.slot.loaded).batch_size


@pytest.fixture
def _three_threads(on: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three threads with batches of two were measured."""
    monkeypatch.setattr(measuring, "remembered", lambda loaded: Settings(3, 2))


def test_the_player_measures_at_first_use_and_remembers(on: Path) -> None:
    _, messages = load(EngineConfig())
    assert any(text.startswith("measuring threads and batch size") for text in messages)
    _, messages = load(EngineConfig())
    assert not any(text.startswith("measuring") for text in messages)


@pytest.mark.usefixtures("_three_threads")
def test_the_player_searches_with_what_was_measured_until_a_seed_is_set() -> None:
    player, messages = load(EngineConfig(), measures=False)
    assert "searchers=3" in messages[-1]
    assert " batch=2 " in messages[-1]
    assert batch_size(player) == 2
    messages.clear()
    player.load(EngineConfig(), messages.append)
    assert "searchers=3" in messages[-1]
    player.load(EngineConfig(seed=5), messages.append)
    assert batch_size(player) == 1
    assert "searchers=3" not in messages[-1]


@pytest.mark.usefixtures("_three_threads")
def test_the_batch_size_of_the_user_stays() -> None:
    player, _ = load(EngineConfig(evaluator=EvaluatorConfig(batch_size=5)))
    assert batch_size(player) == 5


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


def test_what_was_measured_for_a_batch_size_of_the_user_counts_only_for_it(on: Path) -> None:
    chosen = EngineConfig(evaluator=EvaluatorConfig(batch_size=64))
    player, messages = load(chosen)
    assert not any("DNN_Batch_Size 1," in text or "DNN_Batch_Size 2" in text for text in messages)
    assert measuring.remembered(present(player.slot.loaded)) is not None
    default, _ = load(EngineConfig(), measures=False)
    assert measuring.remembered(present(default.slot.loaded)) is None
    assert batch_size(default) == 1


def test_nothing_is_measured_for_a_go_on_the_clock() -> None:
    engine = UsiEngine()
    (loading,) = loads(engine, "isready")
    assert loading.measures
    engine.loaded()
    new_model = "setoption name DNN_Model value other.onnx"
    (loading,) = loads(engine, new_model, "position startpos", "go btime 1000 wtime 1000")
    assert not loading.measures
    waiting = UsiEngine()
    loads(waiting, "isready", new_model, "isready", "go btime 1000 wtime 1000")
    (second,) = [action for action in waiting.loaded() if isinstance(action, Load)]
    assert not second.measures


@pytest.mark.parametrize(
    ("go", "stops"),
    [
        ("go btime 60000 wtime 60000 byoyomi 1000", True), ("go ponder btime 60000 wtime 60000", True),
        ("go movetime 100", True), ("go", True), ("go mate 1000", True), ("go mate infinite", False),
        ("go infinite", False), ("go nodes 100", False), ("go perft 2", False), ("isready", False),
    ],
)  # fmt: skip
def test_only_a_go_on_the_clock_ends_the_measuring(go: str, stops: bool) -> None:
    engine = UsiEngine()
    (loading,) = loads(engine, "isready", "position startpos")
    assert loading.measures
    assert not loading.control.is_stopped
    assert not loads(engine, go)
    assert loading.control.is_stopped == stops


def test_a_measurement_that_is_ended_is_made_up_for_at_the_next_isready(
    on: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Settings] = []

    def measure(puct: Any, settings: Settings, seconds: float, hurries: Callable[[], bool]) -> Rate:
        seen.append(settings)
        return Rate(settings, 1.0)

    monkeypatch.setattr(measuring, "measure", measure)
    player, messages = Player(), list[str]()
    player.load(EngineConfig(), messages.append, measures=True, hurries=lambda: len(seen) >= 3)
    assert len(seen) == 3
    assert "not measured: a search waits; the next isready measures again" in messages
    assert not on.exists()
    player.load(EngineConfig(), messages.append, measures=False)
    assert len(seen) == 3
    player.load(EngineConfig(), messages.append, measures=True)
    assert len(seen) > 3
    assert on.exists()


def test_a_measurement_ends_with_the_batch_under_way(native: ModuleType) -> None:
    asked = 0

    def hurries() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    measuring.measure(measuring.new_search(UniformEvaluator()), Settings(1, 8), 1e9, hurries)
    assert asked == 4


class Devices:
    """Loads simulated GPUs instead of a network, and notes how."""

    def __init__(self, count: int = 1, most: int = 1 << 20) -> None:
        self.devices = [SimulatedDevice(call_s=0.004, row_s=0.0) for _ in range(count)]
        self.most = most
        self.requested: list[tuple[int, int]] = []

    def load(self, config: EvaluatorConfig, report: Callable[[str], None]) -> LoadedEvaluator:
        batch, threads = config.batch_size or 128, config.threads or 2
        self.requested.append((threads, batch))
        if batch > self.most:
            return LoadedEvaluator(UniformEvaluator(), "backend=CPU", 4, config, ())
        networks = [device.network(batch, threads) for device in self.devices]
        group = NetworkGroup(networks, [threads] * len(networks))
        evaluator = group if len(networks) > 1 else networks[0]
        return LoadedEvaluator(evaluator, evaluator.description, batch, config, ())


def set_up(devices: Devices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "load_evaluator", devices.load)
    monkeypatch.setattr("goryu.players.set_up.evaluator_slot.load_evaluator", devices.load)
    monkeypatch.setattr(measuring, "GROWING_S", 0.02)
    monkeypatch.setattr(measuring, "ROUNDS", 1)
    monkeypatch.setattr(measuring, "usable_threads", lambda wanted: wanted)


@pytest.mark.parametrize("count", [1, 2])
def test_a_gpu_is_measured_with_room_for_large_batches(
    count: int, on: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = Devices(count)
    set_up(devices, monkeypatch)
    measured: list[Settings] = []

    def measure(puct: Any, settings: Settings, seconds: float, hurries: Callable[[], bool]) -> Rate:
        measured.append(settings)
        networks = getattr(puct.evaluator, "networks", [puct.evaluator])
        assert all(network.batch_size == 512 and network.packed.streams == 4 for network in networks)
        return Rate(settings, float(settings.batch_size))

    monkeypatch.setattr(measuring, "measure", measure)
    config = EngineConfig(evaluator=EvaluatorConfig(device=",".join("01"[:count])))
    player, messages = load(config)
    assert devices.requested == [(2, 128), (4, 512), (2, 512)], "as usual, to measure, as measured"
    assert {Settings(2, 128), Settings(4, 512)} < set(measured)
    assert any(f"searchers={2 * count} " in text for text in messages)
    assert batch_size(player) == 512
    devices.requested.clear()
    load(config)
    assert devices.requested == [(2, 128), (2, 512)], "remembered"


def test_a_search_that_is_measured_fills_the_batches_of_all_devices(
    on: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = Devices(2)
    monkeypatch.setattr(measuring, "usable_threads", lambda wanted: wanted)
    puct = measuring.new_search(devices.load(EvaluatorConfig(batch_size=256, threads=1), print).evaluator)
    puct.config = replace(puct.config, batch_size=256)
    puct.search(Board(measuring.POSITION), lambda stats: False, max_evaluations=16 * 2 * 256 + 512)
    for device in devices.devices:
        device.reset()
    measuring.measure(puct, Settings(1, 256), 0.3)
    assert all(device.calls and device.rows / device.calls > 200 for device in devices.devices)


def test_nothing_is_measured_if_the_memory_of_the_gpu_does_not_suffice(
    on: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(Devices(most=256), monkeypatch)
    player, messages = load(EngineConfig())
    assert "nothing is measured: 4 batches of 512 do not fit on the GPU" in messages
    assert any("searchers=2 " in text for text in messages)
    assert batch_size(player) == 128
    assert not on.exists()


@pytest.mark.parametrize("allows_fallback", [True, False])
def test_a_gpu_without_room_for_the_measured_batches_keeps_the_usual_ones(
    allows_fallback: bool, on: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program may take the GPU's memory after the measurement."""
    devices = Devices(most=256)

    def loaded(config: EvaluatorConfig, report: Callable[[str], None]) -> LoadedEvaluator:
        found = devices.load(config, report)
        if found.uses_gpu or allows_fallback:
            return found
        raise LoadingError("out of memory")

    set_up(devices, monkeypatch)
    monkeypatch.setattr("goryu.players.set_up.evaluator_slot.load_evaluator", loaded)
    monkeypatch.setattr(measuring, "remembered", lambda loaded: Settings(2, 512))
    player, messages = load(EngineConfig())
    assert devices.requested == [(2, 128), (2, 512)]
    reason = "no room for batches of 512 on the GPU" if allows_fallback else "Error! out of memory"
    assert f"{reason}; using the usual threads and batch size" in messages
    assert any("searchers=2 " in text for text in messages)
    assert present(player.slot.loaded).uses_gpu
    assert batch_size(player) == 128


def test_several_devices_are_not_measured_if_the_user_has_chosen_for_one(
    on: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = Devices(2)
    set_up(devices, monkeypatch)
    load(EngineConfig(evaluator=EvaluatorConfig(device="0,1", more_devices=(DeviceConfig(batch_size=32),))))
    assert devices.requested == [(2, 128)]
