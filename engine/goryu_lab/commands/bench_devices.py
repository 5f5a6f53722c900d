"""The part of `goryu bench` that measures the search before simulated devices: `--simulate`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from goryu.commands.common import UsageError
from goryu.implementation import IMPLEMENTATION

if TYPE_CHECKING:
    from goryu_lab.benchmark.device_report import DeviceRun

RATES = (12_500, 25_000, 50_000, 100_000, 271_000)
"""Positions a second of a simulated device; the last is that of 10 blocks of 192 channels on an H200."""

DEVICES = (2, 4, 8)
"""Numbers of devices, which together have the rate of `CONTENTION_RATE`, or the least if that is smaller."""

CONTENTION_RATE = 25_000
SIMULATED_BATCH = 512
SIMULATED_THREADS = 4
TARGET = 100_000
"""Positions a second for which the cores are counted."""

DEFAULT_SECONDS = 30.0


def simulate(args: argparse.Namespace) -> None:
    """Measures the search before simulated devices and prints tables."""
    if IMPLEMENTATION != "native":
        raise UsageError("--simulate measures the native search, which is not built")
    from rich.console import Console
    from rich.table import Table

    from goryu_lab.benchmark.device_report import device_run

    batch = args.batch or SIMULATED_BATCH
    threads = args.workers if args.workers > 1 else SIMULATED_THREADS
    plans: list[dict[str, Any]] = [{"rate": rate, "devices": 1} for rate in args.rates or RATES]
    rate = min(CONTENTION_RATE, *(args.rates or RATES))
    plans += [{"rate": rate, "devices": count, "threads": 1} for count in DEVICES]
    plans += [{"rate": rate, "devices": 1, "mate_nodes": 40}]
    seconds = (args.seconds or DEFAULT_SECONDS) / len(plans)
    runs: list[DeviceRun] = []
    for plan in plans:
        runs.append(device_run(**{"threads": threads, "batch": batch, "seconds": seconds, **plan}))
        print(told(runs[-1]), flush=True)
    table = Table(
        "µs of processor time a position", *(f"{run.device_rate:,.0f}/s x{run.devices}" for run in runs)
    )
    for part in runs[0].us:
        table.add_row(part, *(f"{run.us[part]:.2f}" for run in runs))
    table.add_section()
    table.add_row("all but the simulation", *(f"{run.search_us:.2f}" for run in runs))
    table.add_row(f"cores for {TARGET:,}/s", *(f"{run.cores_for(TARGET):.2f}" for run in runs))
    table.add_row("µs asleep while the device works", *(f"{run.wait_us:.1f}" for run in runs))
    table.add_row("µs waiting for graph or processor", *(f"{run.lock_us:.1f}" for run in runs))
    Console(width=180).print(table)


def told(run: "DeviceRun") -> str:
    """Returns one line about a run."""
    mate = f", mate search of {run.mate_nodes} nodes" if run.mate_nodes else ""
    return (
        f"{run.devices} device(s) of together {run.device_rate:,.0f}/s, {run.threads} thread(s) each, "
        f"batch {run.batch}{mate}: alone {run.raw_rate:,.0f}/s, search {run.search_rate:,.0f}/s "
        f"({run.ratio:.2f}), mean batch {run.mean_batch:.0f}, devices busy {run.busy:.2f}"
    )


def rates(text: str) -> Sequence[int]:
    """Returns the rates in a text such as 1000,100000."""
    found = text.split(",")
    if not all(each.isdigit() and int(each) for each in found):
        raise argparse.ArgumentTypeError(f"expected rates such as 1000,100000, received {text!r}")
    return tuple(map(int, found))
