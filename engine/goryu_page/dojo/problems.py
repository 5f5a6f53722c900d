"""The problems of the database: they begin as candidates, and a check decides which are asked."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from goryu.analysis.description import board_after
from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu_page.dojo.database import Database, now
from goryu_page.dojo.games import position_key
from goryu_page.tsume.problem import starter_set

STARTER = "problems.starter"
"""The key of the setting that remembers how many mate problems of the starter set were added."""

ORDER = "(SELECT date FROM games WHERE games.id = problems.game) DESC, game DESC, ply, problems.id"
"""The order of new problems in SQL: those of the newest games, in the order of the game, then the others."""

MIXED = (
    "game IS NULL, CASE WHEN game IS NULL THEN ROW_NUMBER() OVER"
    f" (PARTITION BY game IS NULL, json_extract(content, '$.length') ORDER BY {ORDER}) END, {ORDER}"
)
"""`ORDER`, but of the problems without a game one of each length follows the other."""

_PLY = "FROM plies WHERE plies.game = problems.game AND plies.ply = problems.ply"

_NEXT = f"""
SELECT * FROM problems WHERE state = 'candidate' AND game IS (
    SELECT id FROM games
    WHERE EXISTS (SELECT 1 FROM problems WHERE problems.game = games.id AND state = 'candidate')
    ORDER BY date DESC, id DESC LIMIT 1
)
ORDER BY kind = 'tsume' DESC, (SELECT phase = 'opening' {_PLY}),
    (SELECT json_extract(judgement, '$.lead') {_PLY}) DESC, ply, id
LIMIT 1
"""
"""Finds the candidate to check next: of the newest game, then of those without one; of each game what is
likely to be sound: mates, whose check is short, then positions after the opening in which one move led the
others most."""

Json = dict[str, Any]


class ProblemKind(StrEnum):
    """What a problem asks for."""

    MISTAKE = "mistake"  # what was better than the user's move
    UNPUNISHED = "unpunished"  # what punishes the opponent's mistake
    MATE = "mate"  # what does not allow the mate
    ONLY = "only"  # the only good move, which the user found
    TSUME = "tsume"  # the whole mate
    OPENING = "opening"  # a move of the user's repertoire
    IMPORTED = "imported"  # the next move, from a file


class ProblemState(StrEnum):
    """Is a problem asked? Only sound ones are."""

    CANDIDATE = "candidate"
    SOUND = "sound"
    UNSOUND = "unsound"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem; see the table `problems`.

    content: for a mate problem {"length": plies, "line": [moves]}; for the others, after the check if any,
    {"answers": [{"move", "win_rate", "accepted", "line"}, ...]}, the best first, with win rates in [0, 1] for
    the side to move. `source` in it tells the game: {"names": [black, white], "date", "ply"}. Of a game also
    "loss" and, if so, "allows_mate" (plies), as the review found them; "title": of the file; "reason": why
    the check refused it. A candidate has neither line nor answers yet.
    """

    id: int
    game: int | None
    ply: int | None
    kind: ProblemKind
    start: str
    moves: tuple[str, ...]
    played: str
    state: ProblemState
    playouts: int
    content: Json


@dataclass(frozen=True, slots=True)
class NewProblem:
    """A problem that is not in the database yet; the fields are those of `Problem`."""

    kind: ProblemKind
    start: str
    moves: tuple[str, ...]
    content: Json
    played: str = ""
    game: int | None = None
    ply: int | None = None
    state: ProblemState = ProblemState.CANDIDATE


class Problems:
    """The problems of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, problems: Sequence[NewProblem]) -> int:
        """Adds problems; one of the same kind with the same position is there already. Returns how many."""
        rows = [
            {
                "game": problem.game,
                "ply": problem.ply,
                "kind": problem.kind.value,
                "start": problem.start,
                "moves": " ".join(problem.moves),
                # The start of a mate problem may lack a king, so it makes no board.
                "key": position_key(
                    board_after(problem.start, problem.moves).sfen() if problem.moves else problem.start
                ),
                "played": problem.played,
                "state": problem.state.value,
                "playouts": 0,
                "content": json.dumps(problem.content),
                "made": now(),
            }
            for problem in problems
        ]
        with self._database.transaction():
            return sum(self._database.insert("problems", row) is not None for row in rows)

    def add_starter_set(self) -> None:
        """Adds the mate problems that come with Goryu, once for each size of the set."""
        tsume = starter_set()
        if self._database.setting(STARTER, 0) == len(tsume):
            return
        with self._database.transaction():
            self.add(
                [
                    NewProblem(
                        ProblemKind.TSUME,
                        one.sfen,
                        (),
                        {"length": one.length, "line": list(one.solution)},
                        state=ProblemState.SOUND,
                    )
                    for one in tsume
                ]
            )
            self._database.set_setting(STARTER, len(tsume))

    def get(self, identity: int) -> Problem:
        """Returns a problem; raises InputError if there is none of this number."""
        rows = self._database.rows("SELECT * FROM problems WHERE id = ?", identity)
        if not rows:
            raise InputError(tr("There is no problem {number}.", number=identity))
        return _problem(rows[0])

    def sound_one(self, identity: int) -> Problem:
        """Returns a problem that may be asked; raises InputError if it may not, or if there is none."""
        if (problem := self.get(identity)).state is not ProblemState.SOUND:
            raise InputError(tr("There is no problem {number}.", number=identity))
        return problem

    def next_candidate(self) -> Problem | None:
        """Returns the candidate to check next, the most promising of the newest game, or None."""
        rows = self._database.rows(_NEXT)
        return _problem(rows[0]) if rows else None

    def decide(self, identity: int, state: ProblemState, playouts: int, content: Json) -> None:
        """Keeps the result of a check; a problem that was removed meanwhile stays so."""
        statement = (
            "UPDATE problems SET state = ?, playouts = ?, content = ? WHERE id = ? AND state = 'candidate'"
        )
        self._database.run(statement, state.value, playouts, json.dumps(content), identity)

    def set_content(self, identity: int, content: Json) -> None:
        """Replaces the content of a problem; what the user has answered stays."""
        self._database.run("UPDATE problems SET content = ? WHERE id = ?", json.dumps(content), identity)

    def remove(self, identity: int) -> None:
        """Never asks a problem again."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE problems SET state = 'removed' WHERE id = ?", (identity,))
            connection.execute("DELETE FROM cards WHERE problem = ?", (identity,))

    def counts(self) -> dict[str, dict[str, int]]:
        """Returns how many problems there are, by kind and state."""
        counts = {kind.value: {state.value: 0 for state in ProblemState} for kind in ProblemKind}
        rows = self._database.rows("SELECT kind, state, COUNT(*) AS n FROM problems GROUP BY kind, state")
        for row in rows:
            states = counts.get(row["kind"], {})
            if row["state"] in states:  # Not in a damaged row.
                states[row["state"]] = row["n"]
        return counts

    def refusals(self) -> dict[str, int]:
        """Returns how many candidates were refused, by the reason of `checking.Verdict`."""
        rows = self._database.rows(
            "SELECT reason, COUNT(*) AS n FROM problems"
            " WHERE state = 'unsound' GROUP BY reason ORDER BY n DESC, reason"
        )
        return {row["reason"] or "": row["n"] for row in rows}

    def has_new(self) -> bool:
        """Is there a sound problem from a game that was never answered?"""
        return bool(
            self._database.rows(
                "SELECT 1 FROM problems WHERE state = 'sound' AND game IS NOT NULL"
                " AND id NOT IN (SELECT problem FROM attempts) LIMIT 1"
            )
        )

    def sound(self) -> list[Problem]:
        """Returns the sound problems, those made last first."""
        rows = self._database.rows("SELECT * FROM problems WHERE state = 'sound' ORDER BY id DESC")
        return [_problem(row) for row in rows]

    def pick(
        self, kind: ProblemKind, lengths: tuple[int, int] | None = None, avoid: Collection[int] = ()
    ) -> Problem | None:
        """Returns a sound problem of a kind for free training: one never answered, or answered long ago.

        lengths: the least and the most plies of a mate problem. avoid: those that are not wanted again, if
        there is another.
        """
        shortest, longest = lengths or (None, None)
        rows = self._database.rows(
            "SELECT problems.*, (SELECT MAX(at) FROM attempts WHERE problem = problems.id) AS answered"
            " FROM problems WHERE state = 'sound' AND kind = ?"
            " AND (? IS NULL OR json_extract(content, '$.length') BETWEEN ? AND ?)"
            " ORDER BY problems.id IN (SELECT value FROM json_each(?)), answered IS NOT NULL, answered, "
            f"{MIXED} LIMIT 1",
            kind.value,
            shortest,
            shortest,
            longest,
            json.dumps(list(avoid)),
        )
        return _problem(rows[0]) if rows else None

    def any_tsume(self, length: int, avoid: Collection[int] = ()) -> Problem | None:
        """Returns some sound mate problem. length: its plies. avoid: if there is another of this length."""
        rows = self._database.rows(
            "SELECT * FROM problems WHERE state = 'sound' AND kind = 'tsume'"
            " ORDER BY ABS(json_extract(content, '$.length') - ?), id IN (SELECT value FROM json_each(?)),"
            " RANDOM() LIMIT 1",
            length,
            json.dumps(list(avoid)),
        )
        return _problem(rows[0]) if rows else None

    def lengths(self) -> dict[int, int]:
        """Returns how many sound mate problems there are, by plies."""
        rows = self._database.rows(
            "SELECT json_extract(content, '$.length') AS length, COUNT(*) AS n FROM problems"
            " WHERE state = 'sound' AND kind = 'tsume' GROUP BY length ORDER BY length"
        )
        return {row["length"]: row["n"] for row in rows}


def _problem(row: Any) -> Problem:
    return Problem(
        row["id"],
        row["game"],
        row["ply"],
        ProblemKind(row["kind"]),
        row["start"],
        tuple(row["moves"].split()),
        row["played"],
        ProblemState(row["state"]),
        row["playouts"],
        json.loads(row["content"]),
    )
