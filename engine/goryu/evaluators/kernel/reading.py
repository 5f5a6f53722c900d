"""Reads a residual network from an ONNX file, as a list of layers that our own kernel can compute.

The file is interpreted operator by operator (`operators.py`). Constants are folded into the weights
(`folding.py`), and a layer is added when its output is needed (`builder.py`). So the networks of our trainer,
of dlshogi and of miniosl are read, with and without bottlenecks, squeeze-and-excitation or global pooling,
with ReLU or swish, of any width and depth; everything else raises `UnsupportedError` with the reason, and
onnxruntime runs it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np

from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS
from goryu.evaluators.formats.dlshogi_planes import BOARD_PLANES
from goryu.evaluators.formats.miniosl import MINIOSL_PLANES, MINIOSL_TENSORS
from goryu.evaluators.formats.onnx_graph import Graph, GraphNode, read_graph
from goryu.evaluators.kernel.builder import LayerBuilder
from goryu.evaluators.kernel.folding import Flat, Gate, Planes, Product, Tensor
from goryu.evaluators.kernel.layers import (
    SQUARES,
    Convolution,
    Dense,
    Input,
    Layer,
    Pool,
    ResidualNetwork,
    Spread,
    Stem,
    UnsupportedError,
)
from goryu.evaluators.kernel.operators import OPERATORS

TENSORS = (("input1", "input2", "output_policy", "output_value"), MINIOSL_TENSORS)
"""The tensors of a file, inputs first: of the dlshogi format, of miniosl's."""

POLICY_CHANNELS = DLSHOGI_LABELS // SQUARES


def read_network(path: Path) -> ResidualNetwork:
    """Returns the network in an ONNX file of the dlshogi format or of miniosl's.

    Raises:
        UnsupportedError: it is of another kind.
        ModelError: the file is damaged.
        OSError: it cannot be read.
    """
    graph = read_graph(path)
    *inputs, policy, value = _tensors_of(graph)
    build = LayerBuilder(has_stem=len(inputs) == 2)
    tensors: dict[str, Tensor] = dict(graph.constants)
    tensors |= {name: Planes(i) for i, name in enumerate(inputs)}
    for node in _needed(graph, (policy, value)):
        with _interpreting(node.op_type):
            _interpret(node, tensors, build)
    with _interpreting("the output"):
        return _with_few_maps(_with_outputs(build, tensors.get(policy), tensors.get(value)))


def _tensors_of(graph: Graph) -> Sequence[str]:
    """Returns the names of the inputs, the policy and the value."""
    known = [
        names
        for names in TENSORS
        if sorted(graph.inputs) == sorted(names[:-2]) and {*names[-2:]} <= {*graph.outputs}
    ]
    if not known:
        raise UnsupportedError("the tensors are not those of the dlshogi format or of miniosl")
    if any(node.op_type in ("QLinearConv", "ConvInteger", "DequantizeLinear") for node in graph.nodes):
        raise UnsupportedError("its weights have 8 bits; the float file of the same network is faster")
    return known[0]


def _interpret(node: GraphNode, tensors: dict[str, Tensor], build: LayerBuilder) -> None:
    """Adds the output of a node to the tensors that are known so far."""
    operator = OPERATORS.get(node.op_type)
    if operator is None or node.domain not in ("", "ai.onnx"):
        raise UnsupportedError(f"it has the operator {node.op_type}")
    try:
        inputs = [tensors[name] if name else None for name in node.inputs]
    except KeyError as error:
        raise UnsupportedError(f"{node.op_type} reads {error}, which nothing computes") from error
    result = operator(build, node, *inputs)
    if node.outputs:
        tensors[node.outputs[0]] = result


def _with_outputs(build: LayerBuilder, policy: Tensor | None, value: Tensor | None) -> ResidualNetwork:
    if not isinstance(policy, Flat) or policy.source.channels != POLICY_CHANNELS:
        raise UnsupportedError("the policy is not a convolution to 27 channels")
    map_ = build.map(policy.source)
    bias = np.zeros(DLSHOGI_LABELS, np.float32) if policy.bias is None else policy.bias
    steepness = 2.0 if isinstance(value, Gate) and value.is_tanh else 1.0
    logit = value.source if isinstance(value, Gate) else value
    if not isinstance(logit, Product) or len(logit.weights) not in (1, 1 if build.has_stem else 4):
        raise UnsupportedError("the value is not computed by a dense layer")
    vector = build.vector(replace(logit, weights=logit.weights[:1], bias=logit.bias[:1], computed={}))
    planes = (BOARD_PLANES, build.hand_planes) if build.has_stem else (MINIOSL_PLANES,)
    return ResidualNetwork(
        build.layers, build.maps, build.vectors, planes, map_.number,
        bias.reshape(POLICY_CHANNELS, SQUARES), vector.number, steepness,
    )  # fmt: skip


@contextmanager
def _interpreting(what: str) -> Iterator[None]:
    """Translates the errors of a network that makes no sense, such as shapes that do not fit, attributes of
    another type, missing inputs, or weights that are not finite after they were scaled.
    """
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except UnsupportedError:
        raise
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError, MemoryError) as error:
        raise UnsupportedError(f"{what} cannot be interpreted ({error})") from error


def _sources(layer: Layer) -> list[int]:
    """Returns the maps that a layer reads."""
    if isinstance(layer, Stem | Input):
        return []
    if isinstance(layer, Dense):
        return [layer.source] if layer.reads_map else []
    residual = None if isinstance(layer, Pool) else layer.residual
    return [layer.source] if residual is None else [layer.source, residual]


def _with_few_maps(network: ResidualNetwork) -> ResidualNetwork:
    """Returns the network with buffers used again when their maps are not needed any more.

    A few maps stay in the first- and second-level caches. A convolution may write to the buffer of its
    residual, not to that of its source.
    """
    last_use = {network.policy: len(network.layers)}
    for i, layer in enumerate(network.layers):
        for number in _sources(layer):
            last_use[number] = max(i, last_use.get(number, 0))
    sizes: list[int] = []
    free: list[int] = []
    buffer_of: dict[int, int] = {}
    layers: list[Layer] = []
    for i, layer in enumerate(network.layers):
        sources = _sources(layer)
        source = buffer_of[layer.source] if sources and isinstance(layer, Convolution) else None
        ended = [buffer_of[number] for number in dict.fromkeys(sources) if last_use[number] == i]
        free += [buffer for buffer in ended if buffer != source]
        changes: dict[str, Any] = {}
        if sources:
            changes["source"] = buffer_of[sources[0]]
        if len(sources) > 1:
            changes["residual"] = buffer_of[sources[1]]
        if isinstance(layer, Stem | Input | Convolution | Spread):
            width = network.maps[layer.to]
            fitting = [buffer for buffer in free if sizes[buffer] == width]
            if fitting:
                buffer = fitting[-1]
                free.remove(buffer)
            else:
                buffer = len(sizes)
                sizes.append(width)
            buffer_of[layer.to] = changes["to"] = buffer
        if source in ended and source is not None:
            free.append(source)
        layers.append(replace(layer, **changes))
    return replace(network, layers=layers, maps=sizes, policy=buffer_of[network.policy])


def _needed(graph: Graph, outputs: Sequence[str]) -> list[GraphNode]:
    """Returns the nodes that compute these outputs, each after those that it needs.

    A file may have others, which cost time, and tools append nodes that are needed first, as onnxruntime's
    conversion to 16 bits does. Otherwise the order is the file's.
    """
    producers = {name: i for i, node in enumerate(graph.nodes) for name in node.outputs}
    needs: dict[int, set[int]] = {}
    waiting = [producers[name] for name in outputs if name in producers]
    while waiting:
        i = waiting.pop()
        if i not in needs:
            needs[i] = {producers[name] for name in graph.nodes[i].inputs if name in producers}
            waiting += needs[i]
    sorter = TopologicalSorter(needs)
    try:
        sorter.prepare()
    except CycleError as error:
        raise UnsupportedError("its nodes need each other") from error
    order: list[int] = []
    ready: list[int] = []
    while sorter:
        for i in sorter.get_ready():
            heappush(ready, i)
        order.append(heappop(ready))
        sorter.done(order[-1])
    return [graph.nodes[i] for i in order]
