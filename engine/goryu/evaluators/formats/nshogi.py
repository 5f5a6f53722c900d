"""The format of nshogi: 86 planes that include the ply and the value of a draw, and an output for draws.

The position is seen by the side to move, as in dlshogi's format, but squares are counted up the files
(1i = 0, 1a = 8), and kinds are in the order P L N S G K B R +P +L +N +S +B +R. The planes of the one input,
the mover's first:
    0-13, 14-27     squares of the pieces of each kind
    28-53, 54-79    the hand, one plane for each piece in it: P up to 6, L N S G up to 4, B R up to 2
    80, 81          does black move? does white?
    82, 83          ply / longest and 1 / longest, where `longest` is the ply at which the game is drawn
    84, 85          the value of a draw to the mover and to the opponent, as win rates
The output `value` is the win rate if the game is not drawn; `draw` is the probability of a draw. So the value
of a position is draw * (value of a draw) + (1 - draw) * value.

Source: nshogi-engine (MIT), `SimpleFeatures`; written from a description of the format.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array, TensorSpec
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS, DROP, PROMOTION, dlshogi_label
from goryu.evaluators.formats.dlshogi_planes import KINDS, Oriented, board_pieces, hand_ones
from goryu.evaluators.formats.value_scale import from_probability
from goryu.evaluators.shogi_state import ShogiState
from goryu.games.state import Move

HAND_CAPS = (6, 4, 4, 4, 4, 2, 2)
"""Planes for each piece in hand, P L N S G B R."""
TURN_PLANES = 2 * (KINDS + sum(HAND_CAPS))
NSHOGI_PLANES = TURN_PLANES + 6

DEFAULT_MAX_PLY = 320
"""The length of games without a limit: nshogi's default, for which its networks are trained."""

DRAW_PLANES = TURN_PLANES + 4
"""The first of the two planes with the value of a draw."""

_KINDS = [0, 1, 2, 3, 6, 7, 4, 5, *range(8, KINDS)]
"""nshogi's index of each kind in the order P L N S B R G K +P ..."""

_DIRECTIONS = [0, 7, 1, 6, 2, 4, 5, 3, 9, 8]
"""By dlshogi's channel: clockwise from above, then the knight's moves, the right one first."""
_CHANNELS: list[int] = [*_DIRECTIONS, *(PROMOTION + each for each in _DIRECTIONS), *range(DROP, DROP + 7)]


class NshogiFormat:
    """Implements `ModelFormat`.

    draw_value: the value of a draw to black, in [-1, +1]; to white it is the negative.
    """

    labels = DLSHOGI_LABELS
    name = f"nshogi {NSHOGI_PLANES}"
    inputs = (TensorSpec("input", (NSHOGI_PLANES, 9, 9)),)
    outputs = ("policy", "value", "draw")

    def __init__(self, draw_value: float = 0.0) -> None:
        self.draw_value = draw_value

    def fill(self, state: ShogiState, rows: Sequence[Array]) -> None:
        """Writes the planes of a position into one row [86, 9, 9] of zeros."""
        position = Oriented(state)
        (planes,) = rows
        places = (
            (KINDS * side + _KINDS[kind - 1], _square(square))
            for side, kind, square in board_pieces(position)
        )
        planes.reshape(-1)[[81 * plane + square for plane, square in places]] = 1
        planes[[2 * KINDS + plane for plane in hand_ones(position.hands, HAND_CAPS)]] = 1
        planes[TURN_PLANES + state.turn] = 1
        longest = state.rules.max_ply or DEFAULT_MAX_PLY
        planes[TURN_PLANES + 2] = state.ply / longest
        planes[TURN_PLANES + 3] = 1 / longest
        own_draw_value = -self.draw_value if state.turn else self.draw_value
        planes[DRAW_PLANES] = 0.5 * (1.0 + own_draw_value)
        planes[DRAW_PLANES + 1] = 0.5 * (1.0 - own_draw_value)

    def label(self, move: Move, turn: int) -> int:
        """Returns the index of a legal move of the side `turn` in the policy vector."""
        channel, to = divmod(dlshogi_label(move, turn), 81)
        return 81 * _CHANNELS[channel] + _square(to)

    def interpret(
        self, outputs: Sequence[Array], inputs: Sequence[Array]
    ) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns logits [N, 2187] and values [N] in [-1, +1] for the side to move."""
        logits, value, draw = outputs
        draws = draw.reshape(-1).astype(np.float64)
        draw_values = from_probability(inputs[0][:, DRAW_PLANES, 0, 0])
        return logits, draws * draw_values + (1.0 - draws) * from_probability(value)


def _square(square: int) -> int:
    """Returns nshogi's number of a square: the ranks are counted from the mover."""
    return square - square % 9 + (8 - square % 9)
