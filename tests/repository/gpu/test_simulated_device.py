"""The search before a simulated GPU."""

from typing import Any

import numpy as np
import pytest

from goryu.evaluators.network.runners import PlanesRunner
from goryu.implementation import IMPLEMENTATION, Board, make_puct
from goryu.search.graph.config import Formula, PuctConfig
from goryu_lab.benchmark.throughput import MIDDLE_GAME
from gpu.simulated_device import SimulatedDevice
from playing import never

SHIPPED = Formula(c_init=1.3, fpu_reduction=0.36), Formula(c_init=1.5, fpu_reduction=0.1)
"""The formulas of goryu-5x64, which has a sharper policy than AlphaZero's constants expect."""


@pytest.mark.skipif(IMPLEMENTATION == "python", reason="too slow, and there is one thread")
@pytest.mark.parametrize(
    "threads, element, packs", [(1, "float", True), (2, "float", True), (1, "float16", False)]
)
def test_batches_of_a_fast_device_are_nearly_full(threads: int, element: str, packs: bool) -> None:
    device = SimulatedDevice(call_s=0.0, row_s=0.0, element=element, packs=packs)
    puct = make_puct(device.network(128, threads), PuctConfig(*SHIPPED, batch_size=128), threads=threads)
    board = Board(MIDDLE_GAME)
    puct.search(board, never, max_playouts=64 * 128 * threads)  # A smaller tree allows smaller batches.
    device.reset()
    stats = puct.search(board, never, max_evaluations=12_000).stats
    assert stats.evaluations == 12_000
    assert stats.evaluations / device.calls > 0.9 * 128


@pytest.mark.skipif(IMPLEMENTATION == "python", reason="only native code writes planes of halves")
def test_planes_of_halves_give_the_search_of_planes_of_floats() -> None:
    """The answers depend on the planes."""
    results = []
    for element in ("float", "float16"):
        network = SimulatedDevice(call_s=0.0, row_s=0.0, element=element, packs=False).network(16)
        puct = make_puct(network, PuctConfig(*SHIPPED, batch_size=16), threads=1)
        results.append(puct.search(Board(MIDDLE_GAME), never, max_playouts=1500))
    assert results[0] == results[1]
    assert len({move.visits for move in results[0].moves}) > 5


@pytest.mark.parametrize("element", ["float", "float16"])
def test_rows_after_the_positions_are_padding_and_are_not_copied(element: str) -> None:
    device = SimulatedDevice(call_s=0.0, row_s=0.0, element=element, packs=False)
    network, boards = device.network(8), [Board(), Board(MIDDLE_GAME)]
    fed: list[Any] = []
    assert isinstance(network.runner, PlanesRunner)
    handle = network.runner.handle(8)
    run = handle.run

    def noted_run(names: Any, feed: Any) -> Any:
        fed.append(feed["input1"])
        return run(names, feed)

    handle.run = noted_run
    inputs = network.new_file_inputs(8)
    for i, board in enumerate(boards * 4):
        network.format.fill(board, [rows[i] for rows in inputs])
    whole, part = network.run(inputs), network.run(inputs, 3)
    assert np.array_equal(part[0], whole[0][:3])
    assert np.array_equal(part[1], whole[1][:3])
    assert len(fed[1]) == 4
    assert np.shares_memory(fed[1], inputs[0])


def test_every_position_gets_its_own_answer_whatever_the_batch() -> None:
    network = SimulatedDevice(call_s=0.0, row_s=0.0).network(8)
    boards = [Board()]
    for _ in range(10):
        boards.append(boards[-1].copy())
        boards[-1].push(boards[-1].legal_moves()[0])
    together = network.evaluate(boards)
    assert together == [network.evaluate([board])[0] for board in boards]
    assert len({evaluation.value for evaluation in together}) > 8
