"""Validation: measures a network on held-out positions."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from goryu_lab.training.batch_loader import Positions, batches_of
from goryu_lab.training.process_group import ALONE, ProcessGroup

EVALUATION_BATCH = 512


@dataclass(frozen=True, slots=True)
class ValidationMetrics:
    """The measurements.

    policy_loss: cross-entropy of the move played, over the legal moves, in nats, without smoothing.
    policy_divergence: KL(target || policy) in nats, over the legal moves: what training can still gain with
        soft targets. It equals policy_loss where the target is the move played.
    policy_top1: share of positions in which the move played is the policy's first choice among the legal
    moves.
    policy_top1_all: the same among all 2187 labels, the number that other projects publish.
    value_loss: binary cross-entropy with the mixed target, in nats. result_loss: with the result alone.
    sign_accuracy: share of the positions of decided games in which the value favours the winner; 0.0 if there
        are none.
    """

    positions: int
    policy_loss: float
    policy_top1: float
    policy_top1_all: float
    value_loss: float
    result_loss: float
    sign_accuracy: float
    policy_divergence: float


def validate(
    net: nn.Module,
    positions: Positions,
    device: str = "cpu",
    limit: int = 100_000,
    group: ProcessGroup = ALONE,
) -> ValidationMetrics:
    """Measures a network on positions, or on `limit` evenly spaced ones of them, in float32.

    Each process of the group measures its part of the positions; all get the measurements of the whole.
    """
    was_training = net.training
    net.eval()
    chosen = np.unique(np.linspace(0, len(positions) - 1, min(limit, len(positions))).astype(np.int64))
    mine = chosen[group.rank :: group.size]
    sums = np.zeros(8)
    parts = (mine[start : start + EVALUATION_BATCH] for start in range(0, len(mine), EVALUATION_BATCH))
    contents = ((part, np.zeros(len(part), bool)) for part in parts)
    for batch in batches_of(positions, contents, device, 0):
        legal, label, result = batch.legal, batch.label, batch.result
        with torch.no_grad():
            logits, value = net(batch.input1, batch.input2)
        logits, value = logits.float(), value.float()[:, 0]
        masked = logits.masked_fill(~legal, -torch.inf)
        log_policy = masked.log_softmax(1)
        is_decided = result != 0.5
        divergence = F.kl_div(log_policy.masked_fill(~legal, 0.0), batch.policy, reduction="sum")
        sums += [
            F.nll_loss(log_policy, label, reduction="sum").item(),
            (masked.argmax(1) == label).sum().item(),
            (logits.argmax(1) == label).sum().item(),
            F.binary_cross_entropy_with_logits(value, batch.value, reduction="sum").item(),
            F.binary_cross_entropy_with_logits(value, result, reduction="sum").item(),
            ((value > 0) == (result > 0.5))[is_decided].sum().item(),
            divergence.item(),
            is_decided.sum().item(),
        ]
    net.train(was_training)
    *totals, decided = group.sum(sums)
    means = np.array(totals) / ([len(chosen)] * 5 + [max(decided, 1), len(chosen)])
    return ValidationMetrics(len(chosen), *(round(float(mean), 4) for mean in means))
