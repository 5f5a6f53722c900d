"""A game in progress: its moves, its clocks and its end. Nothing here knows how it is shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.games.reversi import PASS
from goryu.games.reversi import Reversi as PythonReversi
from goryu.games.shogi import STANDARD_RULES, START_SFEN, EnteringKingRule, Rules
from goryu.games.state import Move, Outcome, State
from goryu.implementation import Board, Reversi
from goryu.kifu.endings import readable
from goryu.kifu.record import Ending
from goryu.table.clock import ClockConfig, Clocks

ENDINGS = readable("rules")
"""The ending of a game of shogi for each reason that its rules give."""


@dataclass(frozen=True, slots=True)
class Played:
    """A move that was played.

    is_chosen: did a person choose it? A pass that was the only move is nobody's choice.
    seconds: that it took. left_s: the clocks before it, None without clocks.
    """

    move: Move
    is_chosen: bool
    seconds: float
    left_s: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Over:
    """The end of a game.

    ending: UNKNOWN if the rules of another game than shogi ended it. winner: 0, 1, or None for a draw.
    reason: a phrase in English.
    """

    ending: Ending
    winner: int | None
    reason: str


class Game:
    """A game between people and engines, from a state that may have a history.

    people: which sides are people. names: of both players, for the record.
    seconds_before: what each move of the state's history took; None: unknown.
    now: returns seconds, monotonic.
    """

    def __init__(
        self,
        state: State,
        people: tuple[bool, bool] = (True, True),
        names: tuple[str, str] = ("", ""),
        clock: ClockConfig | None = None,
        *,
        seconds_before: Sequence[float | None] = (),
        now: Callable[[], float] = monotonic,
    ) -> None:
        self.state = state
        self.people = people
        self.names = names
        self.began = datetime.now()
        self.clocks = Clocks(clock, now) if clock else None
        self.seconds_before = seconds_before
        self.played: list[Played] = []
        self.over = self._end_by_rules()
        self._now = now
        self._moved_s = now()

    @property
    def turn(self) -> int:
        """The side to move: 0 for the player who moves first in the game, else 1."""
        return self.state.turn

    @property
    def is_persons_turn(self) -> bool:
        """May a person move now?"""
        return self.over is None and self.people[self.turn]

    @property
    def must_pass(self) -> bool:
        """Is passing, in reversi, the only legal move?"""
        return isinstance(self.state, (Reversi, PythonReversi)) and self.legal_moves() == [PASS]

    @property
    def can_undo(self) -> bool:
        """Is there a move that a person chose?"""
        return any(one.is_chosen for one in self.played)

    def legal_moves(self) -> list[Move]:
        """Returns every legal move; none after the end."""
        return [] if self.over else self.state.legal_moves()

    def start_clock(self) -> None:
        """Lets the time of the side to move run, unless it does already or the game is over."""
        if self.clocks and not self.over:
            self.clocks.start(self.turn)

    def count_from_now(self) -> None:
        """Lets the time of the next move begin now: until now nobody could think about it."""
        self._moved_s = self._now()

    def check_time(self) -> bool:
        """Ends the game if the side to move has used up its time, and returns whether it has."""
        if self.clocks is None or self.clocks.budget_s(self.turn) > 0:
            return False
        self.end(Ending.TIME, 1 - self.turn)
        return True

    def play(self, move: Move) -> bool:
        """Plays a legal move; returns False if the time was up, which ends the game instead."""
        if self.check_time():
            return False
        self.push(move)
        return True

    def push(self, move: Move, seconds: float | None = None) -> None:
        """Plays a legal move whatever the clock says. seconds: that it took; None: counted here."""
        if seconds is None:
            seconds = self._now() - self._moved_s
        is_chosen = self.people[self.turn] and not self.must_pass
        self.played.append(Played(move, is_chosen, seconds, self.clocks.left_s if self.clocks else None))
        if self.clocks:
            self.clocks.press()
        self.state.push(move)
        self._moved_s = self._now()
        self.over = self._end_by_rules()

    def pop(self) -> Played:
        """Takes the last move back, and the end of the game with it; the clocks go back to before it."""
        last = self.played.pop()
        self.state.pop()
        if self.clocks and last.left_s:
            self.clocks.stop()
            self.clocks.left_s = last.left_s
        self._moved_s = self._now()
        self.over = None
        return last

    def undo(self) -> None:
        """Takes back the last move that a person chose, and the moves after it.

        Raises:
            InputError: there is none.
        """
        if not self.can_undo:
            raise InputError(tr("you have no move to take back"))
        while not self.pop().is_chosen:
            pass

    def resign(self) -> None:
        """Ends the game: the side to move has lost."""
        self.end(Ending.RESIGNATION, 1 - self.turn)

    def may_declare(self) -> bool:
        """May the side to move win by its entering king (入玉宣言)?"""
        return self.over is None and isinstance(self.state, Board) and self.state.declaration()

    def declare(self) -> None:
        """Ends the game by the entering king of the side to move; InputError if it may not declare."""
        if not self.may_declare():
            raise InputError(tr("you cannot declare a win here"))
        self.end(Ending.DECLARATION, self.turn)

    def end(self, ending: Ending, winner: int | None) -> None:
        """Ends the game."""
        self.over = Over(ending, winner, ending.value)
        if self.clocks:
            self.clocks.stop()

    def for_search(self) -> State:
        """Returns a copy of the state for a search, which leaves out pointless non-promotions."""
        state = self.state.copy()
        if isinstance(state, Board):
            state.rules = replace(state.rules, all_moves=False)
        return state

    def occurrences(self) -> int:
        """Returns how often the position of a game of shogi has occurred, this time included."""
        assert isinstance(self.state, Board)
        past, count, key = self.state.copy(), 1, self.state.position_key
        while past.move_stack:
            past.pop()
            count += past.position_key == key
        return count

    def _end_by_rules(self) -> Over | None:
        outcome = _outcome(self.state)
        if outcome is None:
            return None
        winner = None if outcome.value == 0 else self.turn if outcome.value > 0 else 1 - self.turn
        return Over(ENDINGS.get(outcome.reason, Ending.UNKNOWN), winner, outcome.reason)


def _outcome(state: State) -> Outcome | None:
    """Returns the outcome of a state in which nobody declares a win."""
    if isinstance(state, Board) and state.declaration():
        state = state.copy()
        state.rules = replace(state.rules, entering_king=EnteringKingRule.NoEnteringKing)
    return state.outcome()


def new_board(start: str = "", rules: Rules = STANDARD_RULES) -> Board:
    """Returns the board of a game of shogi between players.

    Unless it starts as usual, the points of missing pieces count for white at a declaration.

    start: an SFEN, "" for the usual start. Raises SfenError if it breaks the rules.
    """
    rules = replace(rules, all_moves=True)
    if start and start.split()[:3] != START_SFEN.split()[:3]:
        handicap = {
            EnteringKingRule.CSARule24: EnteringKingRule.CSARule24H,
            EnteringKingRule.CSARule27: EnteringKingRule.CSARule27H,
        }
        rules = replace(rules, entering_king=handicap.get(rules.entering_king, rules.entering_king))
    return Board(start or START_SFEN, rules)
