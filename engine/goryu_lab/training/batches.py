"""What a training step reads: a batch, and the sources of batches.

Two kinds of positions give the same batches. `Dataset` has targets that were stored with the positions, and
its planes are computed on the host. `DistilledPositions` (`distillation.py`) sends bits, and a teacher on the
device makes the targets.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from torch import Tensor

A = TypeVar("A")
Arrays = npt.NDArray[Any]

Draw = tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]
"""The content of a batch: the indices of its positions, and which of them are mirrored."""


class Batch(NamedTuple, Generic[A]):
    """The inputs and targets of one training step: arrays of NumPy, or tensors on one device.

    input1: float32 [N, 62, 9, 9]; input2: float32 [N, 57, 9, 9]; the planes of the dlshogi format, as tensors
        channels last.
    legal: bool [N, 2187]; label: int64 [N], the move played, with promotion where declining it is pointless.
    policy: float32 [N, 2187], the policy target, a probability for each label: the soft target if the source
        has one, else 1 for `label`. Every label with a probability is legal.
    value: float32 [N], target win probability of the side to move.
    result: float32 [N], result of the game for the side to move: 0, 0.5 or 1.
    """

    input1: A
    input2: A
    legal: A
    label: A
    policy: A
    value: A
    result: A


class Positions(Protocol):
    """Positions that can be trained on."""

    def __len__(self) -> int: ...

    def checksum(self) -> str:
        """Returns a text that other positions do not have: a run goes on only with the same ones."""
        ...

    def batches(self, contents: Iterable[Draw], device: str, workers: int) -> "Iterator[Batch[Tensor]]":
        """Yields the batches of these contents in their order.

        workers: how many prepare them beside the training; 0: the training prepares them between its steps.
        """
        ...
