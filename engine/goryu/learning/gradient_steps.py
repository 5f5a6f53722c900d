"""The gradient steps of AlphaZero's loop: an optimizer, its schedule and the count of its steps."""

from typing import Any

import torch
from torch import Tensor, nn

from goryu.learning.alphazero_config import AlphaZeroConfig

__all__ = ["GradientSteps"]


class GradientSteps:
    """Takes the steps that a configuration asks for; `count` decides where its schedule stands."""

    def __init__(self, net: nn.Module) -> None:
        self.net = net
        self.count = 0
        self._optimizer: torch.optim.Optimizer | None = None
        self._saved: dict[str, Any] | None = None

    def take(self, loss: Tensor, config: AlphaZeroConfig) -> None:
        """Takes one step down the gradient of `loss`."""
        optimizer = self._optimizer or self._new_optimizer(config)
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate(self.count)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        self.count += 1

    def state_dict(self) -> dict[str, Any]:
        """Returns what `load_state_dict` needs to go on from here, the network's weights not included."""
        moments = self._optimizer.state_dict() if self._optimizer else self._saved
        return {"count": self.count, "optimizer": moments}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        self.count, self._saved = saved["count"], saved["optimizer"]
        self._optimizer = None

    def _new_optimizer(self, config: AlphaZeroConfig) -> torch.optim.Optimizer:
        parameters, rate, decay = self.net.parameters(), config.learning_rate(0), config.weight_decay
        optimizer: torch.optim.Optimizer
        if config.optimizer == "adam":
            optimizer = torch.optim.AdamW(parameters, rate, weight_decay=decay)
        else:
            optimizer = torch.optim.SGD(parameters, rate, momentum=config.momentum, weight_decay=decay)
        if self._saved is not None:
            optimizer.load_state_dict(self._saved)
        self._optimizer = optimizer
        return optimizer
