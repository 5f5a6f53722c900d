"""The interface of a model format: how a position becomes a network's input, and what its outputs mean.

A policy-value network is a function from planes to a vector of logits, one for each move label, and a value.
The planes, the numbers of the moves and the scale of the value differ from project to project; a
`ModelFormat` describes them for one project. `NetworkEvaluator` and the searches work with any format.

Every format names its source in its own module; `detect.py` recognises them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from goryu.evaluators.shogi_state import ShogiState
from goryu.games.state import Move

Array = npt.NDArray[np.generic]

LEVELS = 4


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """An input of a model: its name in the file, its shape without the batch axis, its element type here.

    The file may have another float type; `NetworkEvaluator.run` converts.

    uniform: the planes whose 81 squares are always equal.
    numbers: those of them that hold any numbers.
    square_numbers: planes of counts: each square has a multiple of 1 / `LEVELS`, up to 1. All other planes
        hold zeros and ones.
    """

    name: str
    shape: tuple[int, ...]
    dtype: type[np.generic] = np.float32
    uniform: Sequence[int] = ()
    numbers: Sequence[int] = ()
    square_numbers: Sequence[int] = ()


class ValueScale(Protocol):
    """Converts the value output of a model to float64 in [-1, +1]; see `value_scale.py`."""

    def __call__(self, output: Array) -> npt.NDArray[np.float64]: ...


class ModelFormat(Protocol):
    """The inputs and outputs of the networks of one project.

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
        """Writes the planes of a position into one row of each input; the rows must be zeros before."""
        ...

    def label(self, move: Move, turn: int) -> int:
        """Returns the index of a legal move of the side `turn` in the policy vector."""
        ...

    def interpret(
        self, outputs: Sequence[Array], inputs: Sequence[Array]
    ) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns logits [N, labels] and values [N] in [-1, +1] for the side to move.

        inputs: the planes that these outputs belong to.
        """
        ...


def planes_of(model_format: ModelFormat, boards: Sequence[ShogiState]) -> list[Array]:
    """Returns the inputs of a network for some positions, one array [N, ...] for each input."""
    inputs: list[Array] = [np.zeros((len(boards), *spec.shape), spec.dtype) for spec in model_format.inputs]
    for i, board in enumerate(boards):
        model_format.fill(board, [rows[i] for rows in inputs])
    return inputs
