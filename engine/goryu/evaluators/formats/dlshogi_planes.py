"""The planes of the dlshogi format: a shogi position as 62 + 57 (or 62 + 119) planes of 9 x 9 squares.

The position is seen by the side to move: if white moves, the board is rotated by 180 degrees and the colours
are exchanged. Squares are file-major, so a plane reshaped to 9 x 9 has the axes [file][rank].

`board`, 62 planes, the mover's 31 first, then the opponent's 31:
    0-13    squares of its pieces of each kind, in the order P L N S B R G K +P +L +N +S +B +R
    14-27   squares that its pieces of each kind attack (occupied ones and those of its own pieces too; pins
            do not matter)
    28-30   squares that at least 1, 2, 3 of its pieces attack

`hands`, 57 planes of ones or zeros:
    0-27    the mover's hand, one plane for each piece in it: P up to 8, L N S G up to 4, B R up to 2
    28-55   the opponent's
    56      is the mover in check?

`nyugyoku`, 2 x 31 more planes of the entering-king variant: what each side still needs to declare a win.

Source: dlshogi (T. Yamaoka), `cppshogi`; written from a description of the format and compared with cshogi.
"""

from collections.abc import Iterator, Sequence
from functools import cache

from goryu.evaluators.shogi_state import ShogiState
from goryu.games.shogi.declaration import POINTS_NEEDED, points
from goryu.games.shogi.pieces import EMPTY, KING, SLIDES, STEPS, WHITE_PIECE

BOARD_PLANES, HAND_PLANES, NYUGYOKU_PLANES = 62, 57, 62

KINDS = 14
PLANES_PER_SIDE = 31
ATTACKS, COUNTS = 14, 28
"""The first attack plane and the first plane of attacker counts among a side's planes."""

MAX_COUNT = 3
HAND_CAPS = (8, 4, 4, 4, 4, 2, 2)
"""Planes for each piece in hand, P L N S G B R; a ninth pawn changes nothing."""
CHECK_PLANE = 56

CAMP_RANKS = 3
PIECE_PLANES, POINT_PLANES = 10, 20
"""Planes for the missing pieces and the missing points of an entering king."""


class Oriented:
    """A position seen by the side to move: `pieces` as if the mover were black, `hands` the mover's first.

    colours: the real colours of the mover and the opponent.
    """

    __slots__ = ("colours", "hands", "is_check", "pieces")

    def __init__(self, state: ShogiState, mover: int | None = None) -> None:
        """mover: the side that sees it, if it is not the side to move."""
        pieces, hands = state.pieces, state.hands
        if (state.turn if mover is None else mover) == 0:
            self.pieces = list(pieces)
            self.hands = (hands[0], hands[1])
            self.colours = (0, 1)
        else:
            # Square s becomes 80 - s; the bit WHITE_PIECE of every piece flips.
            self.pieces = [piece ^ WHITE_PIECE if piece else EMPTY for piece in reversed(pieces)]
            self.hands = (hands[1], hands[0])
            self.colours = (1, 0)
        self.is_check = state.is_check()


def board_ones(position: Oriented) -> list[int]:
    """Returns the ones of `board`, as indices into 62 x 81; an index may appear more than once."""
    ones: list[int] = []
    pieces = position.pieces
    counts = ([0] * 81, [0] * 81)
    for side, kind, square in board_pieces(position):
        plane = PLANES_PER_SIDE * side + kind - 1
        ones.append(81 * plane + square)
        attacks = 81 * (plane + ATTACKS)
        attackers = counts[side]
        steps, rays = reach(pieces[square], square)
        for target in steps:
            ones.append(attacks + target)
            attackers[target] += 1
        for ray in rays:
            for target in ray:
                ones.append(attacks + target)
                attackers[target] += 1
                if pieces[target]:
                    break
    for side, attackers in enumerate(counts):
        for target, count in enumerate(attackers):
            for n in range(min(count, MAX_COUNT)):
                ones.append(81 * (PLANES_PER_SIDE * side + COUNTS + n) + target)
    return ones


def board_pieces(position: Oriented) -> Iterator[tuple[int, int, int]]:
    """Yields side (0 the mover), kind (from 1, P L N S B R G K +P ...) and square of every piece."""
    for square, piece in enumerate(position.pieces):
        if piece != EMPTY:
            yield (*divmod(piece, WHITE_PIECE), square)


def hand_planes(position: Oriented) -> list[int]:
    """Returns which of the 57 planes of `hands` are 1."""
    planes = hand_ones(position.hands, HAND_CAPS)
    if position.is_check:
        planes.append(CHECK_PLANE)
    return planes


def hand_ones(hands: Sequence[Sequence[int]], caps: Sequence[int]) -> list[int]:
    """Returns which planes of both hands are 1; `caps` has the number of planes for each piece."""
    planes: list[int] = []
    first = 0
    for hand in hands:
        for count, cap in zip(hand, caps, strict=True):
            planes.extend(range(first, first + min(count, cap)))
            first += cap
    return planes


def nyugyoku_planes(position: Oriented) -> list[int]:
    """Returns which of the 62 planes of `nyugyoku` are 1; 31 planes each for the mover and the opponent.

    Planes of a side: 0, its king is in the far three ranks; 1 + d, d pieces are missing there from ten;
    11 + e, e points are missing from 28 (black) or 27 (white). More than ten pieces, none at all, or more
    points than needed set no plane of their group: the networks were trained like this.
    """
    planes: list[int] = []
    for side in (0, 1):
        first = PLANES_PER_SIDE * side
        camp = [
            piece % WHITE_PIECE for piece in far_ranks(position.pieces, side) if piece // WHITE_PIECE == side
        ]
        kinds = [kind for kind in camp if kind not in (EMPTY, KING)]
        if KING in camp:
            planes.append(first)
        missing_pieces = PIECE_PLANES - len(kinds)
        if 0 <= missing_pieces < PIECE_PLANES:
            planes.append(first + 1 + missing_pieces)
        missing_points = POINTS_NEEDED[position.colours[side]] - points(kinds, position.hands[side])
        if 0 <= missing_points < POINT_PLANES:
            planes.append(first + 1 + PIECE_PLANES + missing_points)
    return planes


def far_ranks(pieces: Sequence[int], side: int) -> list[int]:
    """Returns the pieces on the three ranks furthest from the mover (side 0) or from the opponent (1)."""
    ranks = range(9 - CAMP_RANKS, 9) if side else range(CAMP_RANKS)
    return [pieces[9 * file + rank] for file in range(9) for rank in ranks]


@cache
def reach(piece: int, square: int) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Returns where a piece steps to and the rays it slides along, on an empty board."""
    side, kind = divmod(piece, WHITE_PIECE)
    sign = -1 if side else 1
    steps = [_ray(square, sign * files, sign * ranks)[:1] for files, ranks in STEPS.get(kind, ())]
    rays = [_ray(square, sign * files, sign * ranks) for files, ranks in SLIDES.get(kind, ())]
    return tuple(step[0] for step in steps if step), tuple(ray for ray in rays if ray)


def _ray(square: int, files: int, ranks: int) -> tuple[int, ...]:
    """Returns the squares from `square` (left out) in a direction, to the edge of the board."""
    file, rank = divmod(square, 9)
    squares: list[int] = []
    while 0 <= file + files < 9 and 0 <= rank + ranks < 9:
        file, rank = file + files, rank + ranks
        squares.append(9 * file + rank)
    return tuple(squares)
