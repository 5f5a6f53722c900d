"""A linear network in the format of dlshogi, for the tests of what runs networks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx")


def write_model(
    path: Path,
    *,
    hand_planes: int = 57,
    policy_planes: int = 27,
    head: str = "Sigmoid",
    dtype: str = "FLOAT",
    batch: str | int = "batch_size",
    input_name: str = "input1",
    opset: int = 17,
) -> Path:
    """Writes a linear network in the dlshogi format: logits and value are weighted sums of the planes.

    The weights are drawn once, so two models differ only in the arguments.
    """
    rng = np.random.default_rng(5)
    element = getattr(onnx.TensorProto, dtype)
    numpy_type = np.float16 if dtype == "FLOAT16" else np.float32
    policy_weights = rng.normal(0, 0.1, (policy_planes, 62, 1, 1)).astype(numpy_type)
    value_weights = rng.normal(0, 0.05, (hand_planes * 81 + 62 * 81, 1)).astype(numpy_type)
    node = onnx.helper.make_node
    nodes = [
        node("Flatten", [input_name], ["board"]),
        node("Flatten", ["input2"], ["hands"]),
        node("Conv", [input_name, "policy_weights"], ["filtered"]),
        node("Flatten", ["filtered"], ["output_policy"]),
        node("Concat", ["board", "hands"], ["all"], axis=1),
        node("MatMul", ["all", "value_weights"], ["sum"]),
        node(head, ["sum"], ["value"]),
        node("Reshape", ["value", "column"], ["output_value"]),
    ]
    tensor = onnx.helper.make_tensor_value_info
    inputs = {input_name: [batch, 62, 9, 9], "input2": [batch, hand_planes, 9, 9]}
    outputs = {"output_policy": [batch, 81 * policy_planes], "output_value": [batch, 1]}
    weights = {
        "policy_weights": policy_weights,
        "value_weights": value_weights,
        "column": np.array([-1, 1], np.int64),
    }
    tensors = [[tensor(name, element, shape) for name, shape in each.items()] for each in (inputs, outputs)]
    constants = [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = onnx.helper.make_graph(nodes, "test", *tensors, constants)
    opsets = [onnx.helper.make_opsetid("", opset)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path
