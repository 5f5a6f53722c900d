"""Converts a model's value output to [-1, +1].

Models return the win probability of the side to move, its logit, or a tanh in [-1, +1], and few state which.
The operator that computes the output shows it: Sigmoid, a linear one, or Tanh.
"""

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array, ValueScale
from goryu.evaluators.formats.onnx_graph import producer


def from_probability(output: Array) -> npt.NDArray[np.float64]:
    """Returns 2 p - 1 for each win probability p."""
    return 2.0 * _column(output) - 1.0


def from_logit(output: Array) -> npt.NDArray[np.float64]:
    """Returns 2 sigmoid(x) - 1 = tanh(x / 2) for each logit x.

    The C library's tanh, as in native code: NumPy's own rounds some last bits differently.
    """
    return np.array([math.tanh(0.5 * x) for x in _column(output).tolist()], np.float64)


def from_tanh(output: Array) -> npt.NDArray[np.float64]:
    """Returns the values as they are."""
    return _column(output)


def value_scale(path: Path, output: str) -> ValueScale:
    """Returns the scale of the value that the model file computes as `output`."""
    scales: dict[str, ValueScale] = {"Sigmoid": from_probability, "Tanh": from_tanh}
    return scales.get(producer(path, output), from_logit)


def _column(output: Array) -> npt.NDArray[np.float64]:
    """Returns [N] or [N, 1] as float64 [N]; float16 and float32 convert exactly."""
    return output.reshape(-1).astype(np.float64)
