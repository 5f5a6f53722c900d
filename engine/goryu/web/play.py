"""The view "Play": a game between a person and an engine, or between two people at one screen."""

import asyncio
from random import Random
from time import monotonic
from typing import Any

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.games.reversi import PASS
from goryu.games.shogi import MoveError
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.kifu.handicaps import HANDICAPS
from goryu.kifu.record import Ending
from goryu.players.clock.limits import Limits
from goryu.players.levels.levels import FULL_STRENGTH, LEVELS
from goryu.players.position import rules_of
from goryu.table.clock import ClockConfig
from goryu.table.record import record_text
from goryu.table.written_moves import read_move
from goryu.web.game import GAMES, PageGame
from goryu.web.lesson import THRESHOLDS, Lesson
from goryu.web.opponents import (
    THINKING_S,
    USER_ENGINE,
    Opponents,
    agents,
    is_opponent,
    levels,
)
from goryu.web.session import (
    Job,
    Message,
    MessageError,
    Session,
    StoppedError,
    View,
    choice,
    field,
    log_failure,
    network_texts,
    number,
    text_of,
)
from goryu.web.teacher import Teacher

JOB = "play"

SIDES = ("first", "second", "random", "both")
"""What a person can play; "both": two people at one screen."""

MOST_MOVES = 2000
"""Of a game that the page brings back after a restart of the server."""

DAY_S = 24 * 3600

LEAST_REPLY_S = 0.35
"""An engine that answers at once moves its piece while the person's is still moving."""


class PlayView(View):
    """One game at a time. The page draws what `play.state` says, and sends what the person does."""

    name = "play"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._game: PageGame | None = None
        self._number = 0  # Of the game; a message of the page about another game is late.
        self._opponent = ""
        self._opponents = Opponents(session.config, session.dojo.networks)
        self._thinking: asyncio.Task[None] | None = None
        self._has_failed = False  # Did the opponent fail to move? It is asked again only if the person wants.
        self._flag: asyncio.TimerHandle | None = None
        self._teacher: Teacher | None = None
        self._rng = Random()

    # Messages of the page.

    def on_options(self, _message: Message) -> dict[str, Any]:
        """Returns the choices for a new game."""
        handicaps = [{"en": one.english, "ja": one.japanese, "sfen": one.sfen} for one in HANDICAPS]
        network = network_texts(self.session.config)
        return {
            "levels": levels(),
            "handicaps": handicaps,
            "agents": agents(),
            "network": network,
            "thresholds": THRESHOLDS,
        }

    def on_state(self, _message: Message) -> dict[str, Any] | None:
        """Returns the state of the game, and lets it go on after the tab was away; None before the first."""
        if self._game is None:
            return None
        self._continue()
        return self._state()

    def on_new(self, message: Message) -> dict[str, Any]:
        """Begins a game, or goes on with one that the page has kept (see `_restore`)."""
        kind = choice(message, "game", GAMES)
        opponent = field(message, "opponent", str, "5" if kind == "shogi" else "uct:100")
        if not is_opponent(kind, opponent):
            raise MessageError(f"play.new: opponent {opponent[:40]!r}: not a player of {kind}")
        side = choice(message, "side", SIDES, "first")
        if side == "random":
            side = self._rng.choice(("first", "second"))
        people = (side in ("first", "both"), side in ("second", "both"))
        start = field(message, "sfen", str, "").removeprefix("sfen").strip() if kind == "shogi" else ""
        game = PageGame(
            kind,
            start,
            people,
            self._names(kind, people, opponent),
            _clock_config(message),
            rules_of(self.session.config),
        )
        lesson = Lesson.from_message(message)
        if lesson and (kind != "shogi" or side == "both"):
            raise MessageError("play.new: lesson: expected a game of shogi against an engine")
        _restore(game, message)
        self._stop()
        self._game, self._opponent, self._number = game, opponent, self._number + 1
        self._teacher = Teacher(self.session, lesson, self._go_on) if lesson else None
        self._opponents.new_game(opponent)
        self._continue()
        if self._thinking is None and side != "both":
            self._think_ahead(kind, opponent)
        return self._state()

    def on_move(self, message: Message) -> dict[str, Any]:
        """Plays the person's move."""
        game = self._current(message)
        self._check_turn(game)
        return self._play(game, game.move_named(field(message, "move", str)))

    def on_write(self, message: Message) -> dict[str, Any]:
        """Plays a move that the person has written, in Japanese, Western notation or USI."""
        game = self._current(message)
        self._check_turn(game)
        text = field(message, "text", str)[:40].strip()
        if isinstance(game.state, Board):
            try:
                return self._play(game, read_move(game.state, text))
            except MoveError as error:
                raise InputError(tr("“{text}” is not a legal move here.", text=text)) from error
        legal = game.names_of_moves()
        names = {one: move for name, move in legal.items() for one in (game.texts(move)["en"], name)}
        if text.lower() not in names:
            expected = ", ".join(sorted(names))
            raise InputError(
                tr("{text!r} is not a legal move; expected one of {moves}", text=text, moves=expected)
            )
        return self._play(game, names[text.lower()])

    def on_undo(self, message: Message) -> dict[str, Any]:
        """Takes the person's last move back, and the moves after it."""
        game = self._current(message)
        self._stop()
        try:
            game.undo()
            if self._teacher:
                self._teacher.lesson.taken_back(len(game.played) + 1)
        finally:
            self._continue()
        return self._state()

    def on_again(self, message: Message) -> dict[str, Any]:
        """Asks an opponent again that has failed to move."""
        self._current(message)
        self._continue()
        return self._state()

    def on_keep(self, message: Message) -> dict[str, Any]:
        """Goes on after a mistake in a teaching game."""
        game = self._current(message)
        if self._teacher is None:
            raise InputError(tr("nothing is asked about the last move"))
        self._teacher.lesson.keep()
        game.count_from_now()
        self._continue()
        return self._state()

    def on_resign(self, message: Message) -> dict[str, Any]:
        """Ends the game: the person whose turn it is has lost."""
        game = self._current(message)
        self._check_turn(game)
        self._stop()
        game.resign()
        return self._state()

    def on_declare(self, message: Message) -> dict[str, Any]:
        """Ends the game by the person's entering king (入玉宣言)."""
        game = self._current(message)
        self._check_turn(game)
        game.declare()
        self._stop()
        return self._state()

    async def on_hint(self, message: Message) -> list[dict[str, Any]]:
        """Returns the best moves for the person."""
        game = self._current(message)
        self._check_turn(game)
        state = game.for_search()
        if self._thinking is not None:
            raise InputError(tr("wait for the opponent's move"))

        def work(job: Job) -> list[dict[str, Any]]:
            return [] if job.is_stopped else self._opponents.hints(game.kind, state, job)

        count, identity = len(game.played), self._number
        found = await self.session.run(JOB, work)
        if (len(game.played), self._number) != (count, identity):
            return []
        return [{**game.texts(hint.pop("move")), **hint} for hint in found]

    def on_save(self, message: Message) -> dict[str, str]:
        """Returns the record: its text and a name for the file."""
        game = self._current(message)
        form = choice(message, "form", ("kif", "csa", "txt"), "kif")
        stamp = game.began.strftime("%Y%m%d-%H%M")
        if game.kind != "shogi":
            return {"name": f"goryu-{game.kind}-{stamp}.txt", "text": game.transcript()}
        if form == "txt":
            raise MessageError("play.save: form is 'txt', expected 'kif' or 'csa' for shogi")
        return {"name": f"goryu-{stamp}.{form}", "text": record_text(f".{form}", game)}

    def pause(self) -> None:
        """Stops the clocks and the opponent until the page asks for the state again."""
        self._stop()
        self._opponents.pause()

    # The game.

    def _current(self, message: Message) -> PageGame:
        """Returns the game that the message is about."""
        if self._game is None or number(message, "number", 0, 1 << 31) != self._number:
            raise InputError(tr("the page shows an old game; reload it"))
        return self._game

    def _check_turn(self, game: PageGame) -> None:
        if not game.is_persons_turn:
            raise InputError(tr("the game is over") if game.over else tr("it is the opponent's turn"))

    def _play(self, game: PageGame, move: Move) -> dict[str, Any]:
        if game.play(move):
            self.session.stop(JOB)  # A hint.
            if self._teacher and game.over is None:
                self._teacher.lesson.is_due = True
        self._continue()
        return self._state()

    def _continue(self) -> None:
        """Starts the clock of the side to move, and the opponent if it is its turn."""
        game = self._game
        assert game is not None
        self._cancel_flag()
        self._has_failed = False
        if game.over is not None:
            return
        if game.people[game.turn] and game.must_pass:
            game.push(PASS, seconds=0.0)
            self._continue()
            return
        if self._teacher and self._teacher.lesson.is_waiting:
            self._teacher.judge(game)
            return
        game.start_clock()
        if game.clocks:
            delay = max(0.0, game.clocks.budget_s(game.turn))
            self._flag = asyncio.get_running_loop().call_later(delay, self._fall, game)
        if not game.people[game.turn] and self._thinking is None:
            self._thinking = asyncio.get_running_loop().create_task(self._think(game))
        if self._teacher and game.people[game.turn]:
            self._teacher.look_ahead(game)

    def _stop(self) -> None:
        """Stops the opponent and the clocks."""
        self.session.stop(JOB)
        if self._teacher:
            self._teacher.stop()
        if self._thinking is not None:
            self._thinking.cancel()
            self._thinking = None
        self._cancel_flag()
        if self._game and self._game.clocks:
            self._game.clocks.stop()

    def _cancel_flag(self) -> None:
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None

    def _fall(self, game: PageGame) -> None:
        """Ends the game if the time of the side to move is over."""
        if game is not self._game:
            return
        if game.check_time():
            self._stop()
            self._push_state()
        else:
            self._continue()

    async def _think(self, game: PageGame) -> None:
        """Plays the opponent's move."""
        started_s = monotonic()
        state, limits = game.for_search(), _limits(game, self._opponent)

        def work(job: Job) -> Move | Ending | None:
            if job.is_stopped:
                return None
            try:
                reply = self._opponents.reply(game.kind, state, self._opponent, limits, started_s, job)
            except StoppedError:
                return None
            return None if job.is_stopped else reply

        try:
            reply = await self.session.run(JOB, work)
            if reply is None:
                return
            await asyncio.sleep(LEAST_REPLY_S - (monotonic() - started_s))
        except Exception as error:
            self._thinking = None
            self._stop()  # The opponent must not lose by its clock.
            self._has_failed = True
            self.session.send("play.problem", text=text_of(error))
            self._push_state()
            return
        self._thinking = None
        if isinstance(reply, Ending):
            game.end(reply, game.turn if reply is Ending.DECLARATION else 1 - game.turn)
        else:
            game.play(reply)
        self._continue()
        self._push_state()

    def _go_on(self) -> None:
        """Goes on after the judgement of a move."""
        self._continue()
        self._push_state()

    def _think_ahead(self, kind: str, opponent: str) -> None:
        """Loads the opponent's network while the person thinks about the first move."""

        async def load() -> None:
            await self.session.run(
                JOB, lambda job: None if job.is_stopped else self._opponents.load(kind, opponent)
            )

        task = asyncio.get_running_loop().create_task(load())
        task.add_done_callback(log_failure)

    def _names(self, kind: str, people: tuple[bool, bool], opponent: str) -> tuple[str, str]:
        """Returns the names for the record; a person's is empty."""
        name = f"Goryu {opponent}"
        if opponent.startswith(USER_ENGINE):
            name = opponent.removeprefix(USER_ENGINE)
        elif kind == "shogi":
            level = LEVELS[int(opponent) - 1]
            name = f"Goryu {level.japanese if self.session.language == 'ja' else level.english}"
        first, second = ("" if is_person else name for is_person in people)
        return first, second

    # The state for the page.

    def _push_state(self) -> None:
        self.session.send("play.state", state=self._state())

    def _state(self) -> dict[str, Any]:
        game = self._game
        assert game is not None
        shown = {
            "game": game.kind,
            "number": self._number,
            "position": game.position(),
            "start": game.first_position,
            "sfen": game.first_position if game.kind == "shogi" else "",
            "turn": game.turn,
            "legal": list(game.names_of_moves()) if game.is_persons_turn else [],
            "last": game.shown[-1]["name"] if game.shown else None,
            "check": game.is_check(),
            "people": game.people,
            "opponent": self._opponent,
            "moves": game.shown,
            "over": {"ending": game.over.ending.value, "winner": game.over.winner} if game.over else None,
            "undoes": game.can_undo,
            "declares": game.is_persons_turn and game.may_declare(),
            "thinking": self._thinking is not None,
            "failed": self._has_failed,
            "line": game.winning_line(),
            "clock": None,
            "lesson": self._teacher.lesson.to_json() if self._teacher else None,
        }
        if clocks := game.clocks:
            shown["clock"] = {
                "left": clocks.main_left_s(),
                "running": clocks.running,
                "main": clocks.config.main_s,
                "byoyomi": clocks.config.byoyomi_s,
                "increment": clocks.config.increment_s,
            }
        return shown


def _limits(game: PageGame, opponent: str) -> Limits:
    """Returns the limits of the opponent's search."""
    if game.clocks:
        return game.clocks.limits(game.turn)
    if game.kind == "shogi" and opponent == str(FULL_STRENGTH):
        return Limits(movetime_ms=1000 * THINKING_S)
    return Limits()


def _clock_config(message: Message) -> ClockConfig | None:
    value = message.get("clock")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise MessageError(f"play.new: clock is {str(value)[:40]!r}, expected main, byoyomi and increment")
    seconds = [field(value, name, float, 0.0) for name in ("main", "byoyomi", "increment")]
    if not all(0 <= one <= DAY_S for one in seconds) or not any(seconds):
        raise MessageError(tr("clock: expected times of 0 to 24 hours, and not all 0"))
    return ClockConfig(*seconds)


def _restore(game: PageGame, message: Message) -> None:
    """Plays the moves of a game that the page has kept, and ends it as it was ended.

    moves: the names. seconds: what each took. clocks: what both sides had left before each move, and now.
    over: the end, which may not follow from the moves. All but the moves may be missing.
    """
    moves = field(message, "moves", list, [])
    if len(moves) > MOST_MOVES or not all(isinstance(move, str) for move in moves):
        raise MessageError(f"play.new: moves: expected at most {MOST_MOVES} texts")
    seconds = field(message, "seconds", list, [0.0] * len(moves))
    if len(seconds) != len(moves) or not all(_is_time(used) and used >= 0 for used in seconds):
        raise MessageError("play.new: seconds: expected those of each move")
    clocks = field(message, "clocks", list, [])
    if clocks and (len(clocks) != len(moves) + 1 or not all(map(_is_pair, clocks))):
        raise MessageError("play.new: clocks: expected the two before each move, and those of now")
    for ply, (move, used) in enumerate(zip(moves, seconds, strict=True)):
        if game.clocks and clocks:
            game.clocks.left_s = float(clocks[ply][0]), float(clocks[ply][1])
        game.push(game.move_named(move), seconds=float(used))
    if game.clocks and clocks:
        game.clocks.left_s = float(clocks[-1][0]), float(clocks[-1][1])
    over = field(message, "over", dict, {})
    if over and game.over is None:
        winner = over.get("winner")
        if winner not in (0, 1, None) or over.get("ending") not in list(Ending):
            raise MessageError(f"play.new: over is {str(over)[:80]!r}, expected an ending and a winner")
        game.end(Ending(over["ending"]), winner)


def _is_pair(value: object) -> bool:
    """Are these the times of both sides?"""
    return isinstance(value, list) and len(value) == 2 and all(map(_is_time, value))


def _is_time(value: object) -> bool:
    """Is this a number of seconds, at most a year? In byoyomi what is left of the main time is negative."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 366 * DAY_S
