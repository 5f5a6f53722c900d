"""Several devices evaluate for one search."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from goryu.evaluators.network.network_group import DevicesError, NetworkGroup
from goryu.evaluators.network.providers import BackendError
from goryu.games.shogi import START_SFEN
from goryu.implementation import IMPLEMENTATION, Board, make_puct
from goryu.players.config import DeviceConfig, EvaluatorConfig
from goryu.players.set_up.loading import load_evaluator
from goryu.search.graph.config import Formula, PuctConfig
from gpu.simulated_device import SimulatedDevice
from playing import never

needs_native = pytest.mark.skipif(IMPLEMENTATION == "python", reason="the Python search has one thread")

FORMULAS = Formula(c_init=1.3, fpu_reduction=0.36), Formula(c_init=1.5, fpu_reduction=0.1)


def fast_device(**settings: Any) -> SimulatedDevice:
    return SimulatedDevice(call_s=1e-4, row_s=0.0, **settings)


def searched(group: NetworkGroup, evaluations: int) -> Any:
    """Searches the start position with all threads of a group."""
    config = PuctConfig(*FORMULAS, batch_size=group.batch_size)
    puct: Any = make_puct(group, config, threads=len(group.workers))
    result = puct.search(Board(START_SFEN), never, max_evaluations=evaluations)
    assert result.stats.evaluations == evaluations
    return puct


def nodes_with_boards(puct: Any, most: int) -> Iterator[tuple[Any, Any]]:
    """Yields nodes below the root, breadth first, each with its position."""
    found: list[tuple[Any, Any]] = [(puct.root, Board(START_SFEN))]
    seen: set[int] = set()
    while found and len(seen) < most:
        node, board = found.pop(0)
        if board.key in seen:
            continue
        seen.add(board.key)
        yield node, board
        for move in node.moves[: node.tried]:
            board.push(move)
            child = puct.table.find(board.key)
            if child is not None:
                found.append((child, board.copy()))
            board.pop()


@needs_native
def test_every_position_gets_its_own_answer_from_whichever_device() -> None:
    """The answer of a simulated device depends on the bits of the position; all give the same."""
    devices = [fast_device() for _ in range(3)]
    group = NetworkGroup([device.network(16, 2) for device in devices], [2, 2, 1])
    puct = searched(group, 8000)
    assert all(device.calls > 20 for device in devices), "all of them worked"
    reference = fast_device().network(16)
    checked = 0
    for node, board in nodes_with_boards(puct, 1000):
        if not node.proof:
            assert node.raw_value == np.float32(reference.evaluate([board])[0].value)
            checked += 1
    assert checked > 500


@needs_native
@pytest.mark.parametrize("lost", [0, 1])
def test_a_device_that_fails_takes_only_its_batch(lost: int) -> None:
    """Device 0 serves the thread that asks the clock."""
    devices = [fast_device(fails_at=5 if i == lost else 0) for i in range(2)]
    group = NetworkGroup([device.network(16, 2) for device in devices], [2, 2])
    puct = searched(group, 8000)
    assert group.failures == [f"device {lost + 1} (CUDA) has failed: the simulated device is lost"]
    assert devices[1 - lost].calls > 100
    for node, _ in nodes_with_boards(puct, 2000):
        assert node.in_flight == 0


@needs_native
def test_a_search_without_a_device_left_says_so_and_leaves_nothing_in_flight() -> None:
    devices = [fast_device(fails_at=20) for _ in range(2)]
    group = NetworkGroup([device.network(16) for device in devices], [1, 1])
    puct: Any = make_puct(group, PuctConfig(*FORMULAS, batch_size=16), threads=2)
    with pytest.raises((RuntimeError, DevicesError), match=r"lost|all 2 devices"):
        puct.search(Board(), never, max_evaluations=30_000)
    assert len(group.failures) == 2
    for node, _ in nodes_with_boards(puct, 500):
        assert node.in_flight == 0
    with pytest.raises(DevicesError, match="all 2 devices have failed"):
        group.evaluate([Board()])


def test_a_device_is_not_given_up_for_an_error_that_is_not_its_own() -> None:
    group = NetworkGroup([fast_device().network(4) for _ in range(2)], [1, 1])
    assert not group.give_up(group.networks[0], AssertionError("a bug"))
    assert group.failures == []
    assert group.give_up(group.networks[0], BackendError("out of memory"))


@pytest.mark.parametrize("packs", [True, False])
def test_what_onnxruntime_raises_is_an_error_of_the_backend(packs: bool) -> None:
    network = fast_device(fails_at=2, packs=packs).network(4)
    network.evaluate([Board()])
    with pytest.raises(BackendError, match="the simulated device is lost"):
        network.evaluate([Board()])


@needs_native
def test_each_device_has_batches_of_its_own_size() -> None:
    small, large = fast_device(), fast_device()
    group = NetworkGroup([small.network(8), large.network(64)], [1, 1])
    assert group.batch_size == 64
    searched(group, 20_000)
    assert small.rows / small.calls <= 8 < large.rows / large.calls


def test_threads_are_spread_over_the_devices_in_turn() -> None:
    networks = [SimulatedDevice(call_s=0.0, row_s=0.0).network(4) for _ in range(3)]
    assert NetworkGroup(networks, [3, 1, 2]).workers == [0, 1, 2, 0, 2, 0]


def test_a_group_evaluates_as_its_networks_do() -> None:
    network = SimulatedDevice(call_s=0.0, row_s=0.0).network(4)
    assert NetworkGroup([network], [1]).evaluate([Board()]) == network.evaluate([Board()])


def test_a_config_with_several_devices_loads_a_network_for_each() -> None:
    messages: list[str] = []
    config = EvaluatorConfig(
        device="-1,-1", backend="cpu", threads=1, batch_size=2, more_devices=(DeviceConfig(batch_size=4),)
    )
    loaded = load_evaluator(config, messages.append)
    assert isinstance(loaded.evaluator, NetworkGroup)
    assert [network.batch_size for network in loaded.evaluator.networks] == [2, 4]
    assert loaded.description.count("backend=Winograd") + loaded.description.count("backend=CPU") == 2
    assert messages == []
    assert loaded.is_current(config)
    assert not loaded.uses_gpu


def test_a_device_that_is_missing_is_left_out_and_reported() -> None:
    messages: list[str] = []
    config = EvaluatorConfig(
        device="-1,-1", backend="cpu", threads=1, more_devices=(DeviceConfig(model="none.onnx"),)
    )
    loaded = load_evaluator(config, messages.append)
    assert not isinstance(loaded.evaluator, NetworkGroup)
    assert messages[0].startswith("Error! device -1 is left out: ")
    assert "no such file" in messages[0]
