"""The seam between a position and a network: which planes go in, what comes out.

A policy-value network is a function from planes to a vector of logits, one for each move label, and a value.
What the planes are, how moves are numbered and on which scale the value stands differs from project to
project; a `ModelFormat` says it for one of them. Everything behind the seam (`NetworkEvaluator`, the
searches) is the same for all of them.

Every format names its origin in its own module.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from goryu.evaluators.shogi_state import ShogiState
from goryu.games.state import Move

__all__ = ["Array", "ModelFormat", "TensorSpec", "ValueScale"]

Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """An input of a model: its name in the file, its shape without the batch axis, its element type here.

    The file may want another float type; `NetworkEvaluator.run` converts.
    """

    name: str
    shape: tuple[int, ...]
    dtype: type[np.generic] = np.float32


class ValueScale(Protocol):
    """Turns the value output of a file into float64 in [-1, +1]; see `value_scale.py`."""

    def __call__(self, output: Array) -> npt.NDArray[np.float64]: ...


class ModelFormat(Protocol):
    """One way to show a position to a network and to read its answer.

    name: as the engine prints it. inputs, outputs: in the order of `fill` and `interpret`.
    labels: length of the policy vector.
    """

    @property
    def name(self) -> str: ...

    @property
    def inputs(self) -> tuple[TensorSpec, ...]: ...

    @property
    def outputs(self) -> tuple[str, ...]: ...

    @property
    def labels(self) -> int: ...

    def fill(self, state: ShogiState, rows: Sequence[Array]) -> None:
        """Writes the planes of a position into one row of each input; the rows hold zeros before."""
        ...

    def label(self, move: Move, turn: int) -> int:
        """Returns the place of a legal move of the side `turn` in the policy vector."""
        ...

    def interpret(self, outputs: Sequence[Array]) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns logits [N, labels] and values [N] in [-1, +1] for the side to move."""
        ...
