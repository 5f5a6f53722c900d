"""Makes batches in other processes, so that a GPU does not wait for them.

One core prepares about ten thousand positions a second. A CPU trains on a fifth of that, a GPU on more. The
batches are those of `dataset.draws`, in the same order for any number of processes, so a run can resume with
another number.
"""

import multiprocessing as mp
import signal
import sys
from collections.abc import Iterator
from dataclasses import fields
from itertools import islice

import numpy as np
import torch
from torch import Tensor
from torch.utils import data

from goryu.learning.training.dataset import Batch, Dataset, Draw, draws, make_batch
from goryu.learning.training.process_group import ALONE, ProcessGroup

WAITING = 4
"""Batches that each process prepares in advance; one of 256 positions takes 13 MB."""


def load_batches(
    dataset: Dataset,
    size: int,
    rng: np.random.Generator,
    first: int = 0,
    workers: int = 0,
    group: ProcessGroup = ALONE,
) -> Iterator[Batch]:
    """Yields the batches of `draws`, beginning with number `first`, or this process's part of each.

    size: positions in a batch, of all processes of the group together.
    workers: processes that make the batches; 0: this process makes them.
    """
    parts = map(group.part, islice(draws(len(dataset), size, rng), first, None))
    if not workers:
        yield from (make_batch(dataset, *part) for part in parts)
        return
    loader = data.DataLoader(
        _Batches(dataset),
        batch_size=None,
        sampler=parts,
        num_workers=workers,
        prefetch_factor=WAITING,
        # A forked process shares the positions; a spawned one gets a copy of gigabytes.
        multiprocessing_context=mp.get_context("fork" if sys.platform == "linux" else "spawn"),
        worker_init_fn=_leave_signals_to_parent,
    )
    for tensors in loader:
        yield Batch(*(tensor.numpy() for tensor in tensors))


class _Batches(data.Dataset[tuple[Tensor, ...]]):  # type: ignore[misc]
    """Batches by their content, as tensors, which PyTorch passes between processes without a copy."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def __getitem__(self, draw: Draw) -> tuple[Tensor, ...]:
        batch = make_batch(self._dataset, *draw)
        return tuple(torch.from_numpy(getattr(batch, field.name)) for field in fields(Batch))


def _leave_signals_to_parent(worker: int) -> None:
    """Ignores Ctrl-C: the parent ends its workers, and workers without a parent end by themselves."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
