"""Networks of our trainer's architecture with random weights, in any format, to measure their speed."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from goryu.evaluators.formats.aobazero import AOBAZERO_LABELS, AOBAZERO_PLANES
from goryu.evaluators.formats.detect import METADATA_KEY
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS
from goryu.evaluators.formats.dlshogi_planes import BOARD_PLANES, HAND_PLANES, NYUGYOKU_PLANES
from goryu.evaluators.formats.nshogi import NSHOGI_PLANES
from goryu.evaluators.formats.onnx_edit import ELEMENT_TYPES, GraphEdit, new_model, node
from goryu.evaluators.formats.python_dlshogi2 import BOOK_PLANES

VALUE_CHANNELS = 32


@dataclass(frozen=True, slots=True)
class Tensors:
    """What a format's networks have: planes by input, the name and the labels of the policy, and the heads.

    heads: the operator that computes each value from its sum.
    format: for the metadata.
    """

    format: str
    inputs: dict[str, int]
    policy: str
    heads: dict[str, str]
    labels: int = DLSHOGI_LABELS


_DLSHOGI = {"output_value": "Sigmoid"}
_NSHOGI = {"value": "Sigmoid", "draw": "Sigmoid"}

TENSORS = {
    "dlshogi": Tensors("dlshogi", {"input1": BOARD_PLANES, "input2": HAND_PLANES}, "output_policy", _DLSHOGI),
    "dlshogi-119": Tensors(
        "dlshogi",
        {"input1": BOARD_PLANES, "input2": HAND_PLANES + NYUGYOKU_PLANES},
        "output_policy",
        _DLSHOGI,
    ),
    "python-dlshogi2": Tensors("python-dlshogi2", {"x": BOOK_PLANES}, "policy", {"value": "Identity"}),
    "python-dlshogi": Tensors("python-dlshogi", {"x": BOOK_PLANES}, "policy", {"value": "Identity"}),
    "nshogi": Tensors("nshogi", {"input": NSHOGI_PLANES[0]}, "policy", _NSHOGI),
    "nshogi-93": Tensors("nshogi", {"input": NSHOGI_PLANES[1]}, "policy", _NSHOGI),
    "aobazero": Tensors("aobazero", {"x": AOBAZERO_PLANES}, "policy", {"value": "Tanh"}, AOBAZERO_LABELS),
}
"""By the names that `write_random_network` takes."""


def write_random_network(
    blocks: int, channels: int, path: Path, seed: int = 1, *, kind: str = "dlshogi", is_half: bool = False
) -> None:
    """Writes an ONNX file: residual blocks, policy head, value heads.

    kind: one of `TENSORS`. is_half: compute in float16, inputs and outputs too.
    """
    tensors = TENSORS[kind]
    element: type[np.generic] = np.float16 if is_half else np.float32
    random = np.random.default_rng(seed)
    graph = GraphEdit()

    def weights(*shape: int) -> str:
        scale = math.prod(shape[1:]) ** -0.5
        values = (random.standard_normal(shape) * scale).astype(element)
        return graph.constant(f"w{len(graph.constants)}", values)

    def add(op_type: str, *inputs: str, to: str = "", **attributes: int | list[int]) -> str:
        name = to or f"t{len(graph.after)}"
        graph.after.append(node(op_type, inputs, name, **attributes))
        return name

    def conv(x: str, inputs: int, outputs: int, size: int) -> str:
        return add("Conv", x, weights(outputs, inputs, size, size), weights(outputs), pads=[size // 2] * 4)

    sizes = (3, 1)  # Planes with squares; planes that are constant.
    stems = [
        conv(name, n, channels, size) for (name, n), size in zip(tensors.inputs.items(), sizes, strict=False)
    ]
    x = add("Relu", add("Add", *stems) if len(stems) == 2 else stems[0])
    for _ in range(blocks):
        y = conv(add("Relu", conv(x, channels, channels, 3)), channels, channels, 3)
        x = add("Relu", add("Add", x, y))
    add("Flatten", conv(x, channels, tensors.labels // 81, 1), to=tensors.policy)
    pooled = add("ReduceMean", add("Relu", conv(x, channels, VALUE_CHANNELS, 1)), axes=[2, 3], keepdims=0)
    for name, head in tensors.heads.items():
        add(head, add("Gemm", pooled, weights(1, VALUE_CHANNELS), weights(1), transB=1), to=name)
    number = ELEMENT_TYPES[element]
    graph.inputs = {name: (number, ("n", planes, 9, 9)) for name, planes in tensors.inputs.items()}
    graph.outputs = {tensors.policy: (number, ("n", tensors.labels))}
    graph.outputs |= dict.fromkeys(tensors.heads, (number, ("n", 1)))
    model = new_model(graph, name="random", opset=17, version=8, metadata={METADATA_KEY: tensors.format})
    path.write_bytes(model)
