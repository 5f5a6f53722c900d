"""The optimizer of AlphaZero's loop, with its schedule and the count of its steps."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from goryu_lab.lessons.alphazero_config import AlphaZeroConfig


class ScheduledOptimizer:
    """An optimizer of the kind in the config; `count`, the steps so far, determines the learning rate."""

    def __init__(self, net: nn.Module) -> None:
        self.net = net
        self.count = 0
        self._optimizer: torch.optim.Optimizer | None = None
        self._saved: dict[str, Any] | None = None

    def train(
        self,
        losses: Callable[[], tuple[Tensor, Tensor]],
        config: AlphaZeroConfig,
        on_step: Callable[[int], None] = lambda step: None,
    ) -> tuple[float, float]:
        """Takes the gradient steps of a cycle; returns the mean losses of policy and value.

        losses: computes both for one minibatch; their sum is minimized. on_step: takes the step's number.
        """
        policy_total = value_total = 0.0
        for step in range(1, config.steps_per_cycle + 1):
            policy_loss, value_loss = losses()
            self.step(policy_loss + value_loss, config)
            policy_total += policy_loss.item()
            value_total += value_loss.item()
            on_step(step)
        return policy_total / config.steps_per_cycle, value_total / config.steps_per_cycle

    def restart(self) -> None:
        """Forgets the moments and the steps; the weights stay."""
        self.count, self._optimizer, self._saved = 0, None, None

    def step(self, loss: Tensor, config: AlphaZeroConfig) -> None:
        """Takes one gradient step."""
        optimizer = self._optimizer or self._new_optimizer(config)
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate(self.count)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        self.count += 1

    def state_dict(self) -> dict[str, Any]:
        """Returns a copy of the network's weights and of the state of the optimizer."""
        moments = self._optimizer.state_dict() if self._optimizer else self._saved
        steps = {"count": self.count, "optimizer": moments}
        return deepcopy({"net": self.net.state_dict(), "steps": steps})

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        self.net.load_state_dict(saved["net"])
        steps = deepcopy(saved["steps"])
        self.count, self._saved = steps["count"], steps["optimizer"]
        self._optimizer = None

    def _new_optimizer(self, config: AlphaZeroConfig) -> torch.optim.Optimizer:
        parameters, rate, decay = [*self.net.parameters()], config.learning_rate(0), config.weight_decay
        optimizer: torch.optim.Optimizer
        if config.optimizer == "adam":
            optimizer = torch.optim.AdamW(parameters, rate, weight_decay=decay)
        elif config.optimizer == "adam-l2":
            kernels, others = (
                [w for w in parameters if (w.dim() > 1) == is_kernel] for is_kernel in (True, False)
            )
            groups = [{"params": kernels, "weight_decay": decay}, {"params": others}]
            optimizer = torch.optim.Adam(groups, rate, eps=1e-7)
        else:
            optimizer = torch.optim.SGD(parameters, rate, momentum=config.momentum, weight_decay=decay)
        if self._saved is not None:
            optimizer.load_state_dict(self._saved)
        self._optimizer = optimizer
        return optimizer
