"""The networks of dlshogi, as PyTorch checkpoints and as the `.npz` files of its own serializer.

All read boards `l1_1_1`, `l1_1_2` and hands `l1_2`. Then there are two families:
    blocks      `resnet10x192`, `senet...` and `broadcast...` in all sizes: `blocks.0`, `policy`, `value_*`
    numbered    `resnet10_swish` and `wideresnet10`: layers l2 ... l21, policy l22, value l22_v ... l24_v

A wide network normalises before its convolutions, and its value head's convolution has a bias. Heads for
other targets (`_aux`) are left out, as in dlshogi's own export.

Source: dlshogi (T. Yamaoka), `dlshogi/network`. Described from the sources.
"""

from collections.abc import Sequence

from goryu.evaluators.formats.dlshogi_planes import BOARD_PLANES, HAND_PLANES, NYUGYOKU_PLANES
from goryu_lab.conversion.network import (
    CHAINER_EPSILON,
    TORCH_EPSILON,
    Activation,
    Architecture,
    Convolution,
    Operations,
    T,
    take_convolution,
    take_normalization,
)
from goryu_lab.conversion.residual import LABELS, Names, take_heads, take_tower
from goryu_lab.conversion.tensors import ConversionError, Tensors

DLSHOGI = "dlshogi"
AUXILIARY = "_aux"


def recognizes(tensors: Tensors) -> bool:
    """Are these tensors those of a network of dlshogi?"""
    return "l1_1_1.weight" in tensors


def read_dlshogi(tensors: Tensors, activation: Activation) -> Architecture:
    """Returns the network; raises ConversionError if it is another one."""
    tensors.ignore(AUXILIARY)
    channels = tensors.outputs("l1_1_1.weight")
    boards = [
        take_convolution(tensors, "l1_1_1", BOARD_PLANES, 3, channels),
        take_convolution(tensors, "l1_1_2", BOARD_PLANES, 1, channels),
    ]
    planes = tensors.shape("l1_2.weight")[1:2]
    if planes not in ((HAND_PLANES,), (HAND_PLANES + NYUGYOKU_PLANES,)):
        raise ConversionError(
            f"{tensors.source}: l1_2.weight has the shape {list(tensors.shape('l1_2.weight'))}; "
            f"expected [channels, 57 or 119, 1, 1]"
        )
    hands = take_convolution(tensors, "l1_2", planes[0], 1, channels)
    stem = boards, hands
    read = _read_blocks if "blocks.0.conv1.weight" in tensors else _read_numbered
    architecture = read(tensors, channels, stem, activation)
    tensors.check_all_taken()
    return architecture


Stem = tuple[Sequence[Convolution], Convolution]


def _terms(stem: Stem, inputs: Sequence[T]) -> list[tuple[T, Convolution]]:
    boards, hands = stem
    return [*((inputs[0], board) for board in boards), (inputs[1], hands)]


def _inputs(stem: Stem) -> dict[str, int]:
    return {"input1": BOARD_PLANES, "input2": stem[1].weight.shape[1]}


def _read_blocks(tensors: Tensors, channels: int, stem: Stem, activation: Activation) -> Architecture:
    norm = take_normalization(tensors, "norm1", channels, TORCH_EPSILON)
    kind = "senet" if "blocks.0.se.fc1.weight" in tensors else "resnet"
    kind = "broadcast" if "blocks.0.broadcast.weight" in tensors else kind
    blocks, tower = take_tower(tensors, channels, activation)
    heads = take_heads(tensors, channels, activation)

    def forward(ops: Operations[T], inputs: Sequence[T], /) -> tuple[T, T]:
        x = ops.activate(ops.convolve(_terms(stem, inputs), norm), activation)
        return heads(ops, tower(ops, x))

    size = f"{kind} {blocks}x{channels} {activation}"
    return Architecture(DLSHOGI, size, _inputs(stem), LABELS, forward)


def _read_numbered(tensors: Tensors, channels: int, stem: Stem, activation: Activation) -> Architecture:
    last = next(i for i in range(2, 1000) if f"l{i}_v.weight" in tensors or f"l{i}.weight" not in tensors)
    if last < 4 or last % 2:
        raise ConversionError(f"{tensors.source}: expected layers l2, l3 ...; found {tensors.listing()}")
    is_wide = f"l{last}_v.bias" in tensors
    epsilon = CHAINER_EPSILON if is_wide else TORCH_EPSILON
    tower = [take_convolution(tensors, f"l{i}", channels, 3, channels) for i in range(2, last)]
    norms = [take_normalization(tensors, f"norm{i}", channels, epsilon) for i in range(1, last)]
    names = Names(
        policy=f"l{last}",
        bias=f"l{last}_2",
        value=f"l{last}_v",
        norm=f"norm{last}_v",
        hidden=f"l{last + 1}_v",
        out=f"l{last + 2}_v",
        epsilon=epsilon,
    )
    heads = take_heads(tensors, channels, activation, names)

    def post_activation(ops: Operations[T], inputs: Sequence[T]) -> T:
        x = ops.activate(ops.convolve(_terms(stem, inputs), norms[0]), activation)
        for i in range(0, len(tower), 2):
            y = ops.activate(ops.convolve([(x, tower[i])], norms[i + 1]), activation)
            x = ops.activate(ops.add(ops.convolve([(y, tower[i + 1])], norms[i + 2]), x), activation)
        return x

    def pre_activation(ops: Operations[T], inputs: Sequence[T]) -> T:
        x = ops.convolve(_terms(stem, inputs))
        for i in range(0, len(tower), 2):
            y = ops.activate(ops.normalize(x, norms[i]), activation)
            y = ops.activate(ops.convolve([(y, tower[i])], norms[i + 1]), activation)
            x = ops.add(ops.convolve([(y, tower[i + 1])]), x)
        return ops.activate(ops.normalize(x, norms[-1]), activation)

    def forward(ops: Operations[T], inputs: Sequence[T], /) -> tuple[T, T]:
        return heads(ops, pre_activation(ops, inputs) if is_wide else post_activation(ops, inputs))

    size = f"{'wideresnet' if is_wide else 'resnet'} {len(tower) // 2}x{channels} {activation}"
    return Architecture(DLSHOGI, size, _inputs(stem), LABELS, forward)
