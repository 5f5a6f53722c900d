"""The measurements of `goryu bench`: what runs, how often, and what the numbers mean.

Each round makes every measurement once, so that a machine that slows down for a while slows all of them. The
result of a measurement is the median of its rounds.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal

from goryu.base.config_fields import option, ranged
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.shogi import START_SFEN
from goryu.implementation import IMPLEMENTATION
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.proof import MateSolver
from goryu_lab.benchmark import throughput
from goryu_lab.benchmark.throughput import MIDDLE_GAME, Seconds

MATE_NODES = 40
"""Budget of the mate search at each leaf, in the measurement that has one."""

IS_NATIVE = IMPLEMENTATION == "native"

SECTIONS = {
    "rules, and search without a network": {
        "perft_nps": "perft, leaves/s",
        "stub_playouts_per_s": f"playouts/s, mate search of {MATE_NODES} nodes",
        "stub_playouts_per_s_no_mate": "playouts/s, no mate search",
        "native_over_python": "native speed / Python speed",
        "bytes_per_node": "memory, bytes per node",
        "sweep_ms_per_million_nodes": "ms to delete a million unreachable nodes",
    },
    "network alone": {
        "raw_evals_per_s": "positions/s, by NetworkEvaluator.run",
        "bound_evals_per_s": "positions/s, by IoBinding.run",
    },
    "search with the network": {
        "search_nps": "playouts/s",
        "search_evals_per_s": "positions evaluated/s",
        "search_over_raw": "... / NetworkEvaluator.run alone",
        "search_over_bound": "... / IoBinding.run alone",
        "search_calls_per_s": "network calls/s",
        "positions_per_call": "positions per network call",
        "us_per_playout_outside_network": "µs per playout outside the network",
        "stop_ms": "ms from stop to the answer, wall time",
    },
}
"""The measurements in the order of the table: their names and descriptions."""

NAMES = [name for section in SECTIONS.values() for name in section]


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to measure.

    batch: positions per network call. workers: each has its own batch.
    stub_playouts: of a search without a network. perft_depth: plies from the start position.
    clock: rates per second of CPU time of the process, or of wall time.
    """

    batch: int = 4
    workers: int = ranged(1, "threads of the search", least=1)
    playouts: int = ranged(
        4000 if IS_NATIVE else 400, "playouts of a search with the network, for each worker", least=1
    )
    stub_playouts: int = 50_000 if IS_NATIVE else 1000
    perft_depth: int = 5 if IS_NATIVE else 3
    runs: int = ranged(5, "rounds for each median", least=1)
    clock: Literal["cpu", "wall"] = option("cpu", "for rates")


@dataclass(slots=True)
class Suite:
    """All measurements; `run` makes them.

    values: by name, one for each round. reasons: by name, why a measurement is missing.
    """

    plan: Plan
    network: NetworkEvaluator | None = None
    values: dict[str, list[float]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def run(self) -> Iterator[None]:
        """Makes all measurements; yields after each round."""
        self._add("bytes_per_node", throughput.bytes_per_node_run(MIDDLE_GAME, self.plan.stub_playouts))
        for _ in range(self.plan.runs):
            self._measure_perft()
            self._measure_stub()
            if IS_NATIVE:
                ratio = throughput.native_over_python_run(MIDDLE_GAME, PuctConfig(batch_size=16), 1000)
                self._add("native_over_python", ratio)
            if self.network:
                self._measure_network_alone_and_in_a_search(self.network)
                self._measure_network_calls(self.network)
            yield
        for name in NAMES:
            if name not in self.values:
                self.reasons[name] = self._reason(name)

    def results(self) -> dict[str, Any]:
        """Returns medians by name (None where missing), `spread` (least and greatest), and `reasons`."""
        medians = {name: median(self.values[name]) if name in self.values else None for name in NAMES}
        spread = {name: [min(values), max(values)] for name, values in self.values.items()}
        return {**medians, "spread": spread, "reasons": self.reasons}

    def _add(self, name: str, value: float) -> None:
        self.values.setdefault(name, []).append(value)

    def _s(self, seconds: Seconds) -> float:
        return seconds.on(self.plan.clock)

    def _measure_perft(self) -> None:
        leaves, seconds = throughput.perft_run(START_SFEN, self.plan.perft_depth)
        self._add("perft_nps", leaves / self._s(seconds))

    def _measure_stub(self) -> None:
        """Measures the search with hashed evaluations instead of a network."""
        playouts = self.plan.stub_playouts
        for name, mate_nodes in (("stub_playouts_per_s", MATE_NODES), ("stub_playouts_per_s_no_mate", 0)):
            stub, config = HashedEvaluator(builds_planes=True), PuctConfig(batch_size=16)
            run = throughput.search_run(MIDDLE_GAME, stub, config, playouts, solver=MateSolver(mate_nodes))
            self._add(name, run.playouts / self._s(run.seconds))
        nodes, _, seconds = throughput.sweep_run(MIDDLE_GAME, 20 * playouts if IS_NATIVE else playouts)
        self._add("sweep_ms_per_million_nodes", 1e9 * self._s(seconds) / nodes)

    def _measure_network_alone_and_in_a_search(self, network: NetworkEvaluator) -> None:
        """Measures the network alone before and after the search: the machine may change its pace."""
        before = self._seconds_per_position(network)
        run = self._search_run(network)
        after = self._seconds_per_position(network)
        evaluations_per_s = run.evaluations / self._s(run.seconds)
        self._add("search_nps", run.playouts / self._s(run.seconds))
        self._add("search_evals_per_s", evaluations_per_s)
        for name in before:
            seconds = (before[name] + after[name]) / 2
            self._add(f"{name}_evals_per_s", 1 / seconds)
            self._add(f"search_over_{name}", evaluations_per_s * seconds)

    def _measure_network_calls(self, network: NetworkEvaluator) -> None:
        """Measures a search whose network calls are counted, and how fast a search stops."""
        run = self._search_run(network, counts=True)
        total_s = self._s(run.seconds)
        if run.network.calls:
            self._add("search_calls_per_s", run.network.calls / total_s)
            self._add("positions_per_call", run.network.positions / run.network.calls)
        if run.network.calls and self.plan.workers == 1:  # The calls of several workers overlap.
            outside_s = total_s - self._s(run.network.seconds)
            self._add("us_per_playout_outside_network", 1e6 * outside_s / run.playouts)
        config = PuctConfig(batch_size=self.plan.batch)
        self._add("stop_ms", throughput.stop_run(MIDDLE_GAME, network, config))

    def _search_run(self, network: NetworkEvaluator, *, counts: bool = False) -> throughput.SearchRun:
        config, threads = PuctConfig(batch_size=self.plan.batch), self.plan.workers
        return throughput.search_run(
            MIDDLE_GAME, network, config, self.plan.playouts * threads, threads=threads, counts=counts
        )

    def _seconds_per_position(self, network: NetworkEvaluator) -> dict[str, float]:
        """Returns the seconds for a position with the network alone: "raw" by `run`, "bound" by a binding."""
        plan = self.plan
        calls = max(1, plan.playouts // plan.batch // 2)
        kinds = {"raw": False}
        if network.bind(network.new_inputs(plan.batch)) is not None:
            kinds["bound"] = True
        seconds = {}
        for name, bound in kinds.items():
            count, spent = throughput.raw_run(network, plan.batch, calls, plan.workers, bound=bound)
            seconds[name] = self._s(spent) / count
        return seconds

    def _reason(self, name: str) -> str:
        """Returns why a measurement is missing."""
        if name == "native_over_python":
            return "no native code"
        if not self.network:
            return "no network"
        if self.network.kernel:
            return "our own kernel"  # It has no binding, and the native search calls it without Python.
        return "no IoBinding" if "bound" in name else "several workers"
