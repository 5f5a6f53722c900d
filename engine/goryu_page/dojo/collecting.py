"""Makes candidates of the user's reviewed games.

A move of the user becomes at most one candidate: a mate that was missed, a mate that was allowed, a mistake
of the opponent that was not punished, another mistake, or a great move that was found. Where no name is known
to be the user's, the moves of both sides count; in imported games also where the only names are those under
which the user has played on this page.
"""

import json
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any

from goryu.analysis.judgement import MISTAKES, MoveClass
from goryu_page.dojo.database import Database
from goryu_page.dojo.problems import NewProblem, ProblemKind, Problems

LONGEST_TSUME = 13
"""Plies of a missed mate that is asked as a mate problem, at most."""

COLLECTED = "problems.collected"
"""The key of the setting that remembers which reviews have been collected, and for which names."""

_OF_OTHERS = """
DELETE FROM problems WHERE state != 'removed' AND id NOT IN (SELECT problem FROM attempts) AND EXISTS (
    SELECT 1 FROM plies JOIN games ON games.id = plies.game
    WHERE plies.game = problems.game AND plies.ply = problems.ply
    AND CASE plies.turn WHEN 0 THEN black ELSE white END NOT IN (SELECT name FROM me)
)
"""
"""Deletes the problems about moves of others that were never answered."""

_OF_IMPORTED = "SELECT 1 FROM me JOIN games ON file != '' AND name IN (black, white) LIMIT 1"
"""Finds whether the user has a name in an imported game."""

_collecting = Lock()

Json = dict[str, Any]


def collect(database: Database) -> int:
    """Makes candidates of the reviews that are new since the last call; returns how many.

    After a change of the user's names all reviews are new, and candidates and problems about moves of others
    that were never answered go. Each game is a transaction: others need not wait for all of them.
    """
    with _collecting:
        names = sorted(row["name"] for row in database.rows("SELECT name FROM me"))
        last = database.setting(COLLECTED, {"reviewed": "", "names": names})
        is_named = bool(database.rows(_OF_IMPORTED))
        if last["names"] != names:
            if is_named:
                database.run(_OF_OTHERS)
            last["reviewed"] = ""
        # A review of the same second may have come after the last call; what is known is not added again.
        reviews = database.rows(
            "SELECT game, reviewed FROM reviews WHERE reviewed >= ? ORDER BY reviewed", last["reviewed"]
        )
        problems, added = Problems(database), 0
        for row in reviews:
            with database.transaction():
                added += problems.add(list(_candidates(database, row["game"], names, is_named)))
        newest = reviews[-1]["reviewed"] if reviews else last["reviewed"]
        database.set_setting(COLLECTED, {"reviewed": newest, "names": names})
        return added


def _candidates(database: Database, game: int, names: Sequence[str], is_named: bool) -> Iterator[NewProblem]:
    """Yields the candidates of a game. is_named: has the user a name in an imported game?"""
    rows = database.rows("SELECT * FROM games WHERE id = ?", game)
    if not rows:
        return  # It was deleted meanwhile.
    row = rows[0]
    moves = row["moves"].split()
    players = (row["black"], row["white"])
    is_one_sided = names and (is_named or not row["file"])
    plies = database.rows("SELECT * FROM plies WHERE game = ? ORDER BY ply", game)
    classes = {ply["ply"]: ply["kind"] for ply in plies}
    for ply in plies:
        judgement = json.loads(ply["judgement"])
        kind = _kind(judgement, classes.get(ply["ply"] - 1, ""))
        if kind is None or (is_one_sided and players[ply["turn"]] not in names):
            continue
        source = {"names": list(players), "date": row["date"], "ply": ply["ply"]}
        content: Json = {"source": source, "loss": round(float(ply["loss"]), 4)}
        if judgement["allows_mate"]:
            content["allows_mate"] = judgement["allows_mate"]
        way = tuple(moves[: ply["ply"] - 1])
        yield NewProblem(kind, row["start"], way, content, moves[len(way)], game, ply["ply"])


def _kind(judgement: Json, before: str) -> ProblemKind | None:
    """Returns what a move can ask for, or None. before: the class of the opponent's move before it."""
    kind, missed, allows = judgement["kind"], judgement["missed_mate"], judgement["allows_mate"]
    if missed and missed <= LONGEST_TSUME:
        return ProblemKind.TSUME
    if kind in MISTAKES:
        if allows:
            return ProblemKind.MATE
        return ProblemKind.UNPUNISHED if before in MISTAKES else ProblemKind.MISTAKE
    return ProblemKind.ONLY if kind == MoveClass.GREAT else None
