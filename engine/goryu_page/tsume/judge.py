"""A mate problem on the board: judges the attacker's moves, and defends."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from goryu.base.language import tr
from goryu.games.shogi import (
    dropped_piece,
    is_drop,
    move_from_usi,
    move_to,
    move_to_usi,
)
from goryu.games.shogi.move import DROP_LETTERS
from goryu.games.shogi.pieces import (
    EMPTY,
    HAND_KINDS,
    KING,
    PAWN,
    WHITE_PIECE,
    attacks,
    is_attacked,
)
from goryu.games.state import Move
from goryu.implementation import Board, solve
from goryu.search.mates.mate import MateVerdict
from goryu_page.tsume.length import LONGEST, LengthSolver, MateLength, NodesSpentError, square_of_king
from goryu_page.tsume.solution import MATE_NODES, NODES, main_line, problem_board, verdict_after

__all__ = ["Judgement", "TsumeGame", "Verdict"]


class Verdict(StrEnum):
    """What an answer is worth.

    MATES: it mates, but whether there is a shorter mate is not known. UNDECIDED: the nodes did not suffice to
    find out whether it mates.
    """

    SHORTEST = "shortest"
    LONGER = "longer"
    MATES = "mates"
    NOT_CHECK = "not check"
    ESCAPES = "escapes"
    PAWN_DROP_MATE = "pawn drop mate"
    ILLEGAL = "illegal"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of an answer.

    reply: the defence that escapes, in USI; only with ESCAPES.
    rest: plies to mate after the answer, 0 if it mates; None if there is no mate or its length is unknown.
    """

    verdict: Verdict
    reply: str | None = None
    rest: int | None = None

    @property
    def is_accepted(self) -> bool:
        """Does the answer mate?"""
        return self.verdict in (Verdict.SHORTEST, Verdict.LONGER, Verdict.MATES)

    def text(self) -> str:
        """Returns a sentence for the user, without the reply."""
        texts = {
            Verdict.SHORTEST: tr("Right."),
            Verdict.LONGER: tr("This mates too, but there is a shorter mate."),
            Verdict.MATES: tr("This mates. Whether it is the shortest mate is not known."),
            Verdict.NOT_CHECK: tr("This is no check: every move must give check."),
            Verdict.ESCAPES: tr("The king escapes."),
            Verdict.PAWN_DROP_MATE: tr("A pawn drop must not mate."),
            Verdict.ILLEGAL: tr("This move is not legal."),
            Verdict.UNDECIDED: tr("It was not found out whether this mates."),
        }
        return texts[self.verdict]


class TsumeGame:
    """A problem that is being played; for one thread.

    sfen: the problem; the side to move attacks and may lack its king.
    moves: those played so far, in USI, of both sides.
    nodes: what each question may cost.
    """

    def __init__(self, sfen: str, moves: Sequence[str] = (), nodes: int = NODES) -> None:
        """Raises SfenError, MoveError or IllegalMoveError."""
        self.board = problem_board(sfen)
        self.attacker = self.board.turn
        self.moves: list[str] = []
        self._solver = LengthSolver(nodes)
        for move in moves:
            self.play(move)

    @property
    def is_attackers_turn(self) -> bool:
        """Is the attacker to move?"""
        return self.board.turn == self.attacker

    @property
    def is_mate(self) -> bool:
        """Is the defender mated? Useless interpositions are no defence."""
        if self.is_attackers_turn or not self.board.is_check():
            return False
        return self._solver.defence_within(self.board, 0) == 0

    def play(self, move: str) -> None:
        """Plays a legal move of the side to move; raises MoveError or IllegalMoveError."""
        self.board.push_usi(move)
        self.moves.append(move)

    def judge(self, answer: str) -> Judgement:
        """Judges a move of the attacker, without playing it; raises MoveError if it is no USI move."""
        move = move_from_usi(answer)
        if not self.board.is_legal(move):
            is_pawn_mate = is_pawn_drop_mate(self.board, move)
            return Judgement(Verdict.PAWN_DROP_MATE if is_pawn_mate else Verdict.ILLEGAL)
        before = self.length()
        self.board.push(move)
        try:
            if not self.board.is_check():
                return Judgement(Verdict.NOT_CHECK)
            return self._judged(before)
        finally:
            self.board.pop()

    def _judged(self, before: MateLength) -> Judgement:
        """Judges the check that has led to `board`."""
        bound = (before.plies or before.above + 2) + 3
        verdict, rest = verdict_after(self._solver, self.board, bound)
        if verdict is MateVerdict.UNKNOWN:
            return Judgement(Verdict.UNDECIDED)
        if verdict is MateVerdict.NO_MATE:
            return Judgement(Verdict.ESCAPES, self._defence_with(MateVerdict.NO_MATE))
        if rest is not None and rest <= before.above + 1:
            return Judgement(Verdict.SHORTEST, rest=rest)
        return Judgement(Verdict.LONGER if before.plies else Verdict.MATES, rest=rest)

    def _defence_with(self, wanted: MateVerdict) -> str | None:
        """Returns the first defence after which df-pn says this of the mate."""
        for evasion in self.board.all_legal_moves():
            self.board.push(evasion)
            verdict = solve(self.board, MATE_NODES).verdict
            self.board.pop()
            if verdict is wanted:
                return move_to_usi(evasion)
        return None

    def length(self) -> MateLength:
        """Returns what is known of the mate from here, the attacker to move."""
        return self._solver.length(self.board)

    def defend(self) -> str | None:
        """Returns the longest resistance, an escape if there is one, or None if the defender is mated.

        Raises ValueError: the defender is not to move, or not in check.
        """
        if self.is_attackers_turn or not self.board.is_check():
            raise ValueError(f"{self.board.sfen()}: expected the defender in check")
        if self.is_mate:
            return None
        if escape := self._defence_with(MateVerdict.NO_MATE):
            return escape
        if line := self.solution():
            return line[0]
        verdicts = (MateVerdict.UNKNOWN, MateVerdict.MATE)
        return next(found for verdict in verdicts if (found := self._defence_with(verdict)))

    def solution(self) -> tuple[str, ...]:
        """Returns the main line from here; () if there is no mate or its length is unknown."""
        plies = self._plies()
        if not plies:
            return ()
        try:
            return tuple(map(move_to_usi, main_line(self._solver, self.board, plies).moves))
        except NodesSpentError:
            return ()

    def _plies(self) -> int | None:
        """Returns the plies to mate from here, either side to move, or None."""
        if self.is_attackers_turn:
            return self.length().plies
        if not self.board.is_check() or self._defence_with(MateVerdict.NO_MATE):
            return None
        try:
            for bound in range(0, LONGEST, 2):
                plies = self._solver.defence_within(self.board, bound)
                if plies <= bound:
                    return plies
        except NodesSpentError:
            pass
        return None


def is_pawn_drop_mate(board: Board, move: Move) -> bool:
    """Is an illegal move a drop of a pawn that is forbidden only because it mates (打ち歩詰め)?"""
    pieces, side, square = list(board.pieces), board.turn, move_to(move)
    pawn = PAWN + WHITE_PIECE * side
    place = HAND_KINDS.index(PAWN)
    if not is_drop(move) or dropped_piece(move) != DROP_LETTERS.index("P") or pieces[square] != EMPTY:
        return False
    if not board.hands[side][place] or pawn in pieces[square // 9 * 9 : square // 9 * 9 + 9]:
        return False
    pieces[square] = pawn
    if not attacks(pieces, square, square_of_king(pieces, 1 - side)):
        return False
    king = KING + WHITE_PIECE * side
    return king not in pieces or not is_attacked(pieces, pieces.index(king), 1 - side)
