"""The layers of a residual network, as our own kernel computes them.

Maps have 81 squares in the order of the planes, and their channels are padded with zeros to a multiple of 32.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goryu.base.errors import GoryuError

Floats = npt.NDArray[np.float32]

SQUARES = 81

BFLOAT_WEIGHTS = 4_000_000
"""Networks with more weights are in bfloat16 where AMX is; the smaller ones have the same bits everywhere."""

PRODUCTS_AT_ONCE = 80_000_000
MOST_AT_ONCE = 8
"""A search looks at the clock after at most as many products, and as many positions."""

NONE, RELU, SWISH, SIGMOID = range(4)
"""The activations of a layer."""


class UnsupportedError(GoryuError, ValueError):
    """The network is not of the kind that the kernel computes; the message says why."""


# Buffers of maps and of vectors are known by their numbers.


@dataclass(slots=True)
class Stem:
    """The first map: a 3x3 convolution of the board planes and a 1x1 convolution of constant planes.

    board: [outputs, 62, 3, 3]. hands: [outputs, 57 or 119].
    """

    to: int
    board: Floats
    hands: Floats
    bias: Floats
    activation: int


@dataclass(slots=True)
class Input:
    """Any planes, as the first channels of a map."""

    to: int
    planes: int


@dataclass(slots=True)
class Convolution:
    """to = activation(convolution(source) + bias + shift + residual).

    weights: [outputs, inputs, k, k], k = 1 or 3; or [outputs, inputs, 9, 1], which makes one row of squares
        of all nine: the same sums in each row of the map.
    """

    source: int
    to: int
    weights: Floats
    bias: Floats
    residual: int | None
    activation: int
    is_positive: bool
    """Is no number in the source negative?"""
    shift: int | None = None
    """A vector with a number for each output."""


@dataclass(slots=True)
class Pool:
    """Writes mean and maximum of each channel over the board into a vector, at these places if not None."""

    source: int
    to: int
    mean_at: int | None
    maximum_at: int | None


@dataclass(slots=True)
class Dense:
    """A matrix times a vector, or times the first `used` channels of a map, square by square.

    weights: [used, outputs], or [81 * used, outputs] for a map.
    """

    source: int
    to: int
    weights: Floats
    bias: Floats
    activation: int
    reads_map: bool
    used: int


@dataclass(slots=True)
class Spread:
    """to = activation(source * scale + shift + residual); scale and shift are vectors, a number a channel."""

    source: int
    to: int
    scale: int | None
    shift: int | None
    residual: int | None
    activation: int


Layer = Stem | Input | Convolution | Pool | Dense | Spread


@dataclass(slots=True)
class ResidualNetwork:
    """A network: its layers in order, the sizes of the buffers, and where the outputs are.

    maps: the channels of each map. vectors: the length of each vector.
    planes: of each input: (62, 57) or (62, 119), which a `Stem` reads, or (176,), which an `Input` reads.
    policy: a map whose first 27 channels, plus policy_bias [27, 81], are the logits.
    value: a vector whose first number is x; the value is 2 / (1 + exp(-steepness * x)) - 1.
    """

    layers: list[Layer]
    maps: list[int]
    vectors: list[int]
    planes: tuple[int, ...]
    policy: int
    policy_bias: Floats
    value: int
    steepness: float

    @property
    def name(self) -> str:
        """Returns the size, such as 5x64: two convolutions are a block."""
        convolutions = [each for each in self.layers if isinstance(each, Convolution)]
        towers = [each for each in convolutions if each.weights.shape[2] == 3]
        return f"{(len(towers) + 1) // 2}x{towers[0].weights.shape[0] if towers else 0}"


def weights_in(layers: Sequence[Layer]) -> int:
    """Returns the number of weights of the convolutions, of 3x3 in Winograd's form, at least 1."""
    return 1 + sum(places * pairs for places, pairs in _sizes(layers))


def positions_at_once(layers: Sequence[Layer]) -> int:
    """Returns how many positions a search evaluates between two looks at the clock: a millisecond or two."""
    return max(1, min(MOST_AT_ONCE, PRODUCTS_AT_ONCE // products_in(layers)))


def products_in(layers: Sequence[Layer]) -> int:
    """Returns how many products the convolutions of one position need, at least 1."""
    return 1 + sum((81 if places < 25 else 9 * 25) * pairs for places, pairs in _sizes(layers))


def _sizes(layers: Sequence[Layer]) -> list[tuple[int, int]]:
    """Returns the places of each convolution's weights, and how many pairs of channels it has."""
    shapes = [each.weights.shape for each in layers if isinstance(each, Convolution)]
    return [(25 if rows == 3 else rows, outputs * inputs) for outputs, inputs, rows, _ in shapes]
