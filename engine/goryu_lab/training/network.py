"""The shogi network: planes, a tower (`towers.py`), a policy head and a value head.

The two heads are those of AlphaZero (2018). ReLU fuses with the convolutions and quantizes well on a CPU.
Inputs and outputs are those of the dlshogi format, but the value is a logit.
"""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from goryu_lab.training.config import ARCHITECTURES
from goryu_lab.training.towers import make_tower, mean_and_max


class PolicyValueNet(nn.Module):  # type: ignore[misc]
    """`blocks` blocks of `channels` channels; about 74,000 weights a residual block at 64 channels."""

    def __init__(self, blocks: int, channels: int, architecture: str = ARCHITECTURES[0]) -> None:
        """architecture: one of `ARCHITECTURES`. Raises InputError for a size that its tower cannot have."""
        super().__init__()
        self.architecture = architecture
        self.board = nn.Conv2d(62, channels, 3, padding=1, bias=False)
        self.hands = nn.Conv2d(57, channels, 1, bias=False)  # The planes are constant: 3x3 would add nothing.
        self.norm = nn.BatchNorm2d(channels)
        self.tower = make_tower(architecture, blocks, channels)
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
