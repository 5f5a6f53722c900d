"""The format of miniosl: 176 planes of one input, with the last seven moves, threats and lines of attack.

The board is turned by 180 degrees if white is to move now, in the earlier positions too. A plane has the axes
[rank][file], 1a 2a ... 9i. "We" are the side to move, "they" the opponent.
    0-13, 16-29     squares of their pieces, then of ours: +P +L +N +S +B +R K G P L N S B R
    14, 15          empty squares; ones
    30-36, 37-43    the share of all pieces of a kind that we, they have in hand, R B G S N L P
    44-57           lines up to the first piece, ours and theirs: of lances 44, 45, bishops 48, 49, rooks 52,
                    53, and from the kings in all directions 56, 57. Two planes further on, but not for kings:
                    the empty squares behind that piece, up to the next one. A horse has the lines of a
                    bishop, a dragon those of a rook, without their steps
    58, 59          our and their pawns in hand, up to 4, / 4
    60              does white move now?
    61              the pieces that give check to us
    62, 63          unless we are in check: the way of the move by which they would mate us if we passed
                    (`contact_mates.py`), and what the moved piece attacks from its destination
    64-175          the last seven moves, the latest first, 16 planes each; zeros where there was none
Planes of a move:
    0, 1, 2         its destination; its way, if it is no drop; what a captured piece had attacked
    3, 4            before it: the king of the side that moved; the pieces that gave check to it
    5, 6            before it: as 62, 63, for the side that moved
    7, 8            before it: squares of our pieces, of theirs
    9, 10, 11       if exactly one piece can take back, and a mate follows: the way of that piece, the way of
                    the mating move, and what that piece attacks. Taking back without promotion is tried
                    first; a king may take back although it would be in check
    12, 13          after it: the moved piece and those that attacked its origin or destination before it,
                    ours and theirs
    14, 15          after it: how many of our pieces, of theirs attack a square, up to 4, / 4

The way of a move is its destination, its origin and the squares between; a drop has only a destination. What
a slider attacks leaves out squares of its own side here. A move's label is 81 * channel + destination as
[rank][file], both seen by the mover: 7 channels for drops, G P L N S B R; 10 for directions (`DIRECTIONS` of
`contact_mates.py`, then the knight's moves to the left and to the right); and 10 for the same with promotion.
The value is a tanh. Files of miniosl have four values, of which the first is this one.

Weakness: where there are several mates, miniosl may choose another one. An SFEN without moves lacks the
earlier positions; the networks were not trained for that, and their values are then off by 0.25 on average.

Source: miniosl 0.1.6 (T. Kaneko, BSD-2-Clause); written from a description of its library `minioslcc` and
compared with it.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from goryu.evaluators.formats.base import LEVELS, Array, TensorSpec, ValueScale
from goryu.evaluators.formats.contact_mates import (
    DEAD_RANKS,
    PROMOTION_RANKS,
    ContactMove,
    attackers,
    can_promote,
    contact_mate,
    king_square,
    played,
)
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS, DROP, PROMOTION
from goryu.evaluators.formats.dlshogi_planes import Oriented, board_pieces, reach
from goryu.evaluators.formats.layouts import ALL_PIECES, MoveLabels, channel_order, kind_order
from goryu.evaluators.shogi_state import ShogiState
from goryu.games.shogi.move import is_drop, move_from, move_to
from goryu.games.shogi.pieces import (
    BISHOP,
    EMPTY,
    KING,
    KNIGHT,
    LANCE,
    PROMOTED,
    ROOK,
    WHITE_PIECE,
)
from goryu.games.state import Move

MOVES = 7
PLANES_PER_MOVE = 16
EMPTY_PLANE, ONES_PLANE = 14, 15
PIECES = (16, 0)
"""The first plane of our pieces and of theirs."""
HANDS, LINES, PAWNS, TURN_PLANE, CHECKERS, THREAT, FIRST_MOVE = 30, 44, 58, 60, 61, 62, 64
MINIOSL_PLANES = FIRST_MOVE + MOVES * PLANES_PER_MOVE

MINIOSL_TENSORS = ("input", "move", "value")
"""The names of a file's tensors that Goryu uses."""

UNIFORM_PLANES = (ONES_PLANE, *range(HANDS, LINES), PAWNS, PAWNS + 1, TURN_PLANE)
NUMBER_PLANES = (*range(HANDS, LINES), PAWNS, PAWNS + 1)
COUNT_PLANES = tuple(
    first + plane for first in range(FIRST_MOVE, MINIOSL_PLANES, PLANES_PER_MOVE) for plane in (14, 15)
)

KINDS = kind_order("+P +L +N +S +B +R K G P L N S B R")
HAND_ORDER = (6, 5, 4, 3, 2, 1, 0)
"""Which of P L N S G B R each hand plane shows."""
MOST_PAWNS = MOST_ATTACKERS = LEVELS

SQUARES = tuple(9 * (square % 9) + square // 9 for square in range(81))

LABELS = MoveLabels(
    tuple(
        channel - PROMOTION - PROMOTION if channel >= DROP else channel + 7
        for channel in channel_order("G P L N S B R", (1, 0, 2, 3, 4, 6, 5, 7, 8, 9))
    ),
    SQUARES,
)


class MinioslFormat:
    """Implements `ModelFormat`; the names are those of the file's tensors."""

    name = f"miniosl {MINIOSL_PLANES}"
    labels = DLSHOGI_LABELS

    def __init__(self, planes: str, policy: str, value: str, value_scale: ValueScale) -> None:
        self.inputs = (
            TensorSpec(
                planes,
                (MINIOSL_PLANES, 9, 9),
                uniform=UNIFORM_PLANES,
                numbers=NUMBER_PLANES,
                square_numbers=COUNT_PLANES,
            ),
        )
        self.outputs = (policy, value)
        self.value_scale = value_scale

    def fill(self, state: ShogiState, rows: Sequence[Array]) -> None:
        """Writes the planes of a position and its past into one row [176, 9, 9] of zeros."""
        (planes,) = rows
        us = state.turn
        position = Oriented(state)
        flat = planes.reshape(len(planes), 81)
        _fill_position(position, flat)
        planes[TURN_PLANE] = us
        _fill(flat[CHECKERS], _checkers(position.pieces, 0))
        _fill_threat(position, 0, flat[THREAT:])
        past = state.copy()
        for step in range(min(MOVES, len(state.move_stack))):
            after = position
            move = past.pop()
            position = Oriented(past, us)
            first = FIRST_MOVE + PLANES_PER_MOVE * step
            _fill_move(
                position, _turned(move, us), (step + 1) % 2, after, flat[first : first + PLANES_PER_MOVE]
            )

    def label(self, move: Move, turn: int) -> int:
        """Returns the index of a legal move of the side `turn` in the policy vector."""
        return LABELS.label(move, turn)

    def interpret(
        self, outputs: Sequence[Array], inputs: Sequence[Array]
    ) -> tuple[Array, npt.NDArray[np.float64]]:
        """Returns logits [N, 2187] and values [N] in [-1, +1] for the side to move."""
        logits, value = outputs
        return logits, self.value_scale(value.reshape(len(value), -1)[:, 0])


def _fill_position(position: Oriented, flat: Array) -> None:
    pieces = position.pieces
    for side, kind, square in board_pieces(position):
        flat[PIECES[side] + KINDS[kind - 1], SQUARES[square]] = 1
    _fill(flat[EMPTY_PLANE], (square for square in range(81) if pieces[square] == EMPTY))
    flat[ONES_PLANE] = 1
    for side, hand in enumerate(position.hands):
        for plane, place in enumerate(HAND_ORDER, HANDS + 7 * side):
            flat[plane] = hand[place] / ALL_PIECES[place]
        flat[PAWNS + side] = min(hand[0], MOST_PAWNS) / MOST_PAWNS
    for plane, kind in zip((LINES, LINES + 4, LINES + 8), (LANCE, BISHOP, ROOK), strict=True):
        for side, found, square in board_pieces(position):
            if found == kind or (found == kind + PROMOTED and kind != LANCE):
                for ray in reach(WHITE_PIECE * side + kind, square)[1]:
                    near = _until_piece(pieces, ray)
                    _fill(flat[plane + side], near)
                    _fill(flat[plane + 2 + side], _beyond(pieces, ray[len(near) :]))
    for side in (0, 1):
        king = king_square(pieces, side)
        if king is not None:
            for kind in (BISHOP, ROOK):
                for ray in reach(kind, king)[1]:
                    _fill(flat[LINES + 12 + side], _until_piece(pieces, ray))


def _fill_move(before: Oriented, move: ContactMove, side: int, after: Oriented, flat: Array) -> None:
    """Writes the 16 planes of a move, which side 0 or 1 played."""
    pieces = before.pieces
    flat[0, SQUARES[move.to]] = 1
    if move.origin is not None:
        _fill(flat[1], _way(move, pieces))
    if pieces[move.to] != EMPTY:
        _fill(flat[2], _attacks(pieces, move.to, pieces[move.to]))
    king = king_square(pieces, side)
    if king is not None:
        flat[3, SQUARES[king]] = 1
    _fill(flat[4], _checkers(pieces, side))
    _fill_threat(before, side, flat[5:])
    for colour, _, square in board_pieces(before):
        flat[7 + colour, SQUARES[square]] = 1
    _fill_recapture(after, move.to, 1 - side, flat[9:])
    covering = {move.to}
    ends = [move.to] if move.origin is None else [move.to, move.origin]
    for end in ends:
        covering |= {*attackers(pieces, end, 0), *attackers(pieces, end, 1)}
    for square in covering.difference(ends[1:]):
        flat[12 + after.pieces[square] // WHITE_PIECE, SQUARES[square]] = 1
    for colour in (0, 1):
        for square in range(81):
            count = len(attackers(after.pieces, square, colour))
            flat[14 + colour, SQUARES[square]] = min(count, MOST_ATTACKERS) / MOST_ATTACKERS


def _fill_threat(position: Oriented, side: int, flat: Array) -> None:
    """Writes the two planes of the mate in one that a side would suffer if it passed."""
    pieces = position.pieces
    if not _checkers(pieces, side):
        move = contact_mate(pieces, position.hands, 1 - side)
        if move:
            _fill(flat[0], _way(move, pieces))
            _fill(flat[1], _attacks(pieces, move.to, move.piece))


def _fill_recapture(position: Oriented, target: int, side: int, flat: Array) -> None:
    """Writes the three planes of the mate that follows if a side takes back on a square."""
    pieces = position.pieces
    origins = attackers(pieces, target, side)
    if len(origins) != 1:
        return
    for capture in _captures(pieces, origins[0], target, side):
        after = played(pieces, capture.origin, target, capture.piece)
        is_king = capture.piece % WHITE_PIECE == KING
        if _checkers(after, 1 - side) or (_checkers(after, side) and not is_king):
            continue
        mate = contact_mate(after, position.hands, 1 - side)
        if mate:
            _fill(flat[0], _way(capture, pieces))
            _fill(flat[1], _way(mate, after))
            _fill(flat[2], _attacks(after, mate.to, mate.piece))
            return


def _captures(pieces: Sequence[int], origin: int, target: int, side: int) -> Iterator[ContactMove]:
    """Yields the captures of one piece, without promotion before with it."""
    kind = pieces[origin] % WHITE_PIECE
    to_end, from_end = ((square % 9 if side == 0 else 8 - square % 9) for square in (target, origin))
    if to_end >= DEAD_RANKS.get(kind, 0):
        yield ContactMove(origin, target, pieces[origin])
    if can_promote(kind) and min(to_end, from_end) < PROMOTION_RANKS:
        yield ContactMove(origin, target, pieces[origin] + PROMOTED)


def _checkers(pieces: Sequence[int], side: int) -> list[int]:
    """Returns the squares of the pieces that give check to a side."""
    king = king_square(pieces, side)
    return [] if king is None else attackers(pieces, king, 1 - side)


def _way(move: ContactMove, pieces: Sequence[int]) -> list[int]:
    """Returns the destination of a move, its origin and the squares between. pieces: before it."""
    if move.origin is None:
        return [move.to]
    if pieces[move.origin] % WHITE_PIECE == KNIGHT:
        return [move.origin, move.to]
    files, ranks = move.to // 9 - move.origin // 9, move.to % 9 - move.origin % 9
    length = max(abs(files), abs(ranks))
    step = 9 * (files // length) + ranks // length
    return [move.origin + step * i for i in range(length + 1)]


def _attacks(pieces: Sequence[int], square: int, piece: int) -> list[int]:
    """Returns what a piece would attack from a square; of sliders, squares of its own side are left out."""
    steps, rays = reach(piece, square)
    found = list(steps)
    for ray in rays:
        near = _until_piece(pieces, ray)
        if near and pieces[near[-1]] != EMPTY and pieces[near[-1]] // WHITE_PIECE == piece // WHITE_PIECE:
            near = near[:-1]
        found += near
    return found


def _until_piece(pieces: Sequence[int], ray: Sequence[int]) -> list[int]:
    """Returns the squares of a ray up to the first piece."""
    near: list[int] = []
    for square in ray:
        near.append(square)
        if pieces[square] != EMPTY:
            break
    return near


def _beyond(pieces: Sequence[int], ray: Sequence[int]) -> list[int]:
    """Returns the empty squares with which a ray begins."""
    near = _until_piece(pieces, ray)
    return near if not near or pieces[near[-1]] == EMPTY else near[:-1]


def _turned(move: Move, us: int) -> ContactMove:
    """Returns a move as the network sees it; the piece is the one before a promotion, or 0."""
    squares = [81 if is_drop(move) else move_from(move), move_to(move)]
    origin, to = (square if us == 0 else 80 - square for square in squares)
    return ContactMove(None if is_drop(move) else origin, to, EMPTY)


def _fill(plane: Array, squares: Iterable[int]) -> None:
    plane[[SQUARES[square] for square in squares]] = 1
