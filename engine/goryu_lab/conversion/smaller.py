"""Makes a network smaller: 16-bit floats for GPUs, or 8-bit integers for CPUs; and measures the difference.

Both are done by onnxruntime's tools. In 8 bits the convolutions, nearly all of the work, get signed bytes as
weights, with a scale for each output channel, and unsigned bytes as activations, with the range that they had
on some positions (static quantization). The positions come from games that the network plays against itself,
drawing moves from its policy: positions like those that it will see, without a file of games.

GPUs compute with 16-bit floats twice as fast; CPUs gain nothing from them. 8 bits are for CPUs and networks
that Goryu's own kernel (`evaluators/kernel`) does not run: it is faster, more exact and needs no positions.

Source: B. Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
Inference", CVPR 2018.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

import numpy as np

from goryu.base.errors import InputError
from goryu.evaluators.formats.base import Array, planes_of
from goryu.evaluators.formats.detect import METADATA_KEY
from goryu.evaluators.formats.onnx_graph import read_metadata
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.implementation import Board
from goryu.search.evaluator import Evaluation
from goryu.table.random_positions import LONGEST
from goryu_lab.conversion.onnx_writer import import_onnx
from goryu_lab.conversion.tensors import ConversionError

Precision = Literal["fp16", "int8"]

PLAIN = "onnxruntime"
"""The backend for comparisons: our own kernel rounds, too."""

GAMES = 16
"""Games that are played at a time, a batch of the network."""

CALIBRATION_BATCH = 16
"""Positions in a batch of the calibration."""


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


def open_plain(path: Path) -> NetworkEvaluator:
    """Returns the network as onnxruntime computes it on the CPU; raises ModelError or BackendError."""
    return NetworkEvaluator(path, backend=PLAIN, batch_size=GAMES)


def played_positions(network: NetworkEvaluator, count: int, seed: int = 1) -> list[Board]:
    """Returns different positions of games whose moves are drawn from the network's policy; none is over."""
    random = Random(seed)
    found: dict[int, Board] = {}
    boards = [Board() for _ in range(GAMES)]
    while len(found) < count:
        for board, evaluation in zip(boards, network.evaluate(boards), strict=True):
            found.setdefault(board.position_key, board.copy())
            board.push(random.choices(board.legal_moves(), evaluation.policy)[0])
        boards = [Board() if _is_finished(board) else board for board in boards]
    return random.sample(list(found.values()), count)


def _is_finished(board: Board) -> bool:
    return board.outcome() is not None or board.ply >= LONGEST


def compare(one: NetworkEvaluator, other: NetworkEvaluator, boards: Sequence[Board]) -> Agreement:
    """Compares the answers of two networks."""
    return compare_evaluations(one.evaluate(boards), other.evaluate(boards))


def compare_evaluations(one: Sequence[Evaluation], other: Sequence[Evaluation]) -> Agreement:
    """Compares the evaluations of two evaluators on the same positions."""
    matches, policy_error, value_error = 0, 0.0, 0.0
    for first, second in zip(one, other, strict=True):
        policies = np.array([first.policy, second.policy])
        matches += int(policies[0].argmax() == policies[1].argmax())
        policy_error += float(np.square(policies[0] - policies[1]).mean())
        value_error += (first.value - second.value) ** 2
    n = len(one)
    return Agreement(n, matches / n, (policy_error / n) ** 0.5, (value_error / n) ** 0.5)


def write_smaller(source: Path, target: Path, precision: Precision, positions: int) -> Agreement:
    """Writes the ONNX file `source` in 16-bit floats or 8-bit integers; returns how close the result is.

    positions: to calibrate 8-bit integers on, and to compare on.

    Raises:
        ConversionError: positions are too few.
        ModelError, BackendError, InputError: the network cannot be used, or is no float network.
    """
    if positions < CALIBRATION_BATCH:
        raise ConversionError(f"{positions} positions: expected at least {CALIBRATION_BATCH} to calibrate on")
    network = open_plain(source)
    if precision == "fp16":
        halve(source, target)
    else:
        boards = played_positions(network, positions, seed=1)
        quantize(source, target, _batches(network, boards))
    _keep_metadata(source, target)
    return compare(network, open_plain(target), played_positions(network, positions, seed=2))


def halve(source: Path, target: Path) -> None:
    """Writes `target`, the network `source` in 16-bit floats.

    Inputs and outputs keep 32 bits, so that it can replace the float network: other engines of the dlshogi
    format feed 32-bit planes.
    """
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx = import_onnx()
    onnx.save(convert_float_to_float16(onnx.load(str(source)), keep_io_types=True), str(target))


def quantize(source: Path, target: Path, batches: Sequence[dict[str, Array]]) -> None:
    """Writes `target`, the float network `source` in 8-bit integers, calibrated on batches of its inputs.

    The operators stay the same, framed by QuantizeLinear and DequantizeLinear nodes (the QDQ form), which
    onnxruntime fuses into integer kernels.

    Raises InputError if it has no convolutions whose weights are floats.
    """
    # Heavy and noisy packages.
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        _check_floats(source, prepared)
        quantization.quantize_static(
            str(prepared),
            str(target),
            _Reader(batches),
            quant_format=quantization.QuantFormat.QDQ,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
            per_channel=True,
            op_types_to_quantize=["Conv"],
        )


def _check_floats(source: Path, prepared: Path) -> None:
    onnx = import_onnx()
    graph = onnx.load(str(prepared)).graph
    floats = {each.name for each in graph.initializer if each.data_type == onnx.TensorProto.FLOAT}
    weights = [node.input[1] for node in graph.node if node.op_type == "Conv"]
    if not weights or not floats.issuperset(weights):
        raise InputError(f"{source}: expected a network with convolutions whose weights are float32")


class _Reader:
    """Gives onnxruntime's calibration one batch after another."""

    def __init__(self, batches: Sequence[dict[str, Array]]) -> None:
        self._batches = iter(batches)

    def get_next(self) -> dict[str, Any] | None:
        return next(self._batches, None)


def _batches(network: NetworkEvaluator, boards: Sequence[Board]) -> list[dict[str, Array]]:
    names = [spec.name for spec in network.format.inputs]
    whole = len(boards) // CALIBRATION_BATCH * CALIBRATION_BATCH
    return [
        dict(zip(names, planes_of(network.format, boards[i : i + CALIBRATION_BATCH]), strict=True))
        for i in range(0, whole, CALIBRATION_BATCH)
    ]


def _keep_metadata(source: Path, target: Path) -> None:
    """Copies the name of the format: without it the networks of the two books look alike."""
    onnx = import_onnx()
    name = read_metadata(source).get(METADATA_KEY)
    if name and read_metadata(target).get(METADATA_KEY) != name:
        model = onnx.load(str(target))
        onnx.helper.set_model_props(model, {METADATA_KEY: name})
        onnx.save(model, str(target))
