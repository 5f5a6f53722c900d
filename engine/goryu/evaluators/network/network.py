"""The network evaluator: it turns positions into planes, and a network's outputs into policies and values.

On a CPU our own kernel runs the networks that it knows (`kernel.py`), and onnxruntime the others. On a GPU it
is always onnxruntime, and positions travel as bits (`packed_input.py`, `packed_network.py`).

Networks are fastest on batches, but onnxruntime plans every new batch size separately, which takes seconds on
a GPU. So a batch is padded to the next of a few sizes, and each of them is run once when the model is loaded.

GPUs compute faster in 16-bit floats. A model in 32 bits is converted when it is loaded, and stays converted
if it answers nearly as before (`half_check.py`).
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from goryu.base.errors import first_line
from goryu.evaluators.formats.base import Array, ModelFormat
from goryu.evaluators.formats.detect import AUTO, detect_format, tensor_shapes, wanted_format
from goryu.evaluators.formats.dlshogi import DlshogiFormat
from goryu.evaluators.formats.dlshogi_planes import HAND_PLANES
from goryu.evaluators.formats.external_data import read_model
from goryu.evaluators.formats.miniosl import MinioslFormat
from goryu.evaluators.formats.nshogi import NshogiFormat
from goryu.evaluators.formats.onnx_edit import halved
from goryu.evaluators.formats.value_scale import value_scale
from goryu.evaluators.kernel.kernel import best_batch, open_kernel
from goryu.evaluators.kernel.residual_graph import UnsupportedError
from goryu.evaluators.network.half_check import check_halves
from goryu.evaluators.network.io_binding import IoBinding
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.packed_input import pack, packed_model
from goryu.evaluators.network.packed_network import PackedNetwork
from goryu.evaluators.network.packing_check import check_packing
from goryu.evaluators.network.providers import (
    GPU_BACKENDS,
    BackendError,
    Session,
    check_file,
    open_session,
)
from goryu.evaluators.shogi_state import ShogiState
from goryu.evaluators.softmax import softmax
from goryu.games.shogi import Board
from goryu.games.state import State
from goryu.search.evaluator import Evaluation

if TYPE_CHECKING:
    from goryu._native import WinogradNetwork

_ELEMENT_TYPES: dict[str, type[np.generic]] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(uint8)": np.uint8,
}
"""NumPy's type for each element type that a model's inputs may have."""

_CPU_BATCH = 4
_GPU_BATCH = 128
"""Default batch sizes: a CPU gains nothing from more; a GPU evaluates many positions in the time of a few."""

_SMALL_BATCH = 16
"""Smaller batches are not padded on a CPU."""

_SESSION_PER_SIZE = ("CUDA", "DirectML", "CoreML", "OpenVINO-GPU", "OpenVINO")
"""Backends that have a session for each batch size; see `NetworkEvaluator._handle`."""

_HALVED = ("CUDA", "DirectML")
"""Backends for which a model is converted to 16 bits; the other GPU backends do so themselves."""

BUFFER_DEVICES = {"CPU": "cpu", "CUDA": "cuda", "TensorRT": "cuda"}
"""onnxruntime's names of the devices that have our buffers, by backend."""


class NetworkEvaluator:
    """Evaluates shogi positions with a policy-value network in an ONNX file.

    kernel: our own kernel, if it runs the network.
    packed: the network that reads positions as bits, if they travel so.
    format: which planes the network reads, and how it numbers moves.
    batch_size: most positions of one network call; `evaluate` and `run` take more and call several times.
    temperature: of the policy's Boltzmann softmax; 1 leaves the network's policy as it is.
    sha256: of the model file, in hexadecimal.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        batch_size: int | None = None,
        backend: str = "cpu",
        threads: int = 1,
        device: int = 0,
        temperature: float = 1.0,
        model_format: str = AUTO,
        packs: bool | None = None,
        streams: int = 1,
        halves: bool | None = None,
        opens: Callable[..., Session] | None = None,
    ) -> None:
        """Loads the model and runs it once on every batch size.

        batch_size: None for the model's own fixed size, or else what suits the backend: 128 on a GPU; 4 on a
            CPU, but 1 where our own kernel keeps the weights in the caches.
        backend: one of `providers.BACKENDS` but "auto"; device: number of the GPU.
        threads: CPU threads for one network call by onnxruntime.
        model_format: one of `detect.FORMAT_NAMES`; "auto" recognises it by the file.
        packs: do positions travel as bits? None: on a GPU.
        streams: how many batches of bits a device works on at once; best one for each searching thread.
        halves: compute in 16 bits? Our own kernel never does. None: with CUDA and DirectML, if the model
            answers nearly as before.
        opens: opens the sessions instead of `open_session`, such as those of a simulated device.

        Raises:
            ModelError: the file is missing, broken, or not of a known format.
            BackendError: the backend cannot be used, or cannot run this model as requested.
        """
        assert batch_size is None or batch_size >= 1
        assert temperature > 0.0
        self.path = Path(path)
        self.temperature = temperature
        self._threads = threads
        self._device = device
        self._opens = opens or open_session
        self._lock = Lock()
        self._content: bytes | None = None  # Of a model that is not what the file has.
        self._why_floats = ""
        self.kernel, self._why_onnxruntime = _open_kernel(self.path, backend)
        self._session: Session | None = None
        fixed = None
        if self.kernel:
            self.format = _format_of_kernel(self.path, self.kernel, model_format)
        else:
            name = "cpu" if backend == "onnxruntime" else backend
            self._session = self._opens(self.path, name, threads=threads, device=device)
            self.format, self._file_types, fixed = self._read_tensors(self._session, model_format)
            if (self.backend in _HALVED if halves is None else halves) and np.float32 in self._file_types:
                self._halve(self._session, fixed, is_requested=halves is True)
        self._is_fixed = fixed is not None
        on_cpu = self.backend not in GPU_BACKENDS
        if self.kernel and batch_size is None:
            batch_size = best_batch(self.kernel)
        self.batch_size = batch_size or fixed or (_CPU_BATCH if on_cpu else _GPU_BATCH)
        self._batch_sizes = (
            [fixed]
            if fixed
            else _batch_sizes(self.batch_size, step_by_one=self.backend in ("CPU", "Winograd"))
        )
        self._answers: list[Array] = []  # Those of the last warm-up, for their shapes and types.
        self._handles: dict[int, Any] = {}  # By batch size, where each has its own session.
        self.packed: PackedNetwork | None = None
        self._why_planes = ""
        if self._session and (not on_cpu if packs is None else packs):
            self._pack(self._session, streams)
        if not self.packed:
            self._warm_up()
        self.evaluate([Board()])  # Finds logits of legal moves that are no numbers.
        self.sha256 = sha256(read_model(self.path)).hexdigest()

    def _read_tensors(
        self, session: Session, model_format: str
    ) -> tuple[ModelFormat, list[type[np.generic]], int | None]:
        """Returns the format, the element type of each input in the file, and the batch size if fixed."""
        nodes = session.handle.get_inputs()
        inputs = tensor_shapes(self.path, nodes)
        outputs = tensor_shapes(self.path, session.handle.get_outputs())
        found = detect_format(self.path, inputs, outputs, model_format)
        types = {node.name: node.type for node in nodes}
        file_types = [_element_type(self.path, types[spec.name]) for spec in found.inputs]
        return found, file_types, inputs[found.inputs[0].name][0]

    @property
    def backend(self) -> str:
        """The backend in use: "Winograd", or one of onnxruntime such as "CUDA" or "CPU"."""
        return self._session.backend if self._session else "Winograd"

    @property
    def description(self) -> str:
        """One line for the user: backend, library, model, format, sizes."""
        if self.kernel:
            arithmetic = "int16" if self.kernel.is_integer else "float32"
            library = f"arithmetic={arithmetic} instructions={self.kernel.instructions}"
        else:
            assert self._session
            library = f"ort={self._session.onnxruntime_version}"
        return (
            f"backend={self.backend} {library} model={self.path.name} "
            f"sha={self.sha256[:8]} format={self.format.name.replace(' ', '-')} "
            f"batch={self.batch_size} threads={1 if self.kernel else self._threads}"
            + (" precision=fp16" if self._content else "")
            + (f" streams={self.packed.streams} input=packed" if self.packed else "")
        )

    @property
    def note(self) -> str:
        """Why the network does not run in the fastest way that its backend has; "" if it does."""
        reasons = []
        if self._why_floats:
            reasons.append(f"{self.path.name} computes in 32 bits, not in 16: {self._why_floats}")
        if self._why_planes:
            reasons.append(f"{self.path.name} receives positions as planes, not as bits: {self._why_planes}")
        if reasons:
            return "; ".join(reasons)
        if self._why_onnxruntime:
            return f"{self.path.name} is run by onnxruntime, not by Winograd: {self._why_onnxruntime}"
        return ""

    def set_draw_value(self, value: float) -> None:
        """Sets the value of a draw to black, in [-1, +1]; only nshogi's networks have an input for it."""
        if isinstance(self.format, NshogiFormat):
            self.format.draw_value = value

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

    def new_file_inputs(self, count: int) -> list[Array]:
        """Returns the same in the model's own element types, which `run` need not convert."""
        types = self._file_types
        return [
            np.zeros((count, *spec.shape), element)
            for spec, element in zip(self.format.inputs, types, strict=True)
        ]

    def run(self, inputs: Sequence[Array], count: int | None = None) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns logits [N, labels] and values [N] in [-1, +1] of N >= 1 positions, given their planes.

        The inputs, one array [N, ...] for each of `format.inputs`, are only read. May be called
        from several threads at once. Raises ModelError if a value is not a number.

        count: N, if the arrays have more rows. They then serve as padding, and nothing is copied.
        """
        count = len(inputs[0]) if count is None else count
        if self.kernel:
            logits, values = self.kernel.run([rows[:count] for rows in inputs])
            self.check(values)
            return logits, values
        most = self._batch_sizes[-1]
        parts = [
            self._run_part([rows[i:] for rows in inputs], min(most, count - i)) for i in range(0, count, most)
        ]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([logits for logits, _ in parts]), np.concatenate(
            [values for _, values in parts]
        )

    def bind(self, inputs: Sequence[Array]) -> IoBinding | None:
        """Returns a faster call for one thread that writes its planes to `inputs`, or None if there is none.

        Its outputs are the model's: the caller passes them to `format.interpret`, and the values to `check`.
        There is one on the CPU, for models with a free batch axis and the element types of `inputs`.
        """
        if not self._session or self.backend != "CPU" or self._is_fixed:
            return None
        if [rows.dtype.type for rows in inputs] != self._file_types:
            return None
        names = (spec.name for spec in self.format.inputs)
        answers = [np.empty((len(inputs[0]), *rows.shape[1:]), rows.dtype) for rows in self._answers]
        return IoBinding(
            self._session.handle,
            dict(zip(names, inputs, strict=True)),
            dict(zip(self.format.outputs, answers, strict=True)),
        )

    def check(self, answers: npt.ArrayLike) -> None:
        """Raises ModelError if a value or logit is not finite: a search would go on and play any move."""
        if not np.isfinite(answers).all():
            raise ModelError(
                f"model {self.path}: an output is not a number; if the model computes in 16 bits, try 32"
            )

    def _run_part(self, inputs: Sequence[Array], count: int) -> tuple[Array, npt.NDArray[np.float64]]:
        return self._interpret(self._answer(inputs, count), [rows[:count] for rows in inputs])

    def _interpret(
        self, answers: Sequence[Array], inputs: Sequence[Array]
    ) -> tuple[Array, npt.NDArray[np.float64]]:
        logits, values = self.format.interpret(answers, inputs)
        self.check(values)
        return logits, values

    def _answer(self, inputs: Sequence[Array], count: int | None = None) -> list[Array]:
        """Returns the model's outputs for the first `count` rows, or all of them, at most `batch_size`."""
        count = len(inputs[0]) if count is None else count
        if self.packed:
            return list(self.packed.answer(*pack(self.format, [rows[:count] for rows in inputs])))
        size = next(size for size in self._batch_sizes if size >= count)
        feed = {
            spec.name: _padded(rows, size).astype(file_type, copy=False)
            for spec, rows, file_type in zip(self.format.inputs, inputs, self._file_types, strict=True)
        }
        # DirectML runs one batch at a time.
        with self._lock if self.backend == "DirectML" else nullcontext():
            outputs = self._handle(size).run(list(self.format.outputs), feed)
        return [np.asarray(output)[:count] for output in outputs]

    def _handle(self, size: int) -> Any:
        """Returns the session for batches of this size.

        With CUDA and DirectML each size has its own, opened in the warm-up. Since onnxruntime 1.20 a
        convolution on CUDA keeps the plan of the last shape only (`UpdateState` in its cuda/nn/conv.cc), and
        making another takes many times as long as the batch. DirectML optimises a network for the shapes that
        are known when the session is opened ("Performance Tuning" in its documentation), as OpenVINO does.
        """
        assert self._session
        if self._is_fixed or self.backend not in _SESSION_PER_SIZE:
            return self._session.handle
        if size not in self._handles:
            axes = {node.shape[0]: size for node in self._session.handle.get_inputs()}
            self._handles[size] = self._opens(
                self.path,
                self.backend.lower(),
                threads=self._threads,
                device=self._device,
                axes={name: length for name, length in axes.items() if isinstance(name, str)},
                content=self._content,
            ).handle
        return self._handles[size]

    def _halve(self, session: Session, fixed: int | None, *, is_requested: bool) -> None:
        """Computes in 16 bits from now on, if the model can be converted and answers nearly as before."""
        try:
            content = halved(read_model(self.path))
            backend, threads = session.backend.lower(), self._threads
            other = self._opens(self.path, backend, threads=threads, device=self._device, content=content)
            halves = [np.float16 if element is np.float32 else element for element in self._file_types]
            check_halves(
                self.format,
                lambda planes: self._in_parts(session.handle, planes, self._file_types, fixed),
                lambda planes: self._in_parts(other.handle, planes, halves, fixed),
            )
        except Exception as error:  # onnxruntime's errors have no other base class.
            reason = first_line(error)
            if is_requested:
                raise BackendError(
                    f"{session.backend} cannot run {self.path.name} in 16 bits: {reason}"
                ) from error
            self._why_floats = reason
            return
        self._content, self._session, self._file_types = content, other, halves

    def _in_parts(
        self, handle: Any, planes: Sequence[Array], elements: Sequence[type[np.generic]], fixed: int | None
    ) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns a session's logits and values for planes. fixed: the size of its batches, if it has one."""
        count = len(planes[0])
        size = fixed or count
        parts = []
        for first in range(0, count, size):
            feed = {
                spec.name: _padded(rows[first:], size).astype(element)
                for spec, rows, element in zip(self.format.inputs, planes, elements, strict=True)
            }
            parts.append(handle.run(list(self.format.outputs), feed))
        outputs = [np.concatenate(arrays)[:count] for arrays in zip(*parts, strict=True)]
        return self.format.interpret(outputs, planes)

    def _pack(self, session: Session, streams: int) -> None:
        """Opens the model that reads bits, if it can be made and answers as the one that reads planes."""
        axis = session.handle.get_inputs()[0].shape[0]
        batch = axis if isinstance(axis, int) else axis or "goryu_batch"
        try:
            model = self._content or read_model(self.path)
            content = packed_model(model, self.format, batch, self._file_types[0])
            packed = PackedNetwork(
                lambda size: self._open_packed(content, batch, size),
                self.format,
                sizes=self._batch_sizes,
                device=session.buffer_device or BUFFER_DEVICES.get(self.backend),
                device_id=self._device,
                streams=streams,
                session_per_size=not self._is_fixed and self.backend in _SESSION_PER_SIZE,
                one_at_a_time=self._lock if self.backend == "DirectML" else None,
            )
            check_packing(self.format, packed, self._answer, is_precise=self._is_precise())
            packed.warm_up()
        except Exception as error:  # onnxruntime's errors have no other base class.
            self._why_planes = first_line(error)
            return
        self.packed = packed
        self._session = replace(session, handle=packed.handle)
        self._handles.clear()  # The other sessions are done with; they hold memory of the GPU.

    def _is_precise(self) -> bool:
        """Does the network compute in 32 bits?"""
        return self.backend == "CPU" and np.float16 not in self._file_types

    def _open_packed(self, content: bytes, batch: str | int, size: int) -> Any:
        assert self._session
        axes = {batch: size} if isinstance(batch, str) and self.backend in _SESSION_PER_SIZE else None
        return self._opens(
            self.path,
            self.backend.lower(),
            threads=self._threads,
            device=self._device,
            axes=axes,
            content=content,
        ).handle

    def _policy(self, state: State, logits: Array) -> list[float]:
        turn = state.turn
        labels = [self.format.label(move, turn) for move in state.legal_moves()]
        legal = logits[labels]
        self.check(legal)
        return softmax(legal.tolist(), self.temperature)

    def _warm_up(self) -> None:
        """Runs every batch size once, so that the first move of a game is as fast as the others.

        The largest and the smallest come first: TensorRT compiles the network again, for minutes, whenever a
        size is outside the range that it has seen.
        """
        if self.kernel:
            self.run(self.new_inputs(1))
            return
        *smaller, largest = self._batch_sizes
        for size in (largest, *smaller):
            try:
                inputs = self.new_inputs(size)
                self._answers = self._answer(inputs)
                logits, values = self._interpret(self._answers, inputs)
            except Exception as error:  # onnxruntime's errors have no other base class.
                raise self._unusable(size, error) from error
            if logits.shape != (size, self.format.labels) or values.shape != (size,):
                raise ModelError(
                    f"model {self.path}: expected policy [{size}, {self.format.labels}] and value "
                    f"[{size}, 1], found {list(logits.shape)} and {list(values.shape)}"
                )

    def _unusable(self, size: int, error: Exception) -> ModelError | BackendError:
        """Returns the error of a model that opens and does not run.

        On a GPU that is the backend's: too little memory, a missing library, an unsupported device.
        """
        if self.backend == "CPU":
            return ModelError(f"model {self.path}: cannot be run on {size} positions ({error})")
        return BackendError(f"{self.backend} cannot run {self.path.name} on {size} positions ({error})")


def _open_kernel(path: Path, backend: str) -> "tuple[WinogradNetwork | None, str]":
    """Returns our own kernel with the network if the backend allows it, or None and the reason, "" for none.

    Raises ModelError if the file is missing, and BackendError if the kernel is requested and cannot be used.
    """
    if backend not in ("cpu", "winograd", "winograd-float"):
        return None, ""
    check_file(path)
    try:
        return open_kernel(path, is_integer=backend != "winograd-float"), ""
    except (UnsupportedError, ModelError) as error:
        if backend != "cpu":
            raise BackendError(f"Winograd cannot run {path.name}: {error}") from error
        return None, str(error)


def _format_of_kernel(path: Path, kernel: "WinogradNetwork", model_format: str) -> ModelFormat:
    planes = kernel.planes
    found = "miniosl" if len(planes) == 1 else "dlshogi"
    name = wanted_format(path, model_format)
    if name not in (AUTO, found):
        raise ModelError(f"model {path}: expected the format {name}; found the tensors of {found}")
    if found == "miniosl":
        return MinioslFormat("input", "move", "value", value_scale(path, "value"))
    return DlshogiFormat(value_scale(path, "output_value"), sees_nyugyoku=planes[1] != HAND_PLANES)


def _batch_sizes(batch_size: int, *, step_by_one: bool) -> list[int]:
    """Returns the sizes that batches are padded to: powers of two below `batch_size`, and itself.

    step_by_one: add all small sizes. A CPU plans nothing, and a row of padding costs as much as any other.

    >>> _batch_sizes(6, step_by_one=False)
    [1, 2, 4, 6]
    """
    powers = [1 << i for i in range((batch_size - 1).bit_length())]
    small = range(1, min(batch_size, _SMALL_BATCH)) if step_by_one else ()
    return sorted({*powers, *small, batch_size})


def _padded(rows: Array, size: int) -> Array:
    """Returns the first `size` rows, with zeros after the given ones if there are fewer."""
    if len(rows) >= size:
        return rows[:size]
    return np.concatenate([rows, np.zeros((size - len(rows), *rows.shape[1:]), rows.dtype)])


def _element_type(path: Path, name: str) -> type[np.generic]:
    if name not in _ELEMENT_TYPES:
        raise ModelError(f"model {path}: expected planes of type {', '.join(_ELEMENT_TYPES)}, found {name}")
    return _ELEMENT_TYPES[name]
