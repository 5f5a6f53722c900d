"""The shogi network: planes, a tower of residual blocks, a policy head and a value head.

Tower and heads are those of AlphaZero (2018): 3x3 convolutions with residual connections (He et al., "Deep
residual learning for image recognition", 2016). A square sees one square further with each; global pooling in
the middle gives every square information about the whole board (Wu, "Accelerating self-play learning in Go",
2019). Every block starts as the identity. ReLU fuses with the convolutions and quantizes well on a CPU.
Inputs and outputs are those of the dlshogi format, but the value is a logit.
"""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class PolicyValueNet(nn.Module):  # type: ignore[misc]
    """`blocks` blocks of `channels` channels; about 74,000 weights a block at 64 channels."""

    def __init__(self, blocks: int, channels: int) -> None:
        super().__init__()
        self.board = nn.Conv2d(62, channels, 3, padding=1, bias=False)
        self.hands = nn.Conv2d(57, channels, 1, bias=False)  # The planes are constant: 3x3 would add nothing.
        self.norm = nn.BatchNorm2d(channels)
        tower: list[nn.Module] = [ResidualBlock(channels) for _ in range(blocks)]
        tower.insert((blocks + 1) // 2, GlobalPooling(channels))
        self.tower = nn.Sequential(*tower)
        self.policy = nn.Conv2d(channels, 27, 1, bias=False)
        self.policy_bias = nn.Parameter(torch.zeros(27 * 81))
        self.value = ValueHead(channels)

    def forward(self, input1: Tensor, input2: Tensor) -> tuple[Tensor, Tensor]:
        """Returns policy logits [N, 2187] and value logits [N, 1].

        input1: boards [N, 62, 9, 9]. input2: hands and check [N, 57, 9, 9].
        """
        x = F.relu(self.norm(self.board(input1) + self.hands(input2)))
        x = self.tower(x)
        return self.policy(x).flatten(1) + self.policy_bias, self.value(x)


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


class ValueHead(nn.Module):  # type: ignore[misc]
    """32 planes, pooled to their mean and maximum, then two layers to one logit."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.reduce = nn.Conv2d(channels, 32, 1, bias=False)
        self.norm = nn.BatchNorm2d(32)
        self.hidden = nn.Linear(64, 64)
        self.out = nn.Linear(64, 1)

    def forward(self, x: Tensor) -> Tensor:
        pooled = mean_and_max(F.relu(self.norm(self.reduce(x))))
        return cast(Tensor, self.out(F.relu(self.hidden(pooled))))


def mean_and_max(x: Tensor) -> Tensor:
    """Returns the mean and the maximum over the board of [N, C, 9, 9], as [N, 2C].

    The gradient of `amax` looks for the squares that equal the maximum; in bfloat16 torch.compile rounds the
    two differently, finds none and divides by zero. Pooling remembers the square.
    """
    return torch.cat((x.mean((2, 3)), F.adaptive_max_pool2d(x, 1).flatten(1)), 1)
