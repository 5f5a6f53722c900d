"""Supervised training of a policy-value network.

The recipe: Muon and AdamW (`optimizer.py`); one cycle of the learning rate, annealed to zero (in KataGo a
gain of 230 Elo and more); an exponential moving average of the weights, which is measured and exported;
clipped gradients; policy cross-entropy over the legal moves with a little label smoothing; value
cross-entropy on a mix of the teacher's score and the result. Where it is faster, the convolutions run in
bfloat16; the weights stay float32. Several processes may share the batches (`process_group.py`).

Sources: one cycle: Smith and Topin, 2018, with a cosine down (Loshchilov and Hutter, 2017); averages of
weights: Polyak and Juditsky, 1992; label smoothing: Szegedy et al., 2016.
"""

import io
import json
import math
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from goryu.base.errors import InputError, first_line
from goryu.base.files import atomic_write
from goryu.learning.checkpoints import atomic_save
from goryu.learning.training.batch_loader import load_batches
from goryu.learning.training.config import TrainingConfig
from goryu.learning.training.dataset import Batch, Dataset, make_batch
from goryu.learning.training.export import expecting, load_checkpoint
from goryu.learning.training.growth import grown, size_of
from goryu.learning.training.import_onnx import load_export, unfold
from goryu.learning.training.network import PolicyValueNet
from goryu.learning.training.optimizer import TowerOptimizer
from goryu.learning.training.process_group import ALONE, ProcessGroup
from goryu.learning.training.validation import tensors, validate

WARM_UP = 0.05
"""Share of the run during which the learning rate rises."""

VALIDATED_DURING_RUN, VALIDATED_AT_END = 2_048, 100_000
"""Most positions of each held-out set on which the network is measured."""

MAY_CHANGE = {
    "steps", "minutes", "evaluations", "weight_decay", "threads", "workers", "device", "precision", "compile",
}  # fmt: skip
"""Numbers that may change when a run goes on."""

SAMPLE = 512
"""Positions on which to measure the normalisations of an exported network."""


@dataclass(slots=True)
class TrainingProgress:
    """How far a run is; `elapsed` counts the seconds of earlier, interrupted runs too."""

    step: int = 0
    elapsed: float = 0.0

    def share(self, config: TrainingConfig) -> float:
        """Returns the share of the run that is done, in [0, 1]."""
        return min(1.0, max(self.step / config.steps, self.elapsed / 60.0 / config.minutes))


@dataclass(frozen=True, slots=True)
class _State:
    """What a run changes and a checkpoint holds.

    run: the numbers and the positions of the run.
    parallel: `net` with the gradients of all processes, perhaps compiled.
    """

    run: dict[str, Any]
    net: PolicyValueNet
    parallel: nn.Module
    averaged: PolicyValueNet
    optimizer: TowerOptimizer
    progress: TrainingProgress


def train(
    config: TrainingConfig,
    training: Dataset,
    testing: dict[str, Dataset],
    folder: Path,
    report: Callable[[dict[str, Any]], None] = lambda entry: None,
    initial: Path | None = None,
    group: ProcessGroup = ALONE,
) -> PolicyValueNet:
    """Trains and returns the network with the averaged weights, on the CPU and in evaluation mode.

    Continues from `folder`/checkpoint.pt if that exists; it must be of a run with the same numbers and
    positions, but it may be longer (`MAY_CHANGE`). Else starts from the averaged weights of the
    checkpoint or exported network `initial`, which may be smaller (`growth.py`), or from random weights
    without it. Every evaluation writes checkpoint.pt and one line of JSON in log.jsonl. `report` receives a
    small entry after every step (`share`, `step`, `loss`) and every logged entry. Raises InputError for
    files, positions or a device that cannot be used.

    Every process of `group` calls this function with the same configuration and positions, and gets the same
    network. Only the first one uses `folder` and `initial`. `batch_size` counts the positions of all.
    """
    config = replace(config, device=group.own_device(config.device))
    torch.set_num_threads(config.threads or group.cores())
    torch.manual_seed(config.seed)
    _check_device(config.device)
    _check_group(group, config, training, testing)
    state = _start(config, training, folder, initial, group)
    progress = state.progress
    rng = np.random.default_rng((config.seed, 0))
    stream = load_batches(training, config.batch_size, rng, progress.step, config.workers, group)
    sums, steps_summed = np.zeros(2), 0
    while (share := progress.share(config)) < 1.0:
        step_losses = _step(state, next(stream), config, group)
        sums += step_losses
        steps_summed += 1
        report({"share": progress.share(config), "step": progress.step, "loss": step_losses[0]})
        if int(progress.share(config) * config.evaluations) > int(share * config.evaluations):
            group.average_statistics(state.net)
            group.average_statistics(state.averaged)
            entry = _log_entry(progress, config, sums / steps_summed, state.averaged, testing, group)
            sums, steps_summed = np.zeros(2), 0
            if group.is_first:
                with (folder / "log.jsonl").open("a") as log:
                    log.write(json.dumps(entry) + "\n")
                atomic_save(folder / "checkpoint.pt", _contents(state))
            report(entry)
    state.averaged.to("cpu").eval()
    return state.averaged


def load_initial(path: Path, blocks: int, channels: int) -> PolicyValueNet:
    """Returns the network of a checkpoint or of an exported file (`load_export`).

    A smaller network is made this large (`growth.py`). Raises InputError if it is larger.
    """
    net = load_export(path) if path.suffix == ".onnx" else load_checkpoint(path)
    try:
        return net if size_of(net) == (blocks, channels) else grown(net, blocks, channels)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def one_cycle(share: float) -> float:
    """Returns the factor of the learning rate at a share of the run: a linear rise, then half a cosine to 0.

    >>> [round(one_cycle(x), 3) for x in (0.0, 0.05, 0.525, 1.0)]
    [0.04, 1.0, 0.5, 0.0]
    """
    if share < WARM_UP:
        return 0.04 + 0.96 * share / WARM_UP
    return 0.5 * (1.0 + math.cos(math.pi * (share - WARM_UP) / (1.0 - WARM_UP)))


def losses(net: nn.Module, batch: Batch, config: TrainingConfig) -> tuple[Tensor, Tensor]:
    """Returns the mean policy loss and the mean value loss of a batch."""
    input1, input2, legal, _, value_target = tensors(batch, config.device)
    kind = config.device.split(":")[0]
    with torch.autocast(kind, dtype=torch.bfloat16, enabled=uses_bfloat16(config)):
        logits, value = net(input1, input2)
    log_policy = logits.float().masked_fill(~legal, -torch.inf).log_softmax(1)
    log_policy = log_policy.masked_fill(~legal, 0.0)
    policy = torch.from_numpy(batch.policy).to(config.device)
    spread = log_policy.sum(1) / legal.sum(1)
    policy_loss = -(
        (1.0 - config.smoothing) * (policy * log_policy).sum(1) + config.smoothing * spread
    ).mean()
    return policy_loss, F.binary_cross_entropy_with_logits(value.float()[:, 0], value_target)


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


def _start(
    config: TrainingConfig, training: Dataset, folder: Path, initial: Path | None, group: ProcessGroup
) -> _State:
    """Returns the first process's state: that of the checkpoint in its folder, or that of a new run."""
    net, averaged = (
        PolicyValueNet(config.blocks, config.channels).to(config.device, memory_format=torch.channels_last)
        for _ in range(2)
    )
    optimizer = TowerOptimizer(net, config)
    parallel = group.parallel(net, config.device)
    if config.compile:
        parallel = torch.compile(parallel)
    run = {"config": asdict(config), "positions": _fingerprint(training)}
    state = _State(run, net, parallel, averaged, optimizer, TrainingProgress())
    if group.is_first:
        _start_in(folder, state, config, training, initial)
    if group.size > 1:
        contents = group.from_first(_serialized(_contents(state)) if group.is_first else b"")
        _restore(state, torch.load(io.BytesIO(contents), weights_only=True, map_location="cpu"))
    return state


def _start_in(
    folder: Path, state: _State, config: TrainingConfig, training: Dataset, initial: Path | None
) -> None:
    """Gives the state the checkpoint in the folder, or the initial weights."""
    net, checkpoint = state.net, folder / "checkpoint.pt"
    is_new = not checkpoint.exists()
    if initial is not None and is_new:
        net.load_state_dict(_starting_network(config, initial, training).state_dict())
    state.averaged.load_state_dict(net.state_dict())
    folder.mkdir(parents=True, exist_ok=True)
    if not is_new:
        with expecting(checkpoint, "the checkpoint of a run with a network of this size and Muon"):
            contents = torch.load(checkpoint, weights_only=True, map_location="cpu")
            _restore(state, contents)
        _check_run(checkpoint, contents, state.run)
    _truncate_log(state.progress.step, folder / "log.jsonl")


def _check_run(checkpoint: Path, contents: dict[str, Any], run: dict[str, Any]) -> None:
    """Raises InputError if a checkpoint is of another run; one of before 0.1 does not say all of it."""
    before, now = contents.get("config", {}), run["config"]
    changed = [
        f"{name} was {before[name]}, is {now[name]}"
        for name in sorted(before.keys() & now.keys() - MAY_CHANGE)
        if before[name] != now[name]
    ]
    if contents.get("positions", run["positions"]) != run["positions"]:
        changed.append(f"the positions were {contents['positions']}, are {run['positions']}")
    if changed:
        raise InputError(
            f"{checkpoint} is of another run ({'; '.join(changed)}): expected another folder; "
            "to start from the weights of this run, name it with --initial"
        )


def _starting_network(config: TrainingConfig, initial: Path, training: Dataset) -> PolicyValueNet:
    net = load_initial(initial, config.blocks, config.channels)
    if initial.suffix == ".onnx":
        if not len(training):
            raise InputError("expected positions to train on, found none")
        rng = np.random.default_rng(config.seed)
        chosen = rng.integers(len(training), size=SAMPLE)
        some = make_batch(training, chosen, np.zeros(len(chosen), bool))
        unfold(net, torch.from_numpy(some.input1), torch.from_numpy(some.input2))
    return net


def _step(state: _State, batch: Batch, config: TrainingConfig, group: ProcessGroup) -> tuple[float, float]:
    """Takes one step with all processes' gradients; returns the mean losses of policy and value."""
    net, optimizer, progress = state.net, state.optimizer, state.progress
    started = time.monotonic()
    optimizer.set_rate(config.learning_rate * one_cycle(progress.share(config)))
    state.parallel.train()
    policy_loss, value_loss = losses(state.parallel, batch, config)
    optimizer.zero_grad()
    (policy_loss + config.value_weight * value_loss).backward()
    nn.utils.clip_grad_norm_(net.parameters(), config.clip)
    optimizer.step()
    # Start with almost no averaging, so that the initial random weights are forgotten quickly.
    _average(state.averaged, net, min(config.average, progress.step / (progress.step + 10)))
    found = policy_loss.item(), value_loss.item()  # Waits for a GPU.
    # The time too, so that all processes end together and have one learning rate.
    policy_mean, value_mean, passed = group.mean([*found, time.monotonic() - started])
    progress.step += 1
    progress.elapsed += passed
    return policy_mean, value_mean


def _average(averaged: nn.Module, net: nn.Module, decay: float) -> None:
    """Moves the averaged weights, and the statistics of the normalisations, towards the current ones."""
    # The tensors of a state_dict are detached: no gradient is recorded here.
    for old, new in zip(averaged.state_dict().values(), net.state_dict().values(), strict=True):
        if old.is_floating_point():
            old.lerp_(new, 1.0 - decay)
        else:
            old.copy_(new)


def _log_entry(
    progress: TrainingProgress,
    config: TrainingConfig,
    training_losses: npt.NDArray[np.float64],
    net: nn.Module,
    testing: dict[str, Dataset],
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


def _check_device(device: str) -> None:
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:  # The latter from a torch without CUDA.
        reason = first_line(error)
        raise InputError(f"device {device!r}: {reason}") from error


def _check_group(
    group: ProcessGroup, config: TrainingConfig, training: Dataset, testing: dict[str, Dataset]
) -> None:
    """Raises InputError if the processes cannot train together."""
    if config.batch_size % group.size:
        raise InputError(
            f"batch size: expected a multiple of the {group.size} processes, received {config.batch_size}"
        )
    own = ("threads", "workers", "device", "compile")
    numbers = {name: value for name, value in asdict(config).items() if name not in own}
    positions = {"positions to train on": _fingerprint(training)}
    held_out = {f"held-out positions of {name}": _fingerprint(data) for name, data in testing.items()}
    group.require_same(numbers | positions | held_out)


def _fingerprint(data: Dataset) -> str:
    checksum = zlib.crc32(data.value.tobytes(), zlib.crc32(data.records.tobytes()))
    return f"{len(data)} with checksum {checksum:08x}"


def _truncate_log(step: int, log: Path) -> None:
    """Drops the entries after the checkpoint from which a run continues; it will log them again."""
    if log.exists():
        lines = log.read_text().splitlines(keepends=True)
        try:
            kept = [line for line in lines if line.endswith("\n") and json.loads(line)["step"] <= step]
        except ValueError as error:
            raise InputError(f"{log}: expected a JSON object in each line: {error}") from error
        if kept != lines:
            atomic_write(log, "".join(kept))


def _contents(state: _State) -> dict[str, Any]:
    """Returns what a checkpoint holds."""
    return {
        **state.run,
        "net": state.net.state_dict(),
        "averaged": state.averaged.state_dict(),
        "optimizer": state.optimizer.state_dict(),
        "step": state.progress.step,
        "elapsed": state.progress.elapsed,
    }


def _restore(state: _State, contents: dict[str, Any]) -> None:
    state.net.load_state_dict(contents["net"])
    state.averaged.load_state_dict(contents["averaged"])
    state.optimizer.load_state_dict(contents["optimizer"])
    state.progress.step, state.progress.elapsed = contents["step"], contents["elapsed"]


def _serialized(contents: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    torch.save(contents, buffer)
    return buffer.getvalue()
