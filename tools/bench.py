"""Measures Goryu: playouts, evaluations and moves a second, memory, time to stop, and the bench signature.

    python tools/bench.py                       the shipped network, one thread
    python tools/bench.py --signature           only the signature (--bless: store it for the tests)
    python tools/bench.py --profile             where a playout's time goes
    python tools/bench.py --json bench.json     the figures for programs

Every figure is the median of several runs; network and search are measured in turn, so that a busy machine
slows both. GORYU_IMPLEMENTATION=python|native chooses what is measured. Rates are per second of CPU time
of one process, unless `--clock wall`.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from common import needs_extra
from goryu.benchmark import throughput
from goryu.benchmark.profile import time_shares
from goryu.benchmark.signature import bench_signature
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.model_files import ModelError
from goryu.evaluators.network import NetworkEvaluator
from goryu.evaluators.providers import BackendError, backend_chain, open_on_first
from goryu.games.shogi.sfen import START_SFEN
from goryu.implementation import IMPLEMENTATION, WHY
from goryu.players.config import EvaluatorConfig
from goryu.players.model_path import model_path
from goryu.search.puct import PuctConfig

with needs_extra("tools"):
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table

MATE_NODES = 40
"""Budget of the mate search at the leaves, where it is on."""

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden" / "bench_signature.json"

Figures = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    args = make_parser().parse_args(arguments)
    try:
        check(args)
    except ValueError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    args.playouts = args.playouts or (4000 if IMPLEMENTATION == "native" else 400) * args.workers
    console = Console()
    figures: Figures = {
        "implementation": IMPLEMENTATION,
        "why": WHY,
        "clock": args.clock,
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}",
    }
    print(f"goryu: {IMPLEMENTATION} ({WHY}); {figures['machine']}")
    if not args.signature:
        try:
            network = open_network(args)
        except (ModelError, BackendError) as error:
            print(f"bench: {error}", file=sys.stderr)
            return 2
        if network:
            figures["model"] = network.description
            print(network.description)
        if args.profile:
            print_shares(console, args, network)
            return 0
        measure(figures, args, network)
    signature = bench_signature()
    figures["signature"] = signature.digest
    print_figures(console, figures)
    print(f"Bench: {signature.digest} ({signature.nodes} nodes)")
    if args.bless:
        golden = {"signature": signature.digest, "nodes": signature.nodes, "parts": signature.parts}
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(json.dumps(golden, indent=1) + "\n", "utf-8")
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    return 0


def check(args: argparse.Namespace) -> None:
    """Raises ValueError for arguments with which nothing can be measured, or written when it is too late."""
    for name in ("batch", "threads", "workers", "playouts", "stub_playouts", "perft_depth", "runs"):
        if (number := getattr(args, name)) is not None and number < 1:
            raise ValueError(f"--{name.replace('_', '-')} {number}: expected at least 1")
    if args.json and not args.json.parent.is_dir():
        raise ValueError(f"--json {args.json}: expected a file in a folder that exists")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--model", type=Path, help="ONNX file (default: the only or first one in models/)")
    parser.add_argument("--no-network", action="store_true", help="leave out what needs a network")
    parser.add_argument("--batch", type=int, default=4, help="positions per network call (default 4)")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of a network call (default 1)")
    parser.add_argument("--workers", type=int, default=1, help="threads that gather and call (default 1)")
    parser.add_argument("--backend", default="cpu", help="auto, cpu, cuda, tensorrt, directml (default cpu)")
    parser.add_argument(
        "--playouts", type=int, help="of a search with a network (default 400, native 4000, a worker)"
    )
    parser.add_argument("--stub-playouts", type=int, help="of a search without (default 1000, native 50000)")
    parser.add_argument("--perft-depth", type=int, help="(default 3, native 5)")
    parser.add_argument("--runs", type=int, default=5, help="for each median (default 5)")
    parser.add_argument("--clock", choices=("cpu", "wall"), default="cpu")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument("--signature", action="store_true", help="only the bench signature")
    parser.add_argument("--bless", action="store_true", help=f"store the signature in {GOLDEN.name}")
    parser.add_argument("--profile", action="store_true", help="only the shares of the time of a search")
    return parser


def open_network(args: argparse.Namespace) -> NetworkEvaluator | None:
    """Returns the network to measure, or None if there is none."""
    if args.no_network:
        return None
    try:
        path = args.model or model_path(EvaluatorConfig())
    except ModelError:
        return None

    def open_on(backend: str) -> NetworkEvaluator:
        return NetworkEvaluator(path, batch_size=args.batch, backend=backend, threads=args.threads)

    return open_on_first(backend_chain(args.backend, allows_fallback=False), open_on, print)


def measure(figures: Figures, args: argparse.Namespace, network: NetworkEvaluator | None) -> None:
    """Adds all figures; those that cannot be had are None, and `reasons` says why."""
    is_native = IMPLEMENTATION == "native"
    reasons: dict[str, str] = {}
    stub_playouts = args.stub_playouts or (50_000 if is_native else 1000)
    figures["bytes_per_node"] = throughput.bytes_per_node_run(throughput.MIDDLE_GAME, stub_playouts)
    if figures["bytes_per_node"] is None:
        reasons["bytes_per_node"] = "the memory of a process is only known on Linux"
    depth = args.perft_depth or (5 if is_native else 3)
    runs: dict[str, list[float]] = {}
    for _ in track(range(args.runs), "measuring", transient=True):
        leaves, seconds = throughput.perft_run(START_SFEN, depth)
        note(runs, "perft_nps", leaves / seconds.on(args.clock))
        for name, mate_nodes in (("stub_playouts_per_s", MATE_NODES), ("stub_playouts_per_s_no_mate", 0)):
            config = PuctConfig(batch_size=16, mate_nodes=mate_nodes)
            stub = HashedEvaluator(builds_planes=True)
            run = throughput.search_run(throughput.MIDDLE_GAME, stub, config, stub_playouts)
            note(runs, name, run.playouts / run.seconds.on(args.clock))
        nodes, _, seconds = throughput.sweep_run(
            throughput.MIDDLE_GAME, 20 * stub_playouts if is_native else 1000
        )
        note(runs, "sweep_ms_per_million_nodes", 1e9 * seconds.on(args.clock) / nodes)
        if is_native:
            config = PuctConfig(batch_size=16)
            ratio = throughput.native_over_python_run(throughput.MIDDLE_GAME, config, 1000)
            note(runs, "native_over_python", ratio)
        if network:
            measure_network(runs, args, network)
    figures |= {name: median(values) for name, values in runs.items()}
    figures["spread"] = {name: [min(values), max(values)] for name, values in runs.items()}
    for name in NETWORK_FIGURES:
        if name not in figures:
            missing = "no bound calls" if "bound" in name else "several workers"
            figures[name], reasons[name] = None, missing if network else "no network"
    figures["reasons"] = reasons


NETWORK_FIGURES = (
    "raw_evals_per_s",
    "search_nps",
    "search_evals_per_s",
    "bound_evals_per_s",
    "search_over_raw",
    "search_over_bound",
    "search_calls_per_s",
    "positions_per_call",
    "us_per_playout_outside_network",
    "stop_ms",
)


def measure_network(
    runs: dict[str, list[float]], args: argparse.Namespace, network: NetworkEvaluator
) -> None:
    """Adds one run of the network alone, of a search with it, and of stopping."""
    config = PuctConfig(batch_size=args.batch, mate_nodes=0, threads=args.workers)
    calls = max(1, args.playouts // args.batch // args.workers // 2)

    has_bound = network.bind(network.new_inputs(args.batch)) is not None

    def alone() -> list[float]:
        """Returns the seconds a position takes the network alone: by `run`, then by bound calls, if any."""
        found = [
            throughput.raw_run(network, args.batch, calls, args.workers, bound=bound)
            for bound in (False, True)[: 1 + has_bound]
        ]
        return [seconds.on(args.clock) / count for count, seconds in found]

    # Before and after the search: the machine may change its pace.
    before = alone()
    run = throughput.search_run(throughput.MIDDLE_GAME, network, config, args.playouts)
    after = alone()
    by_run_s, *bound_s = ((one + other) / 2 for one, other in zip(before, after, strict=True))
    evals = run.evaluations / run.seconds.on(args.clock)
    note(runs, "raw_evals_per_s", 1 / by_run_s)
    note(runs, "search_nps", run.playouts / run.seconds.on(args.clock))
    note(runs, "search_evals_per_s", evals)
    note(runs, "search_over_raw", evals * by_run_s)
    for seconds in bound_s:
        note(runs, "bound_evals_per_s", 1 / seconds)
        note(runs, "search_over_bound", evals * seconds)
    counted = throughput.search_run(throughput.MIDDLE_GAME, network, config, args.playouts, counts=True)
    whole = counted.seconds.on(args.clock)
    in_network = counted.network.cpu if args.clock == "cpu" else counted.network.wall
    note(runs, "search_calls_per_s", counted.network.calls / whole)
    note(runs, "positions_per_call", counted.network.positions / counted.network.calls)
    if args.workers == 1:
        note(runs, "us_per_playout_outside_network", 1e6 * (whole - in_network) / counted.playouts)
    note(runs, "stop_ms", throughput.stop_run(throughput.MIDDLE_GAME, network, config))


def note(runs: dict[str, list[float]], name: str, value: float) -> None:
    """Adds the figure of one run."""
    runs.setdefault(name, []).append(value)


LABELS = {
    "perft_nps": "perft, leaves/s",
    "stub_playouts_per_s": f"playouts/s, hashed evaluator, mate search of {MATE_NODES} nodes",
    "stub_playouts_per_s_no_mate": "playouts/s, hashed evaluator, no mate search",
    "native_over_python": "  over the Python search, neither with planes",
    "raw_evals_per_s": "evaluations/s, network alone, by NetworkEvaluator.run",
    "bound_evals_per_s": "evaluations/s, network alone, by calls that copy nothing",
    "search_evals_per_s": "evaluations/s, in a search",
    "search_over_raw": "  the third over the first, measured side by side",
    "search_over_bound": "  the third over the second",
    "search_calls_per_s": "network calls/s, in a search",
    "positions_per_call": "positions a call",
    "search_nps": "playouts/s, with the network",
    "us_per_playout_outside_network": "us a playout outside the network",
    "bytes_per_node": "bytes a node",
    "sweep_ms_per_million_nodes": "ms a million nodes, deleting the old at a new root",
    "stop_ms": "ms from stop to the answer (wall)",
}


def print_figures(console: Console, figures: Figures) -> None:
    """Prints the figures with the range of the runs."""
    if "spread" not in figures:
        return
    console.print(f"middle game; rates by {figures['clock']} time:")
    table = Table("figure", "median", "range")
    for name, label in LABELS.items():
        value, spread = figures.get(name), figures["spread"].get(name)
        shown = figures["reasons"].get(name, "-") if value is None else number(value)
        table.add_row(label, shown, f"{number(spread[0])} .. {number(spread[1])}" if spread else "")
    console.print(table)


def number(value: float) -> str:
    """Returns a figure with three significant digits or more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def print_shares(console: Console, args: argparse.Namespace, network: NetworkEvaluator | None) -> None:
    """Prints where the time of a search goes, with the network and with the hashed evaluator."""
    config = PuctConfig(batch_size=args.batch, mate_nodes=MATE_NODES)
    stub = HashedEvaluator() if IMPLEMENTATION == "python" else None  # The native search computes it itself.
    for name, evaluator in (("network", network), ("hashed evaluator", stub)):
        if evaluator is None:
            continue
        console.print(f"time of {args.playouts} playouts from a middle game, {name}:")
        table = Table("part", "share")
        shares = time_shares(throughput.MIDDLE_GAME, evaluator, config, args.playouts)
        for part, share in shares.items():
            table.add_row(part, f"{100 * share:.1f} %")
        console.print(table)


if __name__ == "__main__":
    raise SystemExit(main())
