"""Reads the graph of an ONNX file: nodes, constants, inputs and outputs.

onnxruntime does not report them, and the package `onnx` is large for a few questions. An ONNX file is a
protocol buffer, and fields that are not needed are skipped.

Source: Protocol Buffers, "Encoding"; onnx/onnx.proto of the ONNX project.
"""

import math
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.external_data import read_model
from goryu.evaluators.formats.onnx_fields import (
    ATTRIBUTE_FLOAT,
    ATTRIBUTE_FLOATS,
    ATTRIBUTE_INT,
    ATTRIBUTE_INTS,
    ATTRIBUTE_NAME,
    ATTRIBUTE_STRING,
    ATTRIBUTE_TENSOR,
    DIM_LENGTH,
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
    MODEL_GRAPH,
    MODEL_METADATA,
    NODE_ATTRIBUTE,
    NODE_DOMAIN,
    NODE_INPUT,
    NODE_OUTPUT,
    NODE_TYPE,
    SHAPE_DIM,
    TENSOR_DIMS,
    TENSOR_EXTERNAL,
    TENSOR_FLOATS,
    TENSOR_INT32S,
    TENSOR_INT64S,
    TENSOR_NAME,
    TENSOR_RAW,
    TENSOR_SHAPE,
    TENSOR_TYPE,
    TYPE_TENSOR,
    UINT8,
    VALUE_NAME,
    VALUE_TYPE,
)
from goryu.evaluators.formats.protobuf import (
    FOUR_BYTES,
    LENGTH_DELIMITED,
    fields,
    float_of,
    signed,
    text,
    text_field,
    varints,
)
from goryu.evaluators.network.model_files import ModelError, damaged

PASSING = frozenset(
    {"Cast", "DequantizeLinear", "Flatten", "Identity", "QuantizeLinear", "Reshape", "Squeeze", "Unsqueeze"}
)
"""Operators that change the shape or type of their first input, not its meaning."""

_RAW_TYPES = {
    FLOAT32: "<f4",
    UINT8: "u1",
    3: "i1",
    INT32: "<i4",
    INT64: "<i8",
    9: "?",
    FLOAT16: "<f2",
    11: "<f8",
}
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


Shape = tuple[int | None, ...]
"""The shape of an input or output; None for an axis that is free or has a name."""


@dataclass(slots=True)
class Graph:
    """A graph; the nodes are in the order of the file, the inputs and outputs have their shapes."""

    nodes: list[GraphNode] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    inputs: dict[str, Shape] = field(default_factory=dict)
    outputs: dict[str, Shape] = field(default_factory=dict)


_DAMAGE = (IndexError, ValueError, OverflowError, struct.error)
"""What reading raises if the bytes are not those of a model."""


def producer(path: Path, output: str) -> str:
    """Returns the operator type, such as `Sigmoid`, that computes an output; "" if no node does.

    Operators that only cast or reshape are skipped.

    Raises:
        ModelError: the file is not a protocol buffer, or its graph has a cycle.
    """
    nodes: dict[str, GraphNode] = {}
    content = read_model(path)
    try:
        for graph in _messages(content, MODEL_GRAPH):
            for number, _, value in fields(graph):
                if number == GRAPH_NODE and isinstance(value, memoryview):
                    node = _read_node(value, with_attributes=False)
                    nodes |= dict.fromkeys(node.outputs, node)
    except _DAMAGE as error:
        raise damaged(path, error) from error
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
    content = read_model(path)
    try:
        return graph_of(content)
    except _DAMAGE as error:
        raise damaged(path, error) from error


def graph_of(model: bytes) -> Graph:
    """Returns the graph of a model; raises IndexError, ValueError or struct.error for other bytes."""
    graph = Graph()
    for message in _messages(model, MODEL_GRAPH):
        for number, _, value in fields(message):
            if not isinstance(value, memoryview):
                continue
            if number == GRAPH_NODE:
                graph.nodes.append(_read_node(value))
            elif number == GRAPH_CONSTANT:
                name, constant = _read_tensor(value)
                graph.constants[name] = constant
            elif number == GRAPH_INPUT:
                graph.inputs[text_field(value, VALUE_NAME)] = _shape(value)
            elif number == GRAPH_OUTPUT:
                graph.outputs[text_field(value, VALUE_NAME)] = _shape(value)
    graph.inputs = {name: shape for name, shape in graph.inputs.items() if name not in graph.constants}
    return graph


def _shape(value: memoryview) -> Shape:
    """Returns the shape of an input or output; () if the file does not tell it."""
    found = [value]
    for wanted in (VALUE_TYPE, TYPE_TENSOR, TENSOR_SHAPE, SHAPE_DIM):
        found = [part for message in found for part in _messages(message, wanted)]
    lengths = (
        [length for number, _, length in fields(axis) if number == DIM_LENGTH and isinstance(length, int)]
        for axis in found
    )
    return tuple(signed(length[0]) if length else None for length in lengths)


def read_metadata(path: Path) -> dict[str, str]:
    """Returns the properties that the maker of an ONNX file has added (onnxruntime's `custom_metadata_map`).

    Raises:
        ModelError: the file is damaged.
        OSError: the file cannot be read.
    """
    content = read_model(path)
    try:
        entries = _messages(content, MODEL_METADATA)
        return {text_field(entry, ENTRY_KEY): text_field(entry, ENTRY_VALUE) for entry in entries}
    except _DAMAGE as error:
        raise damaged(path, error) from error


def _messages(message: bytes | memoryview, wanted: int) -> list[memoryview]:
    """Returns the fields of a message with this number."""
    found = fields(memoryview(message))
    return [value for number, _, value in found if number == wanted and isinstance(value, memoryview)]


def _read_node(message: memoryview, *, with_attributes: bool = True) -> GraphNode:
    node = GraphNode()
    for number, _, value in fields(message):
        if not isinstance(value, memoryview):
            continue
        if number == NODE_INPUT:
            node.inputs.append(text(value))
        elif number == NODE_OUTPUT:
            node.outputs.append(text(value))
        elif number == NODE_TYPE:
            node.op_type = text(value)
        elif number == NODE_DOMAIN:
            node.domain = text(value)
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
                name = text(value)
            elif number == ATTRIBUTE_FLOAT:
                found = float_of(value)
            elif number == ATTRIBUTE_STRING:
                found = bytes(value)
            elif number == ATTRIBUTE_TENSOR:
                found = _read_tensor(value)[1]
            elif number == ATTRIBUTE_INTS:
                ints += varints(value)
            elif number == ATTRIBUTE_FLOATS:
                floats += [float_of(value)] if kind == FOUR_BYTES else np.frombuffer(value, "<f4").tolist()
        elif number == ATTRIBUTE_INT:
            found = signed(value)
        elif number == ATTRIBUTE_INTS:
            ints.append(signed(value))
    return name, ints or floats or found


def _read_tensor(message: memoryview) -> tuple[str, Array]:
    """Returns the name and the content of a tensor; raises ValueError if it is of another kind."""
    name, element_type = "", 0
    dims: list[int] = []
    parts: list[Array] = []
    for number, kind, value in fields(message):
        if isinstance(value, memoryview):
            if number == TENSOR_DIMS:
                dims += varints(value)
            elif number == TENSOR_NAME:
                name = text(value)
            elif number == TENSOR_RAW:
                if element_type not in _RAW_TYPES:
                    raise ValueError(f"tensor {name!r} has the element type {element_type}")
                parts.append(np.frombuffer(value, _RAW_TYPES[element_type]))
            elif number == TENSOR_FLOATS:
                parts.append(np.frombuffer(value, "<f4"))
            elif number in (TENSOR_INT32S, TENSOR_INT64S) and kind == LENGTH_DELIMITED:
                parts.append(np.array(varints(value), np.int64))
            elif number == TENSOR_EXTERNAL:
                raise ValueError(f"tensor {name!r} is in another file")
        elif number == TENSOR_DIMS:
            dims.append(signed(value))
        elif number == TENSOR_TYPE:
            element_type = value
        elif number in (TENSOR_INT32S, TENSOR_INT64S):
            parts.append(np.array([signed(value)], np.int64))
    content: Array = np.concatenate(parts) if parts else np.zeros(0, np.float32)
    if element_type == FLOAT16 and content.dtype == np.int64:  # Halves as the bits of integers.
        content = content.astype(np.uint16).view(np.float16)
    if min(dims, default=1) < 0 or math.prod(dims) != content.size:
        raise ValueError(f"tensor {name!r} has {content.size} elements and the shape {dims}")
    return name, content.reshape(dims)
