"""Networks side by side: positions per second alone, by batch size, and in a search, for several backends.

Every round measures everything once, so that a machine that slows down slows all of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import BACKENDS
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.proof import MateSolver
from goryu_lab.benchmark import throughput
from goryu_lab.benchmark.random_network import TENSORS, write_random_network
from goryu_lab.benchmark.throughput import MIDDLE_GAME

BATCHES = (1, 2, 4, 8)
MATE_NODES = 40
LEAST_PLAYOUTS = 256
"""In a search. It begins with batches of one position, and only later fills larger ones."""
SEARCH = "search"
"""The name of the measurement of a search; those of a network alone are named by their batch sizes."""


def open_networks(
    names: Sequence[str], model: Path, size: tuple[int, int] | None, folder: Path, threads: int
) -> list[NetworkEvaluator]:
    """Opens the networks to compare.

    names: backends for the model, model files for the backend cpu, or, with a size, formats for onnxruntime.
    size: blocks and channels of networks of random weights, which replace the model. folder: for their files.
    """
    if size:
        model = folder / f"random-{size[0]}x{size[1]}.onnx"
        write_random_network(*size, model)
    networks = []
    for name in names:
        path, backend = (model, name) if name in BACKENDS else (Path(name), "cpu")
        if size and name in TENSORS:
            path, backend = folder / f"{name}.onnx", "onnxruntime"
            write_random_network(*size, path, kind=name)
        networks.append(NetworkEvaluator(path, batch_size=8, backend=backend, threads=threads))
    return networks


@dataclass(slots=True)
class Comparison:
    """Measurements of some networks: the rates of each round, by network and by what is measured.

    seconds: about how much CPU time one measurement takes; searches of slow networks take more.
    """

    networks: Sequence[NetworkEvaluator]
    seconds: float = 0.5
    batches: Sequence[int] = BATCHES
    rates: dict[tuple[int, str], list[float]] = field(default_factory=dict)
    _costs: dict[int, float] = field(default_factory=dict)

    def run(self, rounds: int) -> Iterator[None]:
        """Makes all measurements; yields after each round."""
        for _ in range(rounds):
            for i, network in enumerate(self.networks):
                for batch in self.batches:
                    self._add(i, str(batch), self._alone(i, network, batch))
                    self._add(i, f"{SEARCH} {batch}", self._in_search(i, network, batch))
            yield

    def median(self, network: int, name: str) -> float:
        """Returns the median of a network's rates, in positions a second of CPU time."""
        return median(self.rates[network, name])

    def search_over_alone(self, network: int, batch: int) -> float:
        """Returns the median of the search's rate over that of the network alone, round by round."""
        rounds = zip(self.rates[network, f"{SEARCH} {batch}"], self.rates[network, str(batch)], strict=True)
        return median(search / alone for search, alone in rounds)

    def best_search(self, network: int) -> tuple[int, float]:
        """Returns the batch size that is best in a search, and the evaluations per second."""
        rates = [(self.median(network, f"{SEARCH} {batch}"), batch) for batch in self.batches]
        rate, batch = max(rates)
        return batch, rate

    def over(self, network: int, batch: int, other: int) -> float:
        """Returns the median, over the rounds, of a network's rate in a search over another's at its best."""
        best, _ = self.best_search(other)
        mine, its = (self.rates[i, f"{SEARCH} {size}"] for i, size in ((network, batch), (other, best)))
        return median(one / another for one, another in zip(mine, its, strict=True))

    def _add(self, network: int, name: str, rate: float) -> None:
        self.rates.setdefault((network, name), []).append(rate)

    def _positions(self, i: int, network: NetworkEvaluator) -> int:
        """Returns how many positions the network evaluates in the time of a measurement."""
        if i not in self._costs:
            count, spent = throughput.raw_run(network, 1, 2, 1, bound=False)
            self._costs[i] = spent.cpu / count
        return max(16, int(self.seconds / self._costs[i]))

    def _alone(self, i: int, network: NetworkEvaluator, batch: int) -> float:
        is_bound = network.bind(network.new_inputs(batch)) is not None
        calls = max(2, self._positions(i, network) // batch)
        count, spent = throughput.raw_run(network, batch, calls, 1, bound=is_bound)
        self._costs[i] = spent.cpu / count
        return count / spent.cpu

    def _in_search(self, i: int, network: NetworkEvaluator, batch: int) -> float:
        run = throughput.search_run(
            MIDDLE_GAME, network, PuctConfig(batch_size=batch),
            max(LEAST_PLAYOUTS, self._positions(i, network)), solver=MateSolver(MATE_NODES),
        )  # fmt: skip
        return run.evaluations / run.seconds.cpu
