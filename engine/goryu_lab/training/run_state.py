"""What a training run changes: how it starts, and how it goes on from a checkpoint.

A run goes on exactly, on the same or on another computer: its batches follow from its seed and the step.
"""

import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from goryu.base.errors import InputError
from goryu.base.files import atomic_write
from goryu_lab.records.expecting import expecting
from goryu_lab.training.batch_loader import Positions, batches_of
from goryu_lab.training.checkpoints import load
from goryu_lab.training.config import TrainingConfig
from goryu_lab.training.export import load_checkpoint
from goryu_lab.training.growth import grown, size_of
from goryu_lab.training.import_onnx import load_export, unfold
from goryu_lab.training.network import PolicyValueNet
from goryu_lab.training.optimizer import TowerOptimizer
from goryu_lab.training.process_group import ProcessGroup

MAY_CHANGE = {
    "steps", "minutes", "evaluations", "weight_decay", "threads", "workers", "device", "precision", "compile",
    "save_minutes",
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
class RunState:
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


def load_initial(path: Path, blocks: int, channels: int) -> PolicyValueNet:
    """Returns the network of a checkpoint or of an exported file (`load_export`).

    A smaller network is made this large (`growth.py`). Raises InputError if it is larger.
    """
    net = load_export(path) if path.suffix == ".onnx" else load_checkpoint(path)
    try:
        return net if size_of(net) == (blocks, channels) else grown(net, blocks, channels)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def start(
    config: TrainingConfig,
    training: Positions,
    folder: Path,
    initial: Path | None,
    group: ProcessGroup,
) -> RunState:
    """Returns the first process's state: that of the checkpoint in its folder, or that of a new run."""
    net, averaged = (
        PolicyValueNet(config.blocks, config.channels).to(config.device, memory_format=torch.channels_last)
        for _ in range(2)
    )
    optimizer = TowerOptimizer(net, config)
    parallel = group.parallel(net, config.device)
    if config.compile:
        parallel = torch.compile(parallel)
    run = {"config": asdict(config), "positions": training.checksum()}
    state = RunState(run, net, parallel, averaged, optimizer, TrainingProgress())
    if group.is_first:
        _start_in(folder, state, config, training, initial)
    if group.size > 1:
        contents = group.from_first(_serialized(_contents(state)) if group.is_first else b"")
        _restore(state, torch.load(io.BytesIO(contents), weights_only=True, map_location="cpu"))
    return state


def _start_in(
    folder: Path,
    state: RunState,
    config: TrainingConfig,
    training: Positions,
    initial: Path | None,
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
            contents = load(checkpoint)
            _restore(state, contents)
        _check_run(checkpoint, contents, state.run)
    _truncate_log(state.progress.step, folder / "log.jsonl")


def _check_run(checkpoint: Path, contents: dict[str, Any], run: dict[str, Any]) -> None:
    """Raises InputError if a checkpoint is of another run."""
    before, now = contents["config"], run["config"]
    changed = [
        f"{name} was {before[name]}, is {now[name]}"
        for name in sorted(before.keys() & now.keys() - MAY_CHANGE)
        if before[name] != now[name]
    ]
    if contents["positions"] != run["positions"]:
        changed.append(f"the positions were {contents['positions']}, are {run['positions']}")
    if changed:
        raise InputError(
            f"{checkpoint} is of another run ({'; '.join(changed)}): expected another folder; "
            "to start from the weights of this run, name it with --initial"
        )


def _starting_network(config: TrainingConfig, initial: Path, training: Positions) -> PolicyValueNet:
    net = load_initial(initial, config.blocks, config.channels)
    if initial.suffix == ".onnx":
        if not len(training):
            raise InputError("expected positions to train on, found none")
        rng = np.random.default_rng(config.seed)
        chosen = rng.integers(len(training), size=SAMPLE)
        (some,) = batches_of(training, [(chosen, np.zeros(len(chosen), bool))], config.device, 0)
        unfold(net, some.input1.cpu(), some.input2.cpu())
    return net


def _contents(state: RunState) -> dict[str, Any]:
    """Returns what a checkpoint holds."""
    return {
        **state.run,
        "net": state.net.state_dict(),
        "averaged": state.averaged.state_dict(),
        "optimizer": state.optimizer.state_dict(),
        "step": state.progress.step,
        "elapsed": state.progress.elapsed,
    }


def save(state: RunState, folder: Path) -> None:
    """Writes the checkpoint into the folder of the run."""
    atomic_write(folder / "checkpoint.pt", _serialized(_contents(state)))


def _restore(state: RunState, contents: dict[str, Any]) -> None:
    state.net.load_state_dict(contents["net"])
    state.averaged.load_state_dict(contents["averaged"])
    state.optimizer.load_state_dict(contents["optimizer"])
    state.progress.step, state.progress.elapsed = contents["step"], contents["elapsed"]


def _serialized(contents: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    torch.save(contents, buffer)
    return buffer.getvalue()


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
