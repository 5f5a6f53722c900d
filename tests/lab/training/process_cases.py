"""What test_process_group.py runs in every process: torchrun ... process_cases.py CASE FOLDER.

Every process pickles what its case returns to FOLDER/result-RANK.
"""

import gc
import os
import pickle
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from goryu.base.errors import InputError
from goryu_lab.training.batch_loader import on_device
from goryu_lab.training.batches import Batch
from goryu_lab.training.config import TrainingConfig
from goryu_lab.training.dataset import Dataset, draws, load_datasets, make_batch
from goryu_lab.training.losses import losses
from goryu_lab.training.network import PolicyValueNet
from goryu_lab.training.process_group import ProcessGroup, joined
from goryu_lab.training.sources import Source
from goryu_lab.training.train import train

GAMES = Path(__file__).parents[3] / "models" / "data" / "fsf_20261123.games"
BATCH = 16

Arrays = dict[str, np.ndarray[Any, Any]]


def some_positions() -> Dataset:
    """Returns the first 32 positions of a file."""
    return load_datasets([Source(GAMES, 540.0)], held_out=0.0, seed=0)[0].select(np.arange(32))


def new_config(**changes: Any) -> TrainingConfig:
    values: dict[str, Any] = {
        "blocks": 2, "channels": 16, "batch_size": BATCH, "steps": 40, "evaluations": 4,
        "learning_rate": 1e-2, "average": 0.9, "threads": 1,
    }  # fmt: skip
    return TrainingConfig(**values | changes)


class InDoubles(torch.nn.Module):  # type: ignore[misc]
    """A network in float64, which autocast leaves alone: bfloat16 would hide differences."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.net = PolicyValueNet(2, 16)
        for parameter in self.net.parameters():  # No weights of zero, behind which gradients vanish.
            torch.nn.init.normal_(parameter, std=0.1)
        self.double()

    def forward(self, board: Any, hands: Any) -> Any:
        return self.net(board.double(), hands.double())


def gradients(module: Any, batch: Batch[Any]) -> Arrays:
    """Returns the gradients that the module's backward pass leaves."""
    module.zero_grad()
    policy_loss, value_loss = losses(module, on_device(batch), new_config())
    (policy_loss + value_loss).backward()
    return {name.removeprefix("module."): p.grad.numpy().copy() for name, p in module.named_parameters()}


def part_of_batch(group: ProcessGroup) -> Batch[Any]:
    data = some_positions()
    return make_batch(data, *group.part(next(draws(len(data), BATCH, np.random.default_rng(3)))))


def both_gradients(group: ProcessGroup) -> tuple[Arrays, Arrays]:
    """Returns the gradients with fixed statistics of the normalisations, and with those of the batch."""
    module, batch = group.parallel(InDoubles(), "cpu"), part_of_batch(group)
    return gradients(module.eval(), batch), gradients(module.train(), batch)


def together(folder: Path) -> dict[str, Any]:
    """Returns what one group of processes finds: starting processes takes longer than all of it.

    threads: the names of gloo's threads while there is a group, and after it.
    """
    timed = new_config(blocks=1, channels=8, steps=1_000_000, minutes=0.01, evaluations=2)
    with joined("cpu") as group:
        found = {
            "gradients": both_gradients(group),
            "run": run(group, folder / "run", new_config()),
            "small run": run(group, folder / "small", SMALL),
            "timed": run(group, folder / "timed", timed),
            "refusals": refusals(group, folder / "refused"),
        }
        during = gloo_threads()
    gc.collect()
    return found | {"threads": (during, gloo_threads())}


def gloo_threads() -> list[str]:
    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    return [name for name in names if "gloo" in name]


def run(
    group: ProcessGroup, folder: Path, config: TrainingConfig, killed_at: int = 0
) -> tuple[Arrays, list[int]]:
    """Trains and returns the network and the steps taken; process 1 is killed once after a step."""
    steps: list[int] = []

    def report(entry: dict[str, Any]) -> None:
        if "held_out" not in entry:
            steps.append(entry["step"])
        is_victim = os.environ["RANK"] == "1" and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
        if is_victim and entry["step"] == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    data = some_positions()
    net = train(config, data, {"some": data}, folder, report, group=group)
    return {name: tensor.numpy() for name, tensor in net.state_dict().items()}, steps


def refusals(group: ProcessGroup, folder: Path) -> list[str]:
    """Returns the messages for a batch that cannot be divided and for processes that differ."""
    data, messages = some_positions(), []
    fewer = data.select(np.arange(len(data) - group.rank))
    for config, positions in (
        (new_config(batch_size=15), data),
        (new_config(seed=group.rank), data),
        (new_config(), fewer),
    ):
        try:
            train(config, positions, {}, folder, group=group)
        except InputError as error:
            messages.append(str(error))
    return messages


def killed(folder: Path) -> tuple[Arrays, list[int]]:
    with joined("cpu") as group:
        return run(group, folder / "run", SMALL, 13)


SMALL = new_config(blocks=1, channels=8, steps=20, evaluations=2)
CASES = {"together": together, "killed": killed}

if __name__ == "__main__":
    case, path = sys.argv[1], Path(sys.argv[2])
    result = CASES[case](path)
    (path / f"result-{os.environ['RANK']}").write_bytes(pickle.dumps(result))
