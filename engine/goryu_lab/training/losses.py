"""The losses of a training step.

Policy cross-entropy over the legal moves with a little label smoothing (Szegedy et al., 2016); value
cross-entropy with the target. Where it is faster, the convolutions run in bfloat16; the weights stay float32.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from goryu_lab.training.batches import Batch
from goryu_lab.training.config import TrainingConfig


def losses(net: nn.Module, batch: Batch[Tensor], config: TrainingConfig) -> tuple[Tensor, Tensor]:
    """Returns the mean policy loss and the mean value loss of a batch."""
    kind = config.device.split(":")[0]
    with torch.autocast(kind, dtype=torch.bfloat16, enabled=uses_bfloat16(config)):
        logits, value = net(batch.input1, batch.input2)
    legal = batch.legal
    log_policy = logits.float().masked_fill(~legal, -torch.inf).log_softmax(1)
    log_policy = log_policy.masked_fill(~legal, 0.0)
    spread = log_policy.sum(1) / legal.sum(1)
    policy_loss = -(
        (1.0 - config.smoothing) * (batch.policy * log_policy).sum(1) + config.smoothing * spread
    ).mean()
    return policy_loss, F.binary_cross_entropy_with_logits(value.float()[:, 0], batch.value)


def uses_bfloat16(config: TrainingConfig) -> bool:
    """Do the convolutions run in bfloat16?

    It is faster than float32 on GPUs, on CPUs with AMX and on AMD's with AVX-512 BF16, and slower on Intel's
    that have AVX-512 BF16 alone (docs/measurements.md).
    """
    if config.precision != "auto":
        return config.precision == "bfloat16"
    if not config.device.startswith("cpu"):
        return True
    # Older versions of PyTorch lack the function.
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    is_amd = str(capabilities.get("cpu_name")).startswith("AMD")
    return bool(capabilities.get("amx_bf16") or (is_amd and capabilities.get("avx512_bf16")))
