"""A linear network in the format of dlshogi, for the tests of what runs networks."""

from pathlib import Path

import numpy as np

from kernel_networks import Model


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
    m = Model(5, half=dtype == "FLOAT16")
    filtered = m.add("Conv", input_name, m.normal(policy_planes, 62, 1, 1, scale=0.1))
    m.add("Flatten", filtered, to="output_policy")
    planes = m.add("Concat", m.add("Flatten", input_name), m.add("Flatten", "input2"), axis=1)
    total = m.add("MatMul", planes, m.normal(81 * (62 + hand_planes), 1, scale=0.05))
    m.add("Reshape", m.add(head, total), m.constant(np.array([-1, 1])), to="output_value")
    inputs = {input_name: [62, 9, 9], "input2": [hand_planes, 9, 9]}
    outputs = {"output_policy": [81 * policy_planes], "output_value": [1]}
    return m.save_as(path, inputs, outputs, batch, opset)
