"""What a training step reads: a batch, whose contents are indices of positions."""

from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

A = TypeVar("A")
Arrays = npt.NDArray[Any]

Draw = tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]
"""The content of a batch: the indices of its positions, and which of them are mirrored."""


class Batch(NamedTuple, Generic[A]):
    """The inputs and targets of one training step: arrays of NumPy, or tensors on one device.

    input1: float32 [N, 62, 9, 9]; input2: float32 [N, 57, 9, 9]; the planes of the dlshogi format, as tensors
        channels last.
    label: int64 [N], the move played, with promotion where declining it is pointless; of `DistilledPositions`
        without it in check, where declining may be right (`Rules.all_moves`).
    legal: bool [N, 2187], all legal moves; of `DistilledPositions` those of `Rules(all_moves=False)`, and the
        label.
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
