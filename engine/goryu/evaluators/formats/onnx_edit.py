"""Changes the graph of an ONNX file in memory: other inputs and outputs, new nodes, or 16-bit floats.

The package `onnx` could do it, but is no requirement of Goryu; the few messages that are needed are written
here. A protocol buffer is a sequence of fields, so every field that is not changed is copied as it is.

Weakness: a model whose constants are in other files is refused, since its folder is lost in memory.
Source: as `onnx_graph.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from goryu.errors import GoryuError
from goryu.evaluators.formats.onnx_graph import (
    ATTRIBUTE_INT,
    ATTRIBUTE_INTS,
    ATTRIBUTE_NAME,
    ATTRIBUTE_TENSOR,
    ENTRY_KEY,
    ENTRY_VALUE,
    FLOAT16,
    FLOAT32,
    GRAPH_CONSTANT,
    GRAPH_INPUT,
    GRAPH_NODE,
    GRAPH_OUTPUT,
    INT32,
    INT64,
    LENGTH_DELIMITED,
    MODEL_GRAPH,
    MODEL_METADATA,
    NODE_ATTRIBUTE,
    NODE_INPUT,
    NODE_OUTPUT,
    NODE_TYPE,
    TENSOR_DIMS,
    TENSOR_EXTERNAL,
    TENSOR_FLOATS,
    TENSOR_NAME,
    TENSOR_RAW,
    TENSOR_TYPE,
    VALUE_NAME,
    VARINT,
    Array,
    fields,
    value_name,
)

MODEL_VERSION, MODEL_OPSET = 1, 8
GRAPH_NAME = 2
OPSET_DOMAIN, OPSET_VERSION = 1, 2
ATTRIBUTE_KIND = 20
KIND_INT, KIND_INTS = 2, 7
VALUE_TYPE, TYPE_TENSOR, TENSOR_ELEMENT, TENSOR_SHAPE, SHAPE_DIM, DIM_LENGTH, DIM_NAME = 2, 1, 1, 2, 1, 1, 2
UINT8 = 2

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
    inputs: new ones, and outputs: those that replace all others; by name, element type and axes.
    """

    removed: frozenset[str] = frozenset()
    before: list[bytes] = field(default_factory=list)
    after: list[bytes] = field(default_factory=list)
    constants: list[bytes] = field(default_factory=list)
    inputs: dict[str, tuple[int, Sequence[Axis]]] = field(default_factory=dict)
    outputs: dict[str, tuple[int, Sequence[Axis]]] = field(default_factory=dict)

    def constant(self, name: str, content: Array) -> str:
        """Adds a constant; returns its name."""
        dims = b"".join(_field(TENSOR_DIMS, length) for length in content.shape)
        element = _field(TENSOR_TYPE, ELEMENT_TYPES[content.dtype.type])
        little = content.astype(content.dtype.newbyteorder("<"))
        self.constants.append(
            dims + element + _field(TENSOR_NAME, name) + _field(TENSOR_RAW, little.tobytes())
        )
        return name


def node(operator: str, inputs: Sequence[str], output: str, **attributes: int | Sequence[int]) -> bytes:
    """Returns a node with one output; its attributes are whole numbers or lists of them."""
    message = b"".join(_field(NODE_INPUT, name) for name in inputs)
    message += _field(NODE_OUTPUT, output) + _field(NODE_TYPE, operator)
    for name, value in attributes.items():
        content = _field(ATTRIBUTE_NAME, name)
        if isinstance(value, int):
            content += _field(ATTRIBUTE_INT, value) + _field(ATTRIBUTE_KIND, KIND_INT)
        else:
            content += b"".join(_field(ATTRIBUTE_INTS, each) for each in value)
            content += _field(ATTRIBUTE_KIND, KIND_INTS)
        message += _field(NODE_ATTRIBUTE, content)
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
                parts.append(_field(number, _edited_graph(value, edit)))
            else:
                parts.append(_copy(number, kind, value))
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
    entries = (_field(ENTRY_KEY, key) + _field(ENTRY_VALUE, text) for key, text in (metadata or {}).items())
    properties = b"".join(_field(MODEL_METADATA, entry) for entry in entries)
    operators = _field(MODEL_OPSET, _field(OPSET_DOMAIN, "") + _field(OPSET_VERSION, opset))
    empty = _field(MODEL_VERSION, version) + operators + _field(MODEL_GRAPH, _field(GRAPH_NAME, name))
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
    first = [_field(GRAPH_NODE, each) for each in edit.before]
    rest = []
    for number, kind, value in fields(graph):
        if number == GRAPH_CONSTANT and isinstance(value, memoryview) and _is_elsewhere(value):
            raise UneditableError("its constants are in another file")
        is_removed = number == GRAPH_OUTPUT or (
            number == GRAPH_INPUT and isinstance(value, memoryview) and value_name(value) in edit.removed
        )
        if not is_removed:
            rest.append(_copy(number, kind, value))
    rest += [_field(GRAPH_NODE, each) for each in edit.after]
    rest += [_field(GRAPH_CONSTANT, each) for each in edit.constants]
    rest += [_field(GRAPH_INPUT, _value(name, *spec)) for name, spec in edit.inputs.items()]
    rest += [_field(GRAPH_OUTPUT, _value(name, *spec)) for name, spec in edit.outputs.items()]
    return b"".join(first + rest)


def _is_elsewhere(tensor: memoryview) -> bool:
    return any(number == TENSOR_EXTERNAL for number, _, _ in fields(tensor))


def _value(name: str, element: int, axes: Sequence[Axis]) -> bytes:
    """Returns the description of an input or output."""
    dims = (_field(DIM_LENGTH if isinstance(axis, int) else DIM_NAME, axis) for axis in axes)
    shape = b"".join(_field(SHAPE_DIM, dim) for dim in dims)
    tensor = _field(TENSOR_ELEMENT, element) + _field(TENSOR_SHAPE, shape)
    return _field(VALUE_NAME, name) + _field(VALUE_TYPE, _field(TYPE_TENSOR, tensor))


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3 | VARINT) + _varint(value & (1 << 64) - 1)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | LENGTH_DELIMITED) + _varint(len(content)) + content


def _copy(number: int, kind: int, value: memoryview | int) -> bytes:
    if isinstance(value, int):
        return _field(number, value)
    if kind == LENGTH_DELIMITED:
        return _field(number, bytes(value))
    return _varint(number << 3 | kind) + bytes(value)


def _varint(value: int) -> bytes:
    """Returns a base-128 number, least significant digit first.

    >>> _varint(300).hex()
    'ac02'
    """
    digits = bytearray()
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)


# Computing in 16 bits.

_EIGHT_BIT = (
    "QuantizeLinear",
    "DequantizeLinear",
    "ConvInteger",
    "MatMulInteger",
    "QLinearConv",
    "QLinearMatMul",
)
ATTRIBUTE_GRAPH, GRAPH_SPARSE, GRAPH_VALUE = 6, 15, 13


def halved(model: bytes) -> bytes:
    """Returns a model that computes in 16-bit floats, also its inputs and outputs.

    Raises:
        UneditableError: it computes in 8-bit integers, has graphs within its graph, constants in other files
            or beyond 65504, or the bytes are no model.
    """
    try:
        parts = [
            _field(number, _halved_graph(value))
            if number == MODEL_GRAPH and isinstance(value, memoryview)
            else _copy(number, kind, value)
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
            parts.append(_field(number, change[number](value)))
        elif number != GRAPH_VALUE:  # The types of values within the graph can be found out.
            parts.append(_copy(number, kind, value))
    return b"".join(parts)


def _halved_node(message: memoryview) -> bytes:
    content = list(fields(message))
    operator = next(
        (bytes(v).decode() for n, _, v in content if n == NODE_TYPE and not isinstance(v, int)), ""
    )
    if operator in _EIGHT_BIT:
        raise UneditableError("it computes in 8-bit integers")
    return b"".join(
        _field(number, _halved_attribute(value, is_cast=operator == "Cast"))
        if number == NODE_ATTRIBUTE and isinstance(value, memoryview)
        else _copy(number, kind, value)
        for number, kind, value in content
    )


def _halved_attribute(message: memoryview, *, is_cast: bool) -> bytes:
    parts = []
    for number, kind, value in fields(message):
        if number == ATTRIBUTE_GRAPH:
            raise UneditableError("it has a graph within its graph")
        if number == ATTRIBUTE_TENSOR and isinstance(value, memoryview):
            parts.append(_field(number, _halved_tensor(value)))
        elif is_cast and number == ATTRIBUTE_INT and value == FLOAT32:
            parts.append(_field(number, FLOAT16))
        else:
            parts.append(_copy(number, kind, value))
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
    kept = (_copy(n, kind, v) for n, kind, v in content if n in (TENSOR_DIMS, TENSOR_NAME))
    return b"".join(kept) + _field(TENSOR_TYPE, FLOAT16) + _field(TENSOR_RAW, halves.tobytes())


def _halved_value(message: memoryview, path: Sequence[int] = (VALUE_TYPE, TYPE_TENSOR)) -> bytes:
    """Returns the description of an input or output with another element type."""
    parts = []
    for number, kind, value in fields(message):
        if path and number == path[0] and isinstance(value, memoryview):
            parts.append(_field(number, _halved_value(value, path[1:])))
        elif not path and number == TENSOR_ELEMENT and value == FLOAT32:
            parts.append(_field(number, FLOAT16))
        else:
            parts.append(_copy(number, kind, value))
    return b"".join(parts)
