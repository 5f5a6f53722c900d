"""Reads the message "play.new", which begins a game or brings back one that the page has kept."""

from dataclasses import dataclass
from random import Random

from goryu.base.language import tr
from goryu.kifu.record import Ending
from goryu.players.levels.levels import LEVELS
from goryu.players.position import rules_of
from goryu.table.clock import ClockConfig
from goryu_page.session.messages import Language, Message, MessageError, choice, field
from goryu_page.session.session import Session
from goryu_page.views.game import GAMES, PageGame
from goryu_page.views.lesson import Lesson
from goryu_page.views.opponents import USER_ENGINE, is_opponent

SIDES = ("first", "second", "random", "both")
"""What a person can play; "both": two people at one screen."""

MOST_MOVES = 2000
"""Of a game that the page brings back after a restart of the server."""

DAY_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class NewGame:
    """A game, its opponent, and the lesson of a teaching game."""

    game: PageGame
    opponent: str
    lesson: Lesson | None


def new_game(message: Message, session: Session, rng: Random) -> NewGame:
    """Returns the game that a message begins; see `_restore` for one that goes on.

    game: one of GAMES. opponent: as `is_opponent`. side: one of SIDES. sfen: the start of shogi, perhaps.
    clock: {main, byoyomi, increment} in seconds, or null. lesson: see `Lesson.from_message`.

    Raises MessageError, SfenError.
    """
    kind = choice(message, "game", GAMES)
    opponent = field(message, "opponent", str, "5" if kind == "shogi" else "uct:100")
    if not is_opponent(kind, opponent):
        raise MessageError(f"play.new: opponent {opponent[:40]!r}: not a player of {kind}")
    side = choice(message, "side", SIDES, "first")
    if side == "random":
        side = rng.choice(("first", "second"))
    people = (side in ("first", "both"), side in ("second", "both"))
    start = field(message, "sfen", str, "").removeprefix("sfen").strip() if kind == "shogi" else ""
    names = _names(kind, people, opponent, session.language)
    game = PageGame(kind, start, people, names, _clock_config(message), rules_of(session.config))
    lesson = Lesson.from_message(message)
    if lesson and (kind != "shogi" or side == "both"):
        raise MessageError("play.new: lesson: expected a game of shogi against an engine")
    _restore(game, message)
    return NewGame(game, opponent, lesson)


def _names(kind: str, people: tuple[bool, bool], opponent: str, language: Language) -> tuple[str, str]:
    """Returns the names for the record; a person's is empty."""
    name = f"Goryu {opponent}"
    if opponent.startswith(USER_ENGINE):
        name = opponent.removeprefix(USER_ENGINE)
    elif kind == "shogi":
        level = LEVELS[int(opponent) - 1]
        name = f"Goryu {level.japanese if language == 'ja' else level.english}"
    first, second = ("" if is_person else name for is_person in people)
    return first, second


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
