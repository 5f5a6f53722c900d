"""The towers of the networks: what lies between the planes and the heads.

    residual    3x3 convolutions with residual connections (He et al., "Deep residual learning for image
                recognition", 2016), as in AlphaZero. A square sees one square further with each.
    lines       the same, and convolutions over whole ranks and files, along which rooks and lances move; one
                costs a ninth of a 3x3 convolution (1 x n and n x 1 instead of n x n: Szegedy et al.,
                "Rethinking the Inception architecture", 2016). The networks of miniosl (T. Kaneko) have
                those of one direction.
    attention   a shorter residual tower, then blocks in which every square reads all others (Vaswani et al.,
                "Attention is all you need", 2017). A bias for each distance in files and ranks tells where
                they are (Shaw, Uszkoreit and Vaswani, "Self-attention with relative position
                representations", 2018; in two dimensions: Liu et al., "Swin transformer", 2021). dlshogi,
                nshogi, lc0 and KataGo went this way.

Global pooling, in the middle of each, gives every square information about the whole board (Wu, "Accelerating
self-play learning in Go", 2019). Every block starts as the identity.
"""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from goryu.base.errors import InputError
from goryu_lab.training.config import ARCHITECTURES

HEAD_CHANNELS = 32
"""Channels of an attention head."""

ATTENTION_SHARE = 0.3
"""Share of the blocks of `attention` that are attention: three of ten."""

SPAN = 17
"""Distances between two files, or two ranks: from -8 to +8."""


def make_tower(architecture: str, blocks: int, channels: int) -> nn.Sequential:
    """Returns a tower of so many blocks, and global pooling. Raises InputError for a size it cannot have."""
    kinds: list[type[nn.Module]] = [ResidualBlock] * blocks
    if architecture == "lines":
        kinds = [LineBlock] * blocks
    elif architecture == "attention":
        if channels % HEAD_CHANNELS:
            raise InputError(
                f"channels: expected a multiple of {HEAD_CHANNELS} for attention, found {channels}"
            )
        count = min(blocks, max(1, round(ATTENTION_SHARE * blocks)))
        kinds = [ResidualBlock] * (blocks - count) + [AttentionBlock] * count
    else:
        assert architecture == ARCHITECTURES[0], architecture
    tower = [kind(channels) for kind in kinds]
    tower.insert((blocks + 1) // 2, GlobalPooling(channels))
    return nn.Sequential(*tower)


class ResidualBlock(nn.Module):  # type: ignore[misc]
    """x + f(x), where f is two normalised convolutions; f starts at zero."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)
        nn.init.zeros_(self.second_norm.weight)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.first_norm(self.first(x)))
        return F.relu(x + self.second_norm(self.second(y)))


class LineBlock(nn.Module):  # type: ignore[misc]
    """A residual block whose first convolution also reads the whole rank and the whole file of a square."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.near = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.near_norm = nn.BatchNorm2d(channels)
        self.rank = nn.Conv2d(channels, channels, (9, 1), bias=False)  # The axes are [file][rank].
        self.rank_norm = nn.BatchNorm2d(channels)
        self.file = nn.Conv2d(channels, channels, (1, 9), bias=False)
        self.file_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)
        nn.init.zeros_(self.second_norm.weight)

    def forward(self, x: Tensor) -> Tensor:
        lines = self.rank_norm(self.rank(x)) + self.file_norm(self.file(x))
        y = F.relu(self.near_norm(self.near(x)) + lines)
        return F.relu(x + self.second_norm(self.second(y)))


class AttentionBlock(nn.Module):  # type: ignore[misc]
    """Attention over the 81 squares and two layers for each square, both added to x.

    All matrices are 1x1 convolutions. Queries and keys have the length 1 (Henry et al., "Query-key
    normalization for transformers", 2020), so that no weight of a square can run away.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.heads = channels // HEAD_CHANNELS
        self.attention_norm = ChannelNorm(channels)
        self.query, self.key, self.read, self.written = (
            nn.Conv2d(channels, channels, 1, bias=False) for _ in range(4)
        )
        self.sharpness = nn.Parameter(torch.full((self.heads, 1, 1), HEAD_CHANNELS**0.5))
        self.positions = RelativePositions(self.heads)
        self.layers_norm = ChannelNorm(channels)
        self.wide = nn.Conv2d(channels, 2 * channels, 1, bias=False)
        self.narrow = nn.Conv2d(2 * channels, channels, 1, bias=False)
        for last in (self.written, self.narrow):
            nn.init.zeros_(last.weight)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.written(self._read(self.attention_norm(x)))
        return x + cast(Tensor, self.narrow(F.relu(self.wide(self.layers_norm(x)))))

    def _read(self, x: Tensor) -> Tensor:
        query, key, value = (
            layer(x).reshape(-1, self.heads, HEAD_CHANNELS, 81).transpose(2, 3)
            for layer in (self.query, self.key, self.read)
        )
        query, key = (F.normalize(each.float(), dim=3).to(value.dtype) for each in (query, key))
        bias = self.positions()
        read = F.scaled_dot_product_attention(
            query * self.sharpness.to(value.dtype), key, value, bias.to(value.dtype), scale=1.0
        )
        return read.transpose(2, 3).reshape(-1, self.heads * HEAD_CHANNELS, 9, 9)


class RelativePositions(nn.Module):  # type: ignore[misc]
    """A learnt number for every distance in files and ranks, by head."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.numbers = nn.Parameter(torch.zeros(heads, SPAN * SPAN))
        files, ranks = torch.arange(81) // 9, torch.arange(81) % 9
        file, rank = (place[:, None] - place[None, :] + SPAN // 2 for place in (files, ranks))
        self.register_buffer("distance", SPAN * file + rank, persistent=False)

    def forward(self) -> Tensor:
        """Returns what is added to the logit of each square that a square reads: [1, heads, 81, 81]."""
        return self.numbers[:, self.distance].unsqueeze(0)


class ChannelNorm(nn.Module):  # type: ignore[misc]
    """Divides the channels of each square by their root mean square (Zhang and Sennrich, 2019)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        size = (x.float().square().mean(1, keepdim=True) + 1e-6).rsqrt()
        return x * (size * self.weight).to(x.dtype)


class GlobalPooling(nn.Module):  # type: ignore[misc]
    """Adds to each channel a bias computed from the mean and the maximum of all channels over the board."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.mix = nn.Linear(2 * channels, channels)
        nn.init.zeros_(self.mix.weight)
        nn.init.zeros_(self.mix.bias)

    def forward(self, x: Tensor) -> Tensor:
        bias = self.mix(mean_and_max(x))
        return F.relu(x + bias[:, :, None, None])


def mean_and_max(x: Tensor) -> Tensor:
    """Returns the mean and the maximum over the board of [N, C, 9, 9], as [N, 2C].

    The gradient of `amax` looks for the squares that equal the maximum; in bfloat16 torch.compile rounds the
    two differently, finds none and divides by zero. Pooling remembers the square.
    """
    return torch.cat((x.mean((2, 3)), F.adaptive_max_pool2d(x, 1).flatten(1)), 1)
