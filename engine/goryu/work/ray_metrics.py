"""Metrics of a run for Prometheus; Ray's agent on the driver's computer exports them.

The agent does so only where Ray was installed with its extra `default`; elsewhere the numbers go nowhere.
They are numbers of this run: a driver that is started again begins at 0.
"""

from typing import Any

PREFIX = "goryu_"
"""Begins every name; Ray puts `ray_` before it, and `_total` behind the name of a counter."""


class RayMetrics:
    """Counts what the workers of a cluster have done, by computer (label `node`)."""

    def __init__(self) -> None:
        from ray.util.metrics import Counter, Gauge

        def counter(name: str, text: str) -> Any:
            return Counter(PREFIX + name, text, tag_keys=("node",))

        self._done = counter("tasks_done", "Finished tasks, such as games; copies of late ones count too.")
        self._positions = counter("positions", "Positions for training in finished games.")
        self._workers_lost = counter("workers_lost", "Workers that died or whose computer has left.")
        self._tasks_lost = counter("tasks_lost", "Tasks that were lost with a worker, to be done again.")
        self._workers = Gauge(PREFIX + "workers", "Workers that are ready.", tag_keys=("node",))

    def add_done(self, node: str, tasks: int, positions: int) -> None:
        """Counts results."""
        _add(self._done, node, tasks)
        _add(self._positions, node, positions)

    def add_lost(self, node: str, tasks: int) -> None:
        """Counts a lost worker and the tasks that it held."""
        _add(self._workers_lost, node, 1)
        _add(self._tasks_lost, node, tasks)

    def set_workers(self, node: str, workers: int) -> None:
        """Sets how many workers of a computer are ready."""
        self._workers.set(workers, {"node": node})


def _add(counter: Any, node: str, number: int) -> None:
    if number:
        counter.inc(number, {"node": node})
