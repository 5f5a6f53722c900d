"""A simulated GPU: it shows on any machine whether the search keeps a fast device busy and its batches full.

A call takes a fixed time and some more for each position, while the caller sleeps. The device works on one
call after the other, without a pause if they come early enough, as a GPU does with the kernels of several
streams. Answers are pseudo-random and cheap, but depend on the position: the same position gets the same
answer, and the policy is about as sharp as that of a trained network. All else is real: positions travel as
bits through onnxruntime's buffers. It cannot show the speed of a real network, of transfers between host and
device, or how far the two overlap.
"""

import time
from collections.abc import Mapping, Sequence
from ctypes import c_uint8
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS, DlshogiFormat
from goryu.evaluators.formats.dlshogi_planes import BOARD_PLANES, HAND_PLANES
from goryu.evaluators.formats.value_scale import from_probability
from goryu.evaluators.network.model_files import models_folder
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.packed_input import LOGITS, PACKED, VALUE, pack, packed_layout
from goryu.evaluators.network.providers import Session

FORMAT = DlshogiFormat(from_probability)

ANSWERS = 1024
"""Different answers; positions share them."""

SHARPNESS = 2.0
"""Standard deviation of the logits: the favourite of 40 moves has a prior of about a quarter."""

CALL_S = 0.35e-3
"""Of a call, whatever its size: the launch of its kernels."""


@dataclass(slots=True)
class SimulatedDevice:
    """A device that evaluates one batch at a time.

    call_s, row_s: time of a call, and of each of its rows (padding included); the defaults resemble a network
        of 10 blocks with 192 channels on a data centre's GPU, which evaluates 271,000 positions a second in
        batches of 512.
    element: the element type of the network's inputs, "float" or "float16".
    packs: do positions travel as bits?
    fails_at: the number of the call from which on all raise an error, after the warm-up; 0 for none.
    calls, rows: of all calls so far; rows include padding. busy_s: their time.
    """

    call_s: float = CALL_S
    row_s: float = 1 / 271_000 - CALL_S / 512
    element: str = "float"
    packs: bool = True
    fails_at: int = 0
    calls: int = 0
    rows: int = 0
    busy_s: float = 0.0
    _free_at: float = 0.0
    _lock: Any = field(default_factory=Lock)

    def network(self, batch_size: int, streams: int = 1) -> NetworkEvaluator:
        """Returns an evaluator of the dlshogi format that runs on this device, as on a GPU with CUDA."""
        session = Session(_Handle(self), "CUDA", "simulated", buffer_device="cpu")
        fails_at, self.fails_at = self.fails_at, 0
        found = NetworkEvaluator(
            models_folder() / "goryu-5x64.onnx", batch_size=batch_size, backend="cuda", packs=self.packs,
            streams=streams, halves=False, opens=lambda *_, **__: session,
        )  # fmt: skip
        assert bool(found.packed) == self.packs, found.note
        self.reset()  # The calls so far were the warm-up.
        self.fails_at = fails_at
        return found

    def rate(self, batch_size: int) -> float:
        """Returns how many positions a second the device evaluates in full batches."""
        return batch_size / (self.call_s + self.row_s * batch_size)

    def reset(self) -> None:
        """Forgets the calls so far."""
        self.calls = self.rows = 0
        self.busy_s = 0.0

    def work(self, rows: int) -> None:
        """Takes the time of a call; raises RuntimeError if the device has failed."""
        seconds = self.call_s + self.row_s * rows
        with self._lock:
            self.calls += 1
            self.rows += rows
            self.busy_s += seconds
            if 0 < self.fails_at <= self.calls:
                raise RuntimeError("the simulated device is lost")
            now = time.perf_counter()
            self._free_at = max(now, self._free_at) + seconds
            left_s = self._free_at - now
        if left_s > 0.0:
            time.sleep(left_s)


@dataclass(frozen=True, slots=True)
class _Tensor:
    """An input or output, as onnxruntime describes it."""

    name: str
    type: str
    shape: tuple[str | int, ...]


class _Binding:
    """The part of onnxruntime.IOBinding that `PackedNetwork` uses, for arrays on the CPU."""

    def __init__(self) -> None:
        self.inputs: dict[str, Any] = {}
        self.addresses: dict[str, tuple[int, tuple[int, ...]]] = {}

    def bind_ortvalue_input(self, name: str, value: Any) -> None:
        self.inputs[name] = value

    def bind_output(self, name: str, device: str, number: int, kind: Any, shape: Any, address: int) -> None:
        self.addresses[name] = address, tuple(shape)

    def arrays(self) -> dict[str, Array]:
        """Returns the memory of inputs and outputs as arrays."""
        packed = self.inputs[PACKED]
        found: dict[str, Array] = {
            name: _array_at(address, shape, np.float32) for name, (address, shape) in self.addresses.items()
        }
        found[PACKED] = _array_at(packed.data_ptr(), tuple(packed.shape()), np.uint8)
        return found


@cache
def _answers() -> tuple[Array, Array, npt.NDArray[np.uint32]]:
    """Returns logits and values of all answers, and what chooses among them."""
    rng = np.random.default_rng(1)
    logits = rng.normal(0.0, SHARPNESS, (ANSWERS, DLSHOGI_LABELS)).astype(np.float32)
    values = rng.uniform(0.3, 0.7, ANSWERS).astype(np.float32)
    return logits, values, rng.integers(1, 1 << 32, packed_layout(FORMAT).bytes // 4, dtype=np.uint32)


class _Handle:
    """The part of onnxruntime.InferenceSession that `NetworkEvaluator` and `PackedNetwork` use."""

    def __init__(self, device: SimulatedDevice) -> None:
        self._device = device
        self._logits, self._values, self._weights = _answers()
        self._arrays: dict[int, dict[str, Array]] = {}  # By the identity of the binding, which holds them.
        self._by_width: dict[int, Array] = {}

    def get_inputs(self) -> list[_Tensor]:
        element = f"tensor({self._device.element})"
        return [
            _Tensor("input1", element, ("batch", BOARD_PLANES, 9, 9)),
            _Tensor("input2", element, ("batch", HAND_PLANES, 9, 9)),
        ]

    def get_outputs(self) -> list[_Tensor]:
        return [
            _Tensor("output_policy", "tensor(float)", ("batch", DLSHOGI_LABELS)),
            _Tensor("output_value", "tensor(float)", ("batch", 1)),
        ]

    def run(self, names: Sequence[str], feed: Mapping[str, Array]) -> list[Array]:
        """Returns policy and value of each row of planes."""
        bits, _ = pack(FORMAT, [feed["input1"], feed["input2"]])
        rows = self.answers_of(bits)
        self._device.work(len(rows))
        return [self._logits[rows], self._values[rows, np.newaxis]]

    def io_binding(self) -> _Binding:
        return _Binding()

    def run_with_iobinding(self, binding: _Binding) -> None:
        """Answers the bits of a binding; the n-th label of a row gets the n-th logit of its answer."""
        if id(binding) not in self._arrays:
            self._arrays[id(binding)] = {**binding.arrays(), "keep": binding}  # type: ignore[dict-item]
        arrays = self._arrays[id(binding)]
        rows = self.answers_of(arrays[PACKED])
        self._device.work(len(rows))
        width = arrays[LOGITS].shape[1]
        if width not in self._by_width:
            self._by_width[width] = np.ascontiguousarray(self._logits[:, :width])
        np.take(self._by_width[width], rows, axis=0, out=arrays[LOGITS])
        np.take(self._values, rows, out=arrays[VALUE])

    def answers_of(self, packed: Array) -> npt.NDArray[np.int64]:
        """Returns which answer each position gets."""
        numbers = packed.view(np.uint32)
        keys = (numbers * self._weights).sum(axis=1, dtype=np.uint32)
        answers: npt.NDArray[np.int64] = (keys >> 8).astype(np.int64) % ANSWERS
        return answers


def _array_at(address: int, shape: tuple[int, ...], element: type[np.generic]) -> Array:
    """Returns memory as an array."""
    size = int(np.prod(shape)) * np.dtype(element).itemsize
    found: Array = np.ctypeslib.as_array((c_uint8 * size).from_address(address)).view(element).reshape(shape)
    return found
