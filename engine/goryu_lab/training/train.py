"""Supervised training of a policy-value network.

The recipe: Muon and AdamW (`optimizer.py`); one cycle of the learning rate, annealed to zero (in KataGo a
gain of 230 Elo and more); an exponential moving average of the weights, which is measured and exported;
clipped gradients; the losses of `losses.py`. Several processes may share the batches (`process_group.py`).

The learning rate is that of batches of 256 positions. For others it is multiplied by the square root of their
size over 256, and the average of the weights decays as much for each position.

Sources: one cycle: Smith and Topin, 2018, with a cosine down (Loshchilov and Hutter, 2017); averages of
weights: Polyak and Juditsky, 1992; the square root: Malladi et al., "On the SDEs and scaling rules for
adaptive gradient algorithms", 2022.
"""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from goryu.base.errors import GoryuError, InputError
from goryu_lab.training.batch_loader import Positions, load_batches
from goryu_lab.training.batches import Batch
from goryu_lab.training.config import TrainingConfig
from goryu_lab.training.device_network import check_device
from goryu_lab.training.losses import losses
from goryu_lab.training.network import PolicyValueNet
from goryu_lab.training.process_group import ALONE, ProcessGroup
from goryu_lab.training.run_state import RunState, TrainingProgress, save, start
from goryu_lab.training.validation import validate

WARM_UP = 0.05
"""Share of the run during which the learning rate rises."""

VALIDATED_DURING_RUN, VALIDATED_AT_END = 2_048, 100_000
"""Most positions of each held-out set on which the network is measured."""

USUAL_BATCH = 256
"""The size of the batches for which the learning rate and the average are given."""

READ_EVERY = 20
"""Steps after which the losses are read from a GPU, which waits then."""


def train(
    config: TrainingConfig,
    training: Positions,
    testing: Mapping[str, Positions],
    folder: Path,
    report: Callable[[dict[str, Any]], None] = lambda entry: None,
    initial: Path | None = None,
    group: ProcessGroup = ALONE,
) -> PolicyValueNet:
    """Trains and returns the network with the averaged weights, on the CPU and in evaluation mode.

    Continues from `folder`/checkpoint.pt if that exists; it must be of a run with the same numbers and
    positions, but it may be longer (`MAY_CHANGE`). Else starts from the averaged weights of the
    checkpoint or exported network `initial`, which may be smaller (`growth.py`), or from random weights
    without it. Every evaluation writes checkpoint.pt and one line of JSON in log.jsonl, and every
    `save_minutes` write the checkpoint. `report` receives a small entry after every step (`share`, `step`,
    the last known `loss`) and every logged entry. Raises InputError for files, positions or a device that
    cannot be used.

    Every process of `group` calls this function with the same configuration and positions, and gets the same
    network. Only the first one uses `folder` and `initial`. `batch_size` counts the positions of all.
    """
    config = replace(config, device=group.own_device(config.device))
    torch.set_num_threads(config.threads or group.cores())
    torch.manual_seed(config.seed)
    check_device(config.device)
    _check_group(group, config, training, testing)
    state = start(config, training, folder, initial, group)
    progress = state.progress
    rng = np.random.default_rng((config.seed, 0))
    stream = load_batches(
        training, config.batch_size, rng, progress.step,
        device=config.device, workers=config.workers, group=group,
    )  # fmt: skip
    sums, steps_summed, loss = np.zeros(2), 0, math.nan
    unread: list[Tensor] = []
    saved = time.monotonic()
    while (share := progress.share(config)) < 1.0:
        started = time.monotonic()
        unread.append(_step(state, next(stream), config))
        progress.step += 1
        passed = time.monotonic() - started
        soon = TrainingProgress(progress.step, progress.elapsed + passed).share(config)
        evaluates = int(soon * config.evaluations) > int(share * config.evaluations)
        if config.device == "cpu" or group.size > 1 or len(unread) == READ_EVERY or evaluates:
            found = torch.stack(unread).sum(0).tolist()  # Waits for a GPU.
            # The time too, so that all processes end together and have one learning rate.
            *means, passed = group.mean([*found, time.monotonic() - started])
            if not np.isfinite(means).all():  # The last checkpoint stays.
                raise GoryuError(f"step {progress.step}: the loss is no number; try --precision float32")
            sums += means
            steps_summed += len(unread)
            loss = means[0] / len(unread)
            unread = []
        progress.elapsed += passed
        report({"share": progress.share(config), "step": progress.step, "loss": loss})
        if int(progress.share(config) * config.evaluations) > int(share * config.evaluations):
            group.average_statistics(state.net)
            group.average_statistics(state.averaged)
            entry = _log_entry(progress, config, sums / steps_summed, state.averaged, testing, group)
            sums, steps_summed = np.zeros(2), 0
            if group.is_first:
                with (folder / "log.jsonl").open("a") as log:
                    log.write(json.dumps(entry) + "\n")
                save(state, folder)
            saved = time.monotonic()
            report(entry)
        elif group.is_first and not unread and time.monotonic() - saved > 60.0 * config.save_minutes:
            save(state, folder)
            saved = time.monotonic()
    state.averaged.to("cpu").eval()
    return state.averaged


def one_cycle(share: float) -> float:
    """Returns the factor of the learning rate at a share of the run: a linear rise, then half a cosine to 0.

    >>> [round(one_cycle(x), 3) for x in (0.0, 0.05, 0.525, 1.0)]
    [0.04, 1.0, 0.5, 0.0]
    """
    if share < WARM_UP:
        return 0.04 + 0.96 * share / WARM_UP
    return 0.5 * (1.0 + math.cos(math.pi * (share - WARM_UP) / (1.0 - WARM_UP)))


def _step(state: RunState, batch: Batch[Tensor], config: TrainingConfig) -> Tensor:
    """Takes one step with all processes' gradients; returns this one's losses of policy and value, as [2]."""
    net, optimizer, progress = state.net, state.optimizer, state.progress
    scale = config.batch_size / USUAL_BATCH
    optimizer.set_rate(config.learning_rate * math.sqrt(scale) * one_cycle(progress.share(config)))
    state.parallel.train()
    policy_loss, value_loss = losses(state.parallel, batch, config)
    optimizer.zero_grad()
    (policy_loss + config.value_weight * value_loss).backward()
    nn.utils.clip_grad_norm_(net.parameters(), config.clip)
    optimizer.step()
    # Start with almost no averaging, so that the initial random weights are forgotten quickly.
    _average(state.averaged, net, min(config.average**scale, progress.step / (progress.step + 10)))
    return torch.stack([policy_loss.detach(), value_loss.detach()])


def _average(averaged: nn.Module, net: nn.Module, decay: float) -> None:
    """Moves the averaged weights, and the statistics of the normalisations, towards the current ones."""
    # The tensors of a state_dict are detached: no gradient is recorded here.
    old, new = list(averaged.state_dict().values()), list(net.state_dict().values())
    pairs = [(a, b) for a, b in zip(old, new, strict=True) if a.is_floating_point()]
    torch._foreach_lerp_([a for a, _ in pairs], [b for _, b in pairs], 1.0 - decay)
    for a, b in zip(old, new, strict=True):
        if not a.is_floating_point():
            a.copy_(b)


def _log_entry(
    progress: TrainingProgress,
    config: TrainingConfig,
    training_losses: npt.NDArray[np.float64],
    net: nn.Module,
    testing: Mapping[str, Positions],
    group: ProcessGroup,
) -> dict[str, Any]:
    limit = VALIDATED_AT_END if progress.share(config) >= 1.0 else VALIDATED_DURING_RUN
    return {
        "step": progress.step,
        "share": round(progress.share(config), 4),
        "minutes": round(progress.elapsed / 60.0, 2),
        "samples": progress.step * config.batch_size,
        "policy_loss": round(float(training_losses[0]), 4),
        "value_loss": round(float(training_losses[1]), 4),
        "held_out": {
            name: asdict(validate(net, data, config.device, limit, group))
            for name, data in testing.items()
            if len(data)
        },
    }


def _check_group(
    group: ProcessGroup, config: TrainingConfig, training: Positions, testing: Mapping[str, Positions]
) -> None:
    """Raises InputError if the processes cannot train together."""
    if config.batch_size % group.size:
        raise InputError(
            f"batch size: expected a multiple of the {group.size} processes, received {config.batch_size}"
        )
    own = ("threads", "workers", "device", "compile", "save_minutes")
    numbers = {name: value for name, value in asdict(config).items() if name not in own}
    positions = {"positions to train on": training.checksum()}
    held_out = {f"held-out positions of {name}": data.checksum() for name, data in testing.items()}
    group.require_same(numbers | positions | held_out)
