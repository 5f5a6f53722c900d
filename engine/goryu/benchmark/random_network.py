"""A network of our trainer's architecture with random weights, to measure how fast its size is."""

import math
from pathlib import Path
from typing import Any

import numpy as np

LABELS = 27


def write_random_network(blocks: int, channels: int, path: Path, seed: int = 1) -> None:
    """Writes an ONNX file of the dlshogi format: residual blocks, policy head, value head.

    Needs the package onnx.
    """
    from onnx import TensorProto, helper, numpy_helper, save

    random = np.random.default_rng(seed)
    nodes: list[Any] = []
    constants: list[Any] = []

    def weights(*shape: int) -> str:
        name = f"w{len(constants)}"
        scale = math.prod(shape[1:]) ** -0.5
        values = (random.standard_normal(shape) * scale).astype(np.float32)
        constants.append(numpy_helper.from_array(values, name))
        return name

    def add(op_type: str, *inputs: str, to: str = "", **attributes: Any) -> str:
        name = to or f"t{len(nodes)}"
        nodes.append(helper.make_node(op_type, list(inputs), [name], **attributes))
        return name

    def conv(x: str, inputs: int, outputs: int, size: int) -> str:
        return add("Conv", x, weights(outputs, inputs, size, size), weights(outputs), pads=[size // 2] * 4)

    x = add("Relu", add("Add", conv("input1", 62, channels, 3), conv("input2", 57, channels, 1)))
    for _ in range(blocks):
        y = conv(add("Relu", conv(x, channels, channels, 3)), channels, channels, 3)
        x = add("Relu", add("Add", x, y))
    add("Flatten", conv(x, channels, LABELS, 1), to="output_policy")
    pooled = add("ReduceMean", add("Relu", conv(x, channels, 32, 1)), axes=[2, 3], keepdims=0)
    value = add("Gemm", pooled, weights(1, 32), weights(1), transB=1)
    add("Sigmoid", value, to="output_value")
    shapes = {
        "input1": [62, 9, 9],
        "input2": [57, 9, 9],
        "output_policy": [LABELS * 81],
        "output_value": [1],
    }
    tensors = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", *shape])
        for name, shape in shapes.items()
    ]
    graph = helper.make_graph(nodes, "random", tensors[:2], tensors[2:], constants)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
