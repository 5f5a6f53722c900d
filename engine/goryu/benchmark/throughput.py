"""What `tools/bench.py` measures: each function does one run, returns what it counted and how long it took.

Rates are counted on two clocks. CPU seconds (of the process, all threads) hardly change when other
programs run; wall-clock seconds are what a user waits for.
"""

import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from goryu.benchmark.instrumentation import wrapped_network
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.network import NetworkEvaluator
from goryu.games.shogi import Board as PythonBoard
from goryu.implementation import Board, Puct, perft
from goryu.search.evaluator import Evaluator
from goryu.search.puct import Puct as PythonPuct
from goryu.search.puct import PuctConfig

__all__ = [
    "MIDDLE_GAME",
    "Calls",
    "SearchRun",
    "Seconds",
    "bytes_per_node_run",
    "native_over_python_run",
    "perft_run",
    "raw_run",
    "search_run",
    "stop_run",
    "sweep_run",
]

MIDDLE_GAME = "l4gknl/3r2sb1/2n1pg1p1/1pppspp1p/p8/2PPPPPPP/PPB1SGN2/2R3SK1/LN3G2L b - 1"
"""Castles built, no piece taken yet, 39 moves."""


@dataclass(slots=True)
class Seconds:
    """How long something took; use it as a context manager."""

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self) -> Self:
        self.wall, self.cpu = -time.perf_counter(), -time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter()
        self.cpu += time.process_time()

    def on(self, clock: str) -> float:
        """Returns the seconds on the `wall` or the `cpu` clock."""
        return self.cpu if clock == "cpu" else self.wall


@dataclass(slots=True)
class Calls:
    """How often a network was called, for how many positions, and for how long."""

    calls: int = 0
    positions: int = 0
    wall: float = 0.0
    cpu: float = 0.0

    def count(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function, with its calls counted; it takes planes, or the number of rows."""

        def counted(argument: Any) -> Any:
            with Seconds() as seconds:
                answer = function(argument)
            self.calls += 1
            self.positions += batch_length(argument)
            self.wall += seconds.wall
            self.cpu += seconds.cpu
            return answer

        return counted


def perft_run(sfen: str, depth: int) -> tuple[int, Seconds]:
    """Counts move sequences from a position."""
    board = Board(sfen)
    with Seconds() as seconds:
        leaves = perft(board, depth)
    return leaves, seconds


@dataclass(frozen=True, slots=True)
class SearchRun:
    """One search: what it did, its time, and the part of it that the network took."""

    playouts: int
    evaluations: int
    nodes: int
    seconds: Seconds
    network: Calls


def search_run(
    sfen: str, evaluator: Evaluator, config: PuctConfig, playouts: int, *, counts: bool = False
) -> SearchRun:
    """Searches a position from nothing; with `counts`, `network` counts the calls of a network.

    Counting costs some microseconds a call.
    """
    search = Puct(evaluator, config)
    board = Board(sfen)
    network = Calls()
    counting: AbstractContextManager[None] = nullcontext()
    if counts and isinstance(evaluator, NetworkEvaluator):
        counting = wrapped_network(evaluator, network.count)
    with counting, Seconds() as seconds:
        stats = search.search(board, lambda stats: False, max_playouts=playouts).stats
    return SearchRun(stats.playouts, stats.evaluations, stats.nodes, seconds, network)


def native_over_python_run(sfen: str, config: PuctConfig, playouts: int) -> float:
    """Returns how many times as fast the search in use is as the Python one, by CPU time, on the same search.

    The evaluator is the hashed stub, without planes: the Python search would build none.
    """
    native = search_run(sfen, HashedEvaluator(), config, playouts)
    search, board = PythonPuct(HashedEvaluator(), config), PythonBoard(sfen)
    with Seconds() as seconds:
        stats = search.search(board, lambda stats: False, max_playouts=playouts).stats
    assert (stats.playouts, stats.nodes) == (native.playouts, native.nodes)
    return seconds.cpu / native.seconds.cpu


def batch_length(argument: Any) -> int:
    """Returns how many positions a network's call was given: as planes, or as their number in place."""
    return argument if isinstance(argument, int) else len(argument[0])


def raw_run(
    evaluator: NetworkEvaluator, batch_size: int, calls: int, threads: int = 1, *, bound: bool = False
) -> tuple[int, Seconds]:
    """Runs the network alone, on full batches of planes that are already there; returns the positions.

    threads: so many call it at a time, each `calls` times.
    bound: by calls that copy nothing, which the evaluator must have, and not by `run`.
    """

    def work() -> None:
        inputs = evaluator.new_inputs(batch_size)
        call: Callable[[], Any] = partial(evaluator.run, inputs)
        if bound:
            in_place = evaluator.bind(inputs)
            assert in_place is not None
            call = partial(in_place.run, batch_size)
        for _ in range(calls):
            call()

    helpers = [threading.Thread(target=work) for _ in range(threads - 1)]
    with Seconds() as seconds:
        for helper in helpers:
            helper.start()
        work()
        for helper in helpers:
            helper.join()
    return batch_size * calls * threads, seconds


def stop_run(sfen: str, evaluator: Evaluator, config: PuctConfig, think_s: float = 0.3) -> float:
    """Returns the milliseconds from `stop` to the answer of a search that runs on its own thread."""
    stop = threading.Event()
    ended: list[float] = []

    def think() -> None:
        Puct(evaluator, config).search(Board(sfen), lambda stats: stop.is_set())
        ended.append(time.perf_counter())

    thread = threading.Thread(target=think)
    thread.start()
    time.sleep(think_s)
    asked = time.perf_counter()
    stop.set()
    thread.join()
    return 1000 * (ended[0] - asked)


def sweep_run(sfen: str, playouts: int) -> tuple[int, int, Seconds]:
    """Plays the best move after a search and deletes what can no longer be reached.

    Returns the nodes before, the nodes left and how long that took; the evaluator is the hashed stub.
    """
    search = Puct(HashedEvaluator(), PuctConfig(batch_size=16, capacity=playouts))
    board = Board(sfen)
    result = search.search(board, lambda stats: False, max_playouts=playouts)
    board.push(result.moves[0].move)
    with Seconds() as seconds:
        left = search.search(board, lambda stats: True).stats.nodes
    return result.stats.nodes, left, seconds


def bytes_per_node_run(sfen: str, playouts: int) -> float | None:
    """Returns the memory of a search divided by its nodes, or None where the system does not tell.

    It is the growth of the process, which is only right for the first big search of a process.
    """
    before = resident_bytes()
    if before is None:
        return None
    search = Puct(HashedEvaluator(), PuctConfig(batch_size=16))
    nodes = search.search(Board(sfen), lambda stats: False, max_playouts=playouts).stats.nodes
    after = resident_bytes()
    assert after is not None
    return (after - before) / nodes


def resident_bytes() -> int | None:
    """Returns the memory that the process occupies."""
    if sys.platform != "linux":
        return None
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
