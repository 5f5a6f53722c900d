"""Decides every game of a match: legal moves, mate, repetition, perpetual check, declarations, length.

The referee trusts neither the engines nor Goryu's own rules. An independent library (`referee_board.py`)
decides which moves are legal. Repetitions and declarations are counted here, from the library's SFEN.
"""

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum

from goryu_lab.match.referee_board import RefereeBoard


class Reason(StrEnum):
    """Why a game ended. The game log contains these words."""

    CHECKMATE = "checkmate"
    RESIGNATION = "resignation"
    REPETITION = "repetition"
    PERPETUAL_CHECK = "perpetual check"
    DECLARATION = "declaration"
    FALSE_DECLARATION = "false declaration"
    TRY = "try"
    MAX_PLIES = "max plies"
    ADJUDICATION = "adjudication"
    ILLEGAL_MOVE = "illegal move"
    TIME = "time"
    CRASH = "crash"
    HANG = "hang"
    PROTOCOL = "protocol error"


class DeclarationRule(StrEnum):
    """The rule for a declaration of an entering king (nyugyoku, 入玉)."""

    NONE = "none"
    POINTS_24 = "24"
    POINTS_27 = "27"
    TRY = "try"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The end of a game. winner: 0 black, 1 white, None for a draw."""

    winner: int | None
    reason: Reason
    detail: str = ""


class Referee:
    """One game in progress.

    max_plies: the game is a draw after this many moves, opening included, unless the last move mates.
    """

    def __init__(
        self,
        start: str = "startpos",
        *,
        declaration: DeclarationRule = DeclarationRule.POINTS_27,
        max_plies: int = 320,
    ) -> None:
        self.moves: list[str] = []
        self._start = start
        self._board = RefereeBoard(start)
        self._declaration = declaration
        self._max_plies = max_plies
        self._checks: list[bool] = []
        self._plies_of = defaultdict(list, {self.key: [0]})

    @property
    def turn(self) -> int:
        """The side to move: 0 black, 1 white."""
        return 0 if self._board.sfen().split()[1] == "b" else 1

    @property
    def key(self) -> str:
        """The position without its move number, equal for repeated positions."""
        return self._board.sfen().rsplit(" ", 1)[0]

    @property
    def is_check(self) -> bool:
        """Is the side to move in check?"""
        return self._board.is_check()

    def legal_moves(self) -> list[str]:
        """Returns the legal moves in USI."""
        return self._board.legal_moves()

    @property
    def position_command(self) -> str:
        """The USI `position` command of the game so far."""
        return " ".join(["position", self._start, *(["moves", *self.moves] if self.moves else [])])

    def play(self, move: str) -> Verdict | None:
        """Plays the word after `bestmove` for the side to move; returns the verdict if that ends the game."""
        turn = self.turn
        if move == "resign":
            return Verdict(1 - turn, Reason.RESIGNATION)
        if move == "win":
            return self._declare()
        if move not in self._board.legal_moves():
            return Verdict(1 - turn, Reason.ILLEGAL_MOVE, f"{move} in {self._board.sfen()}")
        self._board.push(move)
        self.moves.append(move)
        self._checks.append(self._board.is_check())
        self._plies_of[self.key].append(len(self.moves))
        return self.verdict()

    def verdict(self) -> Verdict | None:
        """Returns the verdict that the current position implies, or None while the game goes on."""
        if not self._board.legal_moves():
            return Verdict(1 - self.turn, Reason.CHECKMATE)
        if self._declaration is DeclarationRule.TRY and self.moves and self._has_tried(1 - self.turn):
            return Verdict(1 - self.turn, Reason.TRY)
        if len(plies := self._plies_of[self.key]) >= 4:
            return self._repetition(plies[0])
        if len(self.moves) >= self._max_plies:
            return Verdict(None, Reason.MAX_PLIES)
        return None

    def _repetition(self, first: int) -> Verdict:
        """Returns the verdict on a fourth occurrence: a side that only gave check since `first` loses."""
        last_moves, others = self._checks[first:][::-1][::2], self._checks[first:][::-1][1::2]
        mover = 1 - self.turn
        if all(last_moves):
            return Verdict(1 - mover, Reason.PERPETUAL_CHECK)
        if all(others):
            return Verdict(mover, Reason.PERPETUAL_CHECK)
        return Verdict(None, Reason.REPETITION)

    def _declare(self) -> Verdict:
        turn = self.turn
        if self._declaration in (DeclarationRule.POINTS_24, DeclarationRule.POINTS_27):
            needed = 31 if self._declaration is DeclarationRule.POINTS_24 else (28, 27)[turn]
            points = declaration_points(self._board.sfen(), turn)
            if points is not None and points >= needed and not self._board.is_check():
                return Verdict(turn, Reason.DECLARATION, f"{points} points")
        return Verdict(1 - turn, Reason.FALSE_DECLARATION, self._board.sfen())

    def _has_tried(self, turn: int) -> bool:
        """Is the king of `turn` on the square where the opponent's king started?"""
        rows = expand(self._board.sfen().split()[0])
        return rows[0][4] == "K" if turn == 0 else rows[8][4] == "k"


def expand(board: str) -> list[list[str]]:
    """Returns the nine rows of an SFEN board from rank a, each from file 9; an empty square is `.`."""
    rows = []
    for row in board.split("/"):
        squares: list[str] = []
        for character in row:
            if squares and squares[-1] == "+":
                squares[-1] += character
            else:
                squares += ["."] * int(character) if character.isdigit() else [character]
        rows.append(squares)
    return rows


def declaration_points(sfen: str, turn: int) -> int | None:
    """Returns the points that `turn` may declare, or None if its king or ten other pieces have not entered.

    Pieces in the opponent's camp and in hand count: rooks and bishops, promoted or not, five points, other
    pieces one.

    >>> declaration_points("K8/9/9/9/9/9/9/9/8k b 2R2B4G4S4N4L18P 1", 0) is None
    True
    """
    board, _, hands, *_ = sfen.split()
    is_own = str.isupper if turn == 0 else str.islower
    rows = expand(board)
    camp = [p.lstrip("+") for row in (rows[:3] if turn == 0 else rows[6:]) for p in row if is_own(p)]
    pieces = [p.lower() for p in camp if p.lower() != "k"]
    if len(pieces) == len(camp) or len(pieces) < 10:
        return None
    count = 0
    for character in hands.replace("-", ""):
        if character.isdigit():
            count = 10 * count + int(character)
        else:
            if is_own(character):
                pieces += [character.lower()] * (count or 1)
            count = 0
    return sum(5 if piece in "rb" else 1 for piece in pieces)
