"""The tower and the two heads that the residual networks of both books and of dlshogi share.

A block is x + f(x), where f is two normalised convolutions. dlshogi has two more kinds: those with
squeeze-and-excitation (`se`), which scales the channels of f(x), and those that mix all squares through one
plane (`broadcast`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

import numpy as np

from goryu_lab.conversion.network import (
    TORCH_EPSILON,
    Activation,
    Dense,
    Operations,
    T,
    take_convolution,
    take_dense,
    take_normalization,
)
from goryu_lab.conversion.tensors import ConversionError, Tensors

MOVE_PLANES, SQUARES = 27, 81
LABELS = SQUARES * MOVE_PLANES

MOST_BLOCKS = 1000


class Tower(Protocol):
    """A function from maps to maps."""

    def __call__(self, ops: Operations[T], x: T, /) -> T: ...


class Heads(Protocol):
    """A function from maps to policy logits [N, 2187] and win probabilities [N, 1]."""

    def __call__(self, ops: Operations[T], x: T, /) -> tuple[T, T]: ...


@dataclass(frozen=True, slots=True)
class Names:
    """How a kind of network names its layers; the defaults are those of PyTorch's networks.

    block: the name of a block, made from its number. first: the number of the first one.
    epsilon: of the normalisations.
    """

    block: str = "blocks.{}"
    first: int = 0
    policy: str = "policy"
    bias: str = "policy_bias"
    value: str = "value_conv1"
    norm: str = "value_norm1"
    hidden: str = "value_fc1"
    out: str = "value_fc2"
    epsilon: float = TORCH_EPSILON


def take_tower(
    tensors: Tensors, channels: int, activation: Activation, names: Names = Names()
) -> tuple[int, Tower]:
    """Takes the blocks, one after the other; returns their number and the function that they compute."""
    blocks: list[Tower] = []
    for number in count(names.first):
        name = names.block.format(number)
        if f"{name}.conv1.weight" not in tensors or len(blocks) == MOST_BLOCKS:
            break
        take = _take_broadcast if f"{name}.broadcast.weight" in tensors else _take_block
        blocks.append(take(tensors, name, channels, activation, names.epsilon))
    if not blocks:
        raise ConversionError(f"{tensors.source}: expected blocks.0.conv1.weight; found {tensors.listing()}")
    return len(blocks), _sequence(blocks)


def _sequence(blocks: Sequence[Tower]) -> Tower:
    def tower(ops: Operations[T], x: T, /) -> T:
        for block in blocks:
            x = block(ops, x)
        return x

    return tower


def _take_block(tensors: Tensors, name: str, channels: int, activation: Activation, epsilon: float) -> Tower:
    one, two = (take_convolution(tensors, f"{name}.conv{i}", channels, 3, channels) for i in (1, 2))
    norms = [take_normalization(tensors, f"{name}.bn{i}", channels, epsilon) for i in (1, 2)]
    squeeze = None
    if f"{name}.se.fc1.weight" in tensors:
        first = take_convolution(tensors, f"{name}.se.fc1", channels, 1)
        squeeze = first, take_convolution(tensors, f"{name}.se.fc2", len(first.weight), 1, channels)

    def block(ops: Operations[T], x: T, /) -> T:
        y = ops.activate(ops.convolve([(x, one)], norms[0]), activation)
        y = ops.convolve([(y, two)], norms[1])
        if squeeze:
            y = ops.activate(y, activation)
            factors = ops.activate(ops.convolve([(ops.mean(y), squeeze[0])]), activation)
            y = ops.multiply(y, ops.activate(ops.convolve([(factors, squeeze[1])]), "sigmoid"))
        return ops.activate(ops.add(y, x), activation)

    return block


def _take_broadcast(
    tensors: Tensors, name: str, channels: int, activation: Activation, epsilon: float
) -> Tower:
    """Takes a block that reduces the maps to one, mixes its squares, and adds it to all channels."""
    one = take_convolution(tensors, f"{name}.conv1", channels, 1, 1)
    mixing = tensors.take(f"{name}.broadcast.weight", SQUARES, 1, 9, 9)
    mixed = Dense(mixing.reshape(SQUARES, SQUARES), np.zeros(SQUARES, np.float32))
    two = take_convolution(tensors, f"{name}.conv2", 1, 1, channels)
    sizes = (1, 1, channels)
    norms = [take_normalization(tensors, f"{name}.bn{i + 1}", n, epsilon) for i, n in enumerate(sizes)]

    def block(ops: Operations[T], x: T, /) -> T:
        y = ops.activate(ops.convolve([(x, one)], norms[0]), activation)
        y = ops.normalize(ops.unflatten(ops.dense(y, mixed)), norms[1])
        y = ops.convolve([(ops.activate(y, activation), two)], norms[2])
        return ops.activate(ops.add(y, x), activation)

    return block


def take_heads(tensors: Tensors, channels: int, activation: Activation, names: Names = Names()) -> Heads:
    """Takes both heads."""
    moves = take_convolution(tensors, names.policy, channels, 1, MOVE_PLANES)
    bias = tensors.take(f"{names.bias}.bias", LABELS)
    value = take_convolution(tensors, names.value, channels, 1, MOVE_PLANES)
    norm = take_normalization(tensors, names.norm, MOVE_PLANES, names.epsilon)
    hidden = take_dense(tensors, names.hidden, LABELS)
    out = take_dense(tensors, names.out, len(hidden.bias), 1)

    def heads(ops: Operations[T], x: T, /) -> tuple[T, T]:
        logits = ops.flatten(ops.convolve([(x, moves)]), bias)
        y = ops.activate(ops.convolve([(x, value)], norm), activation)
        y = ops.dense(ops.activate(ops.dense(y, hidden), activation), out)
        return logits, ops.activate(y, "sigmoid")

    return heads
