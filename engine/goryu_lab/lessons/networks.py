"""The PyTorch networks of the small games, and their export to ONNX.

`BoardNet` is a small AlphaZero network: a residual tower of 3x3 convolutions with a policy head and a value
head. `ValueNet` has the layers of the reversi tutorial: two 4x4 convolutions and a dense one. Both take
planes [N, 2, size, size] and have the interface of `evaluators.board_network`.
"""

import io
from pathlib import Path
from typing import cast

import numpy as np
import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from goryu.base.files import atomic_write
from goryu.evaluators.board_network import BoardGame, Planes
from goryu_lab.lessons.published_lesson import PublishedValueNet


class BoardNet(nn.Module):  # type: ignore[misc]
    """`blocks` residual blocks of `channels` channels."""

    def __init__(self, game: BoardGame, blocks: int, channels: int) -> None:
        super().__init__()
        squares = game.size * game.size
        self.stem = normalised(2, channels, 3)
        self.tower = nn.Sequential(*(BoardBlock(channels) for _ in range(blocks)))
        self.policy_squares = normalised(channels, 4, 1)
        self.policy = nn.Linear(4 * squares, game.moves)
        self.value_squares = normalised(channels, 4, 1)
        self.value_hidden = nn.Linear(4 * squares, 64)
        self.value = nn.Linear(64, 1)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Returns policy logits [N, moves] and values [N] in (-1, +1) for the side to move."""
        x = self.tower(F.relu(self.stem(planes)))
        policy = self.policy(F.relu(self.policy_squares(x)).flatten(1))
        hidden = F.relu(self.value_hidden(F.relu(self.value_squares(x)).flatten(1)))
        return policy, torch.tanh(self.value(hidden)).squeeze(1)


class PublishedBoardNet(nn.Module):  # type: ignore[misc]
    """The AlphaZero tutorial's network: its heads read the means of the channels.

    Batch normalisations and initial weights are those of Keras, which the tutorial uses.
    """

    def __init__(self, game: BoardGame, blocks: int, channels: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(2, channels, 3, padding=1, bias=False)
        self.tower = nn.Sequential(*(PublishedBlock(channels) for _ in range(blocks)))
        self.policy = nn.Linear(channels, game.moves)
        self.value = nn.Linear(channels, 1)
        for part in self.modules():
            if isinstance(part, nn.Conv2d):
                nn.init.kaiming_normal_(part.weight)
            elif isinstance(part, nn.Linear):
                nn.init.xavier_uniform_(part.weight)
                nn.init.zeros_(part.bias)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Returns shares of the visits [N, moves], of any size, and values [N] in (-1, +1)."""
        x = self.tower(self.stem(planes)).mean(dim=(2, 3))
        return self.policy(x), torch.tanh(self.value(x)).squeeze(1)


class PublishedBlock(nn.Module):  # type: ignore[misc]
    """x + f(x), f with a normalisation before, between and after two convolutions."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        first, second = (nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(2))
        norms = [nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01) for _ in range(3)]
        self.layers = nn.Sequential(norms[0], first, norms[1], nn.ReLU(), second, norms[2])

    def forward(self, x: Tensor) -> Tensor:
        return x + cast(Tensor, self.layers(x))


class LogShares(nn.Module):  # type: ignore[misc]
    """Turns shares into logits, so that the softmax of legal moves divides shares by their sum."""

    def __init__(self, net: PublishedBoardNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Returns policy logits and values; a share below 1e-6 counts as that."""
        shares, values = self.net(planes)
        return shares.clamp(min=1e-6).log(), values


class BoardBlock(nn.Module):  # type: ignore[misc]
    """x + f(x), f two normalised convolutions."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = normalised(channels, channels, 3)
        self.second = normalised(channels, channels, 3)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.second(F.relu(self.first(x))))


class ValueNet(nn.Module):  # type: ignore[misc]
    """`layers` convolutions of `channels` filters, a dense layer, one output.

    The convolutions are 4x4 without padding (8x8 -> 5x5 -> 2x2), or smaller where the board is too small.
    `published_lesson.PublishedValueNet` is that of the tutorial.
    """

    def __init__(self, channels: int = 32, hidden: int = 512, size: int = 8, layers: int = 2) -> None:
        """Raises ValueError if there are too many convolutions for the board."""
        super().__init__()
        kernel = min(4, (size - 1) // layers + 1)
        if kernel < 2:
            raise ValueError(f"{layers} layers: expected at most {size - 1} on {size}x{size}")
        left = size - layers * (kernel - 1)
        convolutions: list[nn.Module] = []
        for i in range(layers):
            convolutions += [nn.Conv2d(channels if i else 2, channels, kernel), nn.ReLU()]
        self.layers = nn.Sequential(
            *convolutions,
            nn.Flatten(),
            nn.Linear(left * left * channels, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
            nn.Tanh(),
        )

    def forward(self, planes: Tensor) -> Tensor:
        """Returns values [N] in (-1, +1) for the side to move."""
        return cast(Tensor, self.layers(planes)).squeeze(1)


def normalised(inputs: int, outputs: int, kernel: int) -> nn.Sequential:
    """Returns a convolution that keeps the size of the board, and its batch normalisation."""
    convolution = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs))


def forward_values(net: nn.Module, planes: Planes) -> list[float]:
    """Returns a value network's values of the positions."""
    net.eval()
    with torch.inference_mode():
        return cast(list[float], net(torch.from_numpy(planes)).tolist())


def export(net: nn.Module, game: BoardGame, path: Path) -> None:
    """Writes the network as one ONNX file that `evaluators.board_network.load` reads, atomically.

    Values beyond [-1, +1], which only a linear output has, become -1 or +1; shares become logits.
    """
    net.eval()
    if isinstance(net, PublishedValueNet):
        whole: nn.Module = nn.Sequential(net, nn.Hardtanh())
    else:
        whole = LogShares(net) if isinstance(net, PublishedBoardNet) else net
    example = torch.zeros(1, 2, game.size, game.size)
    outputs = ["policy", "value"] if isinstance(net, (BoardNet, PublishedBoardNet)) else ["value"]
    exported = io.BytesIO()
    torch.onnx.export(
        whole.eval(),
        (example,),
        exported,
        dynamo=False,
        input_names=["planes"],
        output_names=outputs,
        dynamic_axes={name: {0: "batch"} for name in ["planes", *outputs]},
    )
    model = onnx.load_from_string(exported.getvalue())
    entry = model.metadata_props.add()
    entry.key, entry.value = "goryu.game", game.name
    atomic_write(path, model.SerializeToString())


def symmetric(boards: np.ndarray, turns: int, is_mirrored: bool) -> np.ndarray:
    """Returns boards [N, C, size, size] after quarter turns and, if mirrored, a reflection."""
    boards = np.rot90(boards, turns, axes=(2, 3))
    return np.ascontiguousarray(boards[:, :, :, ::-1] if is_mirrored else boards)
