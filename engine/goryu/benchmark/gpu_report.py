"""Networks of several sizes on a GPU, alone and in a search: an unattended report within a given time.

The networks have random weights. Each measurement is a cell: size, element type, batch, streams, and whether
positions travel as bits or as planes. Cells that matter most come first; those for which no time is left are
listed as skipped. On a machine without a GPU the same code runs on the CPU, with smaller batches.
"""

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from goryu.base.errors import GoryuError, first_line
from goryu.benchmark.device_report import FORMULAS, raw_device_run
from goryu.benchmark.random_network import write_random_network
from goryu.benchmark.throughput import MIDDLE_GAME, Seconds, raw_run, resident_bytes
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.implementation import Board, make_puct
from goryu.search.graph.config import PuctConfig

SIZES = ("10x128", "10x192", "15x224")
ELEMENTS = ("fp32", "fp16")
GPU_BATCHES, CPU_BATCHES = (256, 128, 512, 64, 1024), (8, 2)
STREAMS = (2, 1, 3)
"""Batches and streams; the first of each is the usual one."""

SHARE_OF_CELL = 0.25
"""Of the time for a cell, each of its two measurements gets this share; loading takes the rest."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one measurement is of. input: "packed" or "planes"."""

    size: str
    element: str
    batch: int
    streams: int
    input: str = "packed"


def cells(sizes: Sequence[str], batches: Sequence[int]) -> list[Cell]:
    """Returns the cells to measure, the most important first."""
    usual_batch, usual_streams = batches[0], STREAMS[0]
    found = [Cell(size, element, usual_batch, usual_streams) for size in sizes for element in ELEMENTS]
    found += [Cell(s, "fp16", batch, usual_streams) for batch in batches[1:] for s in sizes]
    found += [Cell(size, "fp16", usual_batch, streams) for streams in STREAMS[1:] for size in sizes]
    found += [Cell(size, "fp32", usual_batch, usual_streams, "planes") for size in sizes]
    found += [Cell(size, "fp32", batch, usual_streams) for batch in batches[1:] for size in sizes]
    return found


def report(
    backend: str, folder: Path, *, seconds: float, sizes: Sequence[str] = SIZES, threads: int = 1
) -> Iterator[dict[str, Any]]:
    """Measures cell after cell on a backend, and yields the numbers of each.

    folder: for the networks. seconds: for everything; threads: CPU threads of a network call.
    """
    deadline = time.perf_counter() + seconds
    on_cpu = backend in ("cpu", "onnxruntime")
    wanted = cells(sizes, CPU_BATCHES if on_cpu else GPU_BATCHES)
    for i, cell in enumerate(wanted):
        left_s = deadline - time.perf_counter()
        if left_s <= 0.0:
            yield {**asdict(cell), "skipped": "no time left"}
            continue
        path = folder / f"{cell.size}-{cell.element}.onnx"
        if not path.is_file():
            blocks, channels = map(int, cell.size.split("x"))
            write_random_network(blocks, channels, path, is_half=cell.element == "fp16")
        limit_s = SHARE_OF_CELL * left_s / (len(wanted) - i)
        try:
            yield {
                **asdict(cell),
                **measure(cell, path, "onnxruntime" if on_cpu else backend, limit_s, threads),
            }
        except (GoryuError, RuntimeError) as error:
            yield {**asdict(cell), "failed": first_line(error)}


def measure(cell: Cell, path: Path, backend: str, limit_s: float, threads: int) -> dict[str, Any]:
    """Returns the numbers of a cell; each of its two measurements takes about `limit_s`, or one batch."""
    started = time.perf_counter()
    network = NetworkEvaluator(
        path,
        batch_size=cell.batch,
        backend=backend,
        threads=threads,
        packs=cell.input == "packed",
        streams=cell.streams,
        halves=False,  # The files have both types.
    )
    load_s = time.perf_counter() - started
    if cell.input == "packed" and not network.packed:
        return {"failed": network.note}
    raw = (
        raw_device_run([network], cell.streams, limit_s).rate
        if network.packed
        else _raw_rate(network, limit_s)
    )
    puct = make_puct(network, PuctConfig(*FORMULAS, batch_size=cell.batch), threads=cell.streams)
    end = time.perf_counter() + limit_s / 2
    puct.search(
        Board(MIDDLE_GAME), lambda stats: time.perf_counter() >= end
    )  # Grows a tree for full batches.
    end = time.perf_counter() + limit_s
    with Seconds() as spent:
        stats = puct.search(Board(MIDDLE_GAME), lambda stats: time.perf_counter() >= end).stats
    return {
        "raw_per_s": raw,
        "search_per_s": stats.evaluations / spent.wall,
        "search_over_raw": stats.evaluations / spent.wall / raw,
        "search_cpu_us": 1e6 * spent.cpu / max(1, stats.evaluations),
        "memory_mb": memory_mb(),
        "load_s": load_s,
        "description": network.description,
    }


def _raw_rate(network: NetworkEvaluator, limit_s: float) -> float:
    """Returns the positions a second of a network that receives planes, from one thread."""
    _, once = raw_run(network, network.batch_size, 1)
    count, spent = raw_run(network, network.batch_size, max(1, int(limit_s / once.wall)))
    return count / spent.wall


def memory_mb(run: Callable[..., Any] = subprocess.run) -> float | None:
    """Returns the memory in use on the first NVIDIA GPU, else that of this process; None if unknown."""
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        done = run(query, capture_output=True, text=True, timeout=10, check=True)
        return float(done.stdout.split()[0])
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        resident = resident_bytes()
        return None if resident is None else resident / 1e6


def gpu_name(run: Callable[..., Any] = subprocess.run) -> str:
    """Returns name, memory and driver of the NVIDIA GPUs, or why they are not known."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        return "; ".join(
            run(query, capture_output=True, text=True, timeout=10, check=True).stdout.splitlines()
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"unknown ({type(error).__name__})"
