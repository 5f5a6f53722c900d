"""Saves a game of shogi from the terminal as a record in the format that the file's suffix names."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

from goryu.base.errors import InputError
from goryu.base.files import atomic_write
from goryu.base.language import tr
from goryu.games.shogi import move_to_usi
from goryu.implementation import Board
from goryu.kifu.record import Ending, GameRecord, Ply
from goryu.kifu.writing import WRITERS

if TYPE_CHECKING:
    from goryu.commands.terminal.game import Play

ENDINGS = {
    "checkmate": Ending.CHECKMATE,
    "no legal move": Ending.CHECKMATE,
    "entering-king declaration": Ending.DECLARATION,
    "declaration": Ending.DECLARATION,
    "fourfold repetition": Ending.REPETITION,
    "perpetual check": Ending.PERPETUAL_CHECK,
    "maximum ply": Ending.MAX_PLIES,
    "resignation": Ending.RESIGNATION,
    "time": Ending.TIME,
}
"""The ending of a record for each reason; INTERRUPTED for a game that goes on."""


class SaveError(InputError):
    """The game cannot be saved under this name."""


def save_game(path: Path, play: "Play", *, replaces: bool) -> None:
    """Writes the game to a file.

    Raises:
        SaveError: as `check_name`.
        OSError: the file cannot be written.
    """
    check_name(path, replaces=replaces)
    atomic_write(path, record_text(path, play))


def record_text(path: Path, play: "Play") -> str:
    """Returns the record in the format of the path's suffix."""
    return WRITERS[path.suffix.lower()](record_of(play))


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


def record_of(play: "Play") -> GameRecord:
    """Returns the record of a game of shogi, from the position that its board was set up with."""
    board = cast(Board, play.state)
    start = board.copy()
    while start.move_stack:
        start.pop()
    plies = zip(board.move_stack, play.seconds_of_moves(), strict=True)
    return GameRecord(
        start=start.sfen(),
        plies=tuple(Ply(move_to_usi(move), seconds=seconds) for move, seconds in plies),
        names=play.names,
        ending=ENDINGS.get(play.ending, Ending.INTERRUPTED),
        winner=play.winner,
    )
