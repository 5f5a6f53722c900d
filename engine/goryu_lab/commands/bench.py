"""Measures Goryu: playouts, evaluations and perft leaves per second, memory, time to stop, bench signature.

    goryu bench                       the engine's network, one thread
    goryu bench --signature           only the signature (--bless: store it for the tests)
    goryu bench --compare winograd onnxruntime models/goryu-5x64.onnx
                                                backends and other models side by side
    goryu bench --size 10x128 --compare winograd-float onnxruntime
                                                the same with a network of random weights
    goryu bench --size 5x64 --compare dlshogi python-dlshogi2 nshogi aobazero
                                                formats, with networks of random weights

Exit status: 0; 2 if nothing could be measured.

Every number is the median of several rounds; network and search are measured in turn, so a busy machine slows
both. GORYU_IMPLEMENTATION=python or native chooses the implementation. Rates are per second of CPU time of
this process, or of wall time with `--clock wall`. To see where the time goes, use a profiler: `python -m
cProfile -s tottime -m goryu bench --no-network` for the Python search, `perf record` for the native one.
GORYU_INSTRUCTIONS=avx2 measures our own kernel as on an older processor.
"""

import argparse
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from goryu.commands.common import new_parser, positive, program
from goryu.commands.config_options import add_fields, from_arguments
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import BACKENDS, backend_chain, open_on_first
from goryu.implementation import IMPLEMENTATION, WHY
from goryu.players.config import EvaluatorConfig
from goryu.players.set_up.model_path import model_path, named_model
from goryu_lab.benchmark.signature import bench_signature, bless
from goryu_lab.benchmark.suite import SECTIONS, Plan, Suite

if TYPE_CHECKING:
    from rich.table import Table


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu bench", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--signature", action="store_true", help="only the bench signature")
    modes.add_argument(
        "--compare", nargs="+", metavar="NAME",
        help="only networks: backends for the model, ONNX files for the backend cpu, or, with --size, "
        "formats for onnxruntime; `over alone`: the search's rate over that of the network alone; the last "
        "network is what the others are divided by",
    )  # fmt: skip
    networks = parser.add_argument_group("networks")
    networks.add_argument(
        "--model", type=named_model, help="ONNX file (default: the network that the engine loads)"
    )
    networks.add_argument("--no-network", action="store_true", help="measure only what needs no network")
    networks.add_argument("--backend", choices=BACKENDS, default="cpu", help="of the network (default cpu)")
    networks.add_argument(
        "--threads", type=positive, default=1, metavar="N", help="CPU threads of a network call (default 1)"
    )
    networks.add_argument(
        "--batch", type=positive, metavar="N",
        help="positions per network call (default: the network's own)",
    )  # fmt: skip
    networks.add_argument(
        "--size", type=size, metavar="BxC",
        help="of networks with random weights, for --compare: blocks and channels, such as 10x128",
    )  # fmt: skip
    how_much = parser.add_argument_group("how much")
    add_fields(how_much, Plan)
    parser.add_argument("--bless", action="store_true", help="store the signature for the tests")
    return parser


def size(text: str) -> tuple[int, int]:
    """Returns blocks and channels of a text such as 10x128."""
    blocks, _, channels = text.partition("x")
    if not (blocks.isdigit() and channels.isdigit() and int(blocks) and int(channels)):
        raise argparse.ArgumentTypeError(f"expected a size such as 10x128, received {text!r}")
    return int(blocks), int(channels)


def run(args: argparse.Namespace) -> int:
    """Measures and prints the numbers; returns the exit status."""
    machine = f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    print(f"goryu: {IMPLEMENTATION} ({WHY}); {machine}")
    if args.compare:
        compare(args)
    else:
        everything(args)
    return 0


def everything(args: argparse.Namespace) -> None:
    """Measures everything, or only the signature, which ends the printed lines."""
    if not args.signature:
        network = open_network(args)
        if network:
            print(network.description)
        measure(args, network)
    signature = bench_signature()
    print(f"Bench: {signature.digest} ({signature.nodes} nodes)")
    if args.bless:
        bless(signature)


def compare(args: argparse.Namespace) -> None:
    """Measures backends and models side by side and prints a table."""
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table

    from goryu_lab.benchmark.backends import BATCHES, SEARCH, Comparison, open_networks

    model = args.model or model_path(EvaluatorConfig())
    with TemporaryDirectory() as folder:
        networks = open_networks(args.compare, model, args.size, Path(folder), args.threads)
    for network in networks:
        print(network.description)
    comparison = Comparison(networks, batches=(args.batch,) if args.batch else BATCHES)
    for _ in track(comparison.run(args.runs), "measuring", total=args.runs, transient=True):
        pass
    kinds = [f"{before}{batch}" for before in ("", f"{SEARCH} ") for batch in comparison.batches]
    table = Table("positions/s of CPU time, by batch size", *kinds, "best search", "over alone")
    for i, name in enumerate(args.compare):
        batch, rate = comparison.best_search(i)
        rates = [number(comparison.median(i, kind)) for kind in kinds]
        over_alone = comparison.search_over_alone(i, batch)
        table.add_row(name, *rates, f"{number(rate)} (batch {batch})", f"{over_alone:.3f}")
    Console(width=200).print(table)
    last = len(args.compare) - 1
    for i, name in enumerate(args.compare[:-1]):
        for batch in sorted({comparison.batches[0], comparison.best_search(i)[0]}):
            ratio = comparison.over(i, batch, last)
            print(f"search: {name}, batch {batch}, over {args.compare[last]} at its best batch: {ratio:.2f}")


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


def measure(args: argparse.Namespace, network: NetworkEvaluator | None) -> None:
    """Runs and prints the suite."""
    from rich.console import Console
    from rich.progress import track

    batch = args.batch or (network.batch_size if network else Plan().batch)
    plan = from_arguments(Plan, args, batch=batch)
    suite = Suite(plan, network)
    for _ in track(suite.run(), "measuring", total=plan.runs, transient=True):
        pass
    console = Console()
    console.print(f"middle game; rates by {plan.clock} time:")
    console.print(make_table(suite.results()))
    labels = {name: label for section in SECTIONS.values() for name, label in section.items()}
    for reason in dict.fromkeys(suite.reasons.values()):
        named = [labels[name] for name, why in suite.reasons.items() if why == reason]
        console.print(f"not measured ({reason}): {', '.join(named)}")


def make_table(results: Mapping[str, Any]) -> "Table":
    """Returns a table of the medians with the ranges of the rounds, of what was measured."""
    from rich.table import Table

    table = Table("measurement", "median", "range")
    for section, labels in SECTIONS.items():
        measured = {name: label for name, label in labels.items() if results[name] is not None}
        if not measured:
            continue
        table.add_section()
        table.add_row(section, style="bold")
        for name, label in measured.items():
            shown = " .. ".join(map(number, results["spread"][name]))
            table.add_row(f"  {label}", number(results[name]), shown)
    return table


def number(value: float) -> str:
    """Returns a number with three significant digits or more.

    >>> number(251_722_133), number(4951.2), number(0.9034)
    ('251.7 M', '4,951', '0.903')
    """
    if value >= 1e7:
        return f"{value / 1e6:,.1f} M"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
