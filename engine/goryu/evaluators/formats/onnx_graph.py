"""Reads the graph of an ONNX file: nodes, constants, inputs and outputs.

onnxruntime does not report them, and the package `onnx` is large for a few questions. An ONNX file is a
protocol buffer; the numbers below are those of the fields in onnx.proto. All other fields are skipped.

Source: Protocol Buffers, "Encoding"; onnx/onnx.proto of the ONNX project.
"""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goryu.evaluators.model_files import ModelError

PASSING = frozenset(
    {"Cast", "DequantizeLinear", "Flatten", "Identity", "QuantizeLinear", "Reshape", "Squeeze", "Unsqueeze"}
)
"""Operators that change the shape or type of their first input, not its meaning."""

MODEL_GRAPH, MODEL_METADATA = 7, 14
ENTRY_KEY, ENTRY_VALUE = 1, 2
GRAPH_NODE, GRAPH_CONSTANT, GRAPH_INPUT, GRAPH_OUTPUT = 1, 5, 11, 12
NODE_INPUT, NODE_OUTPUT, NODE_TYPE, NODE_ATTRIBUTE, NODE_DOMAIN = 1, 2, 4, 5, 7
ATTRIBUTE_NAME, ATTRIBUTE_FLOAT, ATTRIBUTE_INT, ATTRIBUTE_STRING, ATTRIBUTE_TENSOR = 1, 2, 3, 4, 5
ATTRIBUTE_FLOATS, ATTRIBUTE_INTS = 7, 8
TENSOR_DIMS, TENSOR_TYPE, TENSOR_FLOATS, TENSOR_INT32S, TENSOR_INT64S = 1, 2, 4, 5, 7
TENSOR_NAME, TENSOR_RAW, TENSOR_EXTERNAL = 8, 9, 13
VALUE_NAME = 1

VARINT, EIGHT_BYTES, LENGTH_DELIMITED, FOUR_BYTES = 0, 1, 2, 5

FLOAT32, INT32, INT64, FLOAT16 = 1, 6, 7, 10
_RAW_TYPES = {FLOAT32: "<f4", 2: "u1", 3: "i1", INT32: "<i4", INT64: "<i8", 9: "?", FLOAT16: "<f2", 11: "<f8"}
"""NumPy's types for the element types of tensors whose content is `raw_data`."""

Array = npt.NDArray[np.generic]
Attribute = int | float | bytes | list[int] | list[float] | Array


@dataclass(slots=True)
class GraphNode:
    """An operator. `attributes` has those that are numbers, lists of numbers, strings or tensors."""

    op_type: str = ""
    domain: str = ""
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    attributes: dict[str, Attribute] = field(default_factory=dict)


@dataclass(slots=True)
class Graph:
    """A graph; the nodes are in the order of the file, which is one in which they can be computed."""

    nodes: list[GraphNode] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)


def producer(path: Path, output: str) -> str:
    """Returns the operator type, such as `Sigmoid`, that computes an output; "" if no node does.

    Operators that only cast or reshape are skipped.

    Raises:
        ModelError: the file is not a protocol buffer, or its graph has a cycle.
    """
    nodes: dict[str, GraphNode] = {}
    with_graph = _graphs(path)
    try:
        for graph in with_graph:
            for number, _, value in fields(graph):
                if number == GRAPH_NODE and isinstance(value, memoryview):
                    node = _read_node(value, with_attributes=False)
                    nodes |= dict.fromkeys(node.outputs, node)
    except (IndexError, ValueError, struct.error) as error:
        raise _damaged(path, error) from error
    for _ in range(len(nodes) + 1):
        node_of_output = nodes.get(output)
        if node_of_output is None or node_of_output.op_type not in PASSING:
            return node_of_output.op_type if node_of_output else ""
        output = node_of_output.inputs[0] if node_of_output.inputs else ""
    raise ModelError(f"model {path}: the graph has a cycle; the file is damaged")


def read_graph(path: Path) -> Graph:
    """Returns the graph of an ONNX file.

    Raises:
        ModelError: the file is damaged, or has constants of a type or in a place that is not known here.
        OSError: the file cannot be read.
    """
    graph = Graph()
    try:
        for message in _graphs(path):
            for number, _, value in fields(message):
                if not isinstance(value, memoryview):
                    continue
                if number == GRAPH_NODE:
                    graph.nodes.append(_read_node(value))
                elif number == GRAPH_CONSTANT:
                    name, constant = _read_tensor(value)
                    graph.constants[name] = constant
                elif number == GRAPH_INPUT:
                    graph.inputs.append(value_name(value))
                elif number == GRAPH_OUTPUT:
                    graph.outputs.append(value_name(value))
    except (IndexError, ValueError, OverflowError, struct.error) as error:
        raise _damaged(path, error) from error
    graph.inputs = [name for name in graph.inputs if name not in graph.constants]
    return graph


def _damaged(path: Path, error: Exception) -> ModelError:
    return ModelError(f"model {path}: not an ONNX file, or a damaged one ({error})")


def read_metadata(path: Path) -> dict[str, str]:
    """Returns the properties that the maker of an ONNX file has added (onnxruntime's `custom_metadata_map`).

    Raises:
        ModelError: the file is damaged.
        OSError: the file cannot be read.
    """
    metadata: dict[str, str] = {}
    try:
        for message in _messages(path, MODEL_METADATA):
            entry = {number: value for number, _, value in fields(message)}
            key, value = (entry.get(number, memoryview(b"")) for number in (ENTRY_KEY, ENTRY_VALUE))
            if isinstance(key, memoryview) and isinstance(value, memoryview):
                metadata[_text(key)] = _text(value)
    except (IndexError, ValueError) as error:
        raise _damaged(path, error) from error
    return metadata


def _graphs(path: Path) -> list[memoryview]:
    return _messages(path, MODEL_GRAPH)


def _messages(path: Path, wanted: int) -> list[memoryview]:
    """Returns the fields of a model with this number."""
    try:
        found = list(fields(memoryview(path.read_bytes())))
    except (IndexError, ValueError) as error:
        raise _damaged(path, error) from error
    return [value for number, _, value in found if number == wanted and isinstance(value, memoryview)]


def _read_node(message: memoryview, *, with_attributes: bool = True) -> GraphNode:
    node = GraphNode()
    for number, _, value in fields(message):
        if not isinstance(value, memoryview):
            continue
        if number == NODE_INPUT:
            node.inputs.append(_text(value))
        elif number == NODE_OUTPUT:
            node.outputs.append(_text(value))
        elif number == NODE_TYPE:
            node.op_type = _text(value)
        elif number == NODE_DOMAIN:
            node.domain = _text(value)
        elif number == NODE_ATTRIBUTE and with_attributes:
            name, attribute = _read_attribute(value)
            if attribute is not None:
                node.attributes[name] = attribute
    return node


def _read_attribute(message: memoryview) -> tuple[str, Attribute | None]:
    name = ""
    found: Attribute | None = None
    floats: list[float] = []
    ints: list[int] = []
    for number, kind, value in fields(message):
        if isinstance(value, memoryview):
            if number == ATTRIBUTE_NAME:
                name = _text(value)
            elif number == ATTRIBUTE_FLOAT:
                found = _float(value)
            elif number == ATTRIBUTE_STRING:
                found = bytes(value)
            elif number == ATTRIBUTE_TENSOR:
                found = _read_tensor(value)[1]
            elif number == ATTRIBUTE_INTS:
                ints += _varints(value)
            elif number == ATTRIBUTE_FLOATS:
                floats += [_float(value)] if kind == FOUR_BYTES else np.frombuffer(value, "<f4").tolist()
        elif number == ATTRIBUTE_INT:
            found = _signed(value)
        elif number == ATTRIBUTE_INTS:
            ints.append(_signed(value))
    return name, ints or floats or found


def _read_tensor(message: memoryview) -> tuple[str, Array]:
    """Returns the name and the content of a tensor; raises ValueError if it is of another kind."""
    name, element_type = "", 0
    dims: list[int] = []
    parts: list[Array] = []
    for number, kind, value in fields(message):
        if isinstance(value, memoryview):
            if number == TENSOR_DIMS:
                dims += _varints(value)
            elif number == TENSOR_NAME:
                name = _text(value)
            elif number == TENSOR_RAW:
                if element_type not in _RAW_TYPES:
                    raise ValueError(f"tensor {name!r} has the element type {element_type}")
                parts.append(np.frombuffer(value, _RAW_TYPES[element_type]))
            elif number == TENSOR_FLOATS:
                parts.append(np.frombuffer(value, "<f4"))
            elif number in (TENSOR_INT32S, TENSOR_INT64S) and kind == LENGTH_DELIMITED:
                parts.append(np.array(_varints(value), np.int64))
            elif number == TENSOR_EXTERNAL:
                raise ValueError(f"tensor {name!r} is in another file")
        elif number == TENSOR_DIMS:
            dims.append(_signed(value))
        elif number == TENSOR_TYPE:
            element_type = value
        elif number in (TENSOR_INT32S, TENSOR_INT64S):
            parts.append(np.array([_signed(value)], np.int64))
    content: Array = np.concatenate(parts) if parts else np.zeros(0, np.float32)
    if element_type == FLOAT16 and content.dtype == np.int64:  # Halves as the bits of integers.
        content = content.astype(np.uint16).view(np.float16)
    if min(dims, default=1) < 0 or math.prod(dims) != content.size:
        raise ValueError(f"tensor {name!r} has {content.size} elements and the shape {dims}")
    return name, content.reshape(dims)


def value_name(message: memoryview) -> str:
    names = (value for number, _, value in fields(message) if number == VALUE_NAME)
    return next((_text(value) for value in names if isinstance(value, memoryview)), "")


def _text(value: memoryview) -> str:
    return bytes(value).decode(errors="replace")


def _float(value: memoryview) -> float:
    (number,) = struct.unpack("<f", value)
    return float(number)


def _signed(value: int) -> int:
    """Returns a varint as the 64-bit two's complement that it is."""
    return value - (1 << 64) if value >= 1 << 63 else value


def _varints(message: memoryview) -> list[int]:
    numbers, at = [], 0
    while at < len(message):
        value, at = _varint(message, at)
        numbers.append(_signed(value))
    return numbers


def fields(message: memoryview) -> Iterator[tuple[int, int, memoryview | int]]:
    """Yields number, kind and content of the fields of a message; a varint is an int.

    Raises IndexError or ValueError if the bytes are not a message.
    """
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, at = _varint(message, at)
            yield number, kind, value
            continue
        if kind == LENGTH_DELIMITED:
            length, at = _varint(message, at)
        elif kind in (EIGHT_BYTES, FOUR_BYTES):
            length = 8 if kind == EIGHT_BYTES else 4
        else:
            raise ValueError(f"field type {kind} is not part of ONNX")
        if length > len(message) - at:
            raise ValueError("it ends within a field")
        yield number, kind, message[at : at + length]
        at += length


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Returns a base-128 number, least significant digit first, and where it ends."""
    value, shift = 0, 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift >= 70:
            raise ValueError("a number has more than ten bytes")
