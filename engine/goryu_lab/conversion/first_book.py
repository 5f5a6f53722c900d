"""The networks of python-dlshogi, from 山岡忠夫『将棋AIで学ぶディープラーニング』(2018), written in Chainer.

There are three kinds, of 104 planes (see the format python-dlshogi of the engine):
    policy network       twelve 3x3 convolutions and one 1x1 convolution, l1 ... l13, with or without
                         normalisations norm1 ... norm12
    value network        the same convolutions, then a 1x1 convolution and two dense layers, l13_v ... l15_v
    policy-value network both heads on one trunk, as convolutions or as residual blocks b1, b2 ...

The engine needs a policy and a value. A policy network alone gets the constant value of an even game, a value
network alone equal logits for all moves; two files become one network with two trunks.

Weakness: the published policy network with normalisations uses norm2 twice and norm12 never, a slip of the
source. Files whose norm12 has never seen a position are read like that.

Source: python-dlshogi (T. Yamaoka), `pydlshogi/network`; Chainer's serializers. Described from the sources,
no code was taken over.
"""

from collections.abc import Sequence
from dataclasses import replace

from goryu_lab.conversion.network import (
    CHAINER_EPSILON,
    Architecture,
    Normalization,
    Operations,
    T,
    take_convolution,
    take_dense,
    take_normalization,
)
from goryu_lab.conversion.residual import LABELS, MOVE_PLANES, Names, take_heads, take_tower
from goryu_lab.conversion.tensors import ConversionError, Tensors

FIRST_BOOK = "python-dlshogi"
PLANES = 104

RESIDUAL = Names(
    block="b{}",
    first=1,
    value="value1",
    norm="value1_bn",
    hidden="value2",
    out="value3",
    epsilon=CHAINER_EPSILON,
)
"""The names of its residual network."""

NO_VALUE = (
    "a policy network: the value is constant, so a search learns nothing from it; "
    "set Algorithm to policy, or convert it together with a value network"
)
NO_POLICY = "a value network: all moves have the same prior; convert it together with a policy network"


def recognizes(tensors: Tensors) -> bool:
    """Are these tensors those of a network of the first book?"""
    return "l1.weight" in tensors


def read_first_book(tensors: Tensors) -> Architecture:
    """Returns the network; raises ConversionError if it is another one."""
    first = tensors.shape("l1.weight")
    if len(first) != 4 or first[1:] != (PLANES, 3, 3):
        raise ConversionError(
            f"{tensors.source}: l1.weight has the shape {list(first)}; "
            f"expected [channels, {PLANES}, 3, 3], a network of python-dlshogi"
        )
    architecture = _residual(tensors) if "b1.conv1.weight" in tensors else _plain(tensors)
    tensors.check_all_taken()
    return architecture


def joined(policy: Architecture, value: Architecture) -> Architecture:
    """Returns one network with the policy of the first and the value of the second.

    Raises ConversionError if they do not read the same planes.
    """
    if (policy.format, policy.inputs) != (value.format, value.inputs):
        raise ConversionError(
            f"expected two networks of one format, found {policy.format} and {value.format}"
        )
    if policy.notes == (NO_POLICY,) or value.notes == (NO_VALUE,):
        raise ConversionError("expected the policy network first and the value network second")

    def forward(ops: Operations[T], inputs: Sequence[T], /) -> tuple[T, T]:
        return policy.forward(ops, inputs)[0], value.forward(ops, inputs)[1]

    return replace(policy, size=f"{policy.size} and {value.size}", forward=forward, notes=())


def _plain(tensors: Tensors) -> Architecture:
    channels = tensors.outputs("l1.weight")
    depth = next(i for i in range(1, 1000) if not _is_kernel(tensors, f"l{i + 1}.weight", 3))
    layers = []
    for i in range(1, depth + 1):
        inputs = PLANES if i == 1 else channels
        layers.append((take_convolution(tensors, f"l{i}", inputs, 3, channels), _norm(tensors, i, channels)))
    notes: tuple[str, ...] = ()
    if depth > 1 and layers[-1][1] is not None and not layers[-1][1].mean.any():
        layers[-1] = layers[-1][0], layers[1][1]
    last = depth + 1
    policy = value = None
    if f"l{last}.weight" in tensors:
        policy = take_convolution(tensors, f"l{last}", channels, 1, MOVE_PLANES)
        bias = tensors.take(f"l{last}_bias.bias", LABELS)
    if f"l{last}_v.weight" in tensors:
        value = take_convolution(tensors, f"l{last}_v", channels, 1, MOVE_PLANES)
        hidden = take_dense(tensors, f"l{last + 1}_v", LABELS)
        out = take_dense(tensors, f"l{last + 2}_v", len(hidden.bias), 1)
    if policy is None and value is None:
        raise ConversionError(
            f"{tensors.source}: expected l{last} (a policy) or l{last}_v (a value); found {tensors.listing()}"
        )
    if value is None:
        notes = (NO_VALUE,)
    elif policy is None:
        notes = (NO_POLICY,)

    def forward(ops: Operations[T], inputs: Sequence[T], /) -> tuple[T, T]:
        (x,) = inputs
        for convolution, norm in layers:
            x = ops.activate(ops.convolve([(x, convolution)], norm), "relu")
        logits = ops.flatten(ops.convolve([(x, policy)]), bias) if policy else ops.zeros(x, LABELS)
        if value is None:
            return logits, ops.activate(ops.zeros(x, 1), "sigmoid")
        y = ops.activate(ops.convolve([(x, value)]), "relu")
        y = ops.dense(ops.activate(ops.dense(y, hidden), "relu"), out)
        return logits, ops.activate(y, "sigmoid")

    kind = "policy" if value is None else "value" if policy is None else "policy and value"
    size = f"{kind}, {depth} layers of {channels} channels"
    return Architecture(FIRST_BOOK, size, {"input": PLANES}, LABELS, forward, notes)


def _residual(tensors: Tensors) -> Architecture:
    channels = tensors.outputs("l1.weight")
    first = take_convolution(tensors, "l1", PLANES, 3, channels)
    blocks, tower = take_tower(tensors, channels, "relu", RESIDUAL)
    heads = take_heads(tensors, channels, "relu", RESIDUAL)

    def forward(ops: Operations[T], inputs: Sequence[T], /) -> tuple[T, T]:
        x = ops.activate(ops.convolve([(inputs[0], first)]), "relu")
        return heads(ops, tower(ops, x))

    size = f"policy and value, {blocks} blocks of {channels} channels"
    return Architecture(FIRST_BOOK, size, {"input": PLANES}, LABELS, forward)


def _is_kernel(tensors: Tensors, name: str, size: int) -> bool:
    return name in tensors and tensors.shape(name)[2:] == (size, size)


def _norm(tensors: Tensors, number: int, channels: int) -> Normalization | None:
    if f"norm{number}.weight" not in tensors:
        return None
    return take_normalization(tensors, f"norm{number}", channels, CHAINER_EPSILON)
