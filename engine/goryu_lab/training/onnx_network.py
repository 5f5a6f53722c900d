"""A network in an ONNX file as a PyTorch module, so that it runs wherever PyTorch does.

A GPU on which onnxruntime has no support, and networks whose PyTorch source we lack, are the reasons. The
operators are those of the networks of dlshogi, miniosl and our trainer.
"""

import operator
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from goryu.base.errors import InputError
from goryu.evaluators.formats.onnx_graph import GraphNode, read_graph


class OnnxNetwork(nn.Module):  # type: ignore[misc]
    """Computes some outputs of the graph in a file; its weights are buffers, which do not learn."""

    def __init__(self, path: Path, outputs: tuple[str, ...]) -> None:
        """Raises InputError for a graph that this class cannot compute, ModelError for a damaged file."""
        super().__init__()
        graph = read_graph(path)
        self._outputs = outputs
        self._nodes = _needed(graph.nodes, outputs)
        self._names: dict[str, str] = {}
        self._shapes: dict[str, list[int]] = {}
        for node in self._nodes:
            if node.op_type == "Constant":
                (graph.constants[node.outputs[0]],) = [
                    np.asarray(value) for value in node.attributes.values()
                ]
            elif node.op_type not in OPERATORS:
                raise InputError(f"{path}: a network with the operator {node.op_type} cannot run here")
        self._nodes = [node for node in self._nodes if node.op_type != "Constant"]
        used = {name for node in self._nodes for name in node.inputs}
        for i, (name, array) in enumerate(graph.constants.items()):
            if name not in used:
                continue
            if array.dtype.kind == "f":
                self._names[name] = f"weight{i}"
                self.register_buffer(f"weight{i}", torch.from_numpy(array.astype(np.float32)))
            else:
                self._shapes[name] = array.reshape(-1).tolist()

    def forward(self, inputs: Mapping[str, Tensor]) -> list[Tensor]:
        """Returns the outputs, given the inputs by name."""
        known: dict[str, Any] = {"": None, **self._shapes, **inputs}
        known |= {name: getattr(self, buffer) for name, buffer in self._names.items()}
        for node in self._nodes:
            known[node.outputs[0]] = OPERATORS[node.op_type](node, *(known[name] for name in node.inputs))
        return [known[name] for name in self._outputs]


def _needed(nodes: list[GraphNode], outputs: tuple[str, ...]) -> list[GraphNode]:
    """Returns the nodes that the outputs need, in the order of the file, in which they can be computed."""
    wanted, found = set(outputs), []
    for node in reversed(nodes):
        if wanted.intersection(node.outputs):
            wanted.update(node.inputs)
            found.append(node)
    return found[::-1]


def _conv(node: GraphNode, x: Tensor, weights: Tensor, bias: Tensor | None = None) -> Tensor:
    given: Any = node.attributes
    top, left, bottom, right = given.get("pads", [0, 0, 0, 0])
    if (top, left) != (bottom, right) or given.get("auto_pad", b"NOTSET") != b"NOTSET":
        raise InputError("expected convolutions with equal borders")
    return F.conv2d(
        x,
        weights,
        bias,
        given.get("strides", 1),
        (top, left),
        given.get("dilations", 1),
        given.get("group", 1),
    )


def _gemm(node: GraphNode, x: Tensor, weights: Tensor, bias: Tensor | None = None) -> Tensor:
    given: Any = node.attributes
    if given.get("transA") or (given.get("alpha", 1.0), given.get("beta", 1.0)) != (1.0, 1.0):
        raise InputError("expected matrix products without transA, alpha and beta")
    return F.linear(x, weights if given.get("transB") else weights.T, bias)


def _axes(node: GraphNode, axes: list[int] | None) -> list[int]:
    found: Any = node.attributes.get("axes", []) if axes is None else axes
    return sorted(found)


def _reduce(node: GraphNode, x: Tensor, axes: list[int] | None = None) -> Tensor:
    over, keeps = tuple(_axes(node, axes)), bool(node.attributes.get("keepdims", 1))
    return x.mean(over, keepdim=keeps) if node.op_type == "ReduceMean" else x.amax(over, keepdim=keeps)


def _pool(node: GraphNode, x: Tensor) -> Tensor:
    given: Any = node.attributes
    widened = any(given.get("pads", ())) or given.get("ceil_mode") or set(given.get("dilations", [1])) != {1}
    if widened or given.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
        raise InputError("expected pools without borders")
    pool = F.avg_pool2d if node.op_type == "AveragePool" else F.max_pool2d
    return pool(x, tuple(given["kernel_shape"]), given.get("strides", 1))


def _squeeze(node: GraphNode, x: Tensor, axes: list[int] | None = None) -> Tensor:
    for axis in reversed(_axes(node, axes)):
        x = x.squeeze(axis)
    return x


def _unsqueeze(node: GraphNode, x: Tensor, axes: list[int] | None = None) -> Tensor:
    for axis in _axes(node, axes):
        x = x.unsqueeze(axis)
    return x


def _slice(
    node: GraphNode, x: Tensor, starts: list[int], ends: list[int], axes: list[int], steps: Any = None
) -> Tensor:
    for start, end, axis in zip(starts, ends, axes, strict=True):
        if start < 0 or end < 0 or set(steps or [1]) != {1}:
            raise InputError("expected slices without negative places and steps")
        x = x.narrow(axis, start, min(end, x.shape[axis]) - start)
    return x


def _of(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda node, *inputs: function(*inputs)


OPERATORS: dict[str, Callable[..., Any]] = {
    "Add": _of(operator.add),
    "AveragePool": _pool,
    "Concat": lambda node, *parts: torch.cat(parts, node.attributes["axis"]),
    "Constant": lambda node: None,
    "Conv": _conv,
    "Flatten": lambda node, x: x.flatten(node.attributes.get("axis", 1)),
    "Gemm": _gemm,
    "Identity": _of(lambda x: x),
    "MaxPool": _pool,
    "Mul": _of(operator.mul),
    "ReduceMax": _reduce,
    "ReduceMean": _reduce,
    "Relu": _of(F.relu),
    "Sigmoid": _of(torch.sigmoid),
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Tanh": _of(torch.tanh),
    "Unsqueeze": _unsqueeze,
}
"""By name: a function of the node and its inputs; constants of whole numbers are lists."""
