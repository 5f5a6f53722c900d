"""The view "Play": a game between a person and an engine, or between two people at one screen."""

import asyncio
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Annotated, Any, Literal

from msgspec import Meta

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.games.reversi import PASS
from goryu.games.shogi import START_SFEN
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.kifu.handicaps import HANDICAPS
from goryu.kifu.record import Ending
from goryu_page.dojo.network_choice import found_networks
from goryu_page.session.messages import MessageError
from goryu_page.session.session import Job, Session, StoppedError, View, in_thread, text_of
from goryu_page.views.game import PageGame
from goryu_page.views.keeping import Keeper
from goryu_page.views.lesson import THRESHOLDS
from goryu_page.views.new_game import NewGame, NewGameRequest, new_game
from goryu_page.views.opponents import USER_ENGINE, Opponents, agents, levels, limits_of
from goryu_page.views.teacher import Teacher

JOB = "play"


Number = Annotated[int, Meta(ge=0, le=1 << 31)]
"""Of the game that the page shows, in the state."""


class PlayView(View):
    """One game at a time. The page draws what `play.state` says, and sends what the person does."""

    name = "play"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._game: PageGame | None = None
        self._number = 0  # Of the game; a message of the page about another game is late.
        self._opponent = ""
        self._rival = ""  # Plays White, if no person plays.
        dojo = session.dojo
        self._opponents, self._rivals = (
            Opponents(dojo.levels_config, dojo.networks, dojo.timing) for _ in range(2)
        )
        self._waits = False  # Does a game between engines wait until the user lets it go on?
        self._thinking: asyncio.Task[None] | None = None
        self._has_failed = False  # Did the opponent fail to move? It is asked again only if the person wants.
        self._flag: asyncio.TimerHandle | None = None
        self._teacher: Teacher | None = None
        self._keeper: Keeper | None = None
        self._rng = Random()

    # Messages of the page.

    def on_options(self) -> dict[str, Any]:
        """Returns the choices for a new game."""
        handicaps = [{"en": one.english, "ja": one.japanese, "sfen": one.sfen} for one in HANDICAPS]
        config = self.session.config
        return {
            "levels": levels(),
            "handicaps": handicaps,
            "agents": agents(),
            "network": self.session.network_texts(),
            "networks": list(found_networks(config)),
            "chosen": Path(config.evaluator.model).name,
            "thresholds": THRESHOLDS,
        }

    async def on_network(self, name: str) -> dict[str, Any]:
        """Takes another network for all searches, this game's excepted; returns the choices.

        name: of a file that the page has named; "" for the strongest network here.
        """
        await self.session.run("play.network", lambda _job: self.session.dojo.use_network(name))
        return self.on_options()

    def on_position(self, sfen: Annotated[str, Meta(max_length=200)]) -> str:
        """Returns the SFEN of a position that the user has set up; raises SfenError if it is not legal."""
        return Board(sfen.strip().removeprefix("sfen").strip()).sfen()

    def on_state(self) -> dict[str, Any] | None:
        """Returns the state of the game, and lets it go on after the tab was away; None before the first."""
        if self._game is None:
            return None
        self._continue()
        return self._state()

    def on_new(self, message: NewGameRequest) -> dict[str, Any]:
        """Begins a game, or goes on with one that the page has kept; see `new_game`."""
        new = new_game(message, self.session, self._rng)
        self._stop()
        self._game, self._opponent, self._rival = new.game, new.opponent, new.rival
        self._number, self._waits = self._number + 1, False
        self._teacher = Teacher(self.session, new.lesson, self._go_on) if new.lesson else None
        self._keeper = self._keeper_of(new, message)
        for opponents, name in ((self._opponents, new.opponent), (self._rivals, new.rival)):
            opponents.use(self.session.config)
            opponents.new_game(name)
        self._continue()
        if self._thinking is None and not all(new.game.people):
            self._think_ahead(new.game.kind, new.opponent)
        return self._state()

    def on_move(self, number: Number, move: str) -> dict[str, Any]:
        """Plays the person's move. move: its name in the state."""
        game = self._current(number, is_turn=True)
        return self._play(game, game.move_named(move))

    def on_write(self, number: Number, text: str) -> dict[str, Any]:
        """Plays a move that the person has written, in Japanese, Western notation or USI."""
        game = self._current(number, is_turn=True)
        return self._play(game, game.move_written(text[:40].strip()))

    def on_undo(self, number: Number) -> dict[str, Any]:
        """Takes the person's last move back, and the moves after it."""
        game = self._current(number)
        self._stop()
        try:
            game.undo()
            if self._keeper:
                self._keeper.taken_back()
            if self._teacher:
                self._teacher.lesson.taken_back(len(game.played) + 1)
        finally:
            self._continue()
        return self._state()

    @in_thread
    def on_kept(self, number: Number) -> int | None:
        """Returns the number of the game in My games; None if it is not there, or not any more."""
        self._current(number)
        kept = self._keeper.number if self._keeper else None
        return kept if kept is not None and self.session.dojo.games.has(kept) else None

    def on_again(self, number: Number) -> dict[str, Any]:
        """Asks an opponent again that has failed to move, or lets engines go on that wait."""
        self._current(number)
        self._waits = False
        self._continue()
        return self._state()

    def on_wait(self, number: Number) -> dict[str, Any]:
        """Stops a game between engines until `on_again`."""
        self._current(number)
        self._stop()
        self._waits = bool(self._rival)
        return self._state()

    def on_keep(self, number: Number) -> dict[str, Any]:
        """Goes on after a mistake in a teaching game."""
        game = self._current(number)
        if self._teacher is None:
            raise InputError(tr("nothing is asked about the last move"))
        self._teacher.lesson.keep()
        game.count_from_now()
        self._continue()
        return self._state()

    def on_resign(self, number: Number) -> dict[str, Any]:
        """Ends the game: the person whose turn it is has lost."""
        game = self._current(number, is_turn=True)
        self._stop()
        game.resign()
        self._keep_ended(game)
        return self._state()

    def on_declare(self, number: Number) -> dict[str, Any]:
        """Ends the game by the person's entering king (入玉宣言)."""
        game = self._current(number, is_turn=True)
        game.declare()
        self._stop()
        self._keep_ended(game)
        return self._state()

    async def on_hint(self, number: Number) -> list[dict[str, Any]]:
        """Returns the best moves for the person."""
        game = self._current(number, is_turn=True)
        state = game.for_search()
        if self._thinking is not None:
            raise InputError(tr("wait for the opponent's move"))
        if self._keeper:
            self._keeper.helped()

        def work(job: Job) -> list[dict[str, Any]]:
            return [] if job.is_stopped else self._opponents.hints(game.kind, state, job)

        count = len(game.played)
        found = await self.session.run(JOB, work)
        if (len(game.played), self._number) != (count, number):
            return []
        return [{**game.texts(hint.pop("move")), **hint} for hint in found]

    def on_save(self, number: Number, form: Literal["kif", "csa", "txt"] = "kif") -> dict[str, str]:
        """Returns the record: its text and a name for the file. Games other than shogi have only txt."""
        game = self._current(number)
        if game.kind == "shogi" and form == "txt":
            raise MessageError("play.save: form: expected kif or csa, received txt")
        return game.saved(form)

    def pause(self) -> None:
        """Stops the clocks and the opponent until the page asks for the state again."""
        self._stop()
        self._opponents.pause()
        self._rivals.pause()

    # The game.

    def _current(self, number: int, *, is_turn: bool = False) -> PageGame:
        """Returns the game that the message is about. is_turn: must it be a person's turn?"""
        if (game := self._game) is None or number != self._number:
            raise InputError(tr("the page shows an old game; reload it"))
        if is_turn and not game.is_persons_turn:
            raise InputError(tr("the game is over") if game.over else tr("it is the opponent's turn"))
        return game

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
            self._keep_ended(game)
            return
        if self._waits:
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
            self._keep_ended(game)
            self._push_state()
        else:
            self._continue()

    async def _think(self, game: PageGame) -> None:
        """Plays the opponent's move."""
        started_s = perf_counter()
        timing = self.session.dojo.timing
        opponents, name = self._player(game.turn)
        state, limits = game.for_search(), limits_of(game, name, timing.thinking_s)

        def work(job: Job) -> Move | Ending | None:
            if job.is_stopped:
                return None
            try:
                reply = opponents.reply(game.kind, state, name, limits, started_s, job)
            except StoppedError:
                return None
            return None if job.is_stopped else reply

        try:
            reply = await self.session.run(JOB, work)
            if reply is None:
                return
            await asyncio.sleep(timing.least_reply_s - (perf_counter() - started_s))
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

    def _player(self, side: int) -> tuple[Opponents, str]:
        """Returns the engine of a side, and its name there."""
        if side == 1 and self._rival:
            return self._rivals, self._rival
        return self._opponents, self._opponent

    def _keeper_of(self, new: NewGame, message: NewGameRequest) -> Keeper:
        """Returns what keeps a new game. Help before a restart of the server is not known."""
        is_level = message.game == "shogi" and not new.opponent.startswith(USER_ENGINE)
        is_even = new.game.first_position == START_SFEN and not (message.moves or message.lesson)
        return Keeper(
            self.session,
            is_wanted=message.keeps and not new.rival,
            moves_before=message.before,
            number=message.kept,
            moves=message.moves,
            is_kept=message.kept is not None and new.game.over is not None,
            level=int(new.opponent) if is_level and is_even else None,
            on_kept=self._push_state,
        )

    def _keep_ended(self, game: PageGame) -> None:
        if self._keeper:
            self._keeper.ended(game)

    def _go_on(self) -> None:
        """Goes on after the judgement of a move."""
        self._continue()
        self._push_state()

    def _think_ahead(self, kind: str, opponent: str) -> None:
        """Loads the opponent's network while the person thinks about the first move."""
        self.session.prepare(JOB, lambda _job: self._opponents.load(kind, opponent))

    # The state for the page.

    def _push_state(self) -> None:
        self.session.send("play.state", state=self._state())

    def _state(self) -> dict[str, Any]:
        game = self._game
        assert game is not None
        return {
            **game.to_json(),
            "number": self._number,
            "opponent": self._opponent,
            "rival": self._rival,
            "waits": self._waits,
            "failed": self._has_failed,
            "kept": self._keeper.number if self._keeper else None,
            "lesson": self._teacher.lesson.to_json() if self._teacher else None,
        }
