"""The three ways to run a network: our own kernel, onnxruntime with planes, and onnxruntime with bits.

`opening.py` chooses one when a network is loaded.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array, ModelFormat
from goryu.evaluators.network.io_binding import IoBinding
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.onnx_model import OnnxModel
from goryu.evaluators.network.packed_input import pack
from goryu.evaluators.network.packed_network import PackedNetwork
from goryu.evaluators.network.providers import BackendError, call_onnxruntime

if TYPE_CHECKING:
    from goryu._native import WinogradNetwork

Answers = tuple[Array, npt.NDArray[np.float64]]
"""Logits [N, labels] and values [N] in [-1, +1]."""


class Runner(ABC):
    """A way to run a network.

    format: which planes the network reads, and how it numbers moves.
    element_types: of the planes; arrays of these types are not converted.
    backend: "Winograd", or one of onnxruntime such as "CUDA" or "CPU".
    library, settings: for the user, such as "ort=1.27.0" and "threads=2".
    """

    format: ModelFormat
    element_types: list[type[np.generic]]
    backend: str
    library: str
    settings: str

    @abstractmethod
    def run(self, inputs: Sequence[Array], count: int) -> Answers:
        """Returns logits and values of the first `count` rows of planes."""

    def bind(self, inputs: Sequence[Array]) -> IoBinding | None:
        """Returns a faster call, or None if there is none; see `NetworkEvaluator.bind`."""
        return None


class KernelRunner(Runner):
    """Our own kernel."""

    def __init__(self, kernel: "WinogradNetwork", model_format: ModelFormat) -> None:
        self.kernel = kernel
        self.format = model_format
        self.element_types = [spec.dtype for spec in model_format.inputs]
        self.backend = "Winograd"
        self.library = f"arithmetic={kernel.arithmetic} instructions={kernel.instructions}"
        self.settings = "threads=1"

    def run(self, inputs: Sequence[Array], count: int) -> Answers:
        return self.kernel.run([rows[:count] for rows in inputs])


class _OnnxRunner(Runner):
    """What onnxruntime does with planes and with bits. sizes: those that batches are padded to, ascending."""

    def __init__(self, model: OnnxModel, sizes: Sequence[int]) -> None:
        self.model = model
        self.sizes = sizes
        self.format = model.format
        self.element_types = model.element_types
        self.backend = model.backend
        self.library = f"ort={model.session.onnxruntime_version}"
        self.settings = f"threads={model.threads}" + (" precision=fp16" if model.content else "")

    def run(self, inputs: Sequence[Array], count: int) -> Answers:
        most = self.sizes[-1]
        parts = [
            self._run_part([rows[i:] for rows in inputs], min(most, count - i)) for i in range(0, count, most)
        ]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([logits for logits, _ in parts]), np.concatenate(
            [values for _, values in parts]
        )

    def _run_part(self, inputs: Sequence[Array], count: int) -> Answers:
        rows = [rows[:count] for rows in inputs]
        return self.format.interpret(self.answer(inputs, count), rows)

    @abstractmethod
    def answer(self, inputs: Sequence[Array], count: int | None = None) -> list[Array]:
        """Returns the model's outputs for the first `count` rows, or all, at most the largest size."""


class PlanesRunner(_OnnxRunner):
    """onnxruntime, given planes."""

    def __init__(self, model: OnnxModel, sizes: Sequence[int]) -> None:
        super().__init__(model, sizes)
        # DirectML runs one batch at a time.
        self.guard: AbstractContextManager[Any] = Lock() if self.backend == "DirectML" else nullcontext()
        self._answers: list[Array] = []  # Those of the last warm-up, for their shapes and types.
        self._handles: dict[int, Any] = {}  # By batch size, where each has its own session.

    def warm_up(self) -> None:
        """Runs every batch size once, so that the first move of a game is as fast as the others.

        The largest and the smallest come first: TensorRT compiles the network again, for minutes, whenever a
        size is outside the range that it has seen.

        Raises ModelError or BackendError if the model opens and does not run.
        """
        *smaller, largest = self.sizes
        for size in (largest, *smaller):
            try:
                inputs = [np.zeros((size, *spec.shape), spec.dtype) for spec in self.format.inputs]
                self._answers = self.answer(inputs)
                logits, values = self.format.interpret(self._answers, inputs)
                check_numbers(self.model.path, values)
                check_numbers(self.model.path, logits)
            except Exception as error:  # onnxruntime's errors have no other base class.
                raise self._unusable(size, error) from error
            if logits.shape != (size, self.format.labels) or values.shape != (size,):
                raise ModelError(
                    f"model {self.model.path}: expected policy [{size}, {self.format.labels}] and value "
                    f"[{size}, 1], found {list(logits.shape)} and {list(values.shape)}"
                )

    def answer(self, inputs: Sequence[Array], count: int | None = None) -> list[Array]:
        count = len(inputs[0]) if count is None else count
        size = next(size for size in self.sizes if size >= count)
        feed = self.model.feed(inputs, size)
        handle = self.handle(size)
        with self.guard:
            outputs = call_onnxruntime(handle.run, list(self.format.outputs), feed)
        return [np.asarray(output)[:count] for output in outputs]

    def handle(self, size: int) -> Any:
        """Returns the session for batches of this size.

        With CUDA and DirectML each size has its own, opened in the warm-up. Since onnxruntime 1.20 a
        convolution on CUDA keeps the plan of the last shape only (`UpdateState` in its cuda/nn/conv.cc), and
        making another takes many times as long as the batch. DirectML optimises a network for the shapes that
        are known when the session is opened ("Performance Tuning" in its documentation), as OpenVINO does.
        """
        if not self.model.has_session_per_size:
            return self.model.session.handle
        if size not in self._handles:
            axes = {node.shape[0]: size for node in self.model.session.handle.get_inputs()}
            named = {name: length for name, length in axes.items() if isinstance(name, str)}
            self._handles[size] = self.model.open(named).handle
        return self._handles[size]

    def bind(self, inputs: Sequence[Array]) -> IoBinding | None:
        if self.backend != "CPU" or self.model.fixed is not None:
            return None
        if [rows.dtype.type for rows in inputs] != self.element_types:
            return None
        names = (spec.name for spec in self.format.inputs)
        answers = [np.empty((len(inputs[0]), *rows.shape[1:]), rows.dtype) for rows in self._answers]
        return IoBinding(
            self.model.session.handle,
            dict(zip(names, inputs, strict=True)),
            dict(zip(self.format.outputs, answers, strict=True)),
        )

    def _unusable(self, size: int, error: Exception) -> ModelError | BackendError:
        """Returns the error of a model that opens and does not run.

        On a GPU that is the backend's: too little memory, a missing library, an unsupported device.
        """
        path = self.model.path
        if self.backend == "CPU":
            return ModelError(f"model {path}: cannot be run on {size} positions ({error})")
        return BackendError(f"{self.backend} cannot run {path.name} on {size} positions ({error})")


class PackedRunner(_OnnxRunner):
    """onnxruntime, given bits."""

    def __init__(self, model: OnnxModel, packed: PackedNetwork) -> None:
        # The session that reads planes is done with: it would hold memory of the GPU.
        super().__init__(replace(model, session=replace(model.session, handle=packed.handle)), packed.sizes)
        self.packed = packed
        self.settings += f" streams={packed.streams} input=packed"

    def answer(self, inputs: Sequence[Array], count: int | None = None) -> list[Array]:
        rows = [rows[:count] for rows in inputs]
        return list(self.packed.answer(*pack(self.format, rows)))


def check_numbers(path: Path, answers: npt.ArrayLike) -> None:
    """Raises ModelError if a number that a model answered is not finite."""
    if not np.isfinite(answers).all():
        raise ModelError(f"model {path}: an output is not a number; if the model computes in 16 bits, try 32")
