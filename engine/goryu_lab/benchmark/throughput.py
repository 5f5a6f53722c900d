"""Single measurements: each function does one run, and returns what it counted and how long it took.

There are two clocks. CPU seconds (of the process, all threads) change little when other programs run;
wall-clock seconds are the time that a user waits.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self
from unittest.mock import patch

from goryu.evaluators.formats.base import Array
from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.network.io_binding import IoBinding
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.shogi import Board as PythonBoard
from goryu.implementation import Board, Puct, make_puct, perft
from goryu.search.evaluator import Evaluator
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.proof import Solver, no_solver
from goryu.search.graph.puct import Puct as PythonPuct

MIDDLE_GAME = "l4gknl/3r2sb1/2n1pg1p1/1pppspp1p/p8/2PPPPPPP/PPB1SGN2/2R3SK1/LN3G2L b - 1"
"""Castles are built and no piece has been taken; 39 legal moves."""

TICK_S = 1 / 64
"""What counts in place of no time of the processor: its clock on Windows goes on so seldom."""


@dataclass(slots=True)
class Seconds:
    """The time that a `with` block takes, summed over several of them."""

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self) -> Self:
        self.wall -= time.perf_counter()
        self.cpu -= time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter()
        self.cpu = (self.cpu + time.process_time()) or TICK_S

    def on(self, clock: str) -> float:
        """Returns the seconds on the `wall` or the `cpu` clock."""
        return self.cpu if clock == "cpu" else self.wall


@dataclass(slots=True)
class Calls:
    """How often a network was called, for how many positions, and for how long."""

    calls: int = 0
    positions: int = 0
    seconds: Seconds = field(default_factory=Seconds)

    def counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a function that does the same and counts its calls; for one thread.

        function: takes planes, the number of positions, or both.
        """

        def call(*arguments: Any) -> Any:
            self.calls += 1
            self.positions += arguments[-1] if isinstance(arguments[-1], int) else len(arguments[0][0])
            with self.seconds:
                return function(*arguments)

        return call


@contextmanager
def counted_calls(network: NetworkEvaluator, calls: Calls) -> Iterator[None]:
    """Counts the calls of a network in the context: `run`, and those of bindings made in the context."""
    bind = network.bind
    with ExitStack() as stack:

        def counted_bind(inputs: Sequence[Array]) -> IoBinding | None:
            binding = bind(inputs)
            if binding is not None:
                stack.enter_context(patch.object(binding, "run", calls.counted(binding.run)))
            return binding

        stack.enter_context(patch.object(network, "run", calls.counted(network.run)))
        stack.enter_context(patch.object(network, "bind", counted_bind))
        yield


def perft_run(sfen: str, depth: int) -> tuple[int, Seconds]:
    """Returns the leaves of the tree of legal moves, and the time to count them."""
    board = Board(sfen)
    with Seconds() as seconds:
        leaves = perft(board, depth)
    return leaves, seconds


@dataclass(frozen=True, slots=True)
class SearchRun:
    """One search: its counts, its time, and its network calls if they were counted."""

    playouts: int
    evaluations: int
    nodes: int
    seconds: Seconds
    network: Calls


def search_run(
    sfen: str,
    evaluator: Evaluator,
    config: PuctConfig,
    playouts: int,
    *,
    solver: Solver = no_solver,
    threads: int = 1,
    counts: bool = False,
) -> SearchRun:
    """Searches a position with an empty tree.

    counts: count and time the calls of a network, which costs some microseconds for each.
    """
    search = make_puct(evaluator, config, solver, threads)
    board = Board(sfen)
    network = Calls()
    counting: AbstractContextManager[None] = nullcontext()
    if counts and isinstance(evaluator, NetworkEvaluator):
        counting = counted_calls(evaluator, network)
    with counting, Seconds() as seconds:
        stats = search.search(board, lambda stats: False, max_playouts=playouts).stats
    return SearchRun(stats.playouts, stats.evaluations, stats.nodes, seconds, network)


def native_over_python_run(sfen: str, config: PuctConfig, playouts: int, solver: Solver = no_solver) -> float:
    """Returns the CPU time of the Python search divided by that of the search in use, for the same search.

    Evaluations are hashed and planes are not built, since the Python search builds none.
    """
    native = search_run(sfen, HashedEvaluator(), config, playouts, solver=solver)
    search, board = PythonPuct(HashedEvaluator(), config, solver), PythonBoard(sfen)
    with Seconds() as seconds:
        stats = search.search(board, lambda stats: False, max_playouts=playouts).stats
    assert (stats.playouts, stats.nodes) == (native.playouts, native.nodes)
    return seconds.cpu / native.seconds.cpu


def raw_run(
    evaluator: NetworkEvaluator, batch_size: int, calls: int, threads: int = 1, *, bound: bool = False
) -> tuple[int, Seconds]:
    """Runs the network alone on full batches of empty planes; returns the number of positions and the time.

    threads: this many threads make `calls` calls each.
    bound: call a binding, which the evaluator must have, instead of `run`.
    """

    def work() -> None:
        inputs = evaluator.new_inputs(batch_size)
        call: Callable[[], Any] = partial(evaluator.run, inputs)
        if bound:
            binding = evaluator.bind(inputs)
            assert binding is not None
            call = partial(binding.run, batch_size)
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
    """Returns the milliseconds from the stop signal to the answer of a search in another thread."""
    stop = threading.Event()
    ended: list[float] = []

    def search() -> None:
        Puct(evaluator, config).search(Board(sfen), lambda stats: stop.is_set())
        ended.append(time.perf_counter())

    thread = threading.Thread(target=search)
    thread.start()
    time.sleep(think_s)
    stopped = time.perf_counter()
    stop.set()
    thread.join()
    return 1000 * (ended[0] - stopped)


def sweep_run(sfen: str, playouts: int) -> tuple[int, int, Seconds]:
    """Plays the best move after a search with hashed evaluations, and deletes the unreachable nodes.

    Returns the number of nodes before and after, and the time.
    """
    search = Puct(HashedEvaluator(), PuctConfig(batch_size=16, capacity=2 * playouts))
    board = Board(sfen)
    result = search.search(board, lambda stats: False, max_playouts=playouts)
    board.push(result.moves[0].move)
    with Seconds() as seconds:
        left = search.search(board, lambda stats: True).stats.nodes
    return result.stats.nodes, left, seconds


def bytes_per_node_run(sfen: str, playouts: int) -> float:
    """Returns the memory of the nodes of a search by its table's own count, for each of them."""
    search = Puct(HashedEvaluator(), PuctConfig(batch_size=16))
    nodes = search.search(Board(sfen), lambda stats: False, max_playouts=playouts).stats.nodes
    return float(search.table.memory.bytes_used / nodes)
