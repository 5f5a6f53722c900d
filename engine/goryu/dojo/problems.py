"""Problems from the user's reviewed games: they begin as candidates, and a check decides which are asked.

A move of the user becomes at most one candidate: a mate that was missed, a mate that was allowed, a mistake
of the opponent that was not punished, another mistake, or a great move that was found. Where no name is known
to be the user's, the moves of both sides count.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock
from typing import Any

from goryu.analysis.description import board_after
from goryu.analysis.judgement import MISTAKES, MoveClass
from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.dojo.database import Database, now
from goryu.dojo.games import position_key
from goryu.dojo.tsume.problem import starter_set

LONGEST_TSUME = 13
"""Plies of a missed mate that is asked as a mate problem, at most."""

COLLECTED = "problems.collected"
"""The key of the setting that remembers which reviews have been collected, and for which names."""

STARTER = "problems.starter"
"""The key of the setting that remembers how many mate problems of the starter set were added."""

ORDER = "(SELECT date FROM games WHERE games.id = problems.game) DESC, game DESC, ply, problems.id"
"""The order of new problems in SQL: those of the newest games, in the order of the game, then the others."""

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
    the side to move. `source` in it tells the game: {"names": [black, white], "date", "ply"}.
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
        self._collecting = Lock()

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

    def collect(self) -> int:
        """Makes candidates of the reviews that are new since the last call; returns how many.

        After a change of the user's names all reviews are new, and candidates and problems of the other side
        that were never answered go. Each game is a transaction: others need not wait for all of them.
        """
        with self._collecting:
            return self._collect()

    def _collect(self) -> int:
        names = sorted(row["name"] for row in self._database.rows("SELECT name FROM me"))
        last = self._database.setting(COLLECTED, {"reviewed": "", "names": names})
        if last["names"] != names:
            with self._database.transaction() as connection:
                connection.execute(
                    "DELETE FROM problems WHERE game IS NOT NULL AND state != 'removed'"
                    " AND id NOT IN (SELECT problem FROM attempts)"
                )
            last["reviewed"] = ""
        # A review of the same second may have come after the last call; what is known is not added again.
        reviews = self._database.rows(
            "SELECT game, reviewed FROM reviews WHERE reviewed >= ? ORDER BY reviewed", last["reviewed"]
        )
        added = 0
        for row in reviews:
            with self._database.transaction():
                added += self.add(list(self._candidates(row["game"], names)))
        newest = reviews[-1]["reviewed"] if reviews else last["reviewed"]
        self._database.set_setting(COLLECTED, {"reviewed": newest, "names": names})
        return added

    def _candidates(self, game: int, names: Sequence[str]) -> Iterator[NewProblem]:
        rows = self._database.rows("SELECT * FROM games WHERE id = ?", game)
        if not rows:
            return  # It was deleted meanwhile.
        row = rows[0]
        moves = row["moves"].split()
        players = (row["black"], row["white"])
        plies = self._database.rows("SELECT * FROM plies WHERE game = ? ORDER BY ply", game)
        classes = {ply["ply"]: ply["kind"] for ply in plies}
        for ply in plies:
            judgement = json.loads(ply["judgement"])
            kind = _kind(judgement, classes.get(ply["ply"] - 1, ""))
            if kind is None or (names and players[ply["turn"]] not in names):
                continue
            source = {"names": list(players), "date": row["date"], "ply": ply["ply"]}
            content: Json = {"source": source, "loss": round(float(ply["loss"]), 4)}
            if judgement["allows_mate"]:
                content["allows_mate"] = judgement["allows_mate"]
            way = tuple(moves[: ply["ply"] - 1])
            yield NewProblem(kind, row["start"], way, content, moves[len(way)], game, ply["ply"])

    def get(self, identity: int) -> Problem:
        """Returns a problem; raises InputError if there is none of this number."""
        rows = self._database.rows("SELECT * FROM problems WHERE id = ?", identity)
        if not rows:
            raise InputError(tr("problem {number}: there is none", number=identity))
        return _problem(rows[0])

    def next_candidate(self) -> Problem | None:
        """Returns the candidate to check next, of the newest game, or None."""
        rows = self._database.rows(
            f"SELECT * FROM problems WHERE state = 'candidate' ORDER BY {ORDER} LIMIT 1"
        )
        return _problem(rows[0]) if rows else None

    def decide(self, identity: int, state: ProblemState, playouts: int, content: Json) -> None:
        """Keeps the result of a check; a problem that was removed meanwhile stays so."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE problems SET state = ?, playouts = ?, content = ?"
                " WHERE id = ? AND state = 'candidate'",
                (state.value, playouts, json.dumps(content), identity),
            )

    def set_content(self, identity: int, content: Json) -> None:
        """Replaces the content of a problem; what the user has answered stays."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE problems SET content = ? WHERE id = ?", (json.dumps(content), identity)
            )

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
            counts[row["kind"]][row["state"]] = row["n"]
        return counts

    def sound(self) -> list[Problem]:
        """Returns the sound problems, those made last first."""
        rows = self._database.rows("SELECT * FROM problems WHERE state = 'sound' ORDER BY id DESC")
        return [_problem(row) for row in rows]

    def pick(self, kind: ProblemKind, length: int | None = None, avoid: int | None = None) -> Problem | None:
        """Returns a sound problem of a kind for free training: one never answered, or answered long ago.

        length: plies of a mate problem. avoid: a problem that is not wanted again, if there is another.
        """
        rows = self._database.rows(
            "SELECT problems.*, (SELECT MAX(at) FROM attempts WHERE problem = problems.id) AS answered"
            " FROM problems WHERE state = 'sound' AND kind = ?"
            " AND (? IS NULL OR json_extract(content, '$.length') = ?)"
            " ORDER BY problems.id = COALESCE(?, -1), answered IS NOT NULL, answered, " + ORDER + " LIMIT 1",
            kind.value,
            length,
            length,
            avoid,
        )
        return _problem(rows[0]) if rows else None

    def lengths(self) -> dict[int, int]:
        """Returns how many sound mate problems there are, by plies."""
        rows = self._database.rows(
            "SELECT json_extract(content, '$.length') AS length, COUNT(*) AS n FROM problems"
            " WHERE state = 'sound' AND kind = 'tsume' GROUP BY length ORDER BY length"
        )
        return {row["length"]: row["n"] for row in rows}


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
