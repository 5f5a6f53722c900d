"""The options of a cluster, which several programs share, and what they print about its computers."""

import argparse
from collections.abc import Callable

from goryu.programs.common import above_zero, share
from goryu.work.cluster import CLUSTER_HELP, ClusterConfig
from goryu.work.driver import Workforce


def add_cluster_options(parser: argparse._ActionsContainer) -> None:
    """Adds --cluster and what one of its workers needs."""
    parser.add_argument("--cluster", metavar="ADDRESS", help=CLUSTER_HELP)
    parser.add_argument(
        "--worker-cpus", type=above_zero, default=1.0, metavar="X",
        help="with --cluster: cores that each worker needs (default 1)",
    )  # fmt: skip
    parser.add_argument(
        "--worker-gpus", type=share, default=0.0, metavar="X",
        help="with --cluster: the share of a GPU that each worker needs (default 0)",
    )  # fmt: skip


def cluster_config(args: argparse.Namespace, workers: int | None) -> ClusterConfig | None:
    """Returns the cluster that the arguments name, or None. workers: the most workers, if limited."""
    if args.cluster is None:
        return None
    return ClusterConfig(args.cluster, workers, args.worker_cpus, args.worker_gpus)


def watcher(show: Callable[[str], None]) -> Callable[[Workforce], None]:
    """Returns a function that shows how many workers there are, when that changes, and every notice."""
    shown = 0
    before = ""

    def watch(workforce: Workforce) -> None:
        nonlocal shown, before
        for notice in workforce.notices[shown:]:
            show(f"cluster: {notice}")
        shown = len(workforce.notices)
        nodes = ", ".join(f"{name}: {count}" for name, count in sorted(workforce.nodes.items()) if name)
        lost = f"; {workforce.losses} lost so far" if workforce.losses else ""
        if (nodes or lost) and before != (before := f"cluster: workers {nodes or 'none'}{lost}"):
            show(before)

    return watch
