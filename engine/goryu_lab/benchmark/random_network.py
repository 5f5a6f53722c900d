"""Networks of our trainer's architecture with random weights, in any format, to measure their speed.

The policy is made as sharp as that of a trained network. A search whose policy knows a single move walks the
same line again and again and cannot fill its batches.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from goryu.evaluators.formats.aobazero import AOBAZERO_LABELS, AOBAZERO_PLANES
from goryu.evaluators.formats.detect import METADATA_KEY
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS
from goryu.evaluators.formats.dlshogi_planes import BOARD_PLANES, HAND_PLANES, NYUGYOKU_PLANES
from goryu.evaluators.formats.miniosl import MINIOSL_PLANES
from goryu.evaluators.formats.nshogi import NSHOGI_PLANES
from goryu.evaluators.formats.onnx_edit import ELEMENT_TYPES, GraphEdit, new_model, node
from goryu.evaluators.formats.python_dlshogi2 import BOOK_PLANES
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.shogi import Board
from goryu_lab.benchmark.throughput import MIDDLE_GAME

VALUE_CHANNELS = 32
SHARPNESS = 1.3
"""Standard deviation of the logits of the legal moves, in the middle game; goryu-5x64 has 1.25 to 1.45."""
BIAS = 0.1
"""Standard deviation of the biases. Large ones make the same answer of all positions."""


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
    "miniosl": Tensors("miniosl", {"input": MINIOSL_PLANES}, "move", {"value": "Tanh"}),
}
"""By the names that `write_random_network` takes."""


def write_random_network(
    blocks: int, channels: int, path: Path, seed: int = 1, *, kind: str = "dlshogi", is_half: bool = False
) -> None:
    """Writes an ONNX file: residual blocks, policy head, value heads.

    kind: one of `TENSORS`. is_half: compute in float16, inputs and outputs too.
    """
    path.write_bytes(_model(blocks, channels, seed, TENSORS[kind], is_half=False, sharpness=1.0))
    (evaluation,) = NetworkEvaluator(path, backend="cpu", batch_size=1).evaluate([Board(MIDDLE_GAME)])
    sharpness = SHARPNESS / float(np.std(np.log(evaluation.policy)))
    path.write_bytes(_model(blocks, channels, seed, TENSORS[kind], is_half=is_half, sharpness=sharpness))


def _model(
    blocks: int, channels: int, seed: int, tensors: Tensors, *, is_half: bool, sharpness: float
) -> bytes:
    """Returns an ONNX file. sharpness: a factor of the logits."""
    element: type[np.generic] = np.float16 if is_half else np.float32
    random = np.random.default_rng(seed)
    graph = GraphEdit()

    def weights(*shape: int, factor: float = 1.0) -> str:
        scale = math.prod(shape[1:]) ** -0.5 if len(shape) > 1 else BIAS
        values = (random.standard_normal(shape) * scale * factor).astype(element)
        return graph.constant(f"w{len(graph.constants)}", values)

    def add(op_type: str, *inputs: str, to: str = "", **attributes: int | list[int]) -> str:
        name = to or f"t{len(graph.after)}"
        graph.after.append(node(op_type, inputs, name, **attributes))
        return name

    def conv(x: str, inputs: int, outputs: int, size: int, factor: float = 1.0) -> str:
        kernel = weights(outputs, inputs, size, size, factor=factor)
        return add("Conv", x, kernel, weights(outputs, factor=factor), pads=[size // 2] * 4)

    sizes = (3, 1)  # Planes with squares; planes that are constant.
    stems = [
        conv(name, n, channels, size) for (name, n), size in zip(tensors.inputs.items(), sizes, strict=False)
    ]
    x = add("Relu", add("Add", *stems) if len(stems) == 2 else stems[0])
    for _ in range(blocks):
        y = conv(add("Relu", conv(x, channels, channels, 3)), channels, channels, 3)
        x = add("Relu", add("Add", x, y))
    add("Flatten", conv(x, channels, tensors.labels // 81, 1, sharpness), to=tensors.policy)
    pooled = add("ReduceMean", add("Relu", conv(x, channels, VALUE_CHANNELS, 1)), axes=[2, 3], keepdims=0)
    for name, head in tensors.heads.items():
        add(head, add("Gemm", pooled, weights(1, VALUE_CHANNELS), weights(1), transB=1), to=name)
    number = ELEMENT_TYPES[element]
    graph.inputs = {name: (number, ("n", planes, 9, 9)) for name, planes in tensors.inputs.items()}
    graph.outputs = {tensors.policy: (number, ("n", tensors.labels))}
    graph.outputs |= dict.fromkeys(tensors.heads, (number, ("n", 1)))
    return new_model(graph, name="random", opset=17, version=8, metadata={METADATA_KEY: tensors.format})
