"""The formats of nshogi: planes that include the ply and the value of a draw, and an output for draws.

The position is seen by the side to move, as in dlshogi's format, but squares are counted up the files
(1i = 0, 1a = 8), and kinds are in the order P L N S G K B R +P +L +N +S +B +R. The planes of the one input,
the mover's first:
    0-13, 14-27     squares of the pieces of each kind
    28-53, 54-79    the hand, one plane for each piece in it: P up to 6, L N S G up to 4, B R up to 2
    80, 81          does black move? does white?
86 planes (`SimpleFeatures`) continue with
    82, 83          ply / longest and 1 / longest, where `longest` is the ply at which the game is drawn
    84, 85          the value of a draw to the mover and to the opponent, as win rates
and 93 planes (`CustomFeaturesV1`) with
    82              is the mover in check?
    83, 84          files without an unpromoted pawn of the mover, of the opponent
    85-88           as 82-85 above
    89, 90          points for a declaration of the mover and of the opponent, as shares of those needed
    91, 92          the material of both, as shares of the points of all pieces
The output `value` is the win rate if the game is not drawn; `draw` is the probability of a draw. So the value
of a position is draw * (value of a draw) + (1 - draw) * value.

Source: nshogi-engine (MIT), `preset.h`; written from a description of the formats and compared with the
package nshogi.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array, TensorSpec, ValueScale
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS
from goryu.evaluators.formats.dlshogi_planes import KINDS, Oriented, far_ranks
from goryu.evaluators.formats.layouts import (
    FILE_MAJOR_UPWARDS,
    MoveLabels,
    PieceLayout,
    channel_order,
    kind_order,
)
from goryu.evaluators.formats.value_scale import from_probability
from goryu.evaluators.shogi_state import ShogiState
from goryu.games.shogi.declaration import ALL_POINTS, POINTS_NEEDED, points
from goryu.games.shogi.pieces import EMPTY, KING, PAWN, WHITE_PIECE
from goryu.games.state import Move

CAPS = (6, 4, 4, 4, 4, 2, 2)
"""Planes for each piece in hand, P L N S G B R."""
TURN_PLANES = 2 * (KINDS + sum(CAPS))
NSHOGI_PLANES = (TURN_PLANES + 6, TURN_PLANES + 13)
"""The numbers of planes of the two formats."""
FILE_PLANES = (TURN_PLANES + 3, TURN_PLANES + 4)
"""Of the format with 93 planes: the files without a pawn."""

DEFAULT_MAX_PLY = 320
"""The length of games without a limit: nshogi's default, for which its networks are trained."""

PIECES = PieceLayout(
    kind_order("P L N S G K B R +P +L +N +S +B +R"),
    FILE_MAJOR_UPWARDS,
    pieces=(0, KINDS),
    hands=(2 * KINDS, 2 * KINDS + sum(CAPS)),
    caps=CAPS,
)
CLOCKWISE = (0, 7, 1, 6, 2, 4, 5, 3, 9, 8)
"""The channels of `layouts.DIRECTIONS`: clockwise from above, then the knight's right and left."""
MOVES = MoveLabels(channel_order("P L N S B R G", CLOCKWISE), FILE_MAJOR_UPWARDS)


class NshogiFormat:
    """Implements `ModelFormat`.

    planes: one of `NSHOGI_PLANES`. value_scale, draw_scale: of the outputs `value` and `draw`.
    draw_value: the value of a draw to black, in [-1, +1]; to white it is the negative.
    """

    labels = DLSHOGI_LABELS
    outputs = ("policy", "value", "draw")

    def __init__(
        self,
        planes: int = NSHOGI_PLANES[0],
        *,
        value_scale: ValueScale = from_probability,
        draw_scale: ValueScale = from_probability,
        draw_value: float = 0.0,
    ) -> None:
        self.name = f"nshogi {planes}"
        self.inputs = (_spec(planes),)
        self.value_scale = value_scale
        self.draw_scale = draw_scale
        self.draw_value = draw_value

    def fill(self, state: ShogiState, rows: Sequence[Array]) -> None:
        """Writes the planes of a position into one row [86, 9, 9] or [93, 9, 9] of zeros."""
        position = Oriented(state)
        (planes,) = rows
        PIECES.fill(position, planes)
        planes[TURN_PLANES + state.turn] = 1
        rest = planes[TURN_PLANES + 2 :]
        if len(planes) == NSHOGI_PLANES[1]:
            rest[0] = state.is_check()
            for side in (0, 1):
                rest[1 + side, _files_without_pawn(position, side)] = 1
                rest[7 + side] = _declaration_points(position, side) / POINTS_NEEDED[position.colours[side]]
                rest[9 + side] = _material(position, side) / ALL_POINTS
            rest = rest[3:]
        longest = state.rules.max_ply or DEFAULT_MAX_PLY
        rest[0] = state.ply / longest
        rest[1] = 1 / longest
        own_draw_value = -self.draw_value if state.turn else self.draw_value
        rest[2] = 0.5 * (1.0 + own_draw_value)
        rest[3] = 0.5 * (1.0 - own_draw_value)

    def label(self, move: Move, turn: int) -> int:
        """Returns the index of a legal move of the side `turn` in the policy vector."""
        return MOVES.label(move, turn)

    def interpret(
        self, outputs: Sequence[Array], inputs: Sequence[Array]
    ) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns logits [N, 2187] and values [N] in [-1, +1] for the side to move."""
        logits, value, draw = outputs
        draws = 0.5 * (1.0 + self.draw_scale(draw))
        is_black = inputs[0][:, TURN_PLANES, 0, 0] != 0
        draw_values = np.where(is_black, self.draw_value, -self.draw_value)
        return logits, draws * draw_values + (1.0 - draws) * self.value_scale(value)


def _spec(planes: int) -> TensorSpec:
    uniform = [*PIECES.hand_planes, *range(TURN_PLANES, planes)]
    first_number = TURN_PLANES + 2
    if planes == NSHOGI_PLANES[1]:
        for plane in FILE_PLANES:
            uniform.remove(plane)
        first_number = FILE_PLANES[-1] + 1
    return TensorSpec("input", (planes, 9, 9), uniform=uniform, numbers=range(first_number, planes))


def _files_without_pawn(position: Oriented, side: int) -> list[int]:
    pawn = PAWN + WHITE_PIECE * side
    return [file for file in range(9) if pawn not in position.pieces[9 * file : 9 * file + 9]]


def _declaration_points(position: Oriented, side: int) -> int:
    """Returns the points that count for a declaration: in the far three ranks, and in the hand."""
    return points(_kinds(far_ranks(position.pieces, side), side), position.hands[side])


def _material(position: Oriented, side: int) -> int:
    return points(_kinds(position.pieces, side), position.hands[side])


def _kinds(pieces: Sequence[int], side: int) -> list[int]:
    """Returns the kinds of a side's pieces but the king."""
    kinds = [piece % WHITE_PIECE for piece in pieces if piece // WHITE_PIECE == side]
    return [kind for kind in kinds if kind not in (EMPTY, KING)]
