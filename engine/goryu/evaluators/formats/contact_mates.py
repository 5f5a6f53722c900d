"""Mates in one by a piece next to the king or by a knight, which miniosl's networks see.

Such a check cannot be parried by a move between, so the king must flee or the piece must be captured. The
order in which the moves are looked at decides which of several mates is found:

1. moves to the squares next to the king, in the order of `DIRECTIONS` in which the piece gives check; of
   pieces in the order P N S G L B R (promoted ones with their kind), then by their square from 1a to 9i as
   the attacker sees the board; with promotion before without, and P, B and R always promote
2. moves and drops of a knight, each knight's square first to the right
3. drops of G L S B R next to the king, in the order of `DIRECTIONS`

The position is one of `Oriented`: side 0 moves towards rank a.

Source: OpenShogiLib (`ImmediateCheckmate`), written from a description. That one overlooks some mates, and
orders pieces of one kind by their history.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from goryu.games.shogi.pieces import (
    BISHOP,
    EMPTY,
    GOLD,
    HAND_KINDS,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    PROMOTED,
    ROOK,
    SILVER,
    SLIDES,
    STEPS,
    WHITE_PIECE,
)

Pieces = Sequence[int]
Hands = Sequence[Sequence[int]]

DIRECTIONS = ((1, -1), (0, -1), (-1, -1), (1, 0), (-1, 0), (1, 1), (0, 1), (-1, 1))
"""Up left, up, up right, left, right, down left, down, down right, as (files towards 9, ranks towards i)."""
KNIGHTS = ((-1, -2), (1, -2))

_MOVERS = (PAWN, KNIGHT, SILVER, GOLD, LANCE, BISHOP, ROOK)
_DROPS = (GOLD, LANCE, SILVER, BISHOP, ROOK)
_PROMOTE_ALWAYS = (PAWN, BISHOP, ROOK)
PROMOTION_RANKS = 3
"""Ranks at the far end where pieces promote."""
DEAD_RANKS = {PAWN: 1, LANCE: 1, KNIGHT: 2}
"""Ranks at the far end from which a piece could never move again."""


@dataclass(frozen=True, slots=True)
class ContactMove:
    """A move that mates. origin: None for a drop. piece: the code of the piece after the move."""

    origin: int | None
    to: int
    piece: int


def contact_mate(pieces: Pieces, hands: Hands, attacker: int) -> ContactMove | None:
    """Returns the first mate in one of a side whose opponent is not in check, or None.

    pieces: 81 codes. hands: of side 0 and 1, P L N S G B R. attacker: 0 or 1; it need not be its turn.
    """
    king = king_square(pieces, 1 - attacker)
    if king is None:
        return None
    for move in _candidates(pieces, hands, attacker, king):
        if _mates(pieces, move, attacker, king):
            return move
    return None


def king_square(pieces: Pieces, side: int) -> int | None:
    """Returns where a side's king is, or None if there is none."""
    king = WHITE_PIECE * side + KING
    return pieces.index(king) if king in pieces else None


def attackers(pieces: Pieces, target: int, side: int) -> list[int]:
    """Returns the squares of a side's pieces that attack a square; pins do not matter."""
    found: list[int] = []
    for direction, ray in _rays(target):
        for distance, square in enumerate(ray, 1):
            if pieces[square] != EMPTY:
                colour, kind = divmod(pieces[square], WHITE_PIECE)
                if colour == side and _goes(kind, side, direction, distance):
                    found.append(square)
                break
    knight = WHITE_PIECE * side + KNIGHT
    return found + [square for square in _knight_origins(target, side) if pieces[square] == knight]


def played(pieces: Pieces, origin: int | None, to: int, piece: int) -> list[int]:
    """Returns the pieces after a move."""
    after = list(pieces)
    if origin is not None:
        after[origin] = EMPTY
    after[to] = piece
    return after


def _candidates(pieces: Pieces, hands: Hands, attacker: int, king: int) -> Iterator[ContactMove]:
    """Yields the checks, in their order."""
    sign = -1 if attacker else 1
    neighbours = list(_origins(king, attacker, DIRECTIONS))
    for to, direction in neighbours:
        if pieces[to] == EMPTY or pieces[to] // WHITE_PIECE != attacker:
            origins = [
                square for square in attackers(pieces, to, attacker) if pieces[square] % WHITE_PIECE != KING
            ]
            for origin in sorted(
                origins, key=lambda square: (_MOVERS.index(_base_kind(pieces[square])), sign * square)
            ):
                for kind in _kinds_after(pieces[origin] % WHITE_PIECE, origin, to, attacker):
                    if direction in _reaches(kind):
                        yield ContactMove(origin, to, WHITE_PIECE * attacker + kind)
    in_hand = {kind for kind, count in zip(HAND_KINDS, hands[attacker], strict=True) if count}
    knight = WHITE_PIECE * attacker + KNIGHT
    for to, _ in _origins(king, attacker, KNIGHTS):
        if pieces[to] == EMPTY or pieces[to] // WHITE_PIECE != attacker:
            for origin in sorted(_knight_origins(to, attacker), key=lambda square: sign * square):
                if pieces[origin] == knight:
                    yield ContactMove(origin, to, knight)
            if pieces[to] == EMPTY and KNIGHT in in_hand:
                yield ContactMove(None, to, knight)
    for kind in _DROPS:
        if kind in in_hand:
            for to, direction in neighbours:
                if pieces[to] == EMPTY and direction in _reaches(kind):
                    yield ContactMove(None, to, WHITE_PIECE * attacker + kind)


def _mates(pieces: Pieces, move: ContactMove, attacker: int, king: int) -> bool:
    """Is a check by an adjacent piece or a knight a legal mate?"""
    defender = 1 - attacker
    after = played(pieces, move.origin, move.to, move.piece)
    own_king = king_square(after, attacker)
    if own_king is not None and attackers(after, own_king, defender):
        return False
    fled = played(after, None, king, EMPTY)
    for _, ray in _rays(king):
        may_flee = ray and (after[ray[0]] == EMPTY or after[ray[0]] // WHITE_PIECE == attacker)
        if may_flee and not attackers(fled, ray[0], attacker):
            return False
    for origin in attackers(after, move.to, defender):
        captured = played(after, origin, move.to, after[origin])
        if origin != king and not attackers(captured, king, attacker):
            return False
    return True


def _base_kind(piece: int) -> int:
    """Returns the kind of a piece before its promotion."""
    kind = piece % WHITE_PIECE
    return kind - PROMOTED if kind > KING else kind


def _kinds_after(kind: int, origin: int, to: int, side: int) -> Iterator[int]:
    """Yields what a piece may be after a move, promoted first."""
    ranks = (square % 9 if side == 0 else 8 - square % 9 for square in (origin, to))
    is_promotion = can_promote(kind) and min(ranks) < PROMOTION_RANKS
    if is_promotion:
        yield kind + PROMOTED
    if not is_promotion or kind not in _PROMOTE_ALWAYS:
        yield kind


def can_promote(kind: int) -> bool:
    """Is this a kind that promotes?"""
    return kind < GOLD


@cache
def _reaches(kind: int) -> frozenset[tuple[int, int]]:
    """Returns the directions in which a piece of side 0 attacks the next square."""
    return frozenset((*STEPS.get(kind, ()), *SLIDES.get(kind, ())))


def _goes(kind: int, side: int, direction: tuple[int, int], distance: int) -> bool:
    """Does a piece `distance` squares away attack a square, from which it lies in this direction?"""
    sign = 1 if side else -1
    towards = (sign * direction[0], sign * direction[1])
    return (distance == 1 and towards in STEPS.get(kind, ())) or towards in SLIDES.get(kind, ())


@cache
def _rays(square: int) -> tuple[tuple[tuple[int, int], tuple[int, ...]], ...]:
    """Returns the eight directions with the squares that lie there, the nearest first."""
    return tuple((direction, _ray(square, *direction)) for direction in DIRECTIONS)


def _ray(square: int, files: int, ranks: int) -> tuple[int, ...]:
    file, rank = square // 9 + files, square % 9 + ranks
    if not (0 <= file < 9 and 0 <= rank < 9):
        return ()
    return (9 * file + rank, *_ray(9 * file + rank, files, ranks))


@cache
def _knight_origins(target: int, side: int) -> tuple[int, ...]:
    """Returns the squares from which a knight of a side attacks a square."""
    return tuple(square for square, _ in _origins(target, side, KNIGHTS))


def _origins(
    target: int, side: int, directions: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yields from where a step in each direction, as the side sees it, leads to a square."""
    sign = -1 if side else 1
    for files, ranks in directions:
        file, rank = target // 9 - sign * files, target % 9 - sign * ranks
        if 0 <= file < 9 and 0 <= rank < 9:
            yield 9 * file + rank, (files, ranks)
