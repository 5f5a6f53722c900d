#!/usr/bin/env python3
"""Measures the search before simulated GPUs, and where its time goes.

    python3 tools/dev.py simulated-gpus                 several rates, and several devices at a time
    python3 tools/dev.py simulated-gpus --rates 271000 --batch 512 --threads 4

Every rate is given beside that of the devices alone. A busy machine changes both.
"""

import argparse
from collections.abc import Sequence
from typing import Any

from goryu.commands.common import UsageError, new_parser, positive, program
from goryu.implementation import IMPLEMENTATION
from gpu.device_report import DeviceRun, device_run

RATES = (12_500, 25_000, 50_000, 100_000, 271_000)
"""Positions a second of a simulated device; the last is that of 10 blocks of 192 channels on an H200."""

DEVICES = (2, 4, 8)
"""Numbers of devices, which together have the rate of `CONTENTION_RATE`, or the least if that is smaller."""

CONTENTION_RATE = 25_000
TARGET = 100_000
"""Positions a second for which the cores are counted."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = new_parser(__doc__)
    parser.add_argument(
        "--rates", type=rates, default=RATES, metavar="N,...", help="positions a second, such as 1000,100000"
    )
    parser.add_argument("--batch", type=positive, default=512, help="positions of a call (default 512)")
    parser.add_argument("--threads", type=positive, default=4, help="of the search (default 4)")
    parser.add_argument("--seconds", type=positive, default=30, help="about how long it takes (default 30)")
    return program("simulated-gpus", parser, run, arguments)


def run(args: argparse.Namespace) -> int:
    """Measures and prints tables."""
    if IMPLEMENTATION != "native":
        raise UsageError("this measures the native search, which is not built")
    plans: list[dict[str, Any]] = [{"rate": rate, "devices": 1} for rate in args.rates]
    rate = min(CONTENTION_RATE, *args.rates)
    plans += [{"rate": rate, "devices": count, "threads": 1} for count in DEVICES]
    plans += [{"rate": rate, "devices": 1, "mate_nodes": 40}]
    seconds = args.seconds / len(plans)
    from rich.console import Console  # --help works without rich.
    from rich.table import Table

    runs: list[DeviceRun] = []
    for plan in plans:
        runs.append(device_run(**{"threads": args.threads, "batch": args.batch, "seconds": seconds, **plan}))
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
    return 0


def told(run: DeviceRun) -> str:
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


if __name__ == "__main__":
    raise SystemExit(main())
