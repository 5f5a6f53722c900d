"""Loads a network: chooses who runs it, in how many bits, and how positions travel to it.

On a CPU our own kernel runs the networks that it knows (`kernel.py`), and onnxruntime the others. On a GPU it
is always onnxruntime, and positions travel as bits (`packed_input.py`, `packed_network.py`).

Networks are fastest on batches, but onnxruntime plans every new batch size separately, which takes seconds on
a GPU. So a batch is padded to the next of a few sizes, and each of them is run once when the model is loaded.

GPUs compute faster in 16-bit floats. A model in 32 bits is converted when it is loaded, and stays converted
if it answers nearly as before (`half_check.py`).
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from goryu.base.errors import first_line
from goryu.evaluators.formats.base import ModelFormat
from goryu.evaluators.formats.detect import AUTO, wanted_format
from goryu.evaluators.formats.dlshogi import DlshogiFormat
from goryu.evaluators.formats.dlshogi_planes import HAND_PLANES
from goryu.evaluators.formats.external_data import read_model
from goryu.evaluators.formats.miniosl import MINIOSL_TENSORS, MinioslFormat
from goryu.evaluators.formats.value_scale import value_scale
from goryu.evaluators.kernel.kernel import best_batch, open_kernel
from goryu.evaluators.kernel.layers import UnsupportedError
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.onnx_model import OnnxModel, open_model
from goryu.evaluators.network.packed_input import packed_model
from goryu.evaluators.network.packed_network import PackedNetwork
from goryu.evaluators.network.packing_check import check_packing
from goryu.evaluators.network.providers import BackendError, Session, check_file
from goryu.evaluators.network.runners import KernelRunner, PackedRunner, PlanesRunner, Runner

if TYPE_CHECKING:
    from goryu._native import WinogradNetwork

_CPU_BATCH = 4
_GPU_BATCH = 128
"""Default batch sizes: a CPU gains nothing from more; a GPU evaluates many positions in the time of a few."""

_SMALL_BATCH = 16
"""Smaller batches are not padded on a CPU."""


class RunnerOptions(TypedDict, total=False):
    """How to run a network.

    backend: one of `providers.BACKENDS` but "auto"; by default the CPU. device: number of the GPU.
    batch_size: None for the model's own fixed size, or else what suits the backend: 128 on a GPU; 4 on a CPU,
        but 1 where our own kernel keeps the weights in the caches.
    threads: CPU threads for one network call by onnxruntime.
    model_format: one of `detect.FORMAT_NAMES`; "auto" recognises it by the file.
    streams: how many batches of bits a device works on at once; best one for each searching thread.
    packs: do positions travel as bits? None: as `providers.Backend` says.
    halves: compute in 16 bits? Our own kernel never does. None: as `providers.Backend` says, if the model
        answers nearly as before.
    opens: opens the sessions instead of `open_session`, such as those of a simulated device.
    """

    backend: str
    device: int
    batch_size: int | None
    threads: int
    model_format: str
    streams: int
    packs: bool | None
    halves: bool | None
    opens: Callable[..., Session]


def open_runner(
    path: Path,
    *,
    backend: str = "cpu",
    device: int = 0,
    batch_size: int | None = None,
    threads: int = 1,
    model_format: str = AUTO,
    streams: int = 1,
    packs: bool | None = None,
    halves: bool | None = None,
    opens: Callable[..., Session] | None = None,
) -> tuple[Runner, int, str]:
    """Returns what runs a network, its batch size, and why it is not the fastest way of its backend, or "".

    The other arguments are `RunnerOptions`; the errors are those of `NetworkEvaluator`.
    """
    assert batch_size is None or batch_size >= 1
    kernel, why_onnxruntime = _open_kernel(path, backend)
    if kernel:
        runner = KernelRunner(kernel, _format_of_kernel(path, kernel, model_format))
        return runner, batch_size or best_batch(kernel), ""
    name = "cpu" if backend == "onnxruntime" else backend
    model = open_model(path, name, opens, threads=threads, device=device, model_format=model_format)
    known = model.session.kind
    reasons = []
    if (known.halves if halves is None else halves) and np.float32 in model.element_types:
        model, why = _halved(model, is_requested=halves is True)
        reasons += [f"{path.name} computes in 32 bits, not in 16: {why}"] if why else []
    batch_size = batch_size or model.fixed or (_GPU_BATCH if known.is_gpu else _CPU_BATCH)
    sizes = [model.fixed] if model.fixed else _batch_sizes(batch_size, step_by_one=model.backend == "CPU")
    planes = PlanesRunner(model, sizes)
    if known.packs if packs is None else packs:
        try:
            return PackedRunner(model, _packed(planes, streams)), batch_size, "; ".join(reasons)
        except Exception as error:  # onnxruntime's errors have no other base class.
            reasons.append(f"{path.name} receives positions as planes, not as bits: {first_line(error)}")
    planes.warm_up()
    if why_onnxruntime and not reasons:
        reasons.append(f"{path.name} is run by onnxruntime, not by Winograd: {why_onnxruntime}")
    return planes, batch_size, "; ".join(reasons)


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
        return MinioslFormat(*MINIOSL_TENSORS, value_scale(path, MINIOSL_TENSORS[-1]))
    return DlshogiFormat(value_scale(path, "output_value"), sees_nyugyoku=planes[1] != HAND_PLANES)


def _halved(model: OnnxModel, *, is_requested: bool) -> tuple[OnnxModel, str]:
    """Returns the model in 16 bits and "", or as it is and why not."""
    try:
        return model.in_halves(), ""
    except Exception as error:  # onnxruntime's errors have no other base class.
        reason = first_line(error)
        if is_requested:
            raise BackendError(
                f"{model.backend} cannot run {model.path.name} in 16 bits: {reason}"
            ) from error
        return model, reason


def _packed(planes: PlanesRunner, streams: int) -> PackedNetwork:
    """Opens the model that reads bits; raises an error if it cannot be made or answers otherwise."""
    model = planes.model
    axis = model.session.handle.get_inputs()[0].shape[0]
    batch = axis if isinstance(axis, int) else axis or "goryu_batch"
    content = model.content or read_model(model.path)
    content = packed_model(content, model.format, batch, model.element_types[0])
    names_axis = isinstance(batch, str) and model.has_session_per_size

    packed = PackedNetwork(
        lambda size: model.open({str(batch): size} if names_axis else None, content).handle,
        model.format,
        sizes=planes.sizes,
        device=model.session.buffer_device or model.session.kind.buffers,
        device_id=model.device,
        streams=streams,
        session_per_size=model.has_session_per_size,
        one_at_a_time=planes.guard,
    )
    is_precise = model.backend == "CPU" and np.float16 not in model.element_types
    check_packing(model.format, packed, planes.answer, is_precise=is_precise)
    packed.warm_up()
    return packed


def _batch_sizes(batch_size: int, *, step_by_one: bool) -> list[int]:
    """Returns the sizes that batches are padded to: powers of two below `batch_size`, and itself.

    step_by_one: add all small sizes. A CPU plans nothing, and a row of padding costs as much as any other.

    >>> _batch_sizes(6, step_by_one=False)
    [1, 2, 4, 6]
    """
    powers = [1 << i for i in range((batch_size - 1).bit_length())]
    small = range(1, min(batch_size, _SMALL_BATCH)) if step_by_one else ()
    return sorted({*powers, *small, batch_size})
