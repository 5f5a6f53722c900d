"""Stage 3: positions a second of networks of several sizes, alone and in a search, and where the time goes.

Most networks have random weights. The cells that matter most come first: every network at the usual
settings, then one network at all others. Loading a network opens a session for each size of batch and each
stream, which may take longer than measuring.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from goryu.evaluators.network.model_files import DOWNLOADED
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.implementation import IMPLEMENTATION, Board, make_puct
from goryu.search.graph.config import PuctConfig
from goryu_lab.benchmark.throughput import MIDDLE_GAME, Seconds, raw_run
from gpu.device_report import FORMULAS, raw_device_run, us_of_phases
from gpu.machine import memory_mb
from gpu.plan import NOTHING, Contact, Found, Item, Stage

SIZES, REHEARSED_SIZES, QUICK_SIZES = ("10x128", "5x64", "10x192", "15x224"), ("10x128", "5x64"), ("1x16",)
QUICK_CELLS = 3
BATCHES, CPU_BATCHES = (256, 128, 512, 64, 1024, 32), (8, 2)
"""The first is the usual one."""

STREAMS = ((2, 2), (1, 1), (3, 3), (2, 4), (4, 8))
"""Streams and threads of the search; the first are the usual ones."""

HEURISTIC = MappingProxyType({"cudnn_conv_algo_search": "HEURISTIC"})
"""Settings with which CUDA chooses an algorithm for each convolution and size without trying all of them.

Trying seems to take most of the time of loading a network: 13 s for a 10x128 and 28 s for miniosl's on an
H100.
"""

SHARE_OF_CELL = 0.25
"""Of the time for a cell, each of its two measurements gets this share; loading takes the rest."""

LONGEST_S, SHORTEST_S, QUICK_S = 6.0, 1.0, 0.1
"""Of one measurement: more time would not make it more precise; in less, a search has small batches only."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one measurement is of. network: blocks and channels, or a name."""

    network: str
    backend: str
    batch: int
    element: str = "fp16"
    input: str = "bits"
    streams: int = STREAMS[0][0]
    threads: int = STREAMS[0][1]
    is_heuristic: bool = False

    def __str__(self) -> str:
        settings = f"batch {self.batch}, {self.streams} streams, {self.threads} threads"
        how = ", heuristic" if self.is_heuristic else ""
        return f"{self.network} {self.backend} {self.element} {self.input}, {settings}{how}"


def cells(contact: Contact) -> list[Cell]:
    """Returns the cells, the most important first."""
    backend = contact.gpu
    usual, *others = CPU_BATCHES if contact.rehearses else BATCHES
    sizes = QUICK_SIZES if contact.is_quick else REHEARSED_SIZES if contact.rehearses else SIZES
    streams = STREAMS[1:2] if contact.rehearses else STREAMS[1:]
    networks = [*sizes, *([DOWNLOADED] if contact.strongest.name == DOWNLOADED else [])]
    full = "fp32" if contact.rehearses else "tf32"
    found = [Cell(network, backend, usual) for network in networks]
    if backend == "cuda":
        found += [Cell(network, backend, usual, is_heuristic=True) for network in networks]
    for chosen in (networks[:1], networks[1:]):
        found += [Cell(network, backend, batch) for batch in others for network in chosen]
        found += [
            Cell(network, backend, usual, streams=s, threads=t) for s, t in streams for network in chosen
        ]
        if chosen == networks[:1]:
            found += [Cell(network, backend, usual, full) for network in networks]
            found += [Cell(networks[0], backend, usual, "fp16", "planes")]
    found = found[: QUICK_CELLS if contact.is_quick else None]
    return [*found, Cell(networks[0], "tensorrt", usual)]


def items(contact: Contact) -> Iterator[Item]:
    """Yields the measurement of each cell."""
    opening: Item | None = None
    for cell in cells(contact):
        if opening is None or cell.backend not in opening.name:
            yield (opening := contact.opening(cell.backend))
        yield Item(str(cell), partial(measure, contact, cell), opening.name)


STAGE = Stage("rates", 8.0, items)


def measure(contact: Contact, cell: Cell, seconds: float) -> Found:
    """Returns the numbers of a cell, in about so many seconds."""
    limit_s = QUICK_S if contact.is_quick else min(LONGEST_S, max(SHORTEST_S, SHARE_OF_CELL * seconds))
    start = time.perf_counter()
    network = open_cell(contact, cell)
    load_s = time.perf_counter() - start
    if network.packed:
        raw = raw_device_run([network], cell.streams, limit_s).rate
    else:
        raw = _raw_rate(network, limit_s)
    puct: Any = make_puct(
        network, PuctConfig(*FORMULAS, batch_size=cell.batch, capacity=20_000_000), threads=cell.threads
    )
    _search_for(puct, limit_s / 2)  # A small tree allows small batches only.
    if IMPLEMENTATION == "native":
        puct.times = {}
    with Seconds() as spent:
        evaluations = _search_for(puct, limit_s)
    phases = us_of_phases(puct.times, evaluations) if IMPLEMENTATION == "native" else {}
    return {
        "raw_per_s": raw,
        "search_per_s": evaluations / spent.wall,
        "ratio": evaluations / spent.wall / raw,
        "cpu_us": 1e6 * spent.cpu / evaluations,
        "phases_us": {name: [round(each, 2) for each in both] for name, both in phases.items()},
        "memory_mb": memory_mb(),
        "load_s": load_s,
        "network": network.description,
        "note": network.note,
    }


def open_cell(contact: Contact, cell: Cell) -> NetworkEvaluator:
    """Opens the network of a cell."""
    is_strongest = cell.network == DOWNLOADED
    return contact.open(
        contact.strongest if is_strongest else contact.random_network("dlshogi", cell.network),
        cell.backend,
        cell.element,
        HEURISTIC if cell.is_heuristic else NOTHING,
        batch_size=cell.batch,
        packs=cell.input == "bits",
        streams=cell.streams,
    )


def _search_for(puct: Any, seconds: float) -> int:
    """Searches for some seconds; returns the number of evaluations, at least 1."""
    end = time.perf_counter() + seconds
    evaluations: int = puct.search(
        Board(MIDDLE_GAME), lambda stats: time.perf_counter() >= end
    ).stats.evaluations
    return max(1, evaluations)


def _raw_rate(network: NetworkEvaluator, limit_s: float) -> float:
    """Returns the positions a second of a network that receives planes, from one thread."""
    _, once = raw_run(network, network.batch_size, 1)
    count, spent = raw_run(network, network.batch_size, max(1, int(limit_s / once.wall)))
    return count / spent.wall
