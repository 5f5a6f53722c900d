"""A game in progress: its moves, its clocks and its end. Nothing here knows the page."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic
from typing import Any, cast

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.games.shogi import START_SFEN, EnteringKingRule, Rules, move_to_usi
from goryu.games.state import Move, Outcome, State
from goryu.games.tictactoe import LINES, TicTacToe
from goryu.implementation import Board, Reversi
from goryu.kifu.notation import japanese_move, western_move
from goryu.kifu.record import Ending, GameRecord, Ply

GAMES = ("shogi", "reversi", "tictactoe")
PASS = 64
"""The move of reversi that plays no disc."""


@dataclass(frozen=True, slots=True)
class ClockConfig:
    """Seconds of main time, for each move after it (byoyomi), and added after each move (Fischer)."""

    main: float
    byoyomi: float = 0.0
    increment: float = 0.0


class Clocks:
    """The clocks of both sides, in seconds."""

    def __init__(self, config: ClockConfig, clock: Callable[[], float] = monotonic) -> None:
        self.config = config
        self._clock = clock
        self.left = [config.main, config.main]
        self._running: int | None = None
        self._started_s = 0.0

    @property
    def running(self) -> int | None:
        """The side whose time runs, or None."""
        return self._running

    def start(self, side: int) -> None:
        """Lets a side's time run."""
        if self._running is None:
            self._running, self._started_s = side, self._clock()

    def stop(self) -> None:
        """Stops the time without a move; what was used counts."""
        if self._running is not None:
            self.left[self._running] = self._left(self._running)
            self._running = None

    def press(self) -> None:
        """Ends the move of the side whose time runs."""
        if (side := self._running) is None:
            return
        self._running = None
        rest = self._left_at(side, self._clock())
        self.left[side] = max(0.0, rest) + self.config.increment

    def budget(self, side: int) -> float:
        """Returns the seconds after which the side loses on time."""
        return self._left(side) + self.config.byoyomi

    def _left(self, side: int) -> float:
        # While byoyomi runs this is negative.
        return self._left_at(side, self._clock()) if side == self._running else self.left[side]

    def _left_at(self, side: int, now: float) -> float:
        return self.left[side] - (now - self._started_s)


@dataclass(frozen=True, slots=True)
class Played:
    """A move that was played.

    move: its code. name: in USI, or the square. japanese, western: as people write it. seconds: that it took.
    left: the clocks before it. position, is_check: after it.
    """

    move: Move
    name: str
    japanese: str
    western: str
    seconds: float
    left: tuple[float, float] | None
    position: str = ""
    is_check: bool = False


@dataclass(frozen=True, slots=True)
class Over:
    """The end of a game. winner: 0, 1, or None for a draw."""

    ending: Ending
    winner: int | None


class Game:
    """A game of shogi, reversi or tic-tac-toe.

    kind: one of GAMES. start: the SFEN of shogi, "" for the usual start. people: which sides are people.
    names: of both players.
    """

    def __init__(
        self,
        kind: str,
        start: str = "",
        people: tuple[bool, bool] = (True, False),
        names: tuple[str, str] = ("", ""),
        clock: ClockConfig | None = None,
        rules: Rules | None = None,
    ) -> None:
        """Raises SfenError for a start that breaks the rules."""
        self.kind = kind
        self.people = people
        self.names = names
        self.state: State = _new_state(kind, start, rules)
        self.first_position = self.position()
        self.start = self.first_position if kind == "shogi" else ""
        self.began = datetime.now()
        self.clocks = Clocks(clock) if clock else None
        self.played: list[Played] = []
        self.over: Over | None = self._end_by_rules()
        self._moved_s = monotonic()

    @property
    def turn(self) -> int:
        """The side to move: 0 for black (shogi, reversi), ×."""
        return self.state.turn

    @property
    def is_persons_turn(self) -> bool:
        """May a person move now?"""
        return self.over is None and self.people[self.turn]

    @property
    def must_pass(self) -> bool:
        """Is passing, in reversi, the only legal move?"""
        return self.kind == "reversi" and list(self.legal_moves()) == [str(PASS)]

    def legal_moves(self) -> dict[str, Move]:
        """Returns every legal move by its name, also those of shogi that no player needs."""
        if self.over:
            return {}
        if isinstance(self.state, Board):
            return {move_to_usi(move): move for move in self.state.all_legal_moves()}
        return {str(int(move)): move for move in self.state.legal_moves()}

    def push(self, name: str, seconds: float | None = None) -> None:
        """Plays a move; InputError if it is not legal. seconds: that it took; None: counted here."""
        legal = self.legal_moves()
        if name not in legal:
            if self.over:
                raise InputError(tr("the game is over"))
            raise InputError(
                tr("{move!r} is not legal in {position}", move=name[:20], position=self.position())
            )
        if seconds is None:
            seconds = monotonic() - self._moved_s
        played = self._played(legal[name], name, seconds)
        if self.clocks:
            self.clocks.press()
        self.state.push(legal[name])
        self.played.append(replace(played, position=self.position(), is_check=self.is_check()))
        self._moved_s = monotonic()
        self.over = self._end_by_rules()

    def pop(self) -> None:
        """Takes the last move back, and the end of the game with it."""
        self.state.pop()
        last = self.played.pop()
        if self.clocks and last.left:
            self.clocks.stop()
            self.clocks.left = list(last.left)
        self._moved_s = monotonic()
        self.over = None

    def end(self, ending: Ending, winner: int | None) -> None:
        """Ends the game."""
        self.over = Over(ending, winner)
        if self.clocks:
            self.clocks.stop()

    def may_declare(self) -> bool:
        """May the side to move win by its entering king (入玉宣言)?"""
        return self.over is None and isinstance(self.state, Board) and self.state.declaration()

    def is_check(self) -> bool:
        """Is the side to move in check?"""
        return isinstance(self.state, Board) and self.state.is_check()

    def position(self) -> str:
        """Returns the SFEN, or the squares row by row."""
        return self.state.sfen() if isinstance(self.state, Board) else cells(self.state)

    def winning_line(self) -> list[int]:
        """Returns the three squares that won tic-tac-toe."""
        if not isinstance(self.state, TicTacToe):
            return []
        full = next((line for line in LINES if self.state.opponent & line == line), 0)
        return [square for square in range(9) if full >> square & 1]

    def record(self) -> GameRecord:
        """Returns the record of a game of shogi."""
        headers = {"開始日時": self.began.strftime("%Y/%m/%d %H:%M:%S")}
        if self.clocks:
            headers["持ち時間"] = _clock_text(self.clocks.config)
        ending, winner = (self.over.ending, self.over.winner) if self.over else (Ending.INTERRUPTED, None)
        plies = tuple(Ply(one.name, seconds=float(int(one.seconds))) for one in self.played)
        return GameRecord(self.start, plies, self.names, ending=ending, winner=winner, headers=headers)

    def transcript(self) -> str:
        """Returns the moves of reversi or tic-tac-toe in one line, such as f5d6c3."""
        return "".join(one.western for one in self.played if one.move != PASS) + "\n"

    def _played(self, move: Move, name: str, seconds: float) -> Played:
        left = (self.clocks.left[0], self.clocks.left[1]) if self.clocks else None
        if isinstance(self.state, Board):
            texts = japanese_move(self.state, move), western_move(self.state, move)
        elif isinstance(self.state, TicTacToe):
            texts = (f"{'abc'[move % 3]}{move // 3 + 1}",) * 2
        else:
            texts = ("パス", "pass") if move == PASS else (cast(Reversi, self.state).move_name(move),) * 2
        return Played(move, name, *texts, seconds, left)

    def _end_by_rules(self) -> Over | None:
        if not isinstance(self.state, Board):
            outcome = self.state.outcome()
            return Over(Ending.UNKNOWN, _winner(self.turn, outcome)) if outcome else None
        if not self.state.legal_moves():
            return Over(Ending.CHECKMATE, 1 - self.turn)
        # The board knows only fourfold repetition: `first_recurrence` is for searches.
        if fourth := self.state.repetition():
            ending = Ending.PERPETUAL_CHECK if fourth.value else Ending.REPETITION
            return Over(ending, _winner(self.turn, fourth))
        if self.state.rules.max_ply and self.state.ply >= self.state.rules.max_ply:
            return Over(Ending.MAX_PLIES, None)
        return None


def _new_state(kind: str, start: str, rules: Rules | None) -> State:
    if kind == "shogi":
        rules = rules or Rules()
        if start and start.split()[:3] != START_SFEN.split()[:3]:
            rules = with_handicap_points(rules)
        return Board(start or START_SFEN, replace(rules, first_recurrence=False, all_moves=True))
    return Reversi() if kind == "reversi" else TicTacToe()


def with_handicap_points(rules: Rules) -> Rules:
    """Returns the rules under which the points of missing pieces count for white at a declaration."""
    changed = {
        EnteringKingRule.CSARule24: EnteringKingRule.CSARule24H,
        EnteringKingRule.CSARule27: EnteringKingRule.CSARule27H,
    }
    return replace(rules, entering_king=changed.get(rules.entering_king, rules.entering_king))


def cells(state: Any) -> str:
    """Returns the squares of reversi or tic-tac-toe row by row: X for the first player, O, or a dot.

    >>> cells(TicTacToe([4, 0]))
    'O...X....'
    """
    first, second = (state.own, state.opponent) if state.turn == 0 else (state.opponent, state.own)
    squares = 9 if isinstance(state, TicTacToe) else state.size**2
    return "".join("X" if first >> s & 1 else "O" if second >> s & 1 else "." for s in range(squares))


def _winner(turn: int, outcome: Outcome) -> int | None:
    return None if outcome.value == 0 else turn if outcome.value > 0 else 1 - turn


def _clock_text(config: ClockConfig) -> str:
    text = f"{config.main / 60:g}分"
    if config.byoyomi:
        text += f"+{config.byoyomi:g}秒"
    return text + (f" 加算{config.increment:g}秒" if config.increment else "")
