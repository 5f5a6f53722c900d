"""The rows of a backup, checked before any is merged: a file can have the right tables and wrong rows.

A wrong row would stay in the user's database for good, and break the view that reads it.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

from fsrs import Card
from msgspec import Meta, Struct

from goryu.analysis.description import board_after
from goryu.analysis.judgement import MoveClass
from goryu.analysis.review import PlyReview
from goryu.base.errors import GoryuError, InputError
from goryu.base.language import tr
from goryu.kifu.reading import MAX_BYTES
from goryu.kifu.record import Ending
from goryu_page.dojo.collecting import COLLECTED
from goryu_page.dojo.database import Database
from goryu_page.dojo.network_choice import KEY as NETWORK
from goryu_page.dojo.phases import Phase
from goryu_page.dojo.problems import STARTER, ProblemKind, ProblemState
from goryu_page.dojo.reviews import AGAIN_SINCE, IS_PAUSED, PLAYOUTS_KEY
from goryu_page.dojo.settings import KEY as TRAINING
from goryu_page.dojo.settings import TrainingSettings
from goryu_page.dojo.strength import KEY as STRENGTH
from goryu_page.dojo.strength import Strength
from goryu_page.fields import converted
from goryu_page.tsume.solution import problem_board

Json = dict[str, Any]
Side = Literal[0, 1]
Count = Annotated[int, Meta(ge=0, le=1 << 40)]
Share = Annotated[float, Meta(ge=0, le=1)]
Percent = Annotated[float, Meta(ge=0, le=100)]
Line = Annotated[str, Meta(max_length=1000)]


class _Game(Struct):
    collection: Literal["mine", "records"]
    start: Line
    moves: Annotated[str, Meta(max_length=MAX_BYTES)]
    black: Line
    white: Line
    date: Line
    winner: Side | None
    ending: Ending
    opening: Line
    file: Line
    record: Annotated[str, Meta(max_length=MAX_BYTES)]
    imported: datetime


class _Review(Struct):
    game: int
    playouts: Count
    engine: Line
    black_accuracy: Percent | None
    white_accuracy: Percent | None
    black_mistakes: Count
    white_mistakes: Count
    reviewed: datetime


class _Ply(Struct):
    game: int
    ply: Annotated[int, Meta(ge=1)]
    turn: Side
    kind: MoveClass
    loss: Share
    phase: Phase
    judgement: str


class _Answer(Struct):
    move: str
    accepted: bool
    line: list[str]
    win_rate: Share | None = None


class _Answers(Struct):
    answers: list[_Answer]


class _Mate(Struct):
    length: Count
    line: list[str]


class _Problem(Struct):
    game: int | None
    ply: int | None
    kind: ProblemKind
    start: Line
    moves: Annotated[str, Meta(max_length=MAX_BYTES)]
    played: Line
    state: ProblemState
    playouts: Count
    content: str


class _Attempt(Struct):
    problem: int
    at: datetime
    move: Line
    is_right: Side
    hints: Count
    seconds: Annotated[float, Meta(ge=0)]
    is_free: Side


class _Card(Struct):
    problem: int
    due: datetime
    card: str


class _Name(Struct):
    name: Line


class _Collected(Struct):
    names: list[str]


SETTINGS: dict[str, Any] = {
    TRAINING: TrainingSettings,
    COLLECTED: _Collected,
    STARTER: int,
    PLAYOUTS_KEY: Annotated[int, Meta(ge=1)],
    IS_PAUSED: bool,
    AGAIN_SINCE: str,
    STRENGTH: Strength,
    NETWORK: str,
}
"""The settings, by key, with the types of their values."""


def check_rows(backup: Database) -> None:
    """Raises InputError, which names the table, if a row of a backup cannot be used."""
    for table, check in _CHECKS.items():
        try:
            for row in _rows(backup, table):
                check(row)
        except (GoryuError, ValueError, TypeError, LookupError, RecursionError, sqlite3.Error) as error:
            problem = f"{table}: {error}"[:200]
            raise InputError(tr("the backup is damaged ({problem})", problem=problem)) from error


def _rows(backup: Database, table: str) -> Iterator[Json]:
    """Yields the rows without their keys of bytes, which a merge makes anew."""
    for row in backup.rows(f"SELECT * FROM {table}"):
        values = dict(row)
        for key in ("digest", "key"):
            if table in ("games", "problems") and key in values and not isinstance(values.pop(key), bytes):
                raise ValueError(f"{key}: expected bytes")
        yield values


def _is(kind: type) -> Callable[[Json], object]:
    return lambda row: converted(row, kind)


def _check_game(row: Json) -> None:
    game = converted(row, _Game)
    board_after(game.start, game.moves.split())


def _check_ply(row: Json) -> None:
    converted(json.loads(converted(row, _Ply).judgement), PlyReview)


def _check_problem(row: Json) -> None:
    problem = converted(row, _Problem)
    moves, content = problem.moves.split(), json.loads(problem.content)
    if problem.kind is ProblemKind.TSUME and not moves:
        problem_board(problem.start)
    else:
        board_after(problem.start, moves)
    if problem.state is ProblemState.SOUND or problem.kind is ProblemKind.OPENING:
        is_mate = problem.kind is ProblemKind.TSUME
        found = converted(content, _Mate if is_mate else _Answers)
        if isinstance(found, _Answers) and not found.answers:
            raise ValueError("a problem without an answer")
    elif not isinstance(content, dict):
        raise ValueError("content: expected an object")


def _check_card(row: Json) -> None:
    Card.from_json(converted(row, _Card).card)


def _check_setting(row: Json) -> None:
    value = json.loads(row["value"])
    if row["key"] in SETTINGS:
        converted(value, SETTINGS[row["key"]])


_CHECKS: dict[str, Callable[[Json], object]] = {
    "games": _check_game,
    "reviews": _is(_Review),
    "plies": _check_ply,
    "problems": _check_problem,
    "attempts": _is(_Attempt),
    "cards": _check_card,
    "me": _is(_Name),
    "settings": _check_setting,
}
"""What checks a row of a table; it raises what `check_rows` catches."""
