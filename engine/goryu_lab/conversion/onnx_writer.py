"""The operations of a network as the nodes of an ONNX graph.

Normalisations after convolutions are folded into their weights, and a 1x1 convolution that is
added to a 3x3 convolution of the same planes into its centre. GPUs and our own CPU kernel run this form
fastest.

Source: the ONNX operator specification, opset 17.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from goryu import __version__
from goryu.evaluators.formats.detect import METADATA_KEY
from goryu_lab.conversion.network import Activation, Architecture, Convolution, Dense, Normalization
from goryu_lab.conversion.tensors import ConversionError, Floats

OPSET, IR_VERSION = 17, 8
POLICY, VALUE = "output_policy", "output_value"


def import_onnx() -> Any:
    """Returns the package onnx; raises ConversionError with advice if it is missing."""
    try:
        import onnx
    except ImportError as error:
        raise ConversionError(
            "writing ONNX files needs the package onnx: pip install onnx (or the extra convert)"
        ) from error
    return onnx


class OnnxWriter:
    """Implements `Operations`; a tensor is the name of an output in the graph."""

    def __init__(self) -> None:
        self._onnx = import_onnx()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def convolve(self, terms: Sequence[tuple[str, Convolution]], norm: Normalization | None = None) -> str:
        merged: dict[str, Convolution] = {}
        for x, convolution in terms:
            merged[x] = _joined(merged[x], convolution) if x in merged else convolution
        folded = [(x, _folded(convolution, norm)) for x, convolution in merged.items()]
        if norm is not None:
            folded[0] = folded[0][0], _shifted(folded[0][1], norm)
        outputs = [self._convolution(x, convolution) for x, convolution in folded]
        result = outputs[0]
        for other in outputs[1:]:
            result = self.add(result, other)
        return result

    def normalize(self, x: str, norm: Normalization) -> str:
        names = [self._constant(part) for part in (norm.scale, norm.shift, norm.mean, norm.variance)]
        return self._add("BatchNormalization", x, *names, epsilon=norm.epsilon)

    def activate(self, x: str, activation: Activation) -> str:
        if activation == "swish":
            return self.multiply(x, self._add("Sigmoid", x))
        return self._add({"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh"}[activation], x)

    def add(self, x: str, y: str) -> str:
        return self._add("Add", x, y)

    def multiply(self, x: str, y: str) -> str:
        return self._add("Mul", x, y)

    def mean(self, x: str) -> str:
        return self._add("GlobalAveragePool", x)

    def dense(self, x: str, layer: Dense) -> str:
        flat = self._add("Flatten", x, axis=1)
        return self._add("Gemm", flat, self._constant(layer.weight), self._constant(layer.bias), transB=1)

    def flatten(self, x: str, bias: Floats | None = None) -> str:
        flat = self._add("Flatten", x, axis=1)
        return flat if bias is None else self._add("Add", flat, self._constant(bias))

    def unflatten(self, x: str) -> str:
        return self._add("Reshape", x, self._constant(np.array([0, -1, 9, 9], np.int64)))

    def zeros(self, x: str, length: int) -> str:
        count = self._add("Shape", x, start=0, end=1)
        shape = self._add("Concat", count, self._constant(np.array([length], np.int64)), axis=0)
        zero = self._onnx.numpy_helper.from_array(np.zeros(1, np.float32))
        return self._add("ConstantOfShape", shape, value=zero)

    def write(self, architecture: Architecture, path: Path) -> None:
        """Writes the network; raises OSError."""
        helper, floats = self._onnx.helper, self._onnx.TensorProto.FLOAT
        inputs = list(architecture.inputs)
        policy, value = architecture.forward(self, inputs)
        self._name_outputs(policy, value)
        shapes: dict[str, list[int]] = {
            name: [planes, 9, 9] for name, planes in architecture.inputs.items()
        } | {POLICY: [architecture.labels], VALUE: [1]}
        tensors = [
            helper.make_tensor_value_info(name, floats, ["batch_size", *shape])
            for name, shape in shapes.items()
        ]
        count = len(inputs)
        graph = helper.make_graph(
            self._nodes, architecture.format, tensors[:count], tensors[count:], self._constants
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="goryu",
            producer_version=__version__,
        )
        helper.set_model_props(model, {METADATA_KEY: architecture.format})
        self._onnx.checker.check_model(model)
        self._onnx.save(model, str(path))

    def _name_outputs(self, policy: str, value: str) -> None:
        """Gives the last tensors the names of the outputs."""
        names = {policy: POLICY, value: VALUE}
        for node in self._nodes:
            node.output[:] = [names.get(name, name) for name in node.output]
            node.input[:] = [names.get(name, name) for name in node.input]

    def _convolution(self, x: str, convolution: Convolution) -> str:
        kernel = convolution.weight.shape[2]
        names = [self._constant(convolution.weight)]
        if convolution.bias is not None:
            names.append(self._constant(convolution.bias))
        return self._add("Conv", x, *names, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)

    def _constant(self, values: npt.NDArray[np.generic]) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind.lower()}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), [name], name, **attributes))
        return name


def _factor(norm: Normalization) -> npt.NDArray[np.float64]:
    return norm.scale.astype(np.float64) / np.sqrt(norm.variance.astype(np.float64) + norm.epsilon)


def _folded(convolution: Convolution, norm: Normalization | None) -> Convolution:
    """Returns the convolution times the factors of a normalisation that follows it."""
    if norm is None:
        return convolution
    factor = _factor(norm)
    weight = (convolution.weight * factor[:, None, None, None]).astype(np.float32)
    bias = None if convolution.bias is None else (convolution.bias * factor).astype(np.float32)
    return Convolution(weight, bias)


def _shifted(convolution: Convolution, norm: Normalization) -> Convolution:
    """Returns a folded convolution plus the constants of the normalisation."""
    shift = norm.shift - norm.mean * _factor(norm)
    bias = shift if convolution.bias is None else convolution.bias + shift
    return Convolution(convolution.weight, bias.astype(np.float32))


def _joined(one: Convolution, other: Convolution) -> Convolution:
    """Returns one convolution that is the sum of two of the same map: the smaller kernel is padded."""
    size = max(one.weight.shape[2], other.weight.shape[2])
    weights = []
    for each in (one, other):
        edge = (size - each.weight.shape[2]) // 2
        weights.append(np.pad(each.weight, ((0, 0), (0, 0), (edge, edge), (edge, edge))))
    biases = [each.bias for each in (one, other) if each.bias is not None]
    bias = np.sum(biases, axis=0) if biases else None
    return Convolution(weights[0] + weights[1], bias)
