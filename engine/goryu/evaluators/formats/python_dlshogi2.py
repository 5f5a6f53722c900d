"""The format of python-dlshogi2: only pieces and hands, in 104 planes of one input.

python-dlshogi2 is the program of 山岡忠夫・加納邦彦『強い将棋ソフトの創りかた』(2021). Orientation, squares
and labels are dlshogi's (`dlshogi.py`), except for the order of the dropped pieces, which is P L N S G B R.
The planes, the mover's first:
    0-13, 14-27     squares of the pieces of each kind, in the order P L N S B R G K +P +L +N +S +B +R
    28-65, 66-103   the hand, one plane for each piece in it: P up to 18, L N S G up to 4, B R up to 2
The value is a logit, unless the file computes it with a Sigmoid or a Tanh. The tensors may have any names,
because the book exports no ONNX file that would set them.

Weakness: the networks of python-dlshogi, from 山岡忠夫『将棋AIで学ぶディープラーニング』(2018), have 104
planes too, in another order. Nothing in a file distinguishes the two, so such a network is loaded and plays
nonsense.

Source: python-dlshogi2 (T. Yamaoka), `features.py`; written from a description of the format.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array, TensorSpec, ValueScale
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS, DROP, dlshogi_label
from goryu.evaluators.formats.dlshogi_planes import KINDS, Oriented, board_pieces, hand_ones
from goryu.evaluators.shogi_state import ShogiState
from goryu.games.state import Move

HAND_CAPS = (18, 4, 4, 4, 4, 2, 2)
"""Planes for each piece in hand, P L N S G B R."""
BOOK_PLANES = 2 * (KINDS + sum(HAND_CAPS))

_CHANNELS: list[int] = [*range(DROP + 4), DROP + 5, DROP + 6, DROP + 4]
"""By dlshogi's channel, which drops in the order P L N S B R G."""


class PythonDlshogi2Format:
    """Implements `ModelFormat`; the names are those of the file's tensors."""

    labels = DLSHOGI_LABELS
    name = f"python-dlshogi2 {BOOK_PLANES}"

    def __init__(self, planes: str, policy: str, value: str, value_scale: ValueScale) -> None:
        self.inputs = (TensorSpec(planes, (BOOK_PLANES, 9, 9)),)
        self.outputs = (policy, value)
        self.value_scale = value_scale

    def fill(self, state: ShogiState, rows: Sequence[Array]) -> None:
        """Writes the planes of a position into one row [104, 9, 9] of zeros."""
        position = Oriented(state)
        (planes,) = rows
        ones = [81 * (KINDS * side + kind - 1) + square for side, kind, square in board_pieces(position)]
        planes.reshape(-1)[ones] = 1
        planes[[2 * KINDS + plane for plane in hand_ones(position.hands, HAND_CAPS)]] = 1

    def label(self, move: Move, turn: int) -> int:
        """Returns the index of a legal move of the side `turn` in the policy vector."""
        channel, to = divmod(dlshogi_label(move, turn), 81)
        return 81 * _CHANNELS[channel] + to

    def interpret(
        self, outputs: Sequence[Array], inputs: Sequence[Array]
    ) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns logits [N, 2187] and values [N] in [-1, +1] for the side to move."""
        logits, value = outputs
        return logits, self.value_scale(value)
