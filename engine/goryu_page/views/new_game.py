"""Reads the message "play.new", which begins a game or brings back one that the page has kept."""

from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, Literal

from msgspec import Meta, Struct

from goryu.base.language import tr
from goryu.kifu.record import Ending
from goryu.players.levels.levels import LEVELS
from goryu.players.position import rules_of
from goryu.table.clock import ClockConfig
from goryu_page.session.messages import Language, MessageError, Request
from goryu_page.session.session import Session
from goryu_page.views.game import GameKind, PageGame
from goryu_page.views.lesson import KeptLesson, Lesson
from goryu_page.views.opponents import USER_ENGINE, is_opponent

Side = Literal["first", "second", "random", "both", "none"]
"""What a person can play; "both": two people at one screen; "none": engines play both sides."""

MOST_MOVES = 2000
"""Of a game that the page brings back after a restart of the server."""

MOST_PLIES = 512
"""A game between engines ends after so many in a draw, unless the rules say otherwise."""

DAY_S = 24 * 3600


Seconds = Annotated[float, Meta(ge=0, le=DAY_S)]
Used = Annotated[float, Meta(ge=0, le=366 * DAY_S)]
Left = Annotated[float, Meta(ge=-366 * DAY_S, le=366 * DAY_S)]
"""Of the main time; negative in byoyomi."""


class ClockTimes(Struct, frozen=True):
    """The times of a clock in seconds; not all are 0."""

    main: Seconds = 0.0
    byoyomi: Seconds = 0.0
    increment: Seconds = 0.0


class End(Struct, frozen=True):
    """How a game has ended. winner: 0 for the first player, 1, or None."""

    ending: Ending
    winner: Literal[0, 1] | None = None


class NewGameRequest(Request):
    """Begins a game, or brings back one that the page has kept.

    opponent, rival: as `is_opponent`; None for a usual one. The rival plays White if engines play both sides.
    sfen: the start of shogi, perhaps.
    moves: the names. seconds: what each took. clocks: what both sides had left before each move, and now.
    over: the end, which may not follow from the moves.
    name: of the person; "" for a usual one. keeps: is the game to be in My games? before: how many of the
    moves belong to another game, from which this one begins. kept: the number of the game in My games.
    """

    game: GameKind
    opponent: str | None = None
    rival: str | None = None
    side: Side = "first"
    sfen: str = ""
    clock: ClockTimes | None = None
    lesson: KeptLesson | None = None
    moves: Annotated[tuple[str, ...], Meta(max_length=MOST_MOVES)] = ()
    seconds: tuple[Used, ...] | None = None
    clocks: tuple[tuple[Left, Left], ...] = ()
    over: End | None = None
    name: Annotated[str, Meta(max_length=40)] = ""
    keeps: bool = True
    before: Annotated[int, Meta(ge=0, le=MOST_MOVES)] = 0
    kept: Annotated[int, Meta(ge=0, le=1 << 62)] | None = None


@dataclass(frozen=True, slots=True)
class NewGame:
    """A game, its opponent and the lesson of a teaching game. rival: "" if a person plays."""

    game: PageGame
    opponent: str
    rival: str
    lesson: Lesson | None


def new_game(message: NewGameRequest, session: Session, rng: Random) -> NewGame:
    """Returns the game that a message begins or brings back; raises MessageError, SfenError."""
    kind = message.game
    opponent = message.opponent or ("5" if kind == "shogi" else "uct:100")
    rival = message.rival or opponent
    for name in (opponent, rival):
        if not is_opponent(kind, name):
            raise MessageError(f"play.new: opponent {name[:40]!r}: not a player of {kind}")
    side = message.side
    if side == "random":
        side = rng.choice(("first", "second"))
    people = (side in ("first", "both"), side in ("second", "both"))
    start = message.sfen.removeprefix("sfen").strip() if kind == "shogi" else ""
    names = _names(message, people, (opponent, rival if side == "none" else opponent), session.language)
    rules = rules_of(session.config)
    if side == "none":
        rules = replace(rules, max_ply=rules.max_ply or MOST_PLIES)
    game = PageGame(kind, start, people, names, _clock_config(message.clock), rules)
    lesson = Lesson.kept(message.lesson) if message.lesson else None
    if lesson and (kind != "shogi" or sum(people) != 1):
        raise MessageError("play.new: lesson: expected a game of shogi against an engine")
    _restore(game, message)
    return NewGame(game, opponent, rival if side == "none" else "", lesson)


def _names(
    message: NewGameRequest, people: tuple[bool, bool], engines: tuple[str, str], language: Language
) -> tuple[str, str]:
    """Returns the names for the record; those of two people are empty. engines: by side."""
    if all(people):
        return "", ""
    person = " ".join(message.name.split()) or tr("You")
    first, second = (
        person if is_person else _engine_name(message.game, engine, language)
        for is_person, engine in zip(people, engines, strict=True)
    )
    return first, second


def _engine_name(kind: GameKind, name: str, language: Language) -> str:
    if name.startswith(USER_ENGINE):
        return name.removeprefix(USER_ENGINE)
    if kind == "shogi":
        level = LEVELS[int(name) - 1]
        return f"Goryu {level.japanese if language == 'ja' else level.english}"
    return f"Goryu {name}"


def _clock_config(times: ClockTimes | None) -> ClockConfig | None:
    if times is None:
        return None
    config = ClockConfig(times.main, times.byoyomi, times.increment)
    if config == ClockConfig(0.0, 0.0, 0.0):
        raise MessageError(tr("Choose times of 0 to 24 hours that are not all 0."))
    return config


def _restore(game: PageGame, message: NewGameRequest) -> None:
    """Plays the moves of a game that the page has kept, and ends it as it was ended."""
    moves, clocks = message.moves, message.clocks
    seconds = (0.0,) * len(moves) if message.seconds is None else message.seconds
    if len(seconds) != len(moves):
        raise MessageError("play.new: seconds: expected those of each move")
    if clocks and len(clocks) != len(moves) + 1:
        raise MessageError("play.new: clocks: expected the two before each move, and those of now")
    for ply, (move, used) in enumerate(zip(moves, seconds, strict=True)):
        if game.clocks and clocks:
            game.clocks.left_s = clocks[ply]
        game.push(game.move_named(move), seconds=used)
    if game.clocks and clocks:
        game.clocks.left_s = clocks[-1]
    if message.over and game.over is None:
        game.end(message.over.ending, message.over.winner)
