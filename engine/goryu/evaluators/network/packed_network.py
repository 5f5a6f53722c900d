"""A network on a device that receives positions as bits (`packed_input.py`), with several batches in flight.

A thread that evaluates has a `PackedCall` of its own: buffers on the host and on the device that are used
again for every batch, and a stream, which is a session with a queue of its own on the device. While one
thread's batch is computed, others gather and copy theirs. Nothing here depends on the kind of device: with
the device "cpu" the same code runs on the CPU.

onnxruntime plans each new shape, so a call has one of a few sizes, and one of a few widths (labels for each
position).
"""

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import cycle
from typing import Any

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array, ModelFormat
from goryu.evaluators.network.packed_input import (
    LABELS,
    LOGITS,
    NUMBERS,
    PACKED,
    packed_layout,
    value_outputs,
)
from goryu.evaluators.network.providers import call_onnxruntime

WIDTHS = (128, 256, 600)
"""Labels for each position of a call: the least that is enough for all. No position has 600 moves."""

USUAL_WIDTH = WIDTHS[1]
"""Of most batches of a search; calls of this width are warmed up."""

OpenSize = Callable[[int], Any]
"""Opens an onnxruntime.InferenceSession of a packed model for batches of a size, on a stream of its own."""


class PackedNetwork:
    """The sessions of a packed model on one device.

    sizes: the batch sizes in ascending order; a batch is padded to the next one.
    layout: of a position. labels: the length of the policy. value_outputs: their names.
    """

    def __init__(
        self,
        open_size: OpenSize,
        model_format: ModelFormat,
        *,
        sizes: Sequence[int],
        device: str | None,
        device_id: int = 0,
        streams: int = 1,
        session_per_size: bool = False,
        one_at_a_time: AbstractContextManager[Any] | None = None,
    ) -> None:
        """Opens the sessions.

        device: onnxruntime's name of it, "cpu" or "cuda"; None if there are no buffers on it, and onnxruntime
            copies the inputs of each call.
        session_per_size: each batch size has its own session; otherwise a stream has one for all.
        one_at_a_time: a lock, for devices that run one call at a time.
        """
        self.sizes = tuple(sizes)
        self.layout = packed_layout(model_format)
        self.labels = model_format.labels
        self.value_outputs = value_outputs(model_format)
        self.device, self.device_id = device, device_id
        self.guard = one_at_a_time or nullcontext()
        self._streams: list[dict[int, Any]] = []
        for _ in range(streams):
            if session_per_size:
                self._streams.append({size: open_size(size) for size in self.sizes})
            else:
                self._streams.append(dict.fromkeys(self.sizes, open_size(self.sizes[-1])))
        self._next_stream = cycle(self._streams)
        self._idle: deque[_Buffers] = deque()

    @property
    def handle(self) -> Any:
        """A session of the packed model."""
        return self._streams[0][self.sizes[-1]]

    @property
    def streams(self) -> int:
        """The number of streams."""
        return len(self._streams)

    def call(self) -> "PackedCall":
        """Returns a call for one thread, with buffers that no other call uses while it exists."""
        try:
            return PackedCall(self, self._idle.pop(), self._idle)
        except IndexError:
            return PackedCall(self, _Buffers(self, next(self._next_stream)), self._idle)

    def warm_up(self) -> None:
        """Runs every size on every stream once, the largest and the smallest first."""
        *smaller, largest = self.sizes
        calls = [self.call() for _ in self._streams]
        for size in (largest, *smaller):
            for call in calls:
                call.run(size, USUAL_WIDTH)

    def answer(
        self, rows: npt.NDArray[np.uint8], numbers: npt.NDArray[np.float32]
    ) -> list[npt.NDArray[np.float32]]:
        """Returns all logits [N, labels] and the value outputs [N] of positions, at most the largest size.

        rows, numbers: of `pack`.
        """
        call, count = self.call(), len(rows)
        call.rows[:count], call.numbers[:count] = rows, numbers
        labels = np.arange(count * self.labels, dtype=np.int32).reshape(count, self.labels)
        call.labels_of(self.labels)[:count] = labels
        call.run(count, self.labels)
        return [answers[:count].copy() for answers in (call.logits_of(self.labels), *call.values)]


class _Buffers:
    """Arrays of one batch, on the host and on the device, and the bindings to a stream's sessions.

    They do not refer to the network, which holds them while they are idle: a GPU's memory is free as soon as
    the network is dropped.
    """

    def __init__(self, network: PackedNetwork, handles: dict[int, Any]) -> None:
        most = network.sizes[-1]
        self.handles = handles
        self.rows = np.zeros((most, network.layout.bytes), np.uint8)
        self.numbers = np.zeros((most, len(network.layout.numbers)), np.float32)
        self.values = [np.zeros(most, np.float32) for _ in network.value_outputs]
        self.labels: dict[int, npt.NDArray[np.int32]] = {}  # By width, as the logits.
        self.logits: dict[int, npt.NDArray[np.float32]] = {}
        self.bound: dict[tuple[int, int], _Bound] = {}

    def of_width(self, width: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Returns labels and logits [most, width]."""
        if width not in self.labels:
            self.labels[width] = np.zeros((len(self.rows), width), np.int32)
            self.logits[width] = np.zeros((len(self.rows), width), np.float32)
        return self.labels[width], self.logits[width]


class PackedCall:
    """Evaluates batches for one thread, one after another.

    rows, numbers: uint8 [most, bytes] and float32 [most, numbers], where the caller writes positions.
    values: the value outputs, float32 [most] each.
    """

    def __init__(self, network: PackedNetwork, buffers: _Buffers, idle: deque[_Buffers]) -> None:
        self._network = network
        self._buffers = buffers
        self._idle = idle
        self.rows, self.numbers = buffers.rows, buffers.numbers
        self.values = buffers.values

    def __del__(self) -> None:
        self._idle.append(self._buffers)

    def labels_of(self, width: int) -> npt.NDArray[np.int32]:
        """Returns the labels [most, width] of calls of this width; the caller writes i * labels + label.

        What is left over in a row must be labels, too: zeros, or those of former batches.
        """
        return self._buffers.of_width(width)[0]

    def logits_of(self, width: int) -> npt.NDArray[np.float32]:
        """Returns the answers [most, width] of calls of this width, which each call overwrites."""
        return self._buffers.of_width(width)[1]

    def run(self, count: int, width: int) -> None:
        """Evaluates the first `count` rows with `width` labels for each."""
        buffers = self._buffers
        size = next(size for size in self._network.sizes if size >= count)
        bound = buffers.bound.get((size, width))
        if bound is None:
            bound = buffers.bound[size, width] = _Bound(self._network, buffers, size, width)
        bound.run()


class _Bound:
    """A call of one size and width."""

    def __init__(self, network: PackedNetwork, buffers: _Buffers, size: int, width: int) -> None:
        labels, logits = buffers.of_width(width)
        self._handle = buffers.handles[size]
        self._guard = network.guard
        self._inputs: dict[str, Array] = {PACKED: buffers.rows[:size], LABELS: labels[:size]}
        if network.layout.numbers:
            self._inputs[NUMBERS] = buffers.numbers[:size]
        values = zip(network.value_outputs, buffers.values, strict=True)
        self._outputs: dict[str, Array] = {
            LOGITS: logits[:size],
            **{name: rows[:size] for name, rows in values},
        }
        self._copies: list[tuple[Any, npt.NDArray[Any]]] = []
        self._binding: Any = None
        if network.device is not None:
            call_onnxruntime(self._bind, network.device, network.device_id)

    def run(self) -> None:
        """Copies the inputs to the device, computes, and copies the answers back."""
        if self._binding is None:
            with self._guard:
                answers = call_onnxruntime(self._handle.run, list(self._outputs), self._inputs)
            for rows, answer in zip(self._outputs.values(), answers, strict=True):
                rows[:] = answer
            return
        for on_device, rows in self._copies:
            call_onnxruntime(on_device.update_inplace, rows)
        with self._guard:
            call_onnxruntime(self._handle.run_with_iobinding, self._binding)

    def _bind(self, device: str, device_id: int) -> None:
        from onnxruntime import OrtValue

        self._binding = self._handle.io_binding()
        for name, rows in self._inputs.items():
            # A copy: on the CPU an OrtValue is the array that it is made of.
            on_device = OrtValue.ortvalue_from_numpy(rows.copy(), device, device_id)
            self._binding.bind_ortvalue_input(name, on_device)
            self._copies.append((on_device, rows))
        for name, rows in self._outputs.items():
            self._binding.bind_output(name, "cpu", 0, np.float32, rows.shape, rows.ctypes.data)
