"""A table of threads and batch sizes for one network, and which to set: `goryu bench --advise`.

Every round measures every choice once, so that a machine that slows down for a while slows all of them. The
rates are of wall-clock time: the threads share the cores.

What to set differs. In play the best move counts, and positions on the way to the network were chosen without
knowing each other's values: a tenth of the speed buys fewer of them. In a long analysis the speed counts.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import GPU_BACKENDS
from goryu.players.set_up.measuring import GPU_BATCHES, GROWING_S, Rate, Settings, best, measure, new_search
from goryu.players.set_up.threads import cores

ENOUGH_FOR_PLAY = 0.9
ENOUGH_FOR_ANALYSIS = 0.98
"""How near to the fastest the advised settings are, as a share."""

CPU_BATCHES = (1, 2, 4, 8, 16)


GPU_THREADS = (1, 2, 4)


def table(uses_gpu: bool) -> list[Settings]:
    """Returns the choices: rows of threads, columns of batch sizes."""
    threads = set(GPU_THREADS) if uses_gpu else {1, 2, max(1, cores() // 2), cores()}
    return [
        Settings(count, batch)
        for count in sorted(threads)
        for batch in (GPU_BATCHES if uses_gpu else CPU_BATCHES)
    ]


@dataclass(slots=True)
class Advice:
    """Measurements of a network by settings: a rate for each round.

    network: a GPU's has room for the largest batch, and a stream for each thread.
    measure_one: measures settings for some seconds, given a search.
    """

    network: NetworkEvaluator
    wanted: Sequence[Settings]
    seconds: float = 0.5
    measure_one: Callable[[Any, Settings, float], Rate] = measure
    rounds: dict[Settings, list[Rate]] = field(default_factory=dict)

    def run(self, rounds: int) -> Iterator[None]:
        """Measures everything; yields after each measurement."""
        puct = new_search(self.network)
        if self.network.backend in GPU_BACKENDS:
            self.measure_one(puct, self.wanted[-1], GROWING_S)  # A small graph allows small batches only.
        for _ in range(rounds):
            for settings in self.wanted:
                rate = self.measure_one(puct, settings, self.seconds)
                self.rounds.setdefault(settings, []).append(rate)
                yield

    def rate(self, settings: Settings) -> Rate:
        """Returns the medians of the rounds."""
        rates = self.rounds[settings]
        return Rate(
            settings,
            median(rate.evaluations_per_s for rate in rates),
            median(rate.playouts_per_s for rate in rates),
        )

    def rates(self) -> list[Rate]:
        """Returns the medians of all settings."""
        return [self.rate(settings) for settings in self.wanted]

    def for_play(self) -> Rate:
        """Returns what to set for games."""
        return best(self.rates(), ENOUGH_FOR_PLAY, least_gain=1.0)

    def for_analysis(self) -> Rate:
        """Returns what to set for long analyses."""
        return best(self.rates(), ENOUGH_FOR_ANALYSIS, least_gain=1.0)
