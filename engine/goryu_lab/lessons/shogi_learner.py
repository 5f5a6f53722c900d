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
from torch.nn import functional as F

from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS, DlshogiFormat
from goryu.evaluators.formats.value_scale import from_logit
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.shogi_state import ShogiState
from goryu.games.state import State
from goryu.implementation import Board
from goryu.search.evaluator import Evaluator
from goryu_lab.lessons.alphazero import Example
from goryu_lab.lessons.alphazero_config import AlphaZeroConfig
from goryu_lab.lessons.optimizer import ScheduledOptimizer
from goryu_lab.training.dataset import mirror_labels
from goryu_lab.training.export import export_onnx
from goryu_lab.training.network import PolicyValueNet


class ShogiLearner:
    """A network, and how far its training is."""

    def __init__(self, blocks: int, channels: int, seed: int) -> None:
        torch.manual_seed(seed)
        self.net = PolicyValueNet(blocks, channels)
        self.optimizer = ScheduledOptimizer(self.net)
        self.format = DlshogiFormat(from_logit)

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

        def losses() -> tuple[Tensor, Tensor]:
            batch = self._batch(rng.choices(examples, k=config.batch), rng)
            input1, input2, legal, policy, value = map(torch.from_numpy, batch)
            logits, predicted = self.net(input1, input2)
            log_policy = logits.masked_fill(~legal, -1e9).log_softmax(1)
            policy_loss = -(policy * log_policy).sum(1).mean()
            return policy_loss, F.binary_cross_entropy_with_logits(predicted[:, 0], value)

        self.net.train()
        return self.optimizer.train(losses, config, on_step)

    def state_dict(self) -> dict[str, Any]:
        return self.optimizer.state_dict()

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        self.optimizer.load_state_dict(saved)

    def _batch(self, examples: Sequence[Example[str]], rng: Random) -> tuple[np.ndarray, ...]:
        """Returns input1 [N, 62, 9, 9], input2 [N, 57, 9, 9], legal and policy [N, 2187] and value [N].

        value: the probability that the side to move wins; a draw is half a win.
        """
        size = len(examples)
        input1 = np.zeros((size, *self.format.inputs[0].shape), np.float32)
        input2 = np.zeros((size, *self.format.inputs[1].shape), np.float32)
        legal = np.zeros((size, DLSHOGI_LABELS), np.bool_)
        policy = np.zeros((size, DLSHOGI_LABELS), np.float32)
        for i, example in enumerate(examples):
            board = Board(example.position)
            self.format.fill(cast(ShogiState, board), (input1[i], input2[i]))
            legal[i, [self.format.label(move, board.turn) for move in board.legal_moves()]] = True
            for move, probability in example.policy:
                policy[i, self.format.label(move, board.turn)] = probability
        mirror, mirrored = mirror_labels(), np.array([rng.random() < 0.5 for _ in examples])
        input1[mirrored] = input1[mirrored, :, ::-1, :]  # The axes are [plane][file][rank].
        legal[mirrored] = legal[mirrored][:, mirror]
        policy[mirrored] = policy[mirrored][:, mirror]
        value = np.array([(example.value + 1.0) / 2.0 for example in examples], np.float32)
        return input1, input2, legal, policy, value
