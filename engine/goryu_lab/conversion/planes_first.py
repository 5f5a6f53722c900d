"""Makes the planes the first axis of an ONNX file's input: [N, planes, 9, 9] instead of [N, 9, 9, planes].

Some exporters put the planes last, as in one variant of nshogi's networks. A transposition at the beginning
of the graph is all that changes, and the answers of both files are compared.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from goryu.evaluators.formats.base import Array, planes_of
from goryu.evaluators.formats.detect import detect_format, has_planes_last, tensor_shapes
from goryu.evaluators.formats.external_data import read_model
from goryu.evaluators.formats.onnx_graph import Shape
from goryu.evaluators.network.providers import Session, open_session
from goryu.table.random_positions import random_positions
from goryu_lab.conversion.onnx_writer import import_onnx
from goryu_lab.conversion.tensors import ConversionError
from goryu_lab.conversion.verification import BATCH, POSITIONS, TOLERANCE

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
"""The order of the axes when the planes become the last one, and the first one."""


def is_planes_last(path: Path) -> bool:
    """Does an ONNX file read positions with the planes as the last axis? Raises ModelError."""
    return bool(_inputs_planes_last(path, open_session(path, "cpu")))


def put_planes_first(source: Path, target: Path) -> float:
    """Writes the network of `source` with the planes as the first axis.

    Returns the greatest difference between the answers of the two files on 128 positions.

    Raises:
        ConversionError: the answers differ.
        ModelError: the file refers to files outside its folder, the result is of no known format, or
            onnxruntime cannot run it.
    """
    onnx = import_onnx()
    session = open_session(source, "cpu")
    shapes = _inputs_planes_last(source, session)
    model = onnx.load_from_string(read_model(source))
    for name in shapes:
        _transpose(onnx, model.graph, name)
    onnx.save(model, str(target))
    return _largest_difference(target, session, shapes)


def _inputs_planes_last(path: Path, session: Session) -> Mapping[str, Shape]:
    shapes = tensor_shapes(path, session.handle.get_inputs())
    return {name: shape for name, shape in shapes.items() if has_planes_last(shape)}


def _transpose(onnx: Any, graph: Any, name: str) -> None:
    """Gives the input other axes; what read it reads its transposition from now on."""
    inner = f"{name}_planes_last"
    for node in graph.node:
        node.input[:] = [inner if each == name else each for each in node.input]
    graph.node.insert(0, onnx.helper.make_node("Transpose", [name], [inner], perm=LAST))
    (tensor,) = (each for each in graph.input if each.name == name)
    axes = [onnx.TensorShapeProto.Dimension() for _ in FIRST]
    for axis, old in zip(axes, FIRST, strict=True):
        axis.CopyFrom(tensor.type.tensor_type.shape.dim[old])
    del tensor.type.tensor_type.shape.dim[:]
    tensor.type.tensor_type.shape.dim.extend(axes)


def _largest_difference(target: Path, original: Session, planes_last: Mapping[str, Shape]) -> float:
    written = open_session(target, "cpu")
    nodes = written.handle.get_inputs()
    shapes = tensor_shapes(target, nodes)
    model_format = detect_format(target, shapes, tensor_shapes(target, written.handle.get_outputs()))
    planes = planes_of(model_format, random_positions(POSITIONS))
    types = {node.name: np.float16 if node.type == "tensor(float16)" else np.float32 for node in nodes}
    inputs = {
        spec.name: rows.astype(types[spec.name])
        for spec, rows in zip(model_format.inputs, planes, strict=True)
    }
    before = {name: rows.transpose(LAST) if name in planes_last else rows for name, rows in inputs.items()}
    size = shapes[model_format.inputs[0].name][0] or BATCH
    found = _answers(written, model_format.outputs, inputs, size)
    expected = _answers(original, model_format.outputs, before, size)
    largest = float(np.max([np.abs(a - b).max() for a, b in zip(found, expected, strict=True)]))
    if not largest <= TOLERANCE:
        raise ConversionError(
            f"{target}: the file answers differently from the original: {largest:.2g}; expected at most "
            f"{TOLERANCE:g}"
        )
    return largest


def _answers(
    session: Session, outputs: Sequence[str], inputs: Mapping[str, Array], size: int
) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    """Returns the outputs for as many whole batches as there are."""
    count = len(next(iter(inputs.values())))
    parts = [
        session.handle.run(list(outputs), {name: rows[i : i + size] for name, rows in inputs.items()})
        for i in range(0, count - size + 1, size)
    ]
    return [np.concatenate(arrays).astype(np.float64) for arrays in zip(*parts, strict=True)]
