"""The exact length of a mate: plies until mate if the attacker hurries and the defender holds out.

The attacker gives check with every move. A pawn drop that mates at once (打ち歩詰め) is illegal, as always.

A useless interposition (無駄合い) does not count: the defender does not play it, and a position in which
every defence is one is mate. An interposition is a move or a drop on a square between the checking piece and
the king. It is useless if the attacker can capture it at once with a piece that gives check from that square,
and if then the mate, without the captured piece in the attacker's hand, takes no longer than the longest
defence other than interpositions did in the first place: no ply if there was none. The rule applies again to
the position after the capture. An interposition by a piece of the board is treated like a drop.

The search is depth-bounded AND/OR search with iterative deepening in every attacking node: the bound rises
from 1 by 2, so that the first mate found is the shortest. A table keeps what is known of each position. df-pn
takes out positions without any mate first, which ends most branches; that changes no answer, because
interpositions never decide whether there is a mate, only how long it takes.

Weakness: a long mate with many checks takes many nodes; the search then says that it does not know.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from goryu.games.shogi import dropped_piece, is_drop, move_to
from goryu.games.shogi.pieces import HAND_KINDS, KING, PROMOTED, WHITE_PIECE, attacks
from goryu.games.state import Move
from goryu.implementation import Board, solve
from goryu.search.mates.mate import MateVerdict

__all__ = ["LONGEST", "NEVER", "Defence", "LengthSolver", "MateLength", "NodesSpentError", "square_of_king"]

NEVER = 1 << 20
"""A length beyond every bound."""

LONGEST = 199
"""Longer mates count as none."""

FIRST_NODES = 10_000
"""What df-pn may expand before it begins to ask whether to stop: some hundredths of a second."""

FILTER_NODES = 300
"""What df-pn may expand in an attacking node to show that there is no mate."""

MOST_ENTRIES = 1 << 20
"""A table with more entries is emptied before the next question."""

KIND_OF_DROP = (1, 2, 3, 4, 5, 6, 7)
"""The kind of dropped piece k (P L N S B R G)."""

Reserved = tuple[int, ...]
"""How many pieces of each place in the attacker's hand (P L N S G B R) must not be dropped."""

NOTHING: Reserved = (0,) * 7


class NodesSpentError(Exception):
    """The search has used up its nodes without an answer."""


@dataclass(frozen=True, slots=True)
class MateLength:
    """What is known of a mate.

    verdict: is there any mate, of whatever length?
    plies: the length of the shortest; None if there is no mate, or if the length is not known.
    above: there is no mate within this number of plies; -1 if nothing is known.
    """

    verdict: MateVerdict
    plies: int | None
    above: int


@dataclass(frozen=True, slots=True)
class Defence:
    """A defence that is no useless interposition, and the plies to mate after it."""

    move: Move
    plies: int


class LengthSolver:
    """Answers questions on any positions; `nodes`: what each question may cost. It is for one thread.

    After NodesSpentError the board that was asked about is as before.
    """

    def __init__(self, nodes: int, should_stop: Callable[[], bool] = lambda: False) -> None:
        self.nodes = nodes
        self.board = Board()
        """The position that the search has reached."""
        self.spent = 0
        """Nodes of the last question."""
        self._should_stop = should_stop
        self._known: dict[tuple[int, Reserved], tuple[int, int]] = {}
        # Of each position: no mate within the first number of plies; the length, or NEVER if it is unknown.
        self._best: dict[tuple[int, Reserved], Move] = {}
        # The shortest mate's first move; the defence that refuted last.
        self._filtered: set[int] = set()

    def length(self, board: Board, most: int = LONGEST) -> MateLength:
        """Returns the length of the shortest mate of the side to move, up to `most` plies."""
        found = solve(board, FIRST_NODES)
        if found.verdict is MateVerdict.UNKNOWN:
            found = solve(board, self.nodes, self._should_stop)
        if found.verdict is MateVerdict.NO_MATE:
            return MateLength(found.verdict, None, LONGEST)
        self._begin(board)
        above = -1
        try:
            for bound in range(1, most + 1, 2):
                plies = self._attack(bound, NOTHING)
                if plies <= bound:
                    return MateLength(MateVerdict.MATE, plies, plies - 2)
                above = bound
        except NodesSpentError:
            pass
        return MateLength(found.verdict, None, above)

    def mating_move(self, board: Board, plies: int) -> Move:
        """Returns the first move of a mate in `plies`, the length of the shortest; raises NodesSpentError."""
        if self.attack_within(board, plies) != plies:
            raise ValueError(f"{board.sfen()}: no mate in {plies}")
        return self._best[board.position_key, NOTHING]

    def attack_within(self, board: Board, bound: int) -> int:
        """Returns the plies to mate with the attacker to move, or NEVER if they are more than `bound`.

        Raises NodesSpentError.
        """
        self._begin(board)
        return self._attack(bound, NOTHING)

    def defence_within(self, board: Board, bound: int) -> int:
        """Returns the plies to mate with the defender, in check, to move, or NEVER if more than `bound`.

        Raises NodesSpentError.
        """
        self._begin(board)
        return self._defence(bound, NOTHING)

    def defences(self, board: Board, bound: int) -> list[Defence]:
        """Returns the defences but useless interpositions; the mate takes at most `bound` plies.

        Raises NodesSpentError.
        """
        self._begin(board)
        return list(self._useful(bound))

    def _begin(self, board: Board) -> None:
        if len(self._known) > MOST_ENTRIES:
            self._known.clear()
            self._best.clear()
            self._filtered.clear()
        self.spent, self.board = 0, board.copy()

    def _count(self) -> None:
        """Counts a node; raises NodesSpentError if that was the last."""
        self.spent += 1
        if self.spent > self.nodes or (self.spent % 256 == 0 and self._should_stop()):
            raise NodesSpentError

    def _attack(self, bound: int, reserved: Reserved) -> int:
        """Returns the plies to mate, or NEVER if they are more than `bound`; the attacker is to move."""
        if bound < 1:
            return NEVER
        key = self.board.position_key, reserved
        above, length = self._known.get(key, (-1, NEVER))
        if length <= bound:
            return length
        if above >= bound or length < NEVER:
            return NEVER
        self._count()
        checks = self._checks(reserved)
        for plies in range(above + 2, bound + 1, 2):
            if plies == 3 and self._has_no_mate():
                self._known[key] = LONGEST, NEVER
                return NEVER
            for index, check in enumerate(checks):
                self.board.push(check)
                rest = self._defence(plies - 1, reserved)
                self.board.pop()
                if rest < plies:
                    self._known[key] = plies - 2, plies
                    self._best[key] = check
                    return plies
                if plies == 1 and index == len(checks) - 1 and bound > 1:
                    checks = self._ordered(checks)
            self._known[key] = plies, NEVER
        return NEVER

    def _checks(self, reserved: Reserved) -> list[Move]:
        checks = self.board.checks()
        if not any(reserved):
            return checks
        hand = self.board.hands[self.board.turn]
        return [check for check in checks if not is_drop(check) or _is_free(check, hand, reserved)]

    def _ordered(self, checks: list[Move]) -> list[Move]:
        """Returns the checks with the fewest evasions first."""

        def evasions(check: Move) -> int:
            self.board.push(check)
            count = len(self.board.all_legal_moves())
            self.board.pop()
            return count

        return sorted(checks, key=evasions)

    def _has_no_mate(self) -> bool:
        """Is it known that there is no mate of any length?"""
        key = self.board.position_key
        if key in self._filtered:
            return False
        self._filtered.add(key)
        return solve(self.board, FILTER_NODES).verdict is MateVerdict.NO_MATE

    def _defence(self, bound: int, reserved: Reserved) -> int:
        """Returns the plies to mate, or NEVER if they are more than `bound`; the defender is in check."""
        key = self.board.position_key, reserved
        above, length = self._known.get(key, (-1, NEVER))
        if length <= bound:
            return length
        if above >= bound or length < NEVER:
            return NEVER
        self._count()
        moves = self.board.all_legal_moves()
        if not moves:
            return 0
        plain, interpositions = self._parted(moves)
        length = self._longest(key, plain, bound, reserved)
        shortest = length
        for move in interpositions:
            if length > bound:
                break
            if self._is_useless(move, shortest, reserved):
                continue
            length = max(length, 1 + self._after(move, bound - 1, reserved))
        self._known[key] = (bound, NEVER) if length > bound else (length - 1, length)
        return length if length <= bound else NEVER

    def _longest(self, key: tuple[int, Reserved], plain: list[Move], bound: int, reserved: Reserved) -> int:
        """Returns the plies to mate with the longest of the moves that do not interpose."""
        if not plain:
            return 0
        if bound < 2:
            return NEVER
        first = self._best.get(key)
        if first is not None and first in plain:
            plain = [first, *(move for move in plain if move != first)]
        length = 0
        for move in plain:
            length = max(length, 1 + self._after(move, bound - 1, reserved))
            if length > bound:
                self._best[key] = move
                return NEVER
        return length

    def _after(self, move: Move, bound: int, reserved: Reserved) -> int:
        self.board.push(move)
        plies = self._attack(bound, reserved)
        self.board.pop()
        return plies

    def _parted(self, moves: list[Move]) -> tuple[list[Move], list[Move]]:
        """Returns those of the legal moves that do not interpose, and the interpositions."""
        pieces = self.board.pieces
        king = square_of_king(pieces, self.board.turn)
        plain: list[Move] = []
        interpositions: list[Move] = []
        for move in moves:
            is_plain = move >> 7 & 0x7F == king or pieces[move & 0x7F]  # Faster than move_from and move_to.
            (plain if is_plain else interpositions).append(move)
        return plain, interpositions

    def _is_useless(self, interposition: Move, plies: int, reserved: Reserved) -> bool:
        """Is the interposition useless where the mate takes `plies` without any?"""
        square, defender = move_to(interposition), self.board.turn
        self.board.push(interposition)
        pieces = self.board.pieces
        place = HAND_KINDS.index(_captured(pieces[square]))
        without = (*reserved[:place], reserved[place] + 1, *reserved[place + 1 :])
        is_useless = False
        for capture in self.board.checks():
            if move_to(capture) == square:
                self.board.push(capture)
                pieces = self.board.pieces
                is_useless = (
                    attacks(pieces, square, square_of_king(pieces, defender))
                    and self._defence(plies, without) <= plies
                )
                self.board.pop()
                if is_useless:
                    break
        self.board.pop()
        return is_useless

    def _useful(self, bound: int) -> Iterator[Defence]:
        """Yields the defences that are no useless interpositions."""
        plain, interpositions = self._parted(self.board.all_legal_moves())
        shortest = 0
        for move in plain:
            plies = self._after(move, bound - 1, NOTHING)
            shortest = max(shortest, 1 + plies)
            yield Defence(move, plies)
        for move in interpositions:
            if not self._is_useless(move, shortest, NOTHING):
                yield Defence(move, self._after(move, bound - 1, NOTHING))


def square_of_king(pieces: list[int], side: int) -> int:
    """Returns the square of a side's king; raises ValueError if it has none."""
    return pieces.index(KING + WHITE_PIECE * side)


def _captured(piece: int) -> int:
    """Returns the kind that a captured piece has in hand."""
    kind = piece % WHITE_PIECE
    return kind - PROMOTED if kind > KING else kind


def _is_free(drop: Move, hand: tuple[int, ...], reserved: Reserved) -> bool:
    """Does the drop leave the reserved pieces in the hand?"""
    place = HAND_KINDS.index(KIND_OF_DROP[dropped_piece(drop)])
    return hand[place] > reserved[place]
