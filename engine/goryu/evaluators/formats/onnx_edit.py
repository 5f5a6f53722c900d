"""Changes the graph of an ONNX file in memory: other inputs, outputs, constants, nodes, or 16-bit floats.

The package `onnx` could do it, but is no requirement of Goryu; the few messages that are needed are written
here. A protocol buffer is a sequence of fields, so every field that is not changed is copied as it is.

Weakness: a model whose constants are in other files is refused; `external_data.py` brings them together.
Source: as `onnx_graph.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from goryu.base.errors import GoryuError
from goryu.evaluators.formats.onnx_fields import (
    ATTRIBUTE_GRAPH,
    ATTRIBUTE_INT,
    ATTRIBUTE_INTS,
    ATTRIBUTE_KIND,
    ATTRIBUTE_NAME,
    ATTRIBUTE_TENSOR,
    DIM_LENGTH,
    DIM_NAME,
    ENTRY_KEY,
    ENTRY_VALUE,
    FLOAT16,
    FLOAT32,
    GRAPH_CONSTANT,
    GRAPH_INPUT,
    GRAPH_NAME,
    GRAPH_NODE,
    GRAPH_OUTPUT,
    GRAPH_SPARSE,
    GRAPH_VALUE,
    INT32,
    INT64,
    KIND_INT,
    KIND_INTS,
    MODEL_GRAPH,
    MODEL_METADATA,
    MODEL_OPSET,
    MODEL_VERSION,
    NODE_ATTRIBUTE,
    NODE_INPUT,
    NODE_OUTPUT,
    NODE_TYPE,
    OPSET_DOMAIN,
    OPSET_VERSION,
    SHAPE_DIM,
    TENSOR_DIMS,
    TENSOR_ELEMENT,
    TENSOR_EXTERNAL,
    TENSOR_FLOATS,
    TENSOR_NAME,
    TENSOR_RAW,
    TENSOR_SHAPE,
    TENSOR_TYPE,
    TYPE_TENSOR,
    UINT8,
    VALUE_NAME,
    VALUE_TYPE,
)
from goryu.evaluators.formats.onnx_graph import Array
from goryu.evaluators.formats.protobuf import VARINT, copied, field_of, fields, text_field

ELEMENT_TYPES = {np.float32: FLOAT32, np.float16: FLOAT16, np.uint8: UINT8, np.int32: INT32, np.int64: INT64}
"""ONNX's numbers of NumPy's types."""

Axis = int | str
"""The length of an axis, or the name of one that is free."""


class UneditableError(GoryuError, ValueError):
    """A model whose graph cannot be changed in memory."""


@dataclass(slots=True)
class GraphEdit:
    """What changes in a graph; everything else stays.

    removed: names of inputs that are inputs no more. before, after: nodes that are computed first and last.
    constants: new ones, and those that replace others, by name. inputs: new ones, and outputs: those that
    replace all others; by name, element type and axes.
    """

    removed: frozenset[str] = frozenset()
    before: list[bytes] = field(default_factory=list)
    after: list[bytes] = field(default_factory=list)
    constants: dict[str, bytes] = field(default_factory=dict)
    inputs: dict[str, tuple[int, Sequence[Axis]]] = field(default_factory=dict)
    outputs: dict[str, tuple[int, Sequence[Axis]]] = field(default_factory=dict)

    def constant(self, name: str, content: Array) -> str:
        """Adds or replaces a constant; returns its name."""
        dims = b"".join(field_of(TENSOR_DIMS, length) for length in content.shape)
        element = field_of(TENSOR_TYPE, ELEMENT_TYPES[content.dtype.type])
        little = content.astype(content.dtype.newbyteorder("<"))
        self.constants[name] = (
            dims + element + field_of(TENSOR_NAME, name) + field_of(TENSOR_RAW, little.tobytes())
        )
        return name


def node(operator: str, inputs: Sequence[str], output: str, **attributes: int | Sequence[int]) -> bytes:
    """Returns a node with one output; its attributes are whole numbers or lists of them."""
    message = b"".join(field_of(NODE_INPUT, name) for name in inputs)
    message += field_of(NODE_OUTPUT, output) + field_of(NODE_TYPE, operator)
    for name, value in attributes.items():
        content = field_of(ATTRIBUTE_NAME, name)
        if isinstance(value, int):
            content += field_of(ATTRIBUTE_INT, value) + field_of(ATTRIBUTE_KIND, KIND_INT)
        else:
            content += b"".join(field_of(ATTRIBUTE_INTS, each) for each in value)
            content += field_of(ATTRIBUTE_KIND, KIND_INTS)
        message += field_of(NODE_ATTRIBUTE, content)
    return message


def edited(model: bytes, edit: GraphEdit) -> bytes:
    """Returns a model with a changed graph.

    Raises:
        UneditableError: the constants are in other files, or the bytes are no model.
    """
    parts = []
    try:
        for number, kind, value in fields(memoryview(model)):
            if number == MODEL_GRAPH and isinstance(value, memoryview):
                parts.append(field_of(number, _edited_graph(value, edit)))
            else:
                parts.append(copied(number, kind, value))
    except (IndexError, ValueError) as error:
        if isinstance(error, UneditableError):
            raise
        raise UneditableError(f"its graph cannot be read: {error}") from error
    return b"".join(parts)


def new_model(
    graph: GraphEdit, *, name: str, opset: int, version: int, metadata: Mapping[str, str] | None = None
) -> bytes:
    """Returns a model that has nothing but what is in `graph`.

    version: of the file format, `ir_version`. metadata: properties of the model.
    """
    entries = (
        field_of(ENTRY_KEY, key) + field_of(ENTRY_VALUE, entry) for key, entry in (metadata or {}).items()
    )
    properties = b"".join(field_of(MODEL_METADATA, entry) for entry in entries)
    operators = field_of(MODEL_OPSET, field_of(OPSET_DOMAIN, "") + field_of(OPSET_VERSION, opset))
    empty = field_of(MODEL_VERSION, version) + operators + field_of(MODEL_GRAPH, field_of(GRAPH_NAME, name))
    return edited(empty + properties, graph)


def opset_of(model: bytes) -> int:
    """Returns the version of ONNX's operators that a model uses."""
    version = 1
    for number, _, value in fields(memoryview(model)):
        if number == MODEL_OPSET and isinstance(value, memoryview):
            content = {n: v for n, _, v in fields(value)}
            domain, found = content.get(OPSET_DOMAIN, b""), content.get(OPSET_VERSION, 1)
            if not isinstance(domain, int) and bytes(domain) in (b"", b"ai.onnx") and isinstance(found, int):
                version = found
    return version


def _edited_graph(graph: memoryview, edit: GraphEdit) -> bytes:
    first = [field_of(GRAPH_NODE, each) for each in edit.before]
    rest = []
    for number, kind, value in fields(graph):
        is_removed = number == GRAPH_OUTPUT
        if number == GRAPH_CONSTANT and isinstance(value, memoryview):
            if _is_elsewhere(value):
                raise UneditableError("its constants are in another file")
            is_removed = text_field(value, TENSOR_NAME) in edit.constants
        elif number == GRAPH_INPUT and isinstance(value, memoryview):
            is_removed = text_field(value, VALUE_NAME) in edit.removed
        if not is_removed:
            rest.append(copied(number, kind, value))
    rest += [field_of(GRAPH_NODE, each) for each in edit.after]
    rest += [field_of(GRAPH_CONSTANT, each) for each in edit.constants.values()]
    rest += [field_of(GRAPH_INPUT, _value(name, *spec)) for name, spec in edit.inputs.items()]
    rest += [field_of(GRAPH_OUTPUT, _value(name, *spec)) for name, spec in edit.outputs.items()]
    return b"".join(first + rest)


def _is_elsewhere(tensor: memoryview) -> bool:
    return any(number == TENSOR_EXTERNAL for number, _, _ in fields(tensor))


def _value(name: str, element: int, axes: Sequence[Axis]) -> bytes:
    """Returns the description of an input or output."""
    dims = (field_of(DIM_LENGTH if isinstance(axis, int) else DIM_NAME, axis) for axis in axes)
    shape = b"".join(field_of(SHAPE_DIM, dim) for dim in dims)
    tensor = field_of(TENSOR_ELEMENT, element) + field_of(TENSOR_SHAPE, shape)
    return field_of(VALUE_NAME, name) + field_of(VALUE_TYPE, field_of(TYPE_TENSOR, tensor))


# Computing in 16 bits.

_EIGHT_BIT = (
    "QuantizeLinear",
    "DequantizeLinear",
    "ConvInteger",
    "MatMulInteger",
    "QLinearConv",
    "QLinearMatMul",
)


def halved(model: bytes) -> bytes:
    """Returns a model that computes in 16-bit floats, also its inputs and outputs.

    Raises:
        UneditableError: it computes in 8-bit integers, has graphs within its graph, constants in other files
            or beyond 65504, or the bytes are no model.
    """
    try:
        parts = [
            field_of(number, _halved_graph(value))
            if number == MODEL_GRAPH and isinstance(value, memoryview)
            else copied(number, kind, value)
            for number, kind, value in fields(memoryview(model))
        ]
    except (IndexError, ValueError) as error:
        if isinstance(error, UneditableError):
            raise
        raise UneditableError(f"its graph cannot be read: {error}") from error
    return b"".join(parts)


def _halved_graph(graph: memoryview) -> bytes:
    change = {
        GRAPH_NODE: _halved_node,
        GRAPH_CONSTANT: _halved_tensor,
        GRAPH_INPUT: _halved_value,
        GRAPH_OUTPUT: _halved_value,
    }
    parts = []
    for number, kind, value in fields(graph):
        if number == GRAPH_SPARSE:
            raise UneditableError("it has sparse constants")
        if number in change and isinstance(value, memoryview):
            parts.append(field_of(number, change[number](value)))
        elif number != GRAPH_VALUE:  # The types of values within the graph can be found out.
            parts.append(copied(number, kind, value))
    return b"".join(parts)


def _halved_node(message: memoryview) -> bytes:
    content = list(fields(message))
    operator = next(
        (bytes(v).decode() for n, _, v in content if n == NODE_TYPE and not isinstance(v, int)), ""
    )
    if operator in _EIGHT_BIT:
        raise UneditableError("it computes in 8-bit integers")
    return b"".join(
        field_of(number, _halved_attribute(value, is_cast=operator == "Cast"))
        if number == NODE_ATTRIBUTE and isinstance(value, memoryview)
        else copied(number, kind, value)
        for number, kind, value in content
    )


def _halved_attribute(message: memoryview, *, is_cast: bool) -> bytes:
    parts = []
    for number, kind, value in fields(message):
        if number == ATTRIBUTE_GRAPH:
            raise UneditableError("it has a graph within its graph")
        if number == ATTRIBUTE_TENSOR and isinstance(value, memoryview):
            parts.append(field_of(number, _halved_tensor(value)))
        elif is_cast and number == ATTRIBUTE_INT and value == FLOAT32:
            parts.append(field_of(number, FLOAT16))
        else:
            parts.append(copied(number, kind, value))
    return b"".join(parts)


def _halved_tensor(message: memoryview) -> bytes:
    if _is_elsewhere(message):
        raise UneditableError("its constants are in another file")
    content = list(fields(message))
    if (TENSOR_TYPE, VARINT, FLOAT32) not in content:
        return bytes(message)
    stored = (TENSOR_RAW, TENSOR_FLOATS)
    numbers = np.frombuffer(
        b"".join(bytes(v) for n, _, v in content if n in stored and not isinstance(v, int)), "<f4"
    )
    with np.errstate(over="ignore"):
        halves = numbers.astype("<f2")
    if not np.isfinite(halves).all():
        raise UneditableError(f"a constant of {np.abs(numbers).max():.3g} is too large for 16 bits")
    kept = (copied(n, kind, v) for n, kind, v in content if n in (TENSOR_DIMS, TENSOR_NAME))
    return b"".join(kept) + field_of(TENSOR_TYPE, FLOAT16) + field_of(TENSOR_RAW, halves.tobytes())


def _halved_value(message: memoryview, path: Sequence[int] = (VALUE_TYPE, TYPE_TENSOR)) -> bytes:
    """Returns the description of an input or output with another element type."""
    parts = []
    for number, kind, value in fields(message):
        if path and number == path[0] and isinstance(value, memoryview):
            parts.append(field_of(number, _halved_value(value, path[1:])))
        elif not path and number == TENSOR_ELEMENT and value == FLOAT32:
            parts.append(field_of(number, FLOAT16))
        else:
            parts.append(copied(number, kind, value))
    return b"".join(parts)
