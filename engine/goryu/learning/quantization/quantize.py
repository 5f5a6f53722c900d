"""Smaller networks: 8-bit integers, three times as fast in onnxruntime on a CPU, or 16-bit floats for GPUs.

The convolutions, nearly all of the work, get signed bytes as weights, with a scale for each output channel,
and unsigned bytes as activations, with a range found by running the network on real positions (static
quantization). The operators stay the same, framed by QuantizeLinear and DequantizeLinear nodes (the QDQ
form), which onnxruntime fuses into integer kernels.

These steps keep the rounding errors small: channels can be equalized first (`equalization.py`); activations
get the range with the smallest error, channels that are added to the trunk have their own scales, and
residual connections are not rounded (`calibration.py`); the errors of the weights cancel (`gptq.py`); and
planes of zeros and ones are exact.

Goryu's own kernel (`evaluators/kernel/winograd.py`) needs the float network and is faster still.

GPUs compute with 16-bit floats twice as fast; CPUs gain nothing from them.

Compare the policy with that of the float network (`comparison.py`) before you ship a small network, and
confirm it by a match.

Source: B. Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
Inference", CVPR 2018; onnxruntime's quantization tool, which does most of the work.
"""

import tempfile
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from goryu.base.errors import InputError
from goryu.evaluators.formats.base import Array
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.learning.quantization.comparison import CALIBRATION_BATCH, batches_of, planes_of
from goryu.learning.training.dataset import Dataset


def quantize(
    source: Path,
    target: Path,
    positions: Dataset,
    *,
    reduce_range: bool = False,
    exclude: Sequence[str] = (),
) -> None:
    """Writes `target`, the 8-bit version of the float network `source`, calibrated on `positions`.

    Uses only whole batches of 16 positions. The options are those of `quantize_on`.
    """
    whole = positions.select(np.arange(len(positions) // CALIBRATION_BATCH * CALIBRATION_BATCH))
    inputs = [spec.name for spec in NetworkEvaluator(source, backend="cpu").format.inputs]
    batches = [dict(zip(inputs, planes_of(batch), strict=True)) for batch in batches_of(whole)]
    quantize_on(source, target, batches, reduce_range=reduce_range, exclude=exclude)


def quantize_on(
    source: Path,
    target: Path,
    batches: Sequence[dict[str, Array]],
    *,
    reduce_range: bool = False,
    exclude: Sequence[str] = (),
) -> None:
    """Writes `target`, the 8-bit version of the float network `source`, calibrated on batches of its inputs.

    batches: inputs by name, all batches of one size. An input whose values are all integers of a byte, such
        as planes of zeros and ones, is not rounded.
    reduce_range: use 7 bits for the weights. A CPU with AVX2 but without VNNI adds pairs of products in 16
        bits, which 8-bit weights can overflow. Weights of planes keep 8 bits: planes are 0 or 1.
    exclude: names of convolutions that stay float: whole, as prefixes, or as patterns such as "*/first/*".

    Raises:
        InputError: the network's weights are not floats, or `exclude` names no convolution.
    """
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        model = _prepare(source, prepared)
        _check(source, model, exclude)
        kept = [node.name for node in model.graph.node if _is_excluded(node.name, exclude)]
        small = [node for node in model.graph.node if node.op_type == "Conv" and node.name not in kept]
        exact = {name for name in batches[0] if all(_fit_bytes(batch[name]) for batch in batches)}
        # `_refine` finds better ranges for all but the inputs.
        needed = batches if len(exact) < len(batches[0]) else batches[:1]
        _quantize_static(prepared, target, needed, kept, _exact_scales(small, exact), reduce_range)
        _refine(target, model, small, batches)


def _prepare(source: Path, prepared: Path) -> Any:
    """Writes the network `source` as onnxruntime's tool wants it; returns it, with a name for every node."""
    # Heavy and noisy packages of the extra [train].
    import onnx
    from onnxruntime.quantization.shape_inference import quant_pre_process

    quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
    model = onnx.load(prepared)
    for i, node in enumerate(model.graph.node):  # Some exporters give them no names.
        node.name = node.name or f"{node.op_type}-{i}"
    onnx.save(model, prepared)
    return model


def _exact_scales(convolutions: Sequence[Any], exact: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """Returns the settings of tensors by which inputs that hold integers of a byte are not rounded."""
    scales: dict[str, list[dict[str, Any]]] = {}
    for plane, weight in [node.input[:2] for node in convolutions if node.input[0] in exact]:
        scales[plane] = [{"scale": np.array(1, np.float32), "zero_point": np.array(0, np.uint8)}]
        scales[weight] = [{"axis": 0, "reduce_range": False}]
    return scales


def _quantize_static(
    prepared: Path,
    target: Path,
    batches: Sequence[dict[str, Array]],
    kept: Sequence[str],
    scales: dict[str, list[dict[str, Any]]],
    reduce_range: bool,
) -> None:
    """Quantizes all convolutions but those `kept`, by onnxruntime's tool, with `scales` for some tensors."""
    from onnxruntime import quantization

    quantization.quantize_static(
        str(prepared),
        str(target),
        _Reader(batches),
        quant_format=quantization.QuantFormat.QDQ,
        activation_type=quantization.QuantType.QUInt8,
        weight_type=quantization.QuantType.QInt8,
        per_channel=True,
        reduce_range=reduce_range,
        nodes_to_exclude=list(kept),
        op_types_to_quantize=["Conv", "Relu"],
        extra_options={"TensorQuantOverrides": scales},
    )


def _refine(
    target: Path, model: Any, convolutions: Sequence[Any], batches: Sequence[dict[str, Array]]
) -> None:
    """Rounds the weights of `target` by GPTQ, fits its ranges and leaves its residual connections float.

    model: the float network. convolutions: those of its nodes that `target` has in 8 bits.
    """
    import onnx

    from goryu.learning.quantization.calibration import fit_ranges, keep_residuals_unrounded
    from goryu.learning.quantization.gptq import hessians, is_plain

    plain = {node.name: node for node in convolutions if is_plain(node)}
    rounded = onnx.load(target)
    _round_weights(rounded, model, plain, hessians(model, plain, batches))
    fit_ranges(rounded, model, batches)
    keep_residuals_unrounded(rounded)
    onnx.save(rounded, target)


def halve(source: Path, target: Path) -> None:
    """Writes `target`, the network `source` in 16-bit floats.

    Inputs and outputs keep 32 bits, so that it can replace the float network: other engines of the dlshogi
    format feed 32-bit planes.
    """
    import onnx
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(source), keep_io_types=True), target)


def _fit_bytes(values: Array) -> bool:
    """Are all values integers that fit an unsigned byte?"""
    numbers = np.asarray(values, np.float64)
    return bool((numbers == np.clip(np.round(numbers), 0, 255)).all())


def _is_excluded(name: str, patterns: Sequence[str]) -> bool:
    return any(name.startswith(pattern) or fnmatchcase(name, pattern) for pattern in patterns)


def _check(source: Path, model: Any, exclude: Sequence[str]) -> None:
    from onnx import TensorProto

    convolutions = [node for node in model.graph.node if node.op_type == "Conv"]
    floats = {tensor.name for tensor in model.graph.initializer if tensor.data_type == TensorProto.FLOAT}
    if not convolutions or any(node.input[1] not in floats for node in convolutions):
        raise InputError(f"{source}: expected a network with convolutions whose weights are float32")
    for pattern in exclude:
        if not any(_is_excluded(node.name, [pattern]) for node in convolutions):
            names = ", ".join(node.name for node in convolutions)
            raise InputError(f"exclude {pattern!r}: expected some of {names}")


def _round_weights(small: Any, source: Any, convolutions: dict[str, Any], inputs: dict[str, Any]) -> None:
    """Rounds the weights of the 8-bit network `small` again, by GPTQ, on the same scales."""
    from onnx import numpy_helper

    from goryu.learning.quantization.gptq import round_weights

    exact = {tensor.name: numpy_helper.to_array(tensor) for tensor in source.graph.initializer}
    rounded = {tensor.name: tensor for tensor in small.graph.initializer}
    for name, node in convolutions.items():
        weight = node.input[1]
        tensor = rounded[f"{weight}_quantized"]
        scales = numpy_helper.to_array(rounded[f"{weight}_scale"])
        limit = int(np.abs(numpy_helper.to_array(tensor)).max())
        values = round_weights(exact[weight], scales, inputs[name], limit)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


class _Reader:
    """Gives onnxruntime's calibration one batch after another."""

    def __init__(self, batches: Sequence[dict[str, Array]]) -> None:
        self._batches = iter(batches)

    def get_next(self) -> dict[str, Array] | None:
        return next(self._batches, None)
