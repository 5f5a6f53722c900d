"""The tower and the two heads that the PyTorch networks of python-dlshogi2 and dlshogi share.

A block is x + f(x), where f is two normalised convolutions. dlshogi has two more kinds: those with
squeeze-and-excitation (`se`), which scales the channels of f(x), and those that mix all squares through one
plane (`broadcast`).
"""

from collections.abc import Sequence
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


def take_tower(tensors: Tensors, channels: int, activation: Activation) -> tuple[int, Tower]:
    """Takes `blocks.0`, `blocks.1`, ...; returns their number and the function that they compute."""
    blocks: list[Tower] = []
    while f"blocks.{len(blocks)}.conv1.weight" in tensors and len(blocks) < MOST_BLOCKS:
        name = f"blocks.{len(blocks)}"
        take = _take_broadcast if f"{name}.broadcast.weight" in tensors else _take_block
        blocks.append(take(tensors, name, channels, activation))
    if not blocks:
        raise ConversionError(f"{tensors.source}: expected blocks.0.conv1.weight; found {tensors.listing()}")
    return len(blocks), _sequence(blocks)


def _sequence(blocks: Sequence[Tower]) -> Tower:
    def tower(ops: Operations[T], x: T, /) -> T:
        for block in blocks:
            x = block(ops, x)
        return x

    return tower


def _take_block(tensors: Tensors, name: str, channels: int, activation: Activation) -> Tower:
    one, two = (take_convolution(tensors, f"{name}.conv{i}", channels, 3, channels) for i in (1, 2))
    norms = [take_normalization(tensors, f"{name}.bn{i}", channels, TORCH_EPSILON) for i in (1, 2)]
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


def _take_broadcast(tensors: Tensors, name: str, channels: int, activation: Activation) -> Tower:
    """Takes a block that reduces the maps to one, mixes its squares, and adds it to all channels."""
    one = take_convolution(tensors, f"{name}.conv1", channels, 1, 1)
    mixing = tensors.take(f"{name}.broadcast.weight", SQUARES, 1, 9, 9)
    mixed = Dense(mixing.reshape(SQUARES, SQUARES), np.zeros(SQUARES, np.float32))
    two = take_convolution(tensors, f"{name}.conv2", 1, 1, channels)
    sizes = (1, 1, channels)
    norms = [take_normalization(tensors, f"{name}.bn{i + 1}", n, TORCH_EPSILON) for i, n in enumerate(sizes)]

    def block(ops: Operations[T], x: T, /) -> T:
        y = ops.activate(ops.convolve([(x, one)], norms[0]), activation)
        y = ops.normalize(ops.unflatten(ops.dense(y, mixed)), norms[1])
        y = ops.convolve([(ops.activate(y, activation), two)], norms[2])
        return ops.activate(ops.add(y, x), activation)

    return block


def take_heads(tensors: Tensors, channels: int, activation: Activation, *, policy: str) -> Heads:
    """Takes both heads; `policy` is the name of the convolution of the policy."""
    moves = take_convolution(tensors, policy, channels, 1, MOVE_PLANES)
    bias = tensors.take("policy_bias.bias", LABELS)
    value = take_convolution(tensors, "value_conv1", channels, 1, MOVE_PLANES)
    norm = take_normalization(tensors, "value_norm1", MOVE_PLANES, TORCH_EPSILON)
    hidden = take_dense(tensors, "value_fc1", LABELS)
    out = take_dense(tensors, "value_fc2", len(hidden.bias), 1)

    def heads(ops: Operations[T], x: T, /) -> tuple[T, T]:
        logits = ops.flatten(ops.convolve([(x, moves)]), bias)
        y = ops.activate(ops.convolve([(x, value)], norm), activation)
        y = ops.dense(ops.activate(ops.dense(y, hidden), activation), out)
        return logits, ops.activate(y, "sigmoid")

    return heads
