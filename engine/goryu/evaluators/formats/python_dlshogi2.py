"""The format of python-dlshogi2: only pieces and hands, in 104 planes of one input.

python-dlshogi2 is the program of 山岡忠夫・加納邦彦『強い将棋ソフトの創りかた』(2021). Orientation, squares
and labels are dlshogi's (`dlshogi.py`), except for the order of the dropped pieces, which is P L N S G B R.
The planes, the mover's first:
    0-13, 14-27     squares of the pieces of each kind, in the order P L N S B R G K +P +L +N +S +B +R
    28-65, 66-103   the hand, one plane for each piece in it: P up to 18, L N S G up to 4, B R up to 2
The value is a logit, unless the file computes it with a Sigmoid or a Tanh. The tensors may have any names,
because the book exports no ONNX file that would set them.

Weakness: the networks of the first book (`python_dlshogi.py`) have 104 planes too, in another order. Only a
file's metadata or the user can tell the two apart; without them a network is taken for one of this format.

Source: python-dlshogi2 (T. Yamaoka), `features.py`; written from a description of the format.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array, TensorSpec, ValueScale
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS
from goryu.evaluators.formats.dlshogi_planes import Oriented
from goryu.evaluators.formats.layouts import (
    FILE_MAJOR,
    OUR_KINDS,
    MoveLabels,
    PieceLayout,
    channel_order,
    kind_order,
)
from goryu.evaluators.shogi_state import ShogiState
from goryu.games.state import Move

BOOK_PLANES = 104

BOOK_CAPS = (18, 4, 4, 4, 4, 2, 2)
"""Planes for each piece in hand, P L N S G B R: all there are."""

BOOK_CHANNELS = channel_order("P L N S G B R")


class PythonDlshogi2Format:
    """Implements `ModelFormat`; the names are those of the file's tensors."""

    name = f"python-dlshogi2 {BOOK_PLANES}"
    labels = DLSHOGI_LABELS
    pieces = PieceLayout(kind_order(OUR_KINDS), FILE_MAJOR, pieces=(0, 14), hands=(28, 66), caps=BOOK_CAPS)
    moves = MoveLabels(BOOK_CHANNELS, FILE_MAJOR)

    def __init__(self, planes: str, policy: str, value: str, value_scale: ValueScale) -> None:
        self.inputs = (TensorSpec(planes, (BOOK_PLANES, 9, 9), uniform=self.pieces.hand_planes),)
        self.outputs = (policy, value)
        self.value_scale = value_scale

    def fill(self, state: ShogiState, rows: Sequence[Array]) -> None:
        """Writes the planes of a position into one row [104, 9, 9] of zeros."""
        (planes,) = rows
        self.pieces.fill(Oriented(state), planes)

    def label(self, move: Move, turn: int) -> int:
        """Returns the index of a legal move of the side `turn` in the policy vector."""
        return self.moves.label(move, turn)

    def interpret(
        self, outputs: Sequence[Array], inputs: Sequence[Array]
    ) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns logits [N, 2187] and values [N] in [-1, +1] for the side to move."""
        logits, value = outputs
        return logits, self.value_scale(value)
