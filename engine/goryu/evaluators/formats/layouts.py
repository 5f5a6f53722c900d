"""What the formats share: planes of pieces and hands, and labels by direction and destination.

Most projects give each kind of piece a plane, each piece in hand another one, and number a move by
81 * channel + destination. They differ in how they count squares, kinds and channels. So a format is a
`PieceLayout` and a `MoveLabels` with its own orders. Our own orders are dlshogi's.

The board is turned by 180 degrees for white. In all orders of squares that turns square s into 80 - s.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from goryu.evaluators.formats.base import Array
from goryu.evaluators.formats.dlshogi import DROP, PROMOTION, dlshogi_label
from goryu.evaluators.formats.dlshogi_planes import Oriented, board_pieces, hand_ones
from goryu.games.state import Move

FILE_MAJOR = tuple(range(81))
"""1a 1b ... 9i, our own order: a plane of 9 x 9 has the axes [file][rank]."""

FILE_MAJOR_UPWARDS = tuple(9 * (square // 9) + 8 - square % 9 for square in FILE_MAJOR)
"""1i 1h ... 9a: the axes are [file][rank from below]."""

ROW_MAJOR = tuple(9 * (square % 9) + 8 - square // 9 for square in FILE_MAJOR)
"""9a 8a ... 1i, as a diagram is read: the axes are [rank][file from the left]."""

OUR_KINDS = "P L N S B R G K +P +L +N +S +B +R"

ALL_PIECES = (18, 4, 4, 4, 4, 2, 2)
"""How many pieces of each kind there are, P L N S G B R."""

DIRECTIONS = tuple(range(10))
"""dlshogi's order: up, up left, up right, left, right, down, down left, down right, knight left and right."""


def kind_order(names: str) -> tuple[int, ...]:
    """Returns the place of each of our kinds in a list of names.

    >>> kind_order("P L N S G B R K +P +L +N +S +B +R")[4:8]
    (5, 6, 4, 7)
    """
    order = names.split()
    return tuple(order.index(name) for name in OUR_KINDS.split())


def channel_order(drops: str, directions: Sequence[int] = DIRECTIONS) -> tuple[int, ...]:
    """Returns the channel of each of dlshogi's 27 channels in a format.

    drops: the dropped pieces in the format's order.
    directions: its channel of each of `DIRECTIONS`; that of a promotion is ten higher.

    >>> channel_order("P L N S G B R")[20:]
    (20, 21, 22, 23, 25, 26, 24)
    """
    pieces = OUR_KINDS.split()[:7]
    promotions = (PROMOTION + channel for channel in directions)
    return (*directions, *promotions, *(DROP + drops.split().index(piece) for piece in pieces))


@dataclass(frozen=True, slots=True)
class PieceLayout:
    """Where a format has its planes of pieces and hands.

    kinds: the place of each of our kinds among the 14 planes of a side. squares: its number of each square.
    pieces, hands: the first plane of the mover's and of the opponent's.
    caps: most pieces in hand that are seen, P L N S G B R; each has a plane. Empty: no such planes.
    """

    kinds: tuple[int, ...]
    squares: tuple[int, ...]
    pieces: tuple[int, int]
    hands: tuple[int, int]
    caps: tuple[int, ...]

    @property
    def hand_planes(self) -> tuple[int, ...]:
        """All planes of the hands."""
        return tuple(first + plane for first in self.hands for plane in range(sum(self.caps)))

    def fill(self, position: Oriented, planes: Array) -> None:
        """Writes the pieces and hands of a position into planes [..., 9, 9] of zeros."""
        flat = planes.reshape(-1)
        for side, kind, square in board_pieces(position):
            flat[81 * (self.pieces[side] + self.kinds[kind - 1]) + self.squares[square]] = 1
        if self.caps:
            for hand, first in zip(position.hands, self.hands, strict=True):
                planes[[first + plane for plane in hand_ones([hand], self.caps)]] = 1


@dataclass(frozen=True, slots=True)
class MoveLabels:
    """A format's numbers of the moves; see `channel_order` and `PieceLayout.squares`."""

    channels: tuple[int, ...]
    squares: tuple[int, ...]

    def label(self, move: Move, turn: int) -> int:
        """Returns the label of a move of black (0) or white (1), in [0, 2187)."""
        channel, to = divmod(dlshogi_label(move, turn), 81)
        return 81 * self.channels[channel] + self.squares[to]
