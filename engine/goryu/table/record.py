"""The record of a game of shogi, and its file in the format that the suffix names."""

from pathlib import Path

from goryu.base.errors import InputError
from goryu.base.files import atomic_write
from goryu.base.language import tr
from goryu.games.shogi import move_to_usi
from goryu.implementation import Board
from goryu.kifu.record import Ending, GameRecord, Ply
from goryu.kifu.writing import WRITERS
from goryu.table.clock import ClockConfig
from goryu.table.game import Game


class SaveError(InputError):
    """The game cannot be saved under this name."""


def save_game(path: Path, game: Game, *, replaces: bool) -> None:
    """Writes the game to a file.

    Raises:
        SaveError: as `check_name`.
        OSError: the file cannot be written.
    """
    check_name(path, replaces=replaces)
    atomic_write(path, record_text(path.suffix, game))


def record_text(suffix: str, game: Game) -> str:
    """Returns the record in the format of a suffix, such as ".kif"."""
    return WRITERS[suffix.lower()](record_of(game))


def check_name(path: Path, *, replaces: bool) -> None:
    """Raises SaveError if the suffix is unknown, or the file exists and `replaces` is False."""
    if path.suffix.lower() not in WRITERS:
        raise SaveError(
            tr(
                "{name}: expected a name that ends in one of {suffixes}",
                name=str(path) if path.name else "save",
                suffixes=" ".join(WRITERS),
            )
        )
    if path.exists() and not replaces:
        raise SaveError(tr("{name} exists; save! {name} replaces it", name=path))


def record_of(game: Game, skipped: int = 0) -> GameRecord:
    """Returns the record of a game of shogi, from the position that its board was set up with.

    skipped: so many moves at the start are left out.
    """
    assert isinstance(game.state, Board)
    start, moves = game.state.copy(), game.state.move_stack
    while len(start.move_stack) > skipped:
        start.pop()
    headers = {"開始日時": game.began.strftime("%Y/%m/%d %H:%M:%S")}
    if game.clocks:
        headers["持ち時間"] = _clock_text(game.clocks.config)
    before = game.seconds_before or [None] * (len(moves) - len(game.played))
    seconds = [*before, *(one.seconds for one in game.played)]
    timed = list(zip(moves, seconds, strict=True))[skipped:]
    plies = (Ply(move_to_usi(move), seconds=used) for move, used in timed)
    return GameRecord(
        start=start.sfen(),
        plies=tuple(plies),
        names=game.names,
        ending=game.over.ending if game.over else Ending.INTERRUPTED,
        winner=game.over.winner if game.over else None,
        headers=headers,
    )


def _clock_text(config: ClockConfig) -> str:
    text = f"{config.main_s / 60:g}分"
    if config.byoyomi_s:
        text += f"+{config.byoyomi_s:g}秒"
    return text + (f" 加算{config.increment_s:g}秒" if config.increment_s else "")
