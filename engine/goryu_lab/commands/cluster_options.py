"""The options of a cluster, which several programs share, and what they print about its computers."""

import argparse
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence

from goryu.base.language import plural
from goryu.commands.common import UsageError, positive
from goryu.commands.config_options import add_fields, from_arguments
from goryu_lab.work.cluster import CLUSTER_HELP, ClusterConfig, ClusterPool
from goryu_lab.work.driver import Workforce
from goryu_lab.work.processes import ProcessPool
from goryu_lab.work.seam import Pool

CHANGES_EVERY_S = 5.0
"""How often a change of the workers is printed at most: thousands may join within a minute."""

WINDOW_S = 60.0
"""The time over which rates are taken."""

MOST_NODES = 12
"""Computers that are shown one by one."""


def add_worker_options(parser: argparse._ActionsContainer, what: str) -> None:
    """Adds --processes and the options of a cluster. what: the processes, for the help."""
    processes = f"{what} (default 1; on a cluster: as many as it has room for)"
    parser.add_argument("--processes", type=positive, metavar="N", help=processes)
    add_cluster_options(parser)


def add_cluster_options(parser: argparse._ActionsContainer) -> None:
    """Adds --cluster and what one of its workers needs."""
    parser.add_argument("--cluster", metavar="ADDRESS", help=CLUSTER_HELP)
    add_fields(parser, ClusterConfig)


def cluster_config(args: argparse.Namespace, workers: int | None) -> ClusterConfig | None:
    """Returns the cluster that the arguments name, or None. workers: the most workers, if limited.

    Raises UsageError for options of a cluster without one.
    """
    if args.cluster is None:
        if from_arguments(ClusterConfig, args, address="") != ClusterConfig(""):
            raise UsageError("--worker-cpus, --worker-gpus: these go with --cluster")
        return None
    return from_arguments(ClusterConfig, args, address=args.cluster, workers=workers)


def new_pools(args: argparse.Namespace, local: Callable[[int], Pool] = ProcessPool) -> Callable[[], Pool]:
    """Returns a function that makes the workers: those of the cluster, or by `local` those of this computer.

    Raises UsageError as `cluster_config` does.
    """
    cluster = cluster_config(args, args.processes)
    return lambda: ClusterPool(cluster) if cluster is not None else local(args.processes or 1)


def watcher(
    show: Callable[[str], None],
    below: Callable[[Sequence[str]], None] = lambda lines: None,
    unit: str = "games",
    clock: Callable[[], float] = time.monotonic,
) -> Callable[[Workforce], None]:
    """Returns a function that shows who does the work, for `run_tasks`.

    show: prints a line: every notice, and how many workers each computer has, when that has changed.
    below: receives, once a second at most, the lines of `WorkRates` for the display. unit: of the tasks.
    """
    shown = 0
    before = ""
    printed_s = below_s = -math.inf
    rates = WorkRates(unit)

    def watch(workforce: Workforce) -> None:
        nonlocal shown, before, printed_s, below_s
        now_s = clock()
        for notice in workforce.notices[shown:]:
            show(f"cluster: {notice}")
        shown = len(workforce.notices)
        if now_s >= printed_s + CHANGES_EVERY_S:
            line = _members(workforce)
            if line not in ("", before):
                show(line)
                before, printed_s = line, now_s
        if now_s >= below_s + 1.0:
            below_s = now_s
            rates.see(now_s, workforce)
            below(rates.lines(workforce))

    return watch


def _members(workforce: Workforce) -> str:
    """Returns how many workers the computers of a cluster have; of this computer, how many were lost."""
    nodes = [f"{name}: {count}" for name, count in sorted(workforce.nodes.items()) if name]
    lost = f"; {workforce.losses} lost so far" if workforce.losses else ""
    if not any((*workforce.nodes, *workforce.done)):  # Workers of this computer have no name.
        return f"workers: {workforce.losses} lost so far" if workforce.losses else ""
    more = [f"and {len(nodes) - MOST_NODES} more computers"] if len(nodes) > MOST_NODES else []
    return f"cluster: workers {', '.join([*nodes[:MOST_NODES], *more]) or 'none'}{lost}"


class WorkRates:
    """How much every computer has done in the last minute, as lines for a display."""

    def __init__(self, unit: str = "games") -> None:
        self._unit = unit
        self._samples: deque[tuple[float, Counter[str], int]] = deque()

    def see(self, now_s: float, workforce: Workforce) -> None:
        """Notes what has been done until now."""
        self._samples.append((now_s, workforce.done.copy(), workforce.positions.total()))
        while self._samples[0][0] < now_s - WINDOW_S:
            self._samples.popleft()

    def lines(self, workforce: Workforce) -> list[str]:
        """Returns a line for all, and one for each computer of a cluster, the one with most workers first."""
        (start_s, before, positions_before), (now_s, now, positions) = self._samples[0], self._samples[-1]
        seconds = max(now_s - start_s, 1.0)
        done = now - before
        parts = [
            plural(workforce.nodes.total(), "worker"),
            f"{done.total() / seconds:.1f} {self._unit}/s",
        ]
        if positions:
            parts.append(f"{(positions - positions_before) / seconds:.0f} positions/s")
        if workforce.losses:
            parts.append(f"{plural(workforce.losses, 'worker')} lost")
            parts.append(f"{plural(workforce.repeated, 'task')} given out again")
        if workforce.copies:
            parts.append(f"{plural(workforce.copies, 'late task')} copied")
        nodes = [(name, count) for name, count in workforce.nodes.most_common() if name]
        lines = [
            f"{name}: {plural(count, 'worker')}, {done[name] / seconds:.1f} {self._unit}/s"
            for name, count in nodes[:MOST_NODES]
        ]
        if rest := nodes[MOST_NODES:]:
            rate = sum(done[name] for name, _ in rest) / seconds
            workers = sum(count for _, count in rest)
            lines.append(
                f"{len(rest)} more computers: {plural(workers, 'worker')}, {rate:.1f} {self._unit}/s"
            )
        return [", ".join(parts), *lines]
