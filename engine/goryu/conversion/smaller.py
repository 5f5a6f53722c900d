"""Makes a network smaller: 16-bit floats for GPUs, or 8-bit integers for CPUs; and measures the difference.

The work is done by `learning/quantization`. Here the positions for it come from games that the network plays
against itself, drawing moves from its policy: positions like those that it will see, without a file of games.
"""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Literal

from goryu.conversion.onnx_writer import import_onnx
from goryu.conversion.positions import LONGEST
from goryu.conversion.tensors import ConversionError
from goryu.evaluators.formats.base import Array, planes_of
from goryu.evaluators.formats.detect import METADATA_KEY
from goryu.evaluators.formats.onnx_graph import read_metadata
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.implementation import Board
from goryu.learning.quantization.comparison import CALIBRATION_BATCH, Agreement, compare_evaluations
from goryu.learning.quantization.quantize import halve, quantize_on

Precision = Literal["fp16", "int8"]

PLAIN = "onnxruntime"
"""The backend for comparisons: our own kernel rounds, too."""

GAMES = 16
"""Games that are played at a time, a batch of the network."""


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
        quantize_on(source, target, _batches(network, boards))
    _keep_metadata(source, target)
    return compare(network, open_plain(target), played_positions(network, positions, seed=2))


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
