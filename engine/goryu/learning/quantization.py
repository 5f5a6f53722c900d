"""Smaller numbers: the network in 8-bit integers, two to three times as fast on a CPU, or in 16-bit floats.

Weights become signed bytes with a scale for each output channel, activations unsigned bytes with a scale
found by running the network on real positions (static quantisation). The operators stay what they are,
framed by QuantizeLinear and DequantizeLinear nodes (the QDQ form), which onnxruntime fuses into integer
kernels.

16-bit floats are for GPUs, which calculate with them twice as fast; a CPU gains nothing.

Weakness of the integers: every layer is rounded, and the rounding of the first and the last ones is heard
most. The policy must be compared with the float network's (`agreement`) before it is shipped, and a match
must confirm it.

Source: B. Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
Inference", CVPR 2018; onnxruntime's quantisation tool, which does the work.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from goryu.evaluators.model_format import Array
from goryu.evaluators.network import NetworkEvaluator
from goryu.learning.dataset import Batch, Dataset, make_batch

__all__ = ["CALIBRATION_BATCH", "Agreement", "agreement", "halve", "quantize", "rate"]

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
    method: str = "MinMax",
) -> None:
    """Writes `target`, the 8-bit version of the float network `source`, calibrated on `positions`.

    Of the positions only whole batches of 16 are used.

    reduce_range: use 7 bits for the weights; a CPU with AVX2 but without VNNI adds pairs of products in
        16 bits, which 8-bit weights can overflow.
    exclude: names of nodes, or beginnings of names, that stay float.
    method: how the range of an activation is found: "MinMax" takes all that was seen, "Entropy" leaves out
        rare large values where that keeps more of the distribution (it holds all activations in memory:
        128 positions are enough), "Percentile" always.
    """
    # Heavy and noisy packages of the extra [train].
    import onnx
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        names = [node.name for node in onnx.load(prepared).graph.node]
        kept = [name for name in names if any(name.startswith(prefix) for prefix in exclude)]
        quantization.quantize_static(
            str(prepared),
            str(target),
            _reader(source, positions),
            quant_format=quantization.QuantFormat.QDQ,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
            per_channel=True,
            reduce_range=reduce_range,
            nodes_to_exclude=kept,
            calibrate_method=quantization.CalibrationMethod[method],
        )


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


def _reader(source: Path, positions: Dataset) -> Any:
    """Returns what onnxruntime's calibration asks for its inputs, one batch after another."""
    from onnxruntime.quantization import CalibrationDataReader

    names = [spec.name for spec in NetworkEvaluator(source, backend="cpu").format.inputs]

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            whole = len(positions) // CALIBRATION_BATCH * CALIBRATION_BATCH
            self.batches = iter(_batches(positions.select(np.arange(whole))))

        def get_next(self) -> dict[str, Array] | None:
            batch = next(self.batches, None)
            return dict(zip(names, _planes(batch), strict=True)) if batch is not None else None

    return Reader()
