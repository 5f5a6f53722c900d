"""A learner for AlphaZero's loop: `BoardNet` on a game of two bitboards."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from goryu.evaluators.board_network import BoardGame, BoardState, encode, load
from goryu.evaluators.cached import CachedEvaluator
from goryu.games.state import State
from goryu.search.evaluator import Evaluator
from goryu_lab.lessons.alphazero import Example
from goryu_lab.lessons.alphazero_config import AlphaZeroConfig
from goryu_lab.lessons.networks import BoardNet, PublishedBoardNet, export, symmetric
from goryu_lab.lessons.optimizer import ScheduledOptimizer

Position = tuple[int, int]
"""Bitboards of the side to move and of the opponent."""


class BoardLearner:
    """A network, and how far its training is."""

    def __init__(
        self, game: BoardGame, blocks: int, channels: int, seed: int, *, as_published: bool = False
    ) -> None:
        """as_published: learn the AlphaZero tutorial's network."""
        torch.manual_seed(seed)
        self.game = game
        self.net = (PublishedBoardNet if as_published else BoardNet)(game, blocks, channels)
        self.optimizer = ScheduledOptimizer(self.net)

    def new_game(self) -> State:
        return self.game.new()

    def encode(self, state: State) -> Position:
        board = cast(BoardState, state)
        return board.own, board.opponent

    def evaluator(self) -> Evaluator:
        """Returns the network in onnxruntime, much faster than PyTorch for single positions."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "network.onnx"
            self.export(path)
            return CachedEvaluator(load(path, self.game))

    def export(self, path: Path) -> None:
        """Writes the network as an ONNX file."""
        export(self.net, self.game, path)

    def train(
        self,
        games: Sequence[Sequence[Example[Position]]],
        config: AlphaZeroConfig,
        rng: Random,
        on_step: Callable[[int], None] = lambda step: None,
    ) -> tuple[float, float]:
        """Learns the search's policy and the results (squared error) of random positions.

        With `symmetries` each minibatch is rotated and reflected in one of the eight ways, at random.
        """
        planes, policies, values = self._arrays([example for game in games for example in game])
        batches = minibatches(len(values), config, rng)
        if config.epochs:
            self.optimizer.restart()

        def losses() -> tuple[Tensor, Tensor]:
            chosen = np.array(next(batches))
            turns, is_mirrored = (rng.randrange(4), rng.random() < 0.5) if config.symmetries else (0, False)
            x = symmetric(planes[chosen], turns, is_mirrored)
            y = self._symmetric_policies(policies[chosen], turns, is_mirrored)
            found, predicted = self.net(torch.from_numpy(x))
            if config.policy_loss == "squares":
                policy_loss = F.mse_loss(found, torch.from_numpy(y))
            else:
                policy_loss = -(torch.from_numpy(y) * F.log_softmax(found, dim=1)).sum(dim=1).mean()
            return policy_loss, F.mse_loss(predicted, torch.from_numpy(values[chosen]))

        self.net.train()
        return self.optimizer.train(losses, config, on_step)

    def state_dict(self) -> dict[str, Any]:
        return self.optimizer.state_dict()

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        self.optimizer.load_state_dict(saved)

    def _arrays(self, examples: Sequence[Example[Position]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns planes [N, 2, size, size], policies [N, moves] and values [N], float32."""
        planes = encode([example.position for example in examples], self.game.size)
        policies = np.zeros((len(examples), self.game.moves), dtype=np.float32)
        for row, example in zip(policies, examples, strict=True):
            for move, probability in example.policy:
                row[move] = probability
        return planes, policies, np.array([example.value for example in examples], dtype=np.float32)

    def _symmetric_policies(self, policies: np.ndarray, turns: int, is_mirrored: bool) -> np.ndarray:
        """Rotates and reflects the squares; the entries after them (a pass) stay."""
        size = self.game.size
        squares = policies[:, : size * size].reshape(-1, 1, size, size)
        turned = symmetric(squares, turns, is_mirrored).reshape(len(policies), size * size)
        return np.concatenate([turned, policies[:, size * size :]], axis=1)


def minibatches(positions: int, config: AlphaZeroConfig, rng: Random) -> Iterator[list[int]]:
    """Yields the numbers of the positions of each minibatch, without end."""
    while not config.epochs:
        yield rng.choices(range(positions), k=config.batch)
    while True:
        order = rng.sample(range(positions), positions)
        for start in range(0, positions, config.batch):
            yield order[start : start + config.batch]
