"""The format of AobaZero: the last eight positions in 362 planes of one input, as in AlphaZero.

Squares are counted along the ranks (9a = 0, 1i = 80), a plane has the axes [rank][file from the left], and
kinds are in the order P L N S G B R K +P +L +N +S +B +R. The board is turned by 180 degrees if white is to
move now, in the earlier positions too. The planes of each position, the current one first, 45 each:
    0-13, 14-27     squares of the pieces of each kind: of the side to move now, of the other
    28-34, 35-41    the share of all pieces of a kind that the side has in hand, P L N S G B R
    42-44           has this position occurred 1, 2, 3 times before?
Positions before the game began are left 0. At the end come
    360             does white move now?
    361             moves played since move number 1, / 512
In a game that is drawn after fewer moves than AobaZero's 513, the last plane pretends that the end of its
long game comes closer: from 160 moves before the limit on, the number grows along a sigmoid.

A move's label is 81 * channel + origin, both seen by the mover: 8 channels for each direction,
counter-clockwise from above, by distance; two for the knight's moves; 66 more for the same with promotion.
Drops are 81 * channel + destination with seven channels at the end, P L N S G B R. The policy has
139 * 81 = 11,259 labels. The value is a tanh. The tensors may have any names, as AobaZero's weights are text
files, which `goryu convert` makes into ONNX.

Weakness: the later networks with 2,187 labels read other planes and are refused. An SFEN without moves lacks
the earlier positions, and the network was not trained for that.

Source: AobaZero (public domain), `yss_net.cpp`; written from a description of the format.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import Array, TensorSpec, ValueScale
from goryu.evaluators.formats.dlshogi import DROP, PROMOTION, dlshogi_label
from goryu.evaluators.formats.dlshogi_planes import KINDS, Oriented
from goryu.evaluators.formats.layouts import ALL_PIECES, ROW_MAJOR, PieceLayout, channel_order, kind_order
from goryu.evaluators.formats.python_dlshogi import PYTHON_SHOGI_KINDS
from goryu.evaluators.shogi_state import ShogiState
from goryu.games.shogi.move import is_drop, move_from
from goryu.games.state import Move

POSITIONS = 8
HANDS = 2 * KINDS
OCCURRENCES, MOST_OCCURRENCES = HANDS + 14, 3
PLANES_PER_POSITION = OCCURRENCES + MOST_OCCURRENCES
TURN_PLANE = POSITIONS * PLANES_PER_POSITION
AOBAZERO_PLANES = TURN_PLANE + 2

_FIRST_PLANES = range(0, TURN_PLANE, PLANES_PER_POSITION)
UNIFORM_PLANES = (
    *(first + plane for first in _FIRST_PLANES for plane in range(HANDS, PLANES_PER_POSITION)),
    TURN_PLANE,
    TURN_PLANE + 1,
)
NUMBER_PLANES = (
    *(first + plane for first in _FIRST_PLANES for plane in range(HANDS, OCCURRENCES)),
    TURN_PLANE + 1,
)
"""The shares of the hands, and the number of moves."""

AOBAZERO_LABELS = 139 * 81

MOST_MOVES, LONGEST_GAME = 512, 513
"""The greatest number in the last plane, and the move after which AobaZero's own games are drawn."""
END_OF_GAME = 160
"""How long before the end of a shorter game the number of moves begins to grow faster."""

PIECES = PieceLayout(kind_order(PYTHON_SHOGI_KINDS), ROW_MAJOR, pieces=(0, KINDS), hands=(0, 0), caps=())

CHANNELS_OF_DIRECTIONS = (0, 8, 56, 16, 48, 32, 24, 40, 64, 65)
"""Where the channels of `layouts.DIRECTIONS` begin."""
PROMOTIONS, DROPS = 66, 132
_CHANNELS_OF_DROPS = channel_order("P L N S G B R")[DROP:]


class AobaZeroFormat:
    """Implements `ModelFormat`; the names are those of the file's tensors."""

    name = f"aobazero {AOBAZERO_PLANES}"
    labels = AOBAZERO_LABELS

    def __init__(self, planes: str, policy: str, value: str, value_scale: ValueScale) -> None:
        self.inputs = (
            TensorSpec(planes, (AOBAZERO_PLANES, 9, 9), uniform=UNIFORM_PLANES, numbers=NUMBER_PLANES),
        )
        self.outputs = (policy, value)
        self.value_scale = value_scale

    def fill(self, state: ShogiState, rows: Sequence[Array]) -> None:
        """Writes the planes of a position and its past into one row [362, 9, 9] of zeros."""
        (planes,) = rows
        past = state.copy()
        keys = _position_keys(state)
        for step in range(min(POSITIONS, len(keys))):
            if step:
                past.pop()
            _fill_position(past, state.turn, keys[step:], planes[PLANES_PER_POSITION * step :])
        planes[TURN_PLANE] = state.turn
        planes[TURN_PLANE + 1] = seen_moves(state.ply, state.rules.max_ply) / MOST_MOVES

    def label(self, move: Move, turn: int) -> int:
        """Returns the index of a legal move of the side `turn` in the policy vector."""
        channel, to = divmod(dlshogi_label(move, turn), 81)
        if is_drop(move):
            return 81 * (DROPS + _CHANNELS_OF_DROPS[channel - DROP] - DROP) + ROW_MAJOR[to]
        origin = move_from(move) if turn == 0 else 80 - move_from(move)
        distance = max(abs(to // 9 - origin // 9), abs(to % 9 - origin % 9))
        is_promotion, direction = divmod(channel, PROMOTION)
        found = CHANNELS_OF_DIRECTIONS[direction] + (distance - 1 if direction < 8 else 0)
        return 81 * (found + PROMOTIONS * is_promotion) + ROW_MAJOR[origin]

    def interpret(
        self, outputs: Sequence[Array], inputs: Sequence[Array]
    ) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns logits [N, 11259] and values [N] in [-1, +1] for the side to move."""
        logits, value = outputs
        return logits, self.value_scale(value)


def seen_moves(ply: int, max_ply: int) -> int:
    """Returns the number of moves that the network is shown, at most 512.

    max_ply: moves after which the game is drawn; 0 for no limit.

    >>> [seen_moves(ply, 320) for ply in (100, 160, 240, 320)], seen_moves(240, 0)
    ([100, 160, 336, 510], 240)
    """
    if 0 < max_ply < LONGEST_GAME:
        length = min(END_OF_GAME, max_ply)
        begin = max_ply - length
        if ply > begin:
            share = 1.0 / (1.0 + math.exp(-5.0 * ((ply - begin) * 2.0 / length - 1.0)))
            ply = int(share * (LONGEST_GAME - begin) + begin)
    return min(ply, MOST_MOVES)


def _position_keys(state: ShogiState) -> list[int]:
    """Returns the keys of the position and of all before it in the game, the latest first."""
    past = state.copy()
    keys = [past.position_key]
    for _ in state.move_stack:
        past.pop()
        keys.append(past.position_key)
    return keys


def _fill_position(state: ShogiState, mover: int, keys: Sequence[int], planes: Array) -> None:
    """Writes the 45 planes of one position, seen by the side `mover`; keys: its own and those before it."""
    position = Oriented(state, mover)
    PIECES.fill(position, planes)
    shares = [count / most for hand in position.hands for count, most in zip(hand, ALL_PIECES, strict=True)]
    for plane, share in enumerate(shares, HANDS):
        planes[plane] = share
    occurrences = min(keys[2::2].count(keys[0]), MOST_OCCURRENCES)
    planes[OCCURRENCES : OCCURRENCES + occurrences] = 1
