"""Reads JKF (json-kifu-format), the JSON of web viewers.

Source: https://github.com/na2hiro/json-kifu-format.
"""

import json
from collections.abc import Mapping
from typing import Any

from goryu.base.language import tr
from goryu.games.shogi import START_SFEN, make_drop, make_move
from goryu.games.shogi.move import DROP_LETTERS
from goryu.games.shogi.pieces import HAND_KINDS, WHITE_PIECE, piece_letters
from goryu.games.shogi.sfen import SfenFields
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.kifu.builder import GameBuilder
from goryu.kifu.csa import ENDINGS
from goryu.kifu.handicaps import HANDICAPS
from goryu.kifu.kif import NAMES, RATINGS
from goryu.kifu.notation import CSA_NAMES
from goryu.kifu.record import GameRecord, RecordError

PRESETS = {item.preset: item.sfen for item in HANDICAPS if item.preset}


def read_jkf(text: str, name: str = "") -> GameRecord:
    """Returns the game of a JKF text; raises RecordError, which names the line of wrong JSON only."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise RecordError(tr("expected JSON: {error}", error=error.msg), name, error.lineno) from None
    except (RecursionError, ValueError) as error:  # A number of thousands of digits is a ValueError.
        raise RecordError(tr("expected a JKF game: {error}", error=error), name) from None
    try:
        return _game(data, name)
    except RecordError:
        raise
    except KeyError as error:
        raise RecordError(
            tr("expected a JKF game: {error} is missing or unknown", error=error), name
        ) from None
    except (TypeError, AttributeError, IndexError, OverflowError):
        raise RecordError(tr("expected a JKF game: a field has a value of another type"), name) from None
    except ValueError as error:
        raise RecordError(tr("expected a JKF game: {error}", error=error), name) from None


def _game(data: Mapping[str, Any], name: str) -> GameRecord:
    if not isinstance(data.get("moves"), list):
        raise RecordError(tr("expected a JKF game with a list of moves"), name)
    builder = GameBuilder(_start(data.get("initial"), name), name)
    _read_lines(builder, data["moves"])
    names, headers = ["", ""], dict[str, str]()
    ratings: list[float | None] = [None, None]
    for key, value in data.get("header", {}).items():
        text = str(value)
        if key in NAMES:
            names[NAMES[key]] = text
        elif key in RATINGS:
            ratings[RATINGS[key]] = float(text)
        elif key not in ("手合割", "手番"):
            headers[str(key)] = text
    return builder.finish((names[0], names[1]), (ratings[0], ratings[1]), headers)


def _start(initial: Mapping[str, Any] | None, name: str) -> str:
    if not initial:
        return START_SFEN
    preset = initial["preset"]
    if preset in PRESETS:
        return PRESETS[preset]
    if preset != "OTHER":
        known = ", ".join(PRESETS)
        problem = tr("expected one of {known}, received {text!r}", known=f"OTHER, {known}", text=preset)
        raise RecordError(f"initial.preset: {problem}", name)
    data = initial["data"]
    pieces = [0] * 81
    for file in range(9):
        for rank in range(9):
            square = data["board"][file][rank]
            if name := square.get("kind"):
                pieces[9 * file + rank] = CSA_NAMES.index(name) + WHITE_PIECE * _colour(square["color"])
    hands = tuple(tuple(int(hand.get(CSA_NAMES[kind], 0)) for kind in HAND_KINDS) for hand in data["hands"])
    return str(SfenFields(tuple(pieces), _colour(data["color"]), (hands[0], hands[1]), 1))


def _colour(value: object) -> int:
    if value not in (0, 1):
        raise ValueError(f"expected a color 0 or 1, received {value!r}")
    return int(value)


def _read_lines(builder: GameBuilder, main: list[Any]) -> None:
    """Reads the game, then the variations of each line from the last to the first, as KIF orders them."""
    stack: list[tuple[list[Any], int]] = [(main, 0)]  # Lists of moves, and the ply of their first entry.
    while stack:
        moves, first = stack.pop()
        if moves is not main:
            builder.branch(first)
        for ply, entry in enumerate(moves, first):
            _read_entry(builder, entry, ply)
            for fork in reversed(entry.get("forks", [])):
                stack.append((fork, ply))


def _read_entry(builder: GameBuilder, entry: Mapping[str, Any], ply: int) -> None:
    if entry.get("move"):
        if ply == 0 or ply != builder.ply:
            raise builder.error(tr("moves[{ply}]: a move before the start or after the end", ply=ply))
        builder.play(lambda board: _move(board, entry["move"]))
        _read_time(builder, entry, is_of_end=False)
    for comment in entry.get("comments", []):
        for line in str(comment).split("\n"):
            builder.comment(line)
    if entry.get("special"):
        word = str(entry["special"]).removeprefix("%")
        if word not in ENDINGS:
            known = ", ".join(ENDINGS)
            problem = tr("expected one of {known}, received {text!r}", known=known, text=word[:30])
            raise builder.error(f"moves[{ply}].special: {problem}")
        builder.end(ENDINGS[word], {"+ILLEGAL_ACTION": 1, "-ILLEGAL_ACTION": 0}.get(word))
        _read_time(builder, entry, is_of_end=True)


def _read_time(builder: GameBuilder, entry: Mapping[str, Any], *, is_of_end: bool) -> None:
    """Sets the time of a move or of an ending, if the entry has one."""
    if "time" in entry:
        now = entry["time"]["now"]
        seconds = 3600 * float(now.get("h", 0)) + 60 * float(now.get("m", 0)) + float(now.get("s", 0))
        builder.seconds(seconds, is_of_end=is_of_end)


def _move(board: Board, data: Mapping[str, Any]) -> Move:
    last = board.move_stack[-1] & 0x7F if board.move_stack else -1
    to = _square(data["to"]) if data.get("to") else last
    if data.get("color") is not None and _colour(data["color"]) != board.turn:
        raise ValueError(f"expected a move of color {board.turn}, received {data}")
    if data.get("from"):
        origin = _square(data["from"])
        kind = board.pieces[origin] % WHITE_PIECE
        if origin == to or CSA_NAMES[kind] != data["piece"]:
            raise ValueError(f"expected a move of {CSA_NAMES[kind] or 'a piece'}, received {data}")
        return make_move(origin, to, bool(data.get("promote")))
    return make_drop(DROP_LETTERS.index(piece_letters(CSA_NAMES.index(data["piece"]))), to)


def _square(data: Mapping[str, Any]) -> int:
    file, rank = data["x"], data["y"]
    if file not in range(1, 10) or rank not in range(1, 10):
        raise ValueError(f"expected a square with x and y from 1 to 9, received {data}")
    return 9 * (int(file) - 1) + int(rank) - 1
