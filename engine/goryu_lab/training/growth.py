"""Growth: a network starts as a smaller one that has been trained.

The grown network gives the same answers, so nothing that the small one has learnt is lost, and training goes
on from there:

- A new block starts as the identity (`ResidualBlock`).
- A new channel starts with random weights, and every layer after it reads it with weight zero. These weights
  learn at once, since the channel is not zero.

Source: Chen, Goodfellow and Shlens, "Net2Net", 2016, whose new channels are copies of old ones instead.
"""

from torch import Tensor

from goryu.base.errors import InputError
from goryu_lab.training.network import PolicyValueNet


def size_of(net: PolicyValueNet) -> tuple[int, int]:
    """Returns the numbers of blocks and of channels."""
    return len(net.tower) - 1, net.board.out_channels  # All but the global pooling are blocks.


def grown(net: PolicyValueNet, blocks: int, channels: int) -> PolicyValueNet:
    """Returns a network of this size, in evaluation mode, that gives the same answers.

    Raises InputError if `net` has more blocks or more channels.
    """
    old_blocks, old_channels = size_of(net)
    if old_blocks > blocks or old_channels > channels:
        found = f"found {old_blocks} of {old_channels}"
        raise InputError(f"expected at most {blocks} blocks of {channels} channels, {found}")
    large = PolicyValueNet(blocks, channels)
    large.eval()
    tensors = large.state_dict()  # They share their memory with the network.
    for name, tensor in net.state_dict().items():
        part, _, rest = name.partition(".")
        if part == "tower":
            place, _, rest = rest.partition(".")
            name = f"tower.{_new_place(int(place), old_blocks, blocks)}.{rest}"
        if rest == "mix.weight":  # It reads two numbers of each channel.
            _write(tensor.unflatten(1, (2, -1)).mT, tensors[name].unflatten(1, (2, -1)).mT)
        else:
            _write(tensor, tensors[name])
    return large


def _new_place(place: int, old_blocks: int, blocks: int) -> int:
    """Returns where a module of the tower goes: it stays on its side of the global pooling."""
    old_pooling, pooling = (old_blocks + 1) // 2, (blocks + 1) // 2
    return place if place < old_pooling else place - old_pooling + pooling


def _write(tensor: Tensor, to: Tensor) -> None:
    """Copies the numbers of the old channels; the old outputs read the new channels with weight zero."""
    if tensor.ndim > 1:
        to[: len(tensor), tensor.shape[1] :] = 0.0
        to[: len(tensor), : tensor.shape[1]] = tensor
    elif tensor.ndim == 1:
        to[: len(tensor)] = tensor
    else:
        to.copy_(tensor)
