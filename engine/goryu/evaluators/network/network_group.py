"""Several devices that evaluate for one search: each searching thread belongs to one of them.

The threads share the graph of the search and nothing else, so the devices need no scheduling: a thread
gathers a batch, and while its device works the lock of the graph is free for the others. A device that
fails loses the batch it was working on, and its threads go on with the other devices.

Weakness: a device that is much slower than the others holds its positions in flight for long, which makes the
other threads choose among moves that matter less.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from goryu.base.errors import first_line
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import RUN_ERRORS, BackendError
from goryu.games.state import State
from goryu.search.evaluator import Evaluation

_log = logging.getLogger("goryu")


class DevicesError(BackendError):
    """No device is left."""


class NetworkGroup:
    """Networks on several devices. Each may have a model of its own.

    networks: one for each device. workers: the index of the network of each searching thread.
    batch_size: the largest of the networks; a thread gathers as many positions as its own network takes.
    failures: a message for each device that has failed.
    """

    def __init__(self, networks: Sequence[NetworkEvaluator], threads: Sequence[int]) -> None:
        """threads: searching threads of each network, at least one."""
        assert len(networks) == len(threads) >= 1
        assert min(threads) >= 1
        self.networks = list(networks)
        # The first thread of every device comes first, for searches with fewer threads than wanted.
        self.workers = [i for turn in range(max(threads)) for i, n in enumerate(threads) if turn < n]
        self.batch_size = max(network.batch_size for network in networks)
        self.failures: list[str] = []
        self._failed: set[int] = set()
        self._reported = 0
        self._lock = Lock()

    @property
    def backend(self) -> str:
        """That of the first network."""
        return self.networks[0].backend

    @property
    def path(self) -> Path:
        """That of the first network."""
        return self.networks[0].path

    @property
    def sha256(self) -> str:
        """That of the first network."""
        return self.networks[0].sha256

    @property
    def description(self) -> str:
        """One line for the user."""
        return " | ".join(
            f"{network.description} searchers={self.workers.count(i)}"
            for i, network in enumerate(self.networks)
        )

    @property
    def temperature(self) -> float:
        """That of the policies of all networks."""
        return self.networks[0].temperature

    def set_draw_value(self, value: float) -> None:
        """Sets the value of a draw to black, in [-1, +1]."""
        for network in self.networks:
            network.set_draw_value(value)

    def network_of(self, worker: int) -> NetworkEvaluator:
        """Returns the network for a searching thread: its own, or another if that has failed.

        Raises:
            DevicesError: all have failed.
        """
        wanted = self.workers[worker % len(self.workers)]
        with self._lock:
            for step in range(len(self.networks)):
                i = (wanted + step) % len(self.networks)
                if i not in self._failed:
                    return self.networks[i]
        raise DevicesError(f"all {len(self.networks)} devices have failed: {'; '.join(self.failures)}")

    def give_up(self, network: NetworkEvaluator, error: Exception) -> bool:
        """Uses a network no more, because of an error; returns whether another one is left.

        Does nothing, and returns False, if the error is not one of its device.
        """
        if not isinstance(error, RUN_ERRORS):
            return False
        i = self.networks.index(network)
        with self._lock:
            if i not in self._failed:
                self._failed.add(i)
                self.failures.append(f"device {i + 1} ({network.backend}) has failed: {first_line(error)}")
                _log.error("%s", self.failures[-1])
            return len(self._failed) < len(self.networks)

    def new_failures(self) -> list[str]:
        """Returns the messages since the last call."""
        with self._lock:
            new, self._reported = self.failures[self._reported :], len(self.failures)
        return new

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per shogi state, in order, by the first network that works."""
        while True:
            network = self.network_of(0)
            try:
                return network.evaluate(states)
            except RUN_ERRORS as error:
                if not self.give_up(network, error):
                    raise
