"""Counts the sums that overflow with 8-bit weights on a CPU without VNNI.

With AVX2 alone, onnxruntime multiplies unsigned by signed bytes with vpmaddubsw, an instruction that adds two
neighbouring products in 16 bits and saturates. 7-bit weights always fit. 8-bit weights nearly always fit,
because an overflow needs two large activations with two large weights.
"""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

from goryu.learning.quantization.gptq import is_plain, patches
from goryu.learning.training.dataset import Dataset, make_batch

GREATEST, LEAST = 2**15 - 1, -(2**15)


def saturated_pairs(path: Path, positions: Dataset) -> tuple[int, int]:
    """Returns how many sums of two products would saturate on some positions, and how many there are.

    Counts those of plain convolutions (`is_plain`) only.
    """
    model = onnx.load(path)
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    makers = {name: node for node in model.graph.node for name in node.output}
    layers = []
    for node in model.graph.node:
        sources = [makers.get(name) for name in node.input[:2]]
        if node.op_type != "Conv" or not is_plain(node):
            continue
        if all(s is not None and s.op_type == "DequantizeLinear" for s in sources):
            (activation, _, zero), (weight, *_) = (source.input for source in sources if source is not None)
            layers.append((node, activation, int(weights[zero]), weights[weight].astype(np.int32)))
            model.graph.output.append(
                onnx.helper.make_tensor_value_info(activation, onnx.TensorProto.UINT8, None)
            )
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    batch = make_batch(positions, np.arange(len(positions)), np.zeros(len(positions), bool))
    names = [output.name for output in session.get_outputs()]
    inputs = {"input1": batch.input1, "input2": batch.input2}
    seen = dict(zip(names, session.run(names, inputs), strict=True))
    saturated = total = 0
    for node, activation, zero, weight in layers:
        # Neighbours in memory are the channels of one square.
        filters, channels, *square = weight.shape
        read = patches(np.asarray(seen[activation], np.int32), node, zero).reshape(-1, channels, *square)
        flat = read.transpose(0, 2, 3, 1).reshape(len(read), -1)
        for kernel in weight.transpose(0, 2, 3, 1).reshape(filters, -1):
            products = flat * kernel
            sums = products[:, 0:-1:2] + products[:, 1::2]  # The last of an odd number has no partner.
            saturated += int(((sums > GREATEST) | (sums < LEAST)).sum())
            total += sums.size
    return saturated, total
