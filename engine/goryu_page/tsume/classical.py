"""Brings a mate of a game into the usual form of composed problems.

Black attacks and has no king; the defender holds all pieces that are neither on the board nor in the
attacker's hand. Pieces that do not matter go to the defender's hand: those that the attacker would never
drop, then those on the board, the farthest from the king first. A piece is taken away only if the main line
stays as it is, and only sound problems are made: without a second solution.
"""

from dataclasses import dataclass, replace

from goryu.games.shogi import SfenError, SfenFields, move_from_usi, parse_sfen
from goryu.games.shogi.pieces import EMPTY, HAND_KINDS, HAND_LETTERS, KING, PROMOTED, WHITE_PIECE
from goryu.games.shogi.sfen import PIECE_TOTALS
from goryu.search.mates.mate import MateVerdict
from goryu_page.tsume.length import LONGEST, MateLength, square_of_king
from goryu_page.tsume.problem import Tsume
from goryu_page.tsume.solution import Solution, may_be_sound, problem_board, solved, with_alternatives

__all__ = ["classical_form"]

FAR = (3, 2)
"""Pieces more than so many squares from the king are first taken away all at once."""


def classical_form(solution: Solution, nodes: int) -> Tsume | None:
    """Returns the problem in the usual form, or None if it is not sound in it.

    Its length may differ from that in the game, because the defender holds more pieces.
    """
    fields = _without_king(turned(parse_sfen(solution.sfen, allow_missing_king=True)))
    plain = _solved(fields, nodes)
    if plain is None:
        return None
    reduction = _Reduction(plain.solution.line, nodes)
    king = square_of_king(list(fields.pieces), 1)
    squares = sorted(
        (square for square in range(81) if fields.pieces[square] % WHITE_PIECE not in (EMPTY, KING)),
        key=lambda square: -_distance(square, king),
    )
    groups = [[square for square in squares if _distance(square, king) > steps] for steps in FAR]
    best = reduction.first_sound(plain.fields, groups)
    if best is None:
        return None
    for square in squares:
        if best.fields.pieces[square]:
            best = reduction.tried(_without(best.fields, [square])) or best
    return best.solution.problem()


@dataclass(frozen=True, slots=True)
class _Position:
    """A position, the defender's hand left aside, and its solution."""

    fields: SfenFields
    solution: Solution


class _Reduction:
    """Tries smaller positions, whose main line must stay the same."""

    def __init__(self, line: tuple[str, ...], nodes: int) -> None:
        self.line = line
        self.nodes = nodes

    def first_sound(self, fields: SfenFields, groups: list[list[int]]) -> _Position | None:
        """Returns a sound problem: without the pieces that are never dropped, and perhaps without a group."""
        lean = replace(fields, hands=(_needed_hand(fields, self.line), fields.hands[1]))
        tries = (self.tried(_without(lean, group)) for group in (*reversed(groups), []))
        return next((found for found in tries if found is not None), None)

    def tried(self, fields: SfenFields) -> _Position | None:
        """Returns the position with its solution if it is a sound problem with the same line, or None."""
        if not self._is_promising(fields):
            return None
        found = _solved(fields, self.nodes, len(self.line))
        if found is None or found.solution.line != self.line:
            return None
        solution = with_alternatives(found.solution, self.nodes)
        return _Position(fields, solution) if solution.has_second_solution is False else None

    def _is_promising(self, fields: SfenFields) -> bool:
        """Is the line still legal, and without a second solution as far as a quick search sees?"""
        sfen = str(_with_full_hand(fields))
        try:
            board = problem_board(sfen)
        except SfenError:  # Without a piece, the king of the defender could be captured.
            return False
        for move in map(move_from_usi, self.line):
            if not board.is_legal(move):
                return False
            board.push(move)
        return may_be_sound(Solution(sfen, MateLength(MateVerdict.MATE, None, -1), self.line))


def _solved(fields: SfenFields, nodes: int, most: int = LONGEST) -> _Position | None:
    """Returns the position with its main line, the defender holding the rest; None if that is no problem."""
    try:
        solution = solved(str(_with_full_hand(fields)), nodes, most=most)
    except SfenError:  # Without a piece, the king of the defender could be captured.
        return None
    return _Position(fields, solution) if solution.line else None


def _needed_hand(fields: SfenFields, line: tuple[str, ...]) -> tuple[int, ...]:
    """Returns the least hand with which black can drop what the line drops, captures left aside."""
    hand = list(fields.hands[0])
    drops = [move[0] for move in line[::2] if move[1] == "*"]
    return tuple(min(count, drops.count(letter)) for count, letter in zip(hand, HAND_LETTERS, strict=True))


def _without(fields: SfenFields, squares: list[int]) -> SfenFields:
    pieces = list(fields.pieces)
    for square in squares:
        pieces[square] = EMPTY
    return replace(fields, pieces=tuple(pieces))


def turned(fields: SfenFields) -> SfenFields:
    """Returns the position with black to move; the board is turned by half if white was."""
    if fields.turn == 0:
        return fields
    pieces = tuple(
        piece if piece == EMPTY else (piece + WHITE_PIECE) % (2 * WHITE_PIECE)
        for piece in reversed(fields.pieces)
    )
    return SfenFields(pieces, 0, (fields.hands[1], fields.hands[0]), 1)


def _without_king(fields: SfenFields) -> SfenFields:
    pieces = tuple(EMPTY if piece == KING else piece for piece in fields.pieces)
    return SfenFields(pieces, 0, fields.hands, 1)


def _with_full_hand(fields: SfenFields) -> SfenFields:
    """Returns the position in which the defender holds all pieces that are nowhere else."""
    hand = list(PIECE_TOTALS)
    for piece in fields.pieces:
        kind = piece % WHITE_PIECE
        if kind not in (EMPTY, KING):
            hand[HAND_KINDS.index(kind - PROMOTED if kind > KING else kind)] -= 1
    hand = [total - count for total, count in zip(hand, fields.hands[0], strict=True)]
    return replace(fields, hands=(fields.hands[0], tuple(hand)))


def _distance(square: int, other: int) -> int:
    """Returns the steps of a king from one square to the other."""
    return max(abs(square // 9 - other // 9), abs(square % 9 - other % 9))
