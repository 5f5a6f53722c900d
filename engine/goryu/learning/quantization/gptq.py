"""GPTQ: rounds the weights of convolutions so that their errors cancel.

Rounds the weights of one input after another. The inputs that remain compensate each rounding error, as far
as they are active together on real positions. The squared error is less than 0.7 of that of rounding to
nearest, on positions that were not used (tests/learning/training/test_training.py), and the network runs as
fast.

Source: E. Frantar et al., "GPTQ: Accurate Post-Training Quantization for Generative Pre-trained
Transformers", ICLR 2023, section 3.
"""

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import onnx
from numpy.lib.stride_tricks import sliding_window_view

from goryu.evaluators.formats.base import Array
from goryu.learning.quantization.activations import record

Hessian = npt.NDArray[np.float64]
"""[K, K]: the sum of x x^T over all patches x of K numbers that a filter of K weights reads."""

Number = TypeVar("Number", np.float32, np.int32)

DAMPING = 0.01
"""Added to the diagonal, as a share of its mean: inputs that were never active must not be free."""


def hessians(
    model: onnx.ModelProto, convolutions: Iterable[str], batches: Iterable[dict[str, Array]]
) -> dict[str, Hessian]:
    """Returns the Hessians of the inputs of some convolutions of a float network, by the convolution's name.

    batches: inputs of the network, by name. The convolutions are plain (`is_plain`).
    """
    names = set(convolutions)
    nodes = [node for node in model.graph.node if node.name in names]
    sums: dict[str, Hessian] = {}
    for seen in record(model, (node.input[0] for node in nodes), batches):
        for node in nodes:
            x = patches(seen[node.input[0]], node)
            sums[node.name] = sums.get(node.name, 0.0) + (x.T @ x).astype(np.float64)
    return sums


def round_weights(
    weights: npt.NDArray[np.float32], scales: npt.NDArray[np.float32], inputs: Hessian, limit: int
) -> npt.NDArray[np.int8]:
    """Returns the weights [filters, ...] in units of `scales` [filters], integers in [-limit, limit].

    inputs: the Hessian, in the order of the K weights of a filter.
    """
    size = len(inputs)
    order = np.argsort(-np.diag(inputs), kind="stable")  # Most active first: the others compensate.
    rest = weights.reshape(len(weights), size)[:, order].astype(np.float64)
    damping = DAMPING * np.diag(inputs).mean() or 1.0  # 1 if no input was ever active.
    damped = inputs[np.ix_(order, order)] + damping * np.eye(size)
    inverse = np.linalg.cholesky(np.linalg.inv(damped)).T
    rounded = np.zeros_like(rest)
    for i in range(size):
        rounded[:, i] = np.clip(np.round(rest[:, i] / scales), -limit, limit)
        lost = (rest[:, i] - rounded[:, i] * scales) / inverse[i, i]
        rest[:, i + 1 :] -= np.outer(lost, inverse[i, i + 1 :])
    result = np.zeros_like(rounded)
    result[:, order] = rounded
    return result.reshape(weights.shape).astype(np.int8)


def patches(x: npt.NDArray[Number], node: onnx.NodeProto, zero: int = 0) -> npt.NDArray[Number]:
    """Returns the patches, [patches, K], of an input [N, C, H, W] of a plain convolution.

    zero: value of the padding.
    """
    attributes = _attributes(node)
    height, width = attributes["kernel_shape"]
    top, left, bottom, right = attributes.get("pads", (0, 0, 0, 0))
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=zero)
    windows = sliding_window_view(padded, (height, width), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, x.shape[1] * height * width)


def is_plain(node: onnx.NodeProto) -> bool:
    """Is it two-dimensional, with strides, dilations and groups of 1 and explicit pads?"""
    attributes = _attributes(node)
    return (
        len(attributes.get("kernel_shape", ())) == 2
        and {*attributes.get("strides", ()), *attributes.get("dilations", ()), attributes.get("group", 1)}
        == {1}
        and attributes.get("auto_pad", b"NOTSET") == b"NOTSET"
    )


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
