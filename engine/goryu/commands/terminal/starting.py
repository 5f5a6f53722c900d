"""The position in which a game at the terminal begins."""

from pathlib import Path

from goryu.base.errors import InputError
from goryu.base.language import either, tr
from goryu.commands.terminal.game_display import GAMES
from goryu.games.shogi import Rules
from goryu.games.state import State
from goryu.kifu.handicaps import HANDICAPS, handicap_of_name
from goryu.kifu.reading import read_record
from goryu.table.game import new_board
from goryu.table.positions import parse_position

Seconds = list[float | None]

HANDICAP_SIDES = ("black (shitate)", "white (uwate)")
"""The names of the sides in a handicap game, in which white begins."""


def new_state(
    position: str | None, record: Path | None, ply: int | None, handicap: str | None, game: str, rules: Rules
) -> tuple[State, Seconds]:
    """Returns the position, and the seconds that each move before it took.

    Raises:
        InputError: an option is wrong, or does not go with another or with this game.
        SfenError: the SFEN is wrong. OSError: the record cannot be read.
    """
    options = (("--record", record), ("--handicap", handicap), ("--position", position))
    given = [name for name, value in options if value]
    if game != "shogi":
        if given and given[0] != "--position":
            raise InputError(tr("{option}: only shogi has this option", option=given[0]))
        return (_small(position, game) if position else GAMES[game].new()), []
    if len(given) > 1:
        raise InputError(tr("{options}: expected only one of them", options=" ".join(given)))
    if ply is not None and record is None:
        raise InputError(tr("--ply: expected --record with it"))
    if record is not None:
        return _from_record(record, ply, rules)
    return new_board(_start(position, handicap), rules), []


def _small(position: str, game: str) -> State:
    """Returns a position of tic-tac-toe or reversi: a board, or the moves to it."""
    name, size = game.rstrip("468"), game.removeprefix("reversi") or "8"
    if name == "tictactoe" or "/" in position:
        state = parse_position(name, position)
    else:
        state = parse_position(name, f"{size}x{size} {position}")
    if name == "reversi" and getattr(state, "size", None) != int(size):
        raise InputError(tr("--position: expected a board of {size}x{size}", size=size))
    return state


def _start(position: str | None, handicap: str | None) -> str:
    if handicap is None:
        return (position or "").removeprefix("sfen ")
    found = handicap_of_name(handicap)
    if found is None:
        names = ", ".join(either(item.english, item.japanese) for item in HANDICAPS)
        raise InputError(tr("--handicap {name}: expected one of {names}", name=handicap, names=names))
    return found.sfen


def _from_record(path: Path, ply: int | None, rules: Rules) -> tuple[State, Seconds]:
    record = read_record(path)
    plies = record.plies if ply is None else record.plies[: max(ply, 0)]
    if ply is not None and len(plies) < ply:
        raise InputError(
            tr("--ply {ply}: the game has {moves} {moves:move|moves}", ply=ply, moves=len(record.plies))
        )
    board = new_board(record.start, rules)
    for played in plies:
        board.push_usi(played.move)
    return board, [played.seconds for played in plies]
