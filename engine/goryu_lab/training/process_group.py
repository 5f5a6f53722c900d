"""The processes of one training run: PyTorch's DistributedDataParallel, started by torchrun.

Every process holds the whole network and a copy of all positions, makes its own part of every batch, and
takes the same step with the mean of all gradients. So the batches, and up to rounding the steps, are those
of one process, whatever the number of processes; a run may be resumed with another number.

Weakness: each process normalises with the statistics of its own part of the batch, so a part should not be
tiny; and every process needs memory for all positions (38 bytes each, and the soft targets).

Source: Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training, 2020.
"""

import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature

import numpy as np
import numpy.typing as npt
import torch
import torch.distributed.nn.functional  # Early: its default arguments keep a group that exists.
from torch import distributed, nn

from goryu.base.errors import GoryuError, InputError
from goryu.players.set_up.threads import cores
from goryu_lab.training.batches import Draw

GRACE = 0.5
"""Seconds for gloo's threads to drop their last work, before their group is destroyed.

They need Python's global lock for that. `destroy_process_group` waits for them while it holds the lock, so it
would wait for ever; and a thread that wants the lock while Python ends aborts the process.
"""


class LostProcessError(GoryuError):
    """Another process of the run has ended or cannot be reached."""


@dataclass(frozen=True, slots=True)
class ProcessGroup:
    """This process and the others. All of them must call the methods that combine numbers, in one order.

    rank: number of this process, from 0. size: number of processes.
    """

    rank: int = 0
    size: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this process writes the files and shows the progress."""
        return self.rank == 0

    def own_device(self, device: str) -> str:
        """Returns the device of this process: for "cuda" the GPU of its number on this computer."""
        if self.size == 1 or device != "cuda":
            return device
        return f"cuda:{os.environ.get('LOCAL_RANK', self.rank)}"

    def cores(self) -> int:
        """Returns this process's share of the cores of this computer, at least 1."""
        on_this_computer = 1 if self.size == 1 else int(os.environ.get("LOCAL_WORLD_SIZE", self.size))
        return max(1, cores() // on_this_computer)

    def part(self, draw: Draw) -> Draw:
        """Returns this process's part of a batch; the parts are disjoint.

        They are equally large if the size of the batch is a multiple of the number of processes.
        """
        chosen, mirrored = draw
        return chosen[self.rank :: self.size], mirrored[self.rank :: self.size]

    def parallel(self, net: nn.Module, device: str) -> nn.Module:
        """Returns a module whose backward pass leaves the mean of all processes' gradients in `net`.

        It starts from the first process's weights.
        """
        if self.size == 1:
            return net
        wrapper = nn.parallel.DistributedDataParallel
        # Statistics are averaged before they are used. PyTorch is renaming the option.
        names = "forward_sync_buffers", "broadcast_buffers"
        option = next(name for name in names if name in signature(wrapper).parameters)
        return wrapper(net, device_ids=None if device == "cpu" else [device], **{option: False})

    def sum(self, numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Returns the sums of all processes' numbers, the same in every process."""
        if self.size == 1:
            return numbers
        total = torch.from_numpy(np.array(numbers, np.float64))
        distributed.all_reduce(total)
        found: npt.NDArray[np.float64] = total.numpy()
        return found

    def mean(self, numbers: Sequence[float]) -> list[float]:
        """Returns the means of all processes' numbers, the same in every process."""
        if self.size == 1:
            return list(numbers)
        return [float(total) / self.size for total in self.sum(np.array(numbers))]

    def average_statistics(self, net: nn.Module) -> None:
        """Gives every process the mean of all processes' running statistics of the normalisations."""
        if self.size == 1:
            return
        statistics = [buffer for buffer in net.buffers() if buffer.is_floating_point()]
        together = torch.cat([buffer.cpu() for buffer in statistics])
        distributed.all_reduce(together)
        for buffer, mean in zip(
            statistics, together.div_(self.size).split([len(buffer) for buffer in statistics]), strict=True
        ):
            buffer.copy_(mean)

    def from_first(self, content: bytes) -> bytes:
        """Returns the first process's bytes."""
        if self.size == 1:
            return content
        box = [content if self.is_first else b""]
        distributed.broadcast_object_list(box)
        return box[0]

    def require_same(self, facts: Mapping[str, object]) -> None:
        """Raises InputError, in every process, if a process has other facts than the first one."""
        if self.size == 1:
            return
        all_facts: list[tuple[str, dict[str, object]]] = [("", {})] * self.size
        distributed.all_gather_object(all_facts, (platform.node(), dict(facts)))
        for rank, (computer, found) in enumerate(all_facts):
            for name, expected in all_facts[0][1].items():
                if found[name] != expected:
                    raise InputError(
                        f"{name}: expected {expected} as in process 0, found {found[name]} in process {rank} "
                        f"on {computer}"
                    )


ALONE = ProcessGroup()
"""A run of one process."""


@contextmanager
def joined(device: str) -> Iterator[ProcessGroup]:
    """Joins the processes that torchrun has started, until the end of the block; alone without torchrun.

    Raises InputError if the environment is not torchrun's, and LostProcessError instead of PyTorch's errors
    of connections.
    """
    if os.environ.get("WORLD_SIZE", "1") == "1":
        yield ALONE
        return
    try:
        # gloo also carries the small numbers of a run on GPUs, which are on the CPU anyway.
        distributed.init_process_group("cpu:gloo,cuda:nccl" if device.startswith("cuda") else "gloo")
    except ValueError as error:
        raise InputError(f"WORLD_SIZE is {os.environ['WORLD_SIZE']}: expected torchrun: {error}") from error
    try:
        yield ProcessGroup(distributed.get_rank(), distributed.get_world_size())
    except RuntimeError as error:
        if not _is_about_connections(error):
            raise
        raise LostProcessError("another process ended; resume from the last checkpoint") from error
    finally:
        time.sleep(GRACE)
        distributed.destroy_process_group()


def _is_about_connections(error: RuntimeError) -> bool:
    """Tells gloo's errors by their text: most are plain RuntimeErrors."""
    return isinstance(error, distributed.DistError) or "gloo" in str(error).lower()
