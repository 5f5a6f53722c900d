"""The batches of both kinds of positions, made beside the training, so that a GPU does not wait for them.

`Dataset` has targets that were stored with the positions, and its planes are computed on the host: one core
prepares tens of thousands of positions a second, more than a CPU trains on and fewer than a GPU does. Of
`DistilledPositions` the host sends bits, and a teacher on the device makes the targets.

The batches are those of `dataset.draws`, in the same order for any number of processes or threads, so a run
can resume with another number.
"""

import multiprocessing as mp
import signal
import sys
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
import torch
from torch import Tensor
from torch.utils import data

from goryu_lab.training.batches import Arrays, Batch, Draw
from goryu_lab.training.dataset import Dataset, draws, make_batch
from goryu_lab.training.distillation import DistilledPositions
from goryu_lab.training.process_group import ALONE, ProcessGroup

Positions = Dataset | DistilledPositions
"""Positions that can be trained on."""

WAITING = 4
"""Batches that each process prepares in advance; one of 256 positions takes 13 MB."""


def load_batches(
    positions: Positions,
    size: int,
    rng: np.random.Generator,
    first: int = 0,
    *,
    device: str = "cpu",
    workers: int = 0,
    group: ProcessGroup = ALONE,
) -> Iterator[Batch[Tensor]]:
    """Yields the batches of `draws`, beginning with number `first`, or this process's part of each.

    size: positions in a batch, of all processes of the group together.
    workers: as in `batches_of`.
    """
    contents = map(group.part, islice(draws(len(positions), size, rng), first, None))
    return batches_of(positions, contents, device, workers)


def batches_of(
    positions: Positions, contents: Iterable[Draw], device: str, workers: int
) -> Iterator[Batch[Tensor]]:
    """Yields the batches of these contents in their order.

    workers: processes, with a teacher threads, that prepare them beside the training; 0: the training
        prepares them between its steps.
    """
    if isinstance(positions, DistilledPositions):
        return positions.batches(contents, device, workers)
    return _stored_batches(positions, contents, device, workers)


def _stored_batches(
    dataset: Dataset, contents: Iterable[Draw], device: str, workers: int
) -> Iterator[Batch[Tensor]]:
    if not workers:
        for content in contents:
            yield on_device(make_batch(dataset, *content), device)
        return
    loader = data.DataLoader(
        _Batches(dataset),
        batch_size=None,
        sampler=contents,
        num_workers=workers,
        prefetch_factor=WAITING,
        # A forked process shares the positions; a spawned one gets a copy of gigabytes.
        multiprocessing_context=mp.get_context("fork" if sys.platform == "linux" else "spawn"),
        worker_init_fn=_leave_signals_to_parent,
    )
    for batch in loader:
        yield _moved(batch, device)


def on_device(batch: Batch[Arrays], device: str = "cpu") -> Batch[Tensor]:
    """Returns a batch on a device."""
    return _moved(Batch(*map(torch.from_numpy, batch)), device)


def _moved(batch: Batch[Tensor], device: str) -> Batch[Tensor]:
    input1, input2, *others = batch
    planes = (x.to(device, memory_format=torch.channels_last) for x in (input1, input2))
    return Batch(*planes, *(x.to(device) for x in others))


class _Batches(data.Dataset[Batch[Arrays]]):  # type: ignore[misc]
    """Batches by their content; the loader makes tensors, which PyTorch passes on without a copy."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def __getitem__(self, draw: Draw) -> Batch[Arrays]:
        return make_batch(self._dataset, *draw)


def _leave_signals_to_parent(worker: int) -> None:
    """Ignores Ctrl-C: the parent ends its workers, and workers without a parent end by themselves."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
