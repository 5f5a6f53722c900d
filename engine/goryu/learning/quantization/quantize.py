"""Smaller numbers: the network in 8-bit integers, three times as fast on a CPU, or in 16-bit floats.

The convolutions, nearly all of the work, get signed bytes as weights, with a scale for each output channel,
and unsigned bytes as activations, with a range found by running the network on real positions (static
quantisation). The operators stay what they are, framed by QuantizeLinear and DequantizeLinear nodes (the QDQ
form), which onnxruntime fuses into integer kernels.

Against the rounding, which the policy must not hear: channels can be made equal first (`equalization.py`),
ranges suit what follows, channels that are added to the trunk have scales of their own, residual connections
stay unrounded (`activation_ranges.py`), errors of the weights cancel (`weight_rounding.py`), and planes of
zeros and ones lose nothing.

16-bit floats are for GPUs, which calculate with them twice as fast; a CPU gains nothing.

The policy must be compared with the float network's (`agreement`) before a small network is shipped, and a
match must confirm it.

Source: B. Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
Inference", CVPR 2018; onnxruntime's quantisation tool, which does most of the work.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from goryu.errors import InputError
from goryu.evaluators.formats.base import Array
from goryu.evaluators.network import NetworkEvaluator
from goryu.learning.training.dataset import Batch, Dataset, make_batch

CALIBRATION_BATCH = 16


@dataclass(frozen=True, slots=True)
class Agreement:
    """How close two networks are on the same positions.

    policy_top1: share of positions with the same first choice among the legal moves.
    policy_error: root mean square of the difference of the legal moves' probabilities.
    value_error: the same of the values in [-1, +1].
    """

    positions: int
    policy_top1: float
    policy_error: float
    value_error: float


def quantize(
    source: Path,
    target: Path,
    positions: Dataset,
    *,
    reduce_range: bool = False,
    exclude: Sequence[str] = (),
) -> None:
    """Writes `target`, the 8-bit version of the float network `source`, calibrated on `positions`.

    Of the positions only whole batches of 16 are used. The rest is as of `quantize_on`.
    """
    whole = positions.select(np.arange(len(positions) // CALIBRATION_BATCH * CALIBRATION_BATCH))
    inputs = [spec.name for spec in NetworkEvaluator(source, backend="cpu").format.inputs]
    batches = [dict(zip(inputs, _planes(batch), strict=True)) for batch in _batches(whole)]
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

    batches: inputs by name, all batches of one size. An input that holds nothing but integers of a byte in
        all of them, such as planes of zeros and ones, is not rounded.
    reduce_range: use 7 bits for the weights; a CPU with AVX2 but without VNNI adds pairs of products in
        16 bits, which 8-bit weights can overflow. Weights of planes keep 8 bits: planes are 0 or 1.
    exclude: names of convolutions, beginnings of names, or patterns such as "*/first/*", that stay float.

    Raises:
        InputError: the network's weights are not floats, or there is nothing that `exclude` names.
    """
    # Heavy and noisy packages of the extra [train].
    import onnx
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    from goryu.learning.quantization.calibration import fit_ranges, keep_residuals_unrounded
    from goryu.learning.quantization.gptq import hessians, is_plain

    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        model = onnx.load(prepared)
        for i, node in enumerate(model.graph.node):  # Other exporters leave them without names.
            node.name = node.name or f"{node.op_type}-{i}"
        onnx.save(model, prepared)
        _check(source, model, exclude)
        kept = [node.name for node in model.graph.node if _is_excluded(node.name, exclude)]
        small = [node for node in model.graph.node if node.op_type == "Conv" and node.name not in kept]
        convolutions = {node.name: node for node in small if is_plain(node)}
        overrides: dict[str, list[dict[str, Any]]] = {}
        exact = {name for name in batches[0] if all(_fit_bytes(batch[name]) for batch in batches)}
        for plane, weight in [node.input[:2] for node in small if node.input[0] in exact]:
            overrides[plane] = [{"scale": np.array(1, np.float32), "zero_point": np.array(0, np.uint8)}]
            overrides[weight] = [{"axis": 0, "reduce_range": False}]
        quantization.quantize_static(
            str(prepared),
            str(target),
            # The tool measures ranges; `fit_ranges` finds better ones for all but the inputs.
            _Reader(batches if len(exact) < len(batches[0]) else batches[:1]),
            quant_format=quantization.QuantFormat.QDQ,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
            per_channel=True,
            reduce_range=reduce_range,
            nodes_to_exclude=kept,
            op_types_to_quantize=["Conv", "Relu"],
            extra_options={"TensorQuantOverrides": overrides},
        )
        rounded = onnx.load(target)
        _round_weights(rounded, model, convolutions, hessians(model, convolutions, batches))
        fit_ranges(rounded, model, batches)
        keep_residuals_unrounded(rounded)
        onnx.save(rounded, target)


def halve(source: Path, target: Path) -> None:
    """Writes `target`, the network `source` in 16-bit floats; inputs and outputs stay 32 bits wide.

    So it fits where the float network does: other engines of the dlshogi format feed 32-bit planes.
    """
    import onnx
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(source), keep_io_types=True), target)


def agreement(one: NetworkEvaluator, other: NetworkEvaluator, positions: Dataset) -> Agreement:
    """Compares two networks on all `positions`."""
    matches, policy_error, value_error = 0, 0.0, 0.0
    for batch in _batches(positions):
        policies, values = zip(*(_answer(network, batch) for network in (one, other)), strict=True)
        matches += int((policies[0].argmax(axis=1) == policies[1].argmax(axis=1)).sum())
        policy_error += float(
            (((policies[0] - policies[1]) ** 2).sum(axis=1) / batch.legal.sum(axis=1)).sum()
        )
        value_error += float(((values[0] - values[1]) ** 2).sum())
    n = len(positions)
    return Agreement(n, matches / n, (policy_error / n) ** 0.5, (value_error / n) ** 0.5)


def rate(network: NetworkEvaluator, positions: Dataset, seconds: float) -> float:
    """Returns how many positions the network judges in a second of CPU time, in batches of its size."""
    size = network.batch_size
    planes = _planes(make_batch(positions, np.arange(size), np.zeros(size, bool)))
    done, started = 0, process_time()
    while (elapsed := process_time() - started) < seconds:
        network.run(planes)
        done += size
    return done / elapsed


def _answer(
    network: NetworkEvaluator, batch: Batch
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    logits, values = network.run(_planes(batch))
    legal = np.where(batch.legal, logits.astype(np.float64), -np.inf)
    weights = np.exp(legal - legal.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True), values


def _planes(batch: Batch) -> list[Array]:
    return [batch.input1, batch.input2]


def _batches(positions: Dataset) -> list[Batch]:
    starts = range(0, len(positions), CALIBRATION_BATCH)
    parts = [np.arange(start, min(start + CALIBRATION_BATCH, len(positions))) for start in starts]
    return [make_batch(positions, part, np.zeros(len(part), bool)) for part in parts]


def _fit_bytes(values: Array) -> bool:
    """Are they all integers that an unsigned byte holds?"""
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
    """Rounds the weights of the 8-bit network `small` anew, on their scales, so that errors cancel."""
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
    """What onnxruntime's calibration asks for its inputs, one batch after another."""

    def __init__(self, batches: Sequence[dict[str, Array]]) -> None:
        self._batches = iter(batches)

    def get_next(self) -> dict[str, Array] | None:
        return next(self._batches, None)
