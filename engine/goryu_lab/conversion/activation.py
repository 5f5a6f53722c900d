"""Finds the activation of a network, ReLU or swish: a file of weights does not name it.

The batch normalisations show it. Each stores the mean and the variance of what it saw in training, and only
with the right activation does the network produce them. So this module computes the first layers on some
positions with each activation, and compares the statistics.

Weakness: an untrained network has no statistics. Then the user has to name the activation.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from goryu.base.language import tr
from goryu_lab.conversion.network import Activation, Architecture, Normalization
from goryu_lab.conversion.numpy_forward import NumpyForward
from goryu_lab.conversion.tensors import ConversionError, Floats

CANDIDATES: tuple[Activation, ...] = ("relu", "swish")

LAYERS = 6
"""The normalisations that are compared; the first does not depend on the activation."""

CLEAR = 2.0
"""The wrong activation must have at least this many times the error of the right one. It has some ten times
the error for networks with random weights whose statistics come from games between engines."""


def choose_activation(
    source: str,
    read: Callable[[Activation], Architecture],
    inputs: Callable[[Architecture], Sequence[Floats]],
) -> tuple[Architecture, str]:
    """Returns the network with the activation that its statistics show, and a sentence that says so.

    read: reads the network with an activation. inputs: returns planes of real positions.

    Raises:
        ConversionError: the statistics do not show the activation.
    """
    found = {name: read(name) for name in CANDIDATES}
    errors = {name: statistics_error(network, inputs(network)) for name, network in found.items()}
    best, other = sorted(CANDIDATES, key=lambda name: errors[name])
    if not 0.0 < errors[best] < errors[other] / CLEAR:
        raise ConversionError(
            f"{source}: its normalisations do not show the activation ({best} has the error "
            f"{errors[best]:.3g}, {other} {errors[other]:.3g}), as in an untrained network; "
            f"choose it with --activation"
        )
    return found[best], tr(
        "activation {name}: it fits the statistics in the file {times:.1f} times as well as {other}",
        name=best,
        times=errors[other] / max(errors[best], 1e-12),
        other=other,
    )


def statistics_error(network: Architecture, inputs: Sequence[Floats]) -> float:
    """Returns the mean square difference of the means that normalisations see and store.

    The unit is the stored standard deviation.
    """
    measuring = _Measuring()
    with suppress(_EnoughError):
        network.forward(measuring, inputs)
    return float(np.concatenate(measuring.errors[1:]).mean()) if len(measuring.errors) > 1 else 0.0


class _EnoughError(Exception):
    """The first layers are computed."""


class _Measuring(NumpyForward):
    """Compares what each normalisation sees with what it stores."""

    def __init__(self) -> None:
        self.errors: list[Floats] = []

    def normalize(self, x: Floats, norm: Normalization) -> Floats:
        if not norm.mean.any():  # Nothing was trained.
            raise _EnoughError
        seen = x.mean(axis=(0, 2, 3))
        self.errors.append((seen - norm.mean) ** 2 / (norm.variance + norm.epsilon))
        if len(self.errors) > LAYERS:
            raise _EnoughError
        return super().normalize(x, norm)
