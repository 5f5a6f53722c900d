"""The network of python-dlshogi2, from 山岡忠夫・加納邦彦『強い将棋ソフトの創りかた』(2021), in PyTorch.

A residual network of 104 planes: `conv1`, `norm1`, `blocks`, and two heads, `policy_*` and `value_*`. The
book uses ReLU; some readers use swish, which has no weights of its own (see `activation.py`).

Source: python-dlshogi2 (T. Yamaoka), `policy_value_resnet.py`. Described from the source.
"""

from collections.abc import Sequence

from goryu_lab.conversion.network import (
    TORCH_EPSILON,
    Activation,
    Architecture,
    Operations,
    T,
    take_convolution,
    take_normalization,
)
from goryu_lab.conversion.residual import LABELS, Names, take_heads, take_tower
from goryu_lab.conversion.tensors import Tensors

SECOND_BOOK = "python-dlshogi2"
PLANES = 104


def recognizes(tensors: Tensors) -> bool:
    """Are these tensors those of a network of the second book?"""
    return "conv1.weight" in tensors and "policy_conv.weight" in tensors


def read_second_book(tensors: Tensors, activation: Activation) -> Architecture:
    """Returns the network; raises ConversionError if it is another one."""
    channels = tensors.outputs("conv1.weight")
    first = take_convolution(tensors, "conv1", PLANES, 3, channels)
    norm = take_normalization(tensors, "norm1", channels, TORCH_EPSILON)
    blocks, tower = take_tower(tensors, channels, activation)
    heads = take_heads(tensors, channels, activation, Names(policy="policy_conv"))
    tensors.check_all_taken()

    def forward(ops: Operations[T], inputs: Sequence[T], /) -> tuple[T, T]:
        x = ops.activate(ops.convolve([(inputs[0], first)], norm), activation)
        return heads(ops, tower(ops, x))

    size = f"{blocks}x{channels} {activation}"
    return Architecture(SECOND_BOOK, size, {"input": PLANES}, LABELS, forward)
