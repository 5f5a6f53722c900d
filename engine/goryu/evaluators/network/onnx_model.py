"""A model that onnxruntime has opened, and how to open it again: for one batch size, or in 16 bits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array, ModelFormat
from goryu.evaluators.formats.detect import detect_format, tensor_shapes
from goryu.evaluators.formats.external_data import read_model
from goryu.evaluators.formats.onnx_edit import halved
from goryu.evaluators.network.half_check import check_halves
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.providers import Session, open_session

_ELEMENT_TYPES: dict[str, type[np.generic]] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(uint8)": np.uint8,
}
"""NumPy's type for each element type that a model's inputs may have."""


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """An open model.

    element_types: of each input of the model that is open.
    fixed: the size of all its batches, or None if it takes any.
    threads, device: of `open_session`.
    opens: opens sessions instead of `open_session`.
    content: what is open instead of the content of the file, or None.
    """

    path: Path
    session: Session
    format: ModelFormat
    element_types: list[type[np.generic]]
    fixed: int | None
    threads: int
    device: int
    opens: Callable[..., Session]
    content: bytes | None = None

    @property
    def backend(self) -> str:
        """That of onnxruntime, such as "CUDA" or "CPU"."""
        return self.session.backend

    @property
    def has_session_per_size(self) -> bool:
        """Does each batch size have a session of its own?"""
        return self.fixed is None and self.session.kind.has_sizes

    def open(self, axes: Mapping[str, int] | None = None, content: bytes | None = None) -> Session:
        """Opens the same model again, or another content, with axes of these lengths."""
        return self.opens(
            self.path,
            self.backend.lower(),
            threads=self.threads,
            device=self.device,
            axes=axes,
            content=content or self.content,
        )

    def in_halves(self) -> "OnnxModel":
        """Returns the model in 16-bit floats; raises an error if that fails or answers otherwise."""
        content = halved(read_model(self.path))
        halves = [np.float16 if element is np.float32 else element for element in self.element_types]
        other = replace(self, session=self.open(content=content), content=content, element_types=halves)
        check_halves(self.format, self.interpreted, other.interpreted)
        return other

    def interpreted(self, planes: Sequence[Array]) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns logits and values for planes of any number of positions, in batches of no certain size."""
        count = len(planes[0])
        size = self.fixed or count
        parts = [
            self.session.handle.run(
                list(self.format.outputs), self.feed([rows[first:] for rows in planes], size)
            )
            for first in range(0, count, size)
        ]
        outputs = [np.concatenate(arrays)[:count] for arrays in zip(*parts, strict=True)]
        return self.format.interpret(outputs, planes)

    def feed(self, planes: Sequence[Array], size: int) -> dict[str, Array]:
        """Returns the inputs of one call, by name: the first `size` rows, or all and zeros after them."""
        return {
            spec.name: _padded(rows, size).astype(element, copy=False)
            for spec, rows, element in zip(self.format.inputs, planes, self.element_types, strict=True)
        }


def open_model(
    path: Path,
    backend: str,
    opens: Callable[..., Session] | None = None,
    *,
    threads: int,
    device: int,
    model_format: str,
) -> OnnxModel:
    """Opens a model and finds out its format.

    Raises:
        ModelError: the file is missing, broken, or not of a known format.
        BackendError: the backend cannot be used.
    """
    opens = opens or open_session
    session = opens(path, backend, threads=threads, device=device)
    nodes = session.handle.get_inputs()
    inputs = tensor_shapes(path, nodes)
    outputs = tensor_shapes(path, session.handle.get_outputs())
    found = detect_format(path, inputs, outputs, model_format)
    types = {node.name: node.type for node in nodes}
    element_types = [_element_type(path, types[spec.name]) for spec in found.inputs]
    fixed = inputs[found.inputs[0].name][0]
    return OnnxModel(path, session, found, element_types, fixed, threads, device, opens)


def _element_type(path: Path, name: str) -> type[np.generic]:
    if name not in _ELEMENT_TYPES:
        raise ModelError(f"model {path}: expected planes of type {', '.join(_ELEMENT_TYPES)}, found {name}")
    return _ELEMENT_TYPES[name]


def _padded(rows: Array, size: int) -> Array:
    """Returns the first `size` rows, with zeros after the given ones if there are fewer."""
    if len(rows) >= size:
        return rows[:size]
    return np.concatenate([rows, np.zeros((size - len(rows), *rows.shape[1:]), rows.dtype)])
