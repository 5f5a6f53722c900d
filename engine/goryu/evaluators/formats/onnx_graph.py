"""Finds the operator that computes an output of an ONNX file.

onnxruntime does not report it, and the package `onnx` is large for one question. An ONNX file is a protocol
buffer, so the numbers of five fields (onnx.proto) are enough: ModelProto.graph = 7, GraphProto.node = 1,
NodeProto.input = 1, NodeProto.output = 2, NodeProto.op_type = 4. All other fields are skipped.

Source: Protocol Buffers, "Encoding"; onnx/onnx.proto of the ONNX project.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from goryu.evaluators.model_files import ModelError

PASSING = frozenset(
    {"Cast", "DequantizeLinear", "Flatten", "Identity", "QuantizeLinear", "Reshape", "Squeeze", "Unsqueeze"}
)
"""Operators that change the shape or type of their first input, not its meaning."""

GRAPH, NODE = 7, 1
INPUT, OUTPUT, OP_TYPE = 1, 2, 4

VARINT, EIGHT_BYTES, LENGTH_DELIMITED, FOUR_BYTES = 0, 1, 2, 5


class _Node(NamedTuple):
    op_type: str
    first_input: str


def producer(path: Path, output: str) -> str:
    """Returns the operator type, such as `Sigmoid`, that computes an output; "" if no node does.

    Operators that only cast or reshape are skipped.

    Raises:
        ModelError: the file is not a protocol buffer, or its graph has a cycle.
    """
    nodes: dict[str, _Node] = {}
    try:
        for number, graph in _fields(memoryview(path.read_bytes())):
            if number == GRAPH:
                for inner, node in _fields(graph):
                    if inner == NODE:
                        nodes |= _read_node(node)
    except (IndexError, ValueError) as error:
        raise ModelError(f"model {path}: not an ONNX file, or a damaged one ({error})") from error
    for _ in range(len(nodes) + 1):
        if output not in nodes or nodes[output].op_type not in PASSING:
            return nodes[output].op_type if output in nodes else ""
        output = nodes[output].first_input
    raise ModelError(f"model {path}: the graph has a cycle; the file is damaged")


def _read_node(message: memoryview) -> dict[str, _Node]:
    """Returns the node under the name of each of its outputs."""
    inputs: list[str] = []
    outputs: list[str] = []
    op_type = ""
    for number, value in _fields(message):
        if number == INPUT:
            inputs.append(_text(value))
        elif number == OUTPUT:
            outputs.append(_text(value))
        elif number == OP_TYPE:
            op_type = _text(value)
    node = _Node(op_type, inputs[0] if inputs else "")
    return dict.fromkeys(outputs, node)


def _text(value: memoryview) -> str:
    return bytes(value).decode(errors="replace")


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yields number and content of the length-delimited fields of a message; skips the others.

    Raises IndexError or ValueError if the bytes are not a message.
    """
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == LENGTH_DELIMITED:
            length, at = _varint(message, at)
            yield number, message[at : at + length]
            at += length
        elif kind == VARINT:
            _, at = _varint(message, at)
        elif kind in (EIGHT_BYTES, FOUR_BYTES):
            at += 8 if kind == EIGHT_BYTES else 4
        else:
            raise ValueError(f"field type {kind} is not part of ONNX")


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Returns a base-128 number, least significant digit first, and where it ends."""
    value, shift = 0, 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
