"""Makes candidates of the user's reviewed games.

A move of the user becomes at most one candidate: a mate that was missed, a mate that was allowed, a mistake
of the opponent that was not punished, another mistake, or a great move that was found. Where no name is known
to be the user's, the moves of both sides count; in imported games also where the only names are those under
which the user has played on this page.
"""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any

from goryu.analysis.judgement import MISTAKES, MoveClass
from goryu_page.dojo.database import Database
from goryu_page.dojo.problems import NewProblem, ProblemKind, Problems
from goryu_page.dojo.strength import LONGEST_TSUME
from goryu_page.dojo.timing import TIMING, Timing
from goryu_page.dojo.worker import Worker

COLLECTED = "problems.collected"
"""The key of the setting that remembers the names of the user for which reviews were collected."""

PORTION = 20
"""Reviews that are collected at once: whoever waits for them is still answered soon."""

REST_S = 0.05
"""Between two portions, in which others get the database."""

_OF_OTHERS = """
DELETE FROM problems WHERE state != 'removed' AND id NOT IN (SELECT problem FROM attempts) AND EXISTS (
    SELECT 1 FROM plies JOIN games ON games.id = plies.game
    WHERE plies.game = problems.game AND plies.ply = problems.ply
    AND CASE plies.turn WHEN 0 THEN black ELSE white END NOT IN (SELECT name FROM me)
)
"""
"""Deletes the problems about moves of others that were never answered."""

_TELLING = f"""
SELECT ply, turn, loss, judgement,
    (SELECT kind FROM plies AS other WHERE other.game = plies.game AND other.ply = plies.ply - 1) AS before
FROM plies WHERE game = ?
AND (kind IN ({", ".join(f"'{kind}'" for kind in (*MISTAKES, MoveClass.GREAT))})
    OR json_extract(judgement, '$.missed_mate'))
ORDER BY ply
"""
"""Finds the moves of a game that can ask for something, with the class of the move before each."""

_OF_IMPORTED = "SELECT 1 FROM me JOIN games ON file != '' AND name IN (black, white) LIMIT 1"

_log = logging.getLogger("goryu_page.dojo")
_collecting = Lock()

Json = dict[str, Any]


def collect(database: Database, most: int = -1, before_others: int | None = None) -> int:
    """Makes candidates of reviews that have given none yet, the oldest first; returns how many candidates.

    most: reviews; -1 for all. before_others: the game that comes before the oldest ones.

    After a change of the user's names all reviews are new, and candidates and problems about moves of others
    that were never answered go. Each game is a transaction: others need not wait for all of them.
    """
    with _collecting:
        names = sorted(row["name"] for row in database.rows("SELECT name FROM me"))
        _take_names(database, names)
        rows = database.rows(
            "SELECT game FROM reviews WHERE is_collected = 0 ORDER BY game IS NOT ?, reviewed, game LIMIT ?",
            before_others,
            most,
        )
        problems, added = Problems(database), 0
        is_named = bool(rows) and _is_named(database)
        for row in rows:
            with database.transaction():
                added += problems.add(list(_candidates(database, row["game"], names, is_named)))
                database.run("UPDATE reviews SET is_collected = 1 WHERE game = ?", row["game"])
        return added


def _take_names(database: Database, names: list[str]) -> None:
    """Keeps the user's names, and does what their change asks for."""
    last = database.setting(COLLECTED, {"names": None})["names"]
    if last == names:
        return
    with database.transaction():
        database.set_setting(COLLECTED, {"names": names})
        if last is not None:
            database.run("UPDATE reviews SET is_collected = 0")
            if _is_named(database):
                database.run(_OF_OTHERS)


def _is_named(database: Database) -> bool:
    """Has the user a name in an imported game?"""
    return bool(database.rows(_OF_IMPORTED))


class Collector(Worker):
    """Makes candidates of all new reviews, a few at a time; begins at `wake`."""

    def __init__(self, database: Database, on_change: Callable[[], None], timing: Timing = TIMING) -> None:
        """on_change: called after each few reviews that gave candidates."""
        super().__init__("goryu-collector", timing)
        self._database = database
        self._on_change = on_change

    def _work(self) -> float | None:
        if not self._database.rows("SELECT 1 FROM reviews WHERE is_collected = 0 LIMIT 1"):
            return None
        if collect(self._database, PORTION):
            self._on_change()
        return REST_S

    def _failed(self, problem: str) -> None:
        _log.warning("%s", problem)


def _candidates(database: Database, game: int, names: Sequence[str], is_named: bool) -> Iterator[NewProblem]:
    """Yields the candidates of a game. is_named: has the user a name in an imported game?"""
    rows = database.rows("SELECT * FROM games WHERE id = ?", game)
    if not rows:
        return  # It was deleted meanwhile.
    row = rows[0]
    moves = row["moves"].split()
    players = (row["black"], row["white"])
    is_one_sided = names and (is_named or not row["file"])
    plies = database.rows(_TELLING, game)
    for ply in plies:
        if is_one_sided and players[ply["turn"]] not in names:
            continue
        judgement = json.loads(ply["judgement"])
        kind = _kind(judgement, ply["before"])
        if kind is None:
            continue
        source = {"names": list(players), "date": row["date"], "ply": ply["ply"]}
        content: Json = {"source": source, "loss": round(float(ply["loss"]), 4)}
        if judgement["allows_mate"]:
            content["allows_mate"] = judgement["allows_mate"]
        way = tuple(moves[: ply["ply"] - 1])
        yield NewProblem(kind, row["start"], way, content, moves[len(way)], game, ply["ply"])


def _kind(judgement: Json, before: str | None) -> ProblemKind | None:
    """Returns what a move can ask for, or None. before: the class of the opponent's move before it."""
    kind, missed, allows = judgement["kind"], judgement["missed_mate"], judgement["allows_mate"]
    if missed and missed <= LONGEST_TSUME:
        return ProblemKind.TSUME
    if kind in MISTAKES:
        if allows:
            return ProblemKind.MATE
        return ProblemKind.UNPUNISHED if before in MISTAKES else ProblemKind.MISTAKE
    return ProblemKind.ONLY if kind == MoveClass.GREAT else None
