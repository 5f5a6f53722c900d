"""Does the search keep a fast device busy? A search before simulated devices, and where its time goes.

The rate of the search is compared with that of the devices alone, called by the same number of threads with
full batches. The time of a position is the processor time of all threads; it says how many cores a rate
needs, also on a machine on which other programs run. What the simulation itself takes is measured without the
search and taken out.
"""

import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.network_group import NetworkGroup
from goryu.evaluators.network.packed_network import USUAL_WIDTH
from goryu.implementation import Board, make_puct
from goryu.search.graph.config import Formula, PuctConfig
from goryu.search.graph.proof import MateSolver, no_solver
from goryu.search.result import SearchStats
from goryu_lab.benchmark.throughput import MIDDLE_GAME, Seconds
from gpu.simulated_device import CALL_S, SimulatedDevice

FORMULAS = Formula(c_init=1.3, fpu_reduction=0.36), Formula(c_init=1.5, fpu_reduction=0.1)
"""Those of goryu-5x64, which has a policy as sharp as the simulated one."""

SHARE_OF_CALL = 0.3
"""The most of a full batch's time that is the fixed time of the call."""


@dataclass(frozen=True, slots=True)
class DeviceRun:
    """A search before simulated devices; rates are positions a second of wall time.

    device_rate: of all devices together in full batches. raw_rate: measured, without a search.
    us: microseconds of processor time of a position, by what they are spent on.
    wait_us, lock_us: of wall time in which a thread sleeps while its batch is evaluated, and in which it
        waits for the graph or a processor.
    busy: the share of the time in which the devices worked.
    """

    device_rate: float
    devices: int
    threads: int
    batch: int
    mate_nodes: int
    raw_rate: float
    search_rate: float
    mean_batch: float
    busy: float
    us: dict[str, float]
    wait_us: float
    lock_us: float

    @property
    def ratio(self) -> float:
        """The rate of the search over that of the devices alone."""
        return self.search_rate / self.raw_rate

    @property
    def search_us(self) -> float:
        """Processor time of a position without the simulation."""
        return sum(self.us.values()) - self.us["simulation"]

    def cores_for(self, rate: float) -> float:
        """Returns how many cores a rate of positions a second needs."""
        return rate * self.search_us * 1e-6


def devices_of(rate: float, batch: int, count: int) -> list[SimulatedDevice]:
    """Returns devices that together evaluate `rate` positions a second in full batches."""
    full_s = batch * count / rate
    call_s = min(CALL_S, SHARE_OF_CALL * full_s)
    return [SimulatedDevice(call_s=call_s, row_s=(full_s - call_s) / batch) for _ in range(count)]


def device_run(
    rate: float, *, batch: int, threads: int, devices: int = 1, mate_nodes: int = 0, seconds: float = 3.0
) -> DeviceRun:
    """Searches the middle game before `devices` devices with `threads` threads for each."""
    simulated = devices_of(rate, batch, devices)
    networks = [device.network(batch, threads) for device in simulated]
    evaluator = networks[0] if devices == 1 else NetworkGroup(networks, [threads] * devices)
    raw = raw_device_run(networks, threads, seconds / 3)
    puct: Any = make_puct(
        evaluator,
        PuctConfig(*FORMULAS, batch_size=batch, capacity=50_000_000),
        MateSolver(mate_nodes) if mate_nodes else no_solver,
        threads * devices,
    )
    board = Board(MIDDLE_GAME)
    # A small tree allows small batches only.
    puct.search(board, lambda stats: False, max_evaluations=48 * batch * threads * devices)
    for device in simulated:
        device.reset()
    puct.times = {}
    end = time.perf_counter() + seconds

    def should_stop(stats: SearchStats) -> bool:
        return time.perf_counter() >= end

    with Seconds() as spent:
        evaluations = puct.search(board, should_stop).stats.evaluations
    phases = us_of_phases(puct.times, evaluations)
    rows_us = row_us(networks[0])
    total_us = 1e6 * spent.cpu / evaluations
    simulation_us = min(raw.simulation_us, phases["ask"][0])
    us = {
        "gather, without rows": phases["gather"][0] - rows_us,
        "rows of bits": rows_us,
        "labels, copies, calls": phases["ask"][0] - simulation_us,
        "policies": phases["read"][0],
        "back up": phases["expand"][0],
        "rest": total_us - sum(cpu for cpu, _ in phases.values()),
        "simulation": simulation_us,
    }
    calls = sum(device.calls for device in simulated)
    return DeviceRun(
        device_rate=sum(device.rate(batch) for device in simulated),
        devices=devices,
        threads=threads,
        batch=batch,
        mate_nodes=mate_nodes,
        raw_rate=raw.rate,
        search_rate=evaluations / spent.wall,
        mean_batch=evaluations / max(1, calls),
        busy=sum(device.busy_s for device in simulated) / devices / spent.wall,
        us=us,
        wait_us=phases["ask"][1] - phases["ask"][0],
        lock_us=sum(phases[name][1] - phases[name][0] for name in ("gather", "expand")),
    )


def us_of_phases(times: dict[str, tuple[float, float]], evaluations: int) -> dict[str, tuple[float, float]]:
    """Returns microseconds of processor and wall time of a position, by the phase of the search's loop."""
    return {name: (1e6 * cpu / evaluations, 1e6 * wall / evaluations) for name, (cpu, wall) in times.items()}


@dataclass(frozen=True, slots=True)
class RawRun:
    """Calls without a search: positions a second, and the processor time of the simulation for each."""

    rate: float
    simulation_us: float


def raw_device_run(networks: list[NetworkEvaluator], threads: int, seconds: float) -> RawRun:
    """Calls networks with full batches, each from `threads` threads, for some seconds."""
    counts = [0] * (threads * len(networks))
    end = time.perf_counter() + seconds

    def work(i: int) -> None:
        packed = networks[i % len(networks)].packed
        assert packed
        call, batch = packed.call(), packed.sizes[-1]
        rng = np.random.default_rng(i)
        call.rows[:] = rng.integers(0, 256, call.rows.shape, np.uint8)
        while not counts[i] or time.perf_counter() < end:
            call.run(batch, USUAL_WIDTH)
            counts[i] += batch

    workers = [threading.Thread(target=work, args=(i,)) for i in range(len(counts))]
    with Seconds() as spent:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return RawRun(sum(counts) / spent.wall, 1e6 * spent.cpu / sum(counts))


def row_us(network: NetworkEvaluator, positions: int = 500) -> float:
    """Returns the microseconds of writing the bits of a position by native code."""
    from goryu import _native

    assert network.packed
    boards: list[Any] = [Board(MIDDLE_GAME) for _ in range(positions)]
    layout = network.packed.layout
    rows = np.zeros((positions, layout.bytes), np.uint8)
    numbers = np.zeros((positions, len(layout.numbers)), np.float32)
    times = []
    for _ in range(9):
        with Seconds() as spent:
            _native.pack_planes(network.format, boards, rows, numbers)
        times.append(spent.cpu)
    return 1e6 * sorted(times)[4] / positions
