"""The dlshogi format: that of most published shogi networks, and of our own.

Inputs `input1` [N, 62, 9, 9] and `input2` [N, 57, 9, 9] or [N, 119, 9, 9] (see `dlshogi_planes.py`), outputs
`output_policy` [N, 2187] (logits) and `output_value` [N, 1], normally the win probability of the side to
move.

A move's label is 81 * channel + destination, both seen by the mover: 10 channels for the direction in which
the piece moves, 10 for the same with promotion, 7 for drops. A label means only one move, because at most one
of the mover's pieces can reach a square from a given direction.

Source: dlshogi (T. Yamaoka); FukauraOu reads the same files.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array, TensorSpec, ValueScale
from goryu.evaluators.formats.dlshogi_planes import (
    BOARD_PLANES,
    HAND_PLANES,
    NYUGYOKU_PLANES,
    Oriented,
    board_ones,
    hand_planes,
    nyugyoku_planes,
)
from goryu.evaluators.formats.value_scale import from_probability
from goryu.evaluators.shogi_state import ShogiState
from goryu.games.shogi.move import dropped_piece, is_drop, is_promotion, move_from, move_to
from goryu.games.state import Move

DLSHOGI_LABELS = 27 * 81

UP, UP_LEFT, UP_RIGHT, LEFT, RIGHT, DOWN, DOWN_LEFT, DOWN_RIGHT, KNIGHT_LEFT, KNIGHT_RIGHT = range(10)
PROMOTION = 10
DROP = 20

_CHANNEL = {
    (0, -1): UP,
    (1, -1): UP_LEFT,
    (-1, -1): UP_RIGHT,
    (1, 0): LEFT,
    (-1, 0): RIGHT,
    (0, 1): DOWN,
    (1, 1): DOWN_LEFT,
    (-1, 1): DOWN_RIGHT,
}
"""The channel of the signs of (files towards 9, ranks towards i), as the mover sees them."""


class DlshogiFormat:
    """Implements `ModelFormat`; `sees_nyugyoku` chooses the variant with 119 planes in `input2`."""

    labels = DLSHOGI_LABELS
    outputs = ("output_policy", "output_value")

    def __init__(self, value_scale: ValueScale, *, sees_nyugyoku: bool = False) -> None:
        self.value_scale = value_scale
        self._sees_nyugyoku = sees_nyugyoku
        planes = HAND_PLANES + (NYUGYOKU_PLANES if sees_nyugyoku else 0)
        self.name = f"dlshogi {BOARD_PLANES}+{planes}"
        self.inputs = (
            TensorSpec("input1", (BOARD_PLANES, 9, 9)),
            TensorSpec("input2", (planes, 9, 9), uniform=range(planes)),
        )

    def fill(self, state: ShogiState, rows: Sequence[Array]) -> None:
        """Writes the planes of a position into rows [62, 9, 9] and [57 or 119, 9, 9] of zeros."""
        position = Oriented(state)
        board, hands = rows
        board.reshape(-1)[board_ones(position)] = 1
        hands[hand_planes(position)] = 1
        if self._sees_nyugyoku:
            hands[[HAND_PLANES + plane for plane in nyugyoku_planes(position)]] = 1

    def label(self, move: Move, turn: int) -> int:
        """Returns the index of a legal move of the side `turn` in the policy vector."""
        return dlshogi_label(move, turn)

    def interpret(
        self, outputs: Sequence[Array], inputs: Sequence[Array]
    ) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns logits [N, 2187] and values [N] in [-1, +1] for the side to move."""
        logits, value = outputs
        return logits, self.value_scale(value)


def fill_dlshogi(boards: Sequence[ShogiState], board_planes: Array, hand_planes: Array) -> None:
    """Writes the planes of a batch, `board_planes` [N, 62, 9, 9] and `hand_planes` [N, 57 or 119, 9, 9].

    Rows beyond the boards stay as they are; the arrays need not be zeros before.
    """
    sees_nyugyoku = hand_planes.shape[1] == HAND_PLANES + NYUGYOKU_PLANES
    model_format = DlshogiFormat(from_probability, sees_nyugyoku=sees_nyugyoku)
    for i, board in enumerate(boards):
        rows = [board_planes[i], hand_planes[i]]
        for row in rows:
            row[:] = 0
        model_format.fill(board, rows)


@cache
def dlshogi_label(move: Move, turn: int) -> int:
    """Returns the label of a move of black (0) or white (1), in [0, 2187)."""
    to = move_to(move) if turn == 0 else 80 - move_to(move)
    if is_drop(move):
        return 81 * (DROP + dropped_piece(move)) + to
    origin = move_from(move) if turn == 0 else 80 - move_from(move)
    files, ranks = to // 9 - origin // 9, to % 9 - origin % 9
    if abs(files) == 1 and ranks == -2:
        channel = KNIGHT_LEFT if files == 1 else KNIGHT_RIGHT
    else:
        channel = _CHANNEL[_sign(files), _sign(ranks)]
    return 81 * (channel + (PROMOTION if is_promotion(move) else 0)) + to


def _sign(x: int) -> int:
    return (x > 0) - (x < 0)
