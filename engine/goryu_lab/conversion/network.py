"""The layers of a network that is converted, and the operations that join them.

An `Architecture` describes a network once, as a function of its inputs over abstract operations. Two classes
implement these: `NumpyForward` computes the outputs, `OnnxWriter` writes a graph. So the file can be compared
with a computation that does not share its folded normalisations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from goryu_lab.conversion.tensors import ConversionError, Floats, Tensors

T = TypeVar("T")

Activation = Literal["relu", "swish", "sigmoid", "tanh"]

TORCH_EPSILON = 1e-5
CHAINER_EPSILON = 2e-5
"""What the libraries add to the variance of a normalisation; it is not stored in their files."""


@dataclass(frozen=True, slots=True)
class Convolution:
    """weight: [outputs, inputs, k, k], k odd; the board is padded with zeros. bias: [outputs] or None."""

    weight: Floats
    bias: Floats | None


@dataclass(frozen=True, slots=True)
class Normalization:
    """scale * (x - mean) / sqrt(variance + epsilon) + shift, for each channel."""

    scale: Floats
    shift: Floats
    mean: Floats
    variance: Floats
    epsilon: float


@dataclass(frozen=True, slots=True)
class Dense:
    """weight: [outputs, inputs]. bias: [outputs]."""

    weight: Floats
    bias: Floats


class Operations(Protocol[T]):
    """What a network consists of. T: the type of a tensor; its first axis is the position."""

    def convolve(self, terms: Sequence[tuple[T, Convolution]], norm: Normalization | None = None) -> T:
        """Returns the sum of convolutions of maps [N, C, 9, 9], normalised."""
        ...

    def normalize(self, x: T, norm: Normalization) -> T: ...

    def activate(self, x: T, activation: Activation) -> T: ...

    def add(self, x: T, y: T) -> T: ...

    def multiply(self, x: T, y: T) -> T:
        """Returns x * y; y may be [N, C, 1, 1]."""
        ...

    def mean(self, x: T) -> T:
        """Returns the mean over the board, [N, C, 1, 1]."""
        ...

    def dense(self, x: T, layer: Dense) -> T:
        """Returns [N, outputs] of a map, channel by channel, or of [N, inputs]."""
        ...

    def flatten(self, x: T, bias: Floats | None = None) -> T:
        """Returns a map as [N, 81 * C], channel by channel, plus `bias` [81 * C]."""
        ...

    def unflatten(self, x: T) -> T:
        """Returns [N, 81 * C] as maps [N, C, 9, 9]."""
        ...

    def zeros(self, x: T, length: int) -> T:
        """Returns zeros [N, length] for as many positions as x has."""
        ...


class Forward(Protocol):
    """A network as a function: from its inputs to policy logits [N, labels] and a value [N, 1]."""

    def __call__(self, ops: Operations[T], inputs: Sequence[T], /) -> tuple[T, T]: ...


@dataclass(frozen=True, slots=True)
class Architecture:
    """A network that was recognised.

    format: the name of the project, for the file's property `goryu.format`. size: for people, such as
    "10x192 swish". inputs: the number of planes of each, by name. labels: the length of the policy.
    notes: what the user should know about the file.
    """

    format: str
    size: str
    inputs: Mapping[str, int]
    labels: int
    forward: Forward
    notes: Sequence[str] = ()


def take_convolution(tensors: Tensors, name: str, inputs: int, kernel: int, outputs: int = 0) -> Convolution:
    """Takes a convolution with or without a bias; `outputs` 0 accepts any number."""
    shape = tensors.shape(f"{name}.weight")
    count = outputs or (shape[0] if shape else 0)
    weight = tensors.take(f"{name}.weight", count, inputs, kernel, kernel)
    return Convolution(weight, tensors.take_if_there(f"{name}.bias", count))


def take_normalization(tensors: Tensors, name: str, channels: int, epsilon: float) -> Normalization:
    """Takes a normalisation; raises ConversionError if its variances are negative."""
    scale, shift = (tensors.take(f"{name}.{part}", channels) for part in ("weight", "bias"))
    mean = tensors.take(f"{name}.running_mean", channels)
    variance = tensors.take(f"{name}.running_var", channels)
    if (variance < 0.0).any():
        raise ConversionError(f"{tensors.source}: {name} has a negative variance; the file is damaged")
    return Normalization(scale, shift, mean, variance, epsilon)


def take_dense(tensors: Tensors, name: str, inputs: int, outputs: int = 0) -> Dense:
    """Takes a linear layer; `outputs` 0 accepts any number."""
    shape = tensors.shape(f"{name}.weight")
    count = outputs or (shape[0] if shape else 0)
    return Dense(tensors.take(f"{name}.weight", count, inputs), tensors.take(f"{name}.bias", count))
