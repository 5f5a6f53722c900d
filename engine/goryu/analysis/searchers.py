"""Several searches at once with one network: for reviews, and for the queries of `engine.py`.

Each thread has a `PositionSearcher`. Two searches of one thread each take little more than half the time of
one search of two: with few playouts a position offers little to do at once. Where the network is fast on
batches only, there are more searches than calls of the network at once, and their positions travel together
(`shared.py`).

Memory: the graphs of all searches share what the config gives to one (`USI_Hash`), and a graph is freed after
the work for which it was made.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import count
from threading import Lock, Thread
from typing import Any

from goryu.analysis.position_searcher import PositionSearcher
from goryu.implementation import IMPLEMENTATION
from goryu.players.config import EngineConfig
from goryu.players.set_up.loading import LoadedEvaluator
from goryu.players.set_up.threads import cores, search_threads

BATCH_SHARE = 2
"""On a GPU there is a search for so many positions of a batch: a search of 400 playouts offers about ten at
once, at first one, and while a batch is evaluated the next one has to gather."""

RUN_LENGTH = 8
"""Positions in a row that one thread searches: long runs inherit playouts, short ones end together."""

WAIT_S = 0.5
"""Waiting for searches in short steps lets Windows deliver Ctrl-C between them."""

Work = Callable[[PositionSearcher], None]


class Searchers:
    """Does work that needs a `PositionSearcher`: the most urgent first, of equals the first that came.

    A thread lives as long as there is work.

    count: searches at once. loaded: the network.
    """

    def __init__(self, loaded: LoadedEvaluator, config: EngineConfig, searches: int = 0) -> None:
        """searches: at once; 0 for what suits the network."""
        self.loaded = loaded
        calls = search_threads(config.evaluator.threads) if IMPLEMENTATION == "native" else 1
        if not self.loaded.uses_gpu:
            calls = min(calls, cores())
        usual = max(calls, self.loaded.batch_size // BATCH_SHARE) if self.loaded.uses_gpu else calls
        self.count = searches or usual
        own = _for_each_thread(self.loaded, self.count, calls)
        self._idle = [PositionSearcher(loaded, self.fitted(config)) for loaded in own]
        self._lock = Lock()
        self._waiting: list[tuple[int, int, Future[None], Work]] = []
        self._numbers = count()

    def fitted(self, config: EngineConfig) -> EngineConfig:
        """Returns a config with the memory that one of the searches may use."""
        memory = config.hash_bytes(uses_gpu=self.loaded.uses_gpu) // self.count
        return replace(config, search=replace(config.search, capacity_bytes=memory))

    def submit(self, work: Work, priority: int = 0) -> "Future[None]":
        """Returns the future of the work, which `cancel` may cancel until it begins."""
        future: Future[None] = Future()
        with self._lock:
            heappush(self._waiting, (-priority, next(self._numbers), future, work))
            searcher = self._idle.pop() if self._idle else None
        if searcher is not None:
            Thread(target=self._run, args=(searcher,), name="searcher").start()
        return future

    def cancel(self, futures: "Iterable[Future[None]]") -> None:
        """Cancels what has not begun, and forgets it."""
        for future in futures:
            future.cancel()
        with self._lock:
            self._waiting = [entry for entry in self._waiting if not entry[2].cancelled()]
            heapify(self._waiting)

    def _run(self, searcher: PositionSearcher) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._idle.append(searcher)
                    return
                _, _, future, work = heappop(self._waiting)
            if future.set_running_or_notify_cancel():
                _do(work, searcher, future)
            del future, work  # They hold what the caller may want to free.


def _do(work: Work, searcher: PositionSearcher, future: "Future[None]") -> None:
    try:
        work(searcher)
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(None)
    finally:
        searcher.clear()


def _for_each_thread(loaded: LoadedEvaluator, searches: int, calls: int) -> list[LoadedEvaluator]:
    """Returns the evaluator of each search: of several devices one after the other, with joined batches."""
    networks: list[Any] = getattr(loaded.evaluator, "networks", [loaded.evaluator])
    if loaded.config.kind == "network" and searches > calls:
        from goryu.evaluators.network.network import NetworkEvaluator
        from goryu.evaluators.network.shared import shared

        networks = [shared(each, calls) if isinstance(each, NetworkEvaluator) else each for each in networks]
    return [replace(loaded, evaluator=networks[i % len(networks)]) for i in range(searches)]


def runs(indices: Iterable[int]) -> list[range]:
    """Returns the indices as ranges of consecutive ones, of `RUN_LENGTH` at most.

    >>> runs([0, 1, 2, 5])
    [range(0, 3), range(5, 6)]
    """
    found: list[range] = []
    for index in indices:
        if found and found[-1].stop == index and len(found[-1]) < RUN_LENGTH:
            found[-1] = range(found[-1].start, index + 1)
        else:
            found.append(range(index, index + 1))
    return found
