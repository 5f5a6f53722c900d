"""A simulated GPU: it shows on any machine whether the search keeps a fast device busy and its batches full.

A call takes a fixed time and some more for each position, while the caller sleeps; calls wait for each other,
as on one device. Answers are pseudo-random and cheap, but depend on the position: the same planes get the
same answer, and the policy is about as sharp as that of a trained network. It cannot show the speed of a real
network and of transfers between host and device, or how far the two overlap.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from goryu.evaluators import network
from goryu.evaluators.formats.base import Array
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS
from goryu.evaluators.formats.dlshogi_planes import BOARD_PLANES, HAND_PLANES
from goryu.evaluators.model_files import models_folder
from goryu.evaluators.network import NetworkEvaluator
from goryu.evaluators.providers import Session

ANSWERS = 1024
"""Different answers; positions share them."""

SHARPNESS = 2.0
"""Standard deviation of the logits: the favourite of 40 moves has a prior of about a quarter."""


@dataclass(slots=True)
class SimulatedDevice:
    """A device that evaluates one batch at a time.

    call_s, row_s: time of a call, and of each of its rows (padding included); the defaults resemble a network
        of 10 blocks with 192 channels on a data centre's GPU.
    element: the element type of the network's inputs, "float" or "float16".
    calls, positions, rows: of all calls so far; positions are the rows without padding. busy_s: their time.
    """

    call_s: float = 0.35e-3
    row_s: float = 4e-6
    element: str = "float"
    calls: int = 0
    rows: int = 0
    positions: int = 0
    busy_s: float = 0.0
    _lock: Any = field(default_factory=Lock)

    def network(self, batch_size: int) -> NetworkEvaluator:
        """Returns an evaluator of the dlshogi format that runs on this device, as on a GPU with CUDA."""
        session = Session(_Handle(self), "CUDA", "simulated")
        with patch.object(network, "open_session", lambda *args, **options: session):
            found = NetworkEvaluator(
                models_folder() / "goryu-5x64.onnx", batch_size=batch_size, backend="cuda"
            )
        vars(found)["_handle"] = lambda size: session.handle
        run = found.run

        def counted_run(inputs: Sequence[Array], count: int | None = None) -> Any:
            with self._lock:
                self.positions += len(inputs[0]) if count is None else count
            return run(inputs, count)

        vars(found)["run"] = counted_run
        self.reset()  # The calls so far were the warm-up.
        return found

    def reset(self) -> None:
        """Forgets the calls so far."""
        self.calls = self.rows = self.positions = 0
        self.busy_s = 0.0

    @property
    def mean_batch(self) -> float:
        """Positions per call."""
        return self.positions / max(1, self.calls)

    def work(self, rows: int) -> None:
        """Takes the time of a call."""
        seconds = self.call_s + self.row_s * rows
        with self._lock:
            time.sleep(seconds)
            self.calls += 1
            self.rows += rows
            self.busy_s += seconds


@dataclass(frozen=True, slots=True)
class _Tensor:
    """An input or output, as onnxruntime describes it."""

    name: str
    type: str
    shape: tuple[str | int, ...]


class _Handle:
    """The part of onnxruntime.InferenceSession that `NetworkEvaluator` uses."""

    def __init__(self, device: SimulatedDevice) -> None:
        rng = np.random.default_rng(1)
        self._device = device
        self._logits = rng.normal(0.0, SHARPNESS, (ANSWERS, DLSHOGI_LABELS)).astype(np.float32)
        self._values = rng.uniform(0.3, 0.7, (ANSWERS, 1)).astype(np.float32)
        self._weights = rng.integers(1, 1 << 16, BOARD_PLANES * 81).astype(np.float32)

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

    def run(self, names: Sequence[str], feed: dict[str, Array]) -> list[Array]:
        """Returns policy and value of each row."""
        keys = self.keys(feed["input1"])
        self._device.work(len(keys))
        rows = keys % ANSWERS
        return [self._logits[rows], self._values[rows]]

    def keys(self, board_planes: Array) -> npt.NDArray[np.int64]:
        """Returns a number for each position: an exact sum, as all sums are below 2^24."""
        planes = board_planes.reshape(len(board_planes), -1)
        if planes.dtype == np.float16:  # NumPy is slow with halves; these are 0 and 1.
            planes = planes.view(np.uint16) >> 13
        return (planes.astype(np.float32, copy=False) @ self._weights).astype(np.int64)
