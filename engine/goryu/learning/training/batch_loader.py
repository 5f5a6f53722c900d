"""Makes batches in other processes, so that a GPU does not wait for them.

One core prepares about ten thousand positions a second. A CPU trains on a fifth of that, a GPU on more. The
batches are those of `dataset.draws`, in the same order for any number of processes, so a run can resume with
another number.
"""

import multiprocessing as mp
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice

import numpy as np
import torch
from torch import Tensor
from torch.utils import data

from goryu.learning.training.batches import Positions, TrainingBatch
from goryu.learning.training.dataset import Batch, Dataset, Draw, draws, make_batch
from goryu.learning.training.process_group import ALONE, ProcessGroup

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
) -> Iterator[TrainingBatch]:
    """Yields the batches of `draws`, beginning with number `first`, or this process's part of each.

    size: positions in a batch, of all processes of the group together.
    workers: as in `Positions.batches`.
    """
    contents = map(group.part, islice(draws(len(positions), size, rng), first, None))
    return positions.batches(contents, device, workers)


def stored_batches(
    dataset: Dataset, contents: Iterable[Draw], device: str, workers: int
) -> Iterator[TrainingBatch]:
    """Yields batches of positions with stored targets. workers: processes that make the batches."""
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
    for tensors in loader:
        yield _moved(tensors, device)


def on_device(batch: Batch, device: str = "cpu") -> TrainingBatch:
    """Returns a batch on a device."""
    return _moved(_tensors(batch), device)


def _tensors(batch: Batch) -> tuple[Tensor, ...]:
    return tuple(torch.from_numpy(getattr(batch, field.name)) for field in fields(Batch))


def _moved(tensors: Sequence[Tensor], device: str) -> TrainingBatch:
    """Returns the fields of a `Batch` on a device."""
    input1, input2, *others = tensors
    planes = (x.to(device, memory_format=torch.channels_last) for x in (input1, input2))
    return TrainingBatch(*planes, *(x.to(device) for x in others))


class _Batches(data.Dataset[tuple[Tensor, ...]]):  # type: ignore[misc]
    """Batches by their content, as tensors, which PyTorch passes between processes without a copy."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def __getitem__(self, draw: Draw) -> tuple[Tensor, ...]:
        return _tensors(make_batch(self._dataset, *draw))


def _leave_signals_to_parent(worker: int) -> None:
    """Ignores Ctrl-C: the parent ends its workers, and workers without a parent end by themselves."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
