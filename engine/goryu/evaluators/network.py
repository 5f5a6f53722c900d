"""The network evaluator: positions to planes, one call of onnxruntime, answers to policies and values.

Networks like batches, and onnxruntime likes few different batch sizes (each new one is planned, on a GPU
tuned for seconds): a batch is padded to the next size of a small ladder, and every size is tried once when
the model is loaded.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array, ModelFormat
from goryu.evaluators.formats.detect import Shape, detect_format
from goryu.evaluators.io_binding import IoBinding
from goryu.evaluators.model_files import ModelError
from goryu.evaluators.providers import Session, open_session
from goryu.evaluators.shogi_state import ShogiState
from goryu.evaluators.softmax import softmax
from goryu.games.state import State
from goryu.search.evaluator import Evaluation

__all__ = ["NetworkEvaluator"]

_ELEMENT_TYPES: dict[str, type[np.generic]] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(uint8)": np.uint8,
}
"""NumPy's name for the element types that a model may want its planes in."""


_CPU_BATCH = 4
_GPU_BATCH = 128
"""What keeps the device busy: a CPU gains nothing from more, a GPU judges many in the time of a few."""

_SMALL_BATCH = 16
"""Up to so many rows, a processor is shown a batch as it is."""


class NetworkEvaluator:
    """Judges shogi positions with a policy-value network in an ONNX file.

    format: how positions and moves are shown to the network.
    notes: why the backend is not the one asked for, what is wrong with the installation; one line each.
    batch_size: most positions of one network call; `evaluate` and `run` take more and call several times.
    temperature: of the policy's Boltzmann softmax; 1 leaves the network's policy as it is.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        batch_size: int | None = None,
        backend: str = "auto",
        threads: int = 1,
        device: int = 0,
        allows_fallback: bool = True,
        temperature: float = 1.0,
    ) -> None:
        """Loads the model and runs it once on every batch size.

        batch_size: None for what the model takes, or else 4 on a CPU and 128 on a GPU.
        backend: "auto", "tensorrt", "cuda", "directml" or "cpu"; device: number of the GPU.
        threads: CPU threads for one network call.

        Raises:
            ModelError: the file is missing, broken, or not of a known format.
            BackendError: the backend cannot be used, and `allows_fallback` is false.
        """
        assert batch_size is None or batch_size >= 1
        assert temperature > 0.0
        self.path = Path(path)
        self.temperature = temperature
        self._threads = threads
        self._device = device
        self._lock = Lock()
        self._session: Session = open_session(
            self.path, backend, threads=threads, device=device, allows_fallback=allows_fallback
        )
        self.notes: tuple[str, ...] = self._session.notes
        handle = self._session.handle
        inputs, outputs = handle.get_inputs(), handle.get_outputs()
        self.format: ModelFormat = detect_format(self.path, _shapes(inputs), _shapes(outputs))
        file_types = {node.name: node.type for node in inputs}
        self._file_types = [_element_type(self.path, file_types[spec.name]) for spec in self.format.inputs]
        fixed = _shapes(inputs)[self.format.inputs[0].name][0]
        self._is_fixed = fixed is not None
        self._answers: list[Array] = []  # Those of the last warm-up, for their shapes and types.
        self._handles: dict[int, Any] = {}  # By the size of a batch, where each has a session of its own.
        self._plan_batches(batch_size, fixed)
        self._sha = sha256(self.path.read_bytes()).hexdigest()
        while True:
            try:
                self._warm_up()
                break
            except ModelError as error:
                # A GPU may open a model and fail to run it: no memory, a library missing, TensorRT too new.
                if self.backend == "CPU" or not allows_fallback:
                    raise
                self.notes += (f"{self.backend} cannot be used: {error}",)
                weaker = "cuda" if self.backend == "TensorRT" else "cpu"
                self._handles.clear()  # Frees the memory of the GPU.
                self._session = open_session(self.path, weaker, threads=threads, device=device)
                self.notes += tuple(note for note in self._session.notes if note not in self.notes)
                self._plan_batches(batch_size, fixed)

    @property
    def backend(self) -> str:
        """What the network runs on: "TensorRT", "CUDA", "DirectML" or "CPU"."""
        return self._session.backend

    @property
    def description(self) -> str:
        """One line for people: backend, library, model, format, sizes."""
        return (
            f"backend={self.backend} ort={self._session.onnxruntime_version} model={self.path.name} "
            f"sha={self._sha[:8]} format={self.format.name.replace(' ', '-')} "
            f"batch={self.batch_size} threads={self._threads}"
        )

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per shogi state, in order; no state is over."""
        if not states:
            return []
        inputs = self.new_inputs(len(states))
        for i, state in enumerate(states):
            self.format.fill(cast(ShogiState, state), [rows[i] for rows in inputs])
        logits, values = self.run(inputs)
        return [
            Evaluation(self._policy(state, row), value)
            for state, row, value in zip(states, logits, values.tolist(), strict=True)
        ]

    def new_inputs(self, count: int) -> list[Array]:
        """Returns zeroed input arrays for `count` positions, first axis the position."""
        return [np.zeros((count, *spec.shape), spec.dtype) for spec in self.format.inputs]

    def run(self, inputs: Sequence[Array]) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns logits [N, labels] and values [N] in [-1, +1] of N >= 1 positions given as planes.

        The inputs, one array [N, ...] for each of `format.inputs`, are only read. May be called
        from several threads at once. Raises ModelError if a value is not a number.
        """
        count, most = len(inputs[0]), self._ladder[-1]
        parts = [self._run_padded([rows[i : i + most] for rows in inputs]) for i in range(0, count, most)]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([logits for logits, _ in parts]), np.concatenate(
            [values for _, values in parts]
        )

    def bind(self, inputs: Sequence[Array]) -> IoBinding | None:
        """Returns a faster call for one thread that has its planes in `inputs`, or None if there is none.

        What it answers is what the model file says: `format.interpret` has still to read it, and `check` the
        values. There is one on the CPU, for models that take `inputs` as they are and any number of rows.
        """
        takes_them = not self._is_fixed and [rows.dtype.type for rows in inputs] == self._file_types
        if self.backend != "CPU" or not takes_them:
            return None
        names = (spec.name for spec in self.format.inputs)
        answers = [np.empty((len(inputs[0]), *rows.shape[1:]), rows.dtype) for rows in self._answers]
        return IoBinding(
            self._session.handle,
            dict(zip(names, inputs, strict=True)),
            dict(zip(self.format.outputs, answers, strict=True)),
        )

    def check(self, answers: npt.ArrayLike) -> None:
        """Raises ModelError if a value or logit is not a number: a search would go on, and play anything."""
        if not np.isfinite(answers).all():
            raise ModelError(f"model {self.path}: an answer is not a number; 16 bits may be too few for it")

    def _run_padded(self, inputs: Sequence[Array]) -> tuple[Array, npt.NDArray[np.float64]]:
        return self._interpret(self._answer(inputs))

    def _interpret(self, answers: Sequence[Array]) -> tuple[Array, npt.NDArray[np.float64]]:
        logits, values = self.format.interpret(answers)
        self.check(values)
        return logits, values

    def _answer(self, inputs: Sequence[Array]) -> list[Array]:
        """Returns what the model says, padded on the way to one of the sizes of the ladder."""
        count = len(inputs[0])
        size = next(size for size in self._ladder if size >= count)
        feed = {
            spec.name: _padded(rows, size).astype(file_type, copy=False)
            for spec, rows, file_type in zip(self.format.inputs, inputs, self._file_types, strict=True)
        }
        with self._lock if self.backend == "DirectML" else nullcontext():  # it runs one batch at a time
            outputs = self._handle(size).run(list(self.format.outputs), feed)
        return [np.asarray(output)[:count] for output in outputs]

    def _handle(self, size: int) -> Any:
        """Returns the session that batches of this size go to.

        With CUDA and DirectML each has its own, opened when the sizes are tried. Since onnxruntime 1.20 a
        convolution of CUDA keeps the plan of the last shape only (`UpdateState` in its cuda/nn/conv.cc), and
        making another takes many times as long as the batch. DirectML prepares a network for the shapes that
        it knows when the session is opened ("Performance Tuning" in its documentation).
        """
        if self._is_fixed or self.backend not in ("CUDA", "DirectML"):
            return self._session.handle
        if size not in self._handles:
            axes = {node.shape[0]: size for node in self._session.handle.get_inputs()}
            self._handles[size] = open_session(
                self.path,
                self.backend.lower(),
                threads=self._threads,
                device=self._device,
                allows_fallback=False,
                axes={name: length for name, length in axes.items() if isinstance(name, str)},
            ).handle
        return self._handles[size]

    def _policy(self, state: State, logits: Array) -> list[float]:
        turn = state.turn
        labels = [self.format.label(move, turn) for move in state.legal_moves()]
        legal = logits[labels]
        self.check(legal)
        return softmax(legal.tolist(), self.temperature)

    def _plan_batches(self, wanted: int | None, fixed: int | None) -> None:
        """Sets the size of a batch, and those that smaller ones are padded to, for the backend in use.

        fixed: the only size that the model takes, if there is but one.
        """
        on_cpu = self.backend == "CPU"
        self.batch_size = wanted or fixed or (_CPU_BATCH if on_cpu else _GPU_BATCH)
        self._ladder = [fixed] if fixed else _ladder(self.batch_size, step_by_one=on_cpu)

    def _warm_up(self) -> None:
        """Runs every size of the ladder, so that the first move of a game is as fast as the others.

        The largest and the smallest come first: TensorRT compiles the network anew, for minutes, whenever a
        size lies outside the range that it has seen.
        """
        *smaller, largest = self._ladder
        for size in (largest, *smaller):
            try:
                self._answers = self._answer(self.new_inputs(size))
                logits, values = self._interpret(self._answers)
            except Exception as error:  # onnxruntime's errors have no other base class
                raise ModelError(f"model {self.path}: cannot be run on {size} positions ({error})") from error
            if logits.shape != (size, self.format.labels) or values.shape != (size,):
                raise ModelError(
                    f"model {self.path}: expected policy [{size}, {self.format.labels}] and value "
                    f"[{size}, 1], found {list(logits.shape)} and {list(values.shape)}"
                )


def _ladder(batch_size: int, *, step_by_one: bool) -> list[int]:
    """Returns the sizes that a batch is padded to: powers of two below `batch_size`, and itself.

    step_by_one: and all small sizes. A CPU plans nothing, and there a row of padding costs like another.

    >>> _ladder(6, step_by_one=False)
    [1, 2, 4, 6]
    """
    powers = [1 << i for i in range((batch_size - 1).bit_length())]
    small = range(1, min(batch_size, _SMALL_BATCH)) if step_by_one else ()
    return sorted({*powers, *small, batch_size})


def _padded(rows: Array, size: int) -> Array:
    """Returns `size` rows, zeros after the given ones."""
    if len(rows) == size:
        return rows
    return np.concatenate([rows, np.zeros((size - len(rows), *rows.shape[1:]), rows.dtype)])


def _shapes(tensors: Sequence[Any]) -> dict[str, Shape]:
    """Returns the shapes of onnxruntime's NodeArgs by name; free axes, which have names there, as None."""
    return {node.name: tuple(n if isinstance(n, int) else None for n in node.shape) for node in tensors}


def _element_type(path: Path, name: str) -> type[np.generic]:
    if name not in _ELEMENT_TYPES:
        raise ModelError(f"model {path}: expected planes of type {', '.join(_ELEMENT_TYPES)}, found {name}")
    return _ELEMENT_TYPES[name]
