"""A learner for AlphaZero's pseudocode: the shogi network at a size for a CPU.

It is a demonstration, not a way to a strong engine: from nothing, shogi takes millions of games. Networks
that play well learn from a teacher's games (`goryu teach`) and from self-play on disk (`goryu selfplay`) with
`goryu train`.

A position is encoded as its SFEN, which has no history; the planes do not show repetitions either.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.state import State
from goryu.implementation import Board
from goryu.search.evaluator import Evaluator
from goryu_lab.lessons.alphazero import Example
from goryu_lab.lessons.alphazero_config import AlphaZeroConfig
from goryu_lab.lessons.optimizer import ScheduledOptimizer
from goryu_lab.records.hcpe import HCPE, packed
from goryu_lab.training.batch_loader import on_device
from goryu_lab.training.batches import Arrays, Batch
from goryu_lab.training.config import TrainingConfig
from goryu_lab.training.dataset import Dataset, make_batch
from goryu_lab.training.export import export_onnx
from goryu_lab.training.losses import losses
from goryu_lab.training.network import PolicyValueNet
from goryu_lab.training.soft_policies import SoftPolicies

LOSSES = TrainingConfig(smoothing=0.0, precision="float32")
"""Of `goryu train`'s numbers those that the losses have: AlphaZero's targets as they are."""


class ShogiLearner:
    """A network, and how far its training is."""

    def __init__(self, blocks: int, channels: int, seed: int) -> None:
        torch.manual_seed(seed)
        self.net = PolicyValueNet(blocks, channels)
        self.optimizer = ScheduledOptimizer(self.net)

    def new_game(self) -> State:
        return Board()

    def encode(self, state: State) -> str:
        return cast(Board, state).sfen()

    def evaluator(self) -> Evaluator:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "network.onnx"
            self.export(path)
            return NetworkEvaluator(path, batch_size=8, backend="cpu")

    def export(self, path: Path) -> None:
        """Writes the network in the dlshogi format, which Goryu and other engines read."""
        export_onnx(self.net, path)

    def train(
        self,
        games: Sequence[Sequence[Example[str]]],
        config: AlphaZeroConfig,
        rng: Random,
        on_step: Callable[[int], None] = lambda step: None,
    ) -> tuple[float, float]:
        """Learns the search's policy and the results (both cross-entropy) of random positions.

        Half of them are reflected left to right: the mirror image is an equally good position.
        """
        examples = [example for game in games for example in game]

        def step_losses() -> tuple[Tensor, Tensor]:
            batch = batch_of(rng.choices(examples, k=config.batch), rng)
            return losses(self.net, on_device(batch), LOSSES)

        self.net.train()
        return self.optimizer.train(step_losses, config, on_step)

    def state_dict(self) -> dict[str, Any]:
        return self.optimizer.state_dict()

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        self.optimizer.load_state_dict(saved)


def batch_of(examples: Sequence[Example[str]], rng: Random) -> Batch[Arrays]:
    """Returns positions as `goryu train` reads them; each is reflected with a probability of one half."""
    records = np.zeros(len(examples), HCPE)
    records["hcp"] = [packed(Board(example.position)) for example in examples]
    records["bestMove16"] = [example.policy[0][0] for example in examples]  # Any move: the policy is learnt.
    value = np.array([(example.value + 1.0) / 2.0 for example in examples], np.float32)
    policies = SoftPolicies.of([example.policy for example in examples])
    mirrored = np.array([rng.random() < 0.5 for _ in examples])
    return make_batch(Dataset(records, value, policies), np.arange(len(examples)), mirrored)
