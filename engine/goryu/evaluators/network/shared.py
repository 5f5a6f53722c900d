"""One network for several searches: their positions travel in common batches.

A young search offers few positions at once (`search/graph/batch.py`), and a GPU is fastest on hundreds. So
each search, in a thread of its own, hands its positions in and waits. A thread that finds the device free
takes all that wait, up to a full batch, and evaluates them for the others. While the device works the next
ones gather, so that nobody waits for a clock.

Our own kernel needs none of this: on a CPU it is fastest with positions one by one, and each thread calls it.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from threading import Condition
from typing import Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.packed_network import PackedNetwork
from goryu.evaluators.network.runners import Answers, Runner

T = TypeVar("T")


def shared(network: NetworkEvaluator, calls: int) -> NetworkEvaluator:
    """Returns the same network for several threads, whose batches are joined.

    calls: of the network at once, at least 1.
    """
    if network.kernel is not None:
        return network
    found = copy(network)
    found.runner = _SharedRunner(network.runner, network.batch_size, calls)
    if network.packed is not None:
        found.packed = cast(PackedNetwork, _SharedPacked(network.packed, calls))
    return found


@dataclass(eq=False, slots=True)
class _Request(Generic[T]):
    content: T
    rows: int
    is_done: bool = False
    error: BaseException | None = None


class Joiner(Generic[T]):
    """Joins the requests of several threads; each comes back when its own is done."""

    def __init__(self, work: Callable[[list[T]], None], most: int, calls: int) -> None:
        """work: does all of a list of requests. most: rows of a call. calls: at once."""
        self._work = work
        self._most = most
        self._free = calls
        self._waiting: list[_Request[T]] = []
        self._changed = Condition()

    def call(self, content: T, rows: int) -> None:
        """Returns when the request is done; raises what `work` raised for it or its companions.

        rows: of the request, at most `most`.
        """
        own = _Request(content, rows)
        with self._changed:
            self._waiting.append(own)
            while not own.is_done:
                if self._free and own in self._waiting:
                    self._evaluate(self._take())
                else:
                    self._changed.wait()
        if own.error is not None:
            raise own.error

    def _take(self) -> list[_Request[T]]:
        """Returns the requests of the next call, in the order in which they came."""
        rows = count = 0
        for request in self._waiting:
            if rows + request.rows > self._most:
                break
            rows, count = rows + request.rows, count + 1
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return taken

    def _evaluate(self, taken: list[_Request[T]]) -> None:
        """Does requests while the lock, which the caller holds, is free for others."""
        error: BaseException | None = None
        self._free -= 1
        self._changed.release()
        try:
            self._work([request.content for request in taken])
        except BaseException as found:
            error = found
        finally:
            self._changed.acquire()
            self._free += 1
            for request in taken:
                request.is_done, request.error = True, error
            self._changed.notify_all()


@dataclass(slots=True)
class _Planes:
    """Planes, and where their answers go."""

    inputs: Sequence[Array]
    answers: Answers | None = None


class _SharedRunner(Runner):
    """Runs a network on the planes of several threads at once."""

    def __init__(self, runner: Runner, batch_size: int, calls: int) -> None:
        self.format, self.element_types = runner.format, runner.element_types
        self.backend, self.library, self.settings = runner.backend, runner.library, runner.settings
        self._runner = runner
        self._most = batch_size
        self._joiner = Joiner(self._run_all, batch_size, calls)

    def run(self, inputs: Sequence[Array], count: int) -> Answers:
        parts = []
        for start in range(0, count, self._most):
            end = min(count, start + self._most)
            part = _Planes([rows[start:end] for rows in inputs])
            self._joiner.call(part, end - start)
            assert part.answers is not None
            parts.append(part.answers)
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _run_all(self, parts: list[_Planes]) -> None:
        inputs = [np.concatenate(rows) for rows in zip(*(part.inputs for part in parts), strict=True)]
        logits, values = self._runner.run(inputs, len(inputs[0]))
        start = 0
        for part in parts:
            end = start + len(part.inputs[0])
            part.answers = logits[start:end], values[start:end]
            start = end


class _SharedPacked:
    """The part of `PackedNetwork` that a search uses, for several threads whose batches are joined."""

    def __init__(self, network: PackedNetwork, calls: int) -> None:
        self.network = network
        self.joiner = Joiner(self._run_all, network.sizes[-1], calls)

    def call(self) -> "_SharedCall":
        return _SharedCall(self)

    def _run_all(self, parts: "list[_SharedCall]") -> None:
        labels, width = self.network.labels, max(part.width for part in parts)
        call = self.network.call()
        starts = np.cumsum([0, *(part.count for part in parts)]).tolist()
        for start, part in zip(starts, parts, strict=False):
            rows, own = slice(start, start + part.count), slice(part.count)
            call.rows[rows], call.numbers[rows] = part.rows[own], part.numbers[own]
            call.labels_of(width)[rows, : part.width] = part.labels_of(part.width)[own] + start * labels
        call.run(starts[-1], width)
        for start, part in zip(starts, parts, strict=False):
            rows, own = slice(start, start + part.count), slice(part.count)
            part.logits_of(part.width)[own] = call.logits_of(width)[rows, : part.width]
            for answers, answer in zip(part.values, call.values, strict=True):
                answers[own] = answer[rows]


class _SharedCall:
    """What `PackedCall` is, with arrays on the host only."""

    def __init__(self, owner: _SharedPacked) -> None:
        network = owner.network
        self._owner = owner
        self._most = network.sizes[-1]
        self.rows = np.zeros((self._most, network.layout.bytes), np.uint8)
        self.numbers = np.zeros((self._most, len(network.layout.numbers)), np.float32)
        self.values = [np.zeros(self._most, np.float32) for _ in network.value_outputs]
        self._widths: dict[int, tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]] = {}
        self.count = self.width = 0  # Of the present call.

    def labels_of(self, width: int) -> npt.NDArray[np.int32]:
        return self._of_width(width)[0]

    def logits_of(self, width: int) -> npt.NDArray[np.float32]:
        return self._of_width(width)[1]

    def run(self, count: int, width: int) -> None:
        self.count, self.width = count, width
        self._owner.joiner.call(self, count)

    def _of_width(self, width: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        if width not in self._widths:
            shape = self._most, width
            self._widths[width] = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        return self._widths[width]
