"""Compares a converted file, run by onnxruntime, with the forward pass in NumPy."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from goryu.evaluators.formats.base import planes_of
from goryu.evaluators.formats.detect import detect_format, tensor_shapes
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.providers import Session, open_session
from goryu.table.random_positions import random_positions
from goryu_lab.conversion.network import Architecture
from goryu_lab.conversion.numpy_forward import NumpyForward
from goryu_lab.conversion.onnx_writer import POLICY, VALUE
from goryu_lab.conversion.tensors import ConversionError, Floats

POSITIONS, BATCH = 128, 32

TOLERANCE = 1e-3
"""Greatest accepted difference, in units of the largest logit; that of float32 sums is about 1e-5."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The greatest differences of two computations of one network.

    policy: of the logits, relative to the largest one. value: of the values. is_played: does the engine
    recognise the format? If not, the planes were random.
    """

    positions: int
    policy: float
    value: float
    is_played: bool


def verify(path: Path, architecture: Architecture, positions: int = POSITIONS) -> Verification:
    """Compares a file with the network that it was written from.

    Raises:
        ConversionError: they differ, or an output is not finite.
        ModelError, BackendError: onnxruntime cannot run the file.
    """
    session = open_session(path, "cpu")
    inputs, is_played = _inputs(path, session, architecture, positions)
    names = list(architecture.inputs)
    largest, policy_difference, value_difference = 0.0, 0.0, 0.0
    for start in range(0, positions, BATCH):
        batch = [rows[start : start + BATCH] for rows in inputs]
        expected = architecture.forward(NumpyForward(), batch)
        found = session.handle.run([POLICY, VALUE], dict(zip(names, batch, strict=True)))
        if not all(np.isfinite(each).all() for each in (*expected, *found)):
            raise ConversionError(f"{path}: the network computes numbers that are not finite")
        largest = max(largest, float(np.abs(expected[0]).max()))
        policy_difference = max(policy_difference, float(np.abs(expected[0] - found[0]).max()))
        value_difference = max(value_difference, float(np.abs(expected[1] - found[1]).max()))
    policy_difference /= max(largest, 1.0)
    if not max(policy_difference, value_difference) <= TOLERANCE:
        raise ConversionError(
            f"{path}: the file answers differently from the network: policy {policy_difference:.2g}, "
            f"value {value_difference:.2g}; expected at most {TOLERANCE:g}"
        )
    return Verification(positions, policy_difference, value_difference, is_played)


def _inputs(
    path: Path, session: Session, architecture: Architecture, count: int
) -> tuple[Sequence[Floats], bool]:
    """Returns the planes of `count` positions, and whether they are real."""
    inputs = tensor_shapes(path, session.handle.get_inputs())
    outputs = tensor_shapes(path, session.handle.get_outputs())
    try:
        model_format = detect_format(path, inputs, outputs)
    except ModelError:
        return random_planes(architecture, count), False
    planes = planes_of(model_format, random_positions(count))
    return [np.asarray(rows, np.float32) for rows in planes], True


def random_planes(architecture: Architecture, count: int, seed: int = 1) -> list[Floats]:
    """Returns random planes of zeros and ones, about as dense as real ones."""
    random = np.random.default_rng(seed)
    return [
        (random.random((count, planes, 9, 9)) < 0.05).astype(np.float32)
        for planes in architecture.inputs.values()
    ]
