"""The network and the search of the reversi tutorial as its code has them (`PUBLISHED` in `value_config.py`).

They differ from ours: the network reads one plane of +1 and -1, its convolutions keep the size of the board,
and its output is linear. The search takes the network's value where a game is over, too, and its opponent
counts discs there instead of preferring a win.

Weakness: the weights of the dense layers begin so large that the first values are hundreds of discs, and much
of the training only brings them down.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from random import Random
from typing import cast

import torch
from torch import Tensor, nn

from goryu.games.state import Move
from goryu.implementation import Reversi
from goryu.players.agents.agents import Agent, with_epsilon

Board = tuple[int, int]
"""Bitboards of the side that chooses the move and of its opponent."""

Values = Callable[[Sequence[Board]], Sequence[float]]


class SameConvolution(nn.Conv2d):  # type: ignore[misc]
    """TensorFlow's SAME for an even kernel: one row and column of zeros before the board, two behind it."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x)[:, :, 1:, 1:]


class PublishedValueNet(nn.Module):  # type: ignore[misc]
    """`layers` padded 4x4 convolutions of `channels` filters, a dense layer, one linear output."""

    def __init__(self, channels: int = 32, hidden: int = 512, size: int = 8, layers: int = 2) -> None:
        super().__init__()
        self.squares = size * size
        self.signs: Tensor
        self.register_buffer("signs", torch.tensor([1.0, -1.0]).view(1, 2, 1, 1), persistent=False)
        parts: list[nn.Module] = []
        for i in range(layers):
            parts += [SameConvolution(channels if i else 1, channels, 4, padding=2), nn.ReLU()]
        parts += [nn.Flatten(), nn.Linear(self.squares * channels, hidden), nn.ReLU(), nn.Linear(hidden, 1)]
        self.layers = nn.Sequential(*parts)
        for part in parts:
            if isinstance(part, (nn.Conv2d, nn.Linear)):
                is_dense = isinstance(part, nn.Linear)
                deviation = 1.0 / sqrt(2.0) if is_dense else 0.1
                nn.init.trunc_normal_(part.weight, std=deviation, a=-2.0 * deviation, b=2.0 * deviation)
                nn.init.constant_(part.bias, 0.0 if is_dense else 0.1)

    def forward(self, planes: Tensor) -> Tensor:
        """Returns values [N] of planes [N, 2, size, size]: expected discs / squares, of any size.

        The tutorial's are discs. Adam takes the same steps for both.
        """
        one = (planes * self.signs).sum(dim=1, keepdim=True)
        return cast(Tensor, self.layers(one)).squeeze(1) / self.squares


def best_moves(states: Sequence[Reversi], values: Values) -> list[Move]:
    """Returns for each position the first move whose worst reply has the greatest value.

    values: returns the values of boards for the side that chooses; it is called once.
    """
    boards: list[Board] = []
    replies: list[list[tuple[Move, int]]] = []
    for state in states:
        replies.append([])
        for move in state.legal_moves():
            before = len(boards)
            state.push(move)
            if state.outcome() is None:
                for reply in state.legal_moves():
                    state.push(reply)
                    boards.append((state.own, state.opponent))
                    state.pop()
            else:
                boards.append((state.opponent, state.own))
            state.pop()
            replies[-1].append((move, len(boards) - before))
    found = iter(values(boards))
    chosen = []
    for moves in replies:
        worst = [(min(next(found) for _ in range(count)), move) for move, count in moves]
        chosen.append(max(worst, key=lambda pair: pair[0])[1])
    return chosen


def greedy(rng: Random, epsilon: float) -> Agent:
    """Returns the tutorial's opponent: most discs after two plies, and random moves with `epsilon`."""

    def count_discs(boards: Sequence[Board]) -> list[int]:
        return [own.bit_count() - opponent.bit_count() for own, opponent in boards]

    return with_epsilon(lambda state: best_moves([cast(Reversi, state)], count_discs)[0], epsilon, rng)
