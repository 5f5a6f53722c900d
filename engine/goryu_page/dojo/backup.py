"""Copies of the database: one is written to be kept, and one is read back by merging it into the database."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.base.sqlite_file import FAULTS
from goryu_page.dojo.backup_rows import check_rows
from goryu_page.dojo.database import Database
from goryu_page.dojo.games import game_digest, indexed_positions, next_number
from goryu_page.dojo.problems import ProblemKind, ProblemState
from goryu_page.dojo.reviews import summarise
from goryu_page.dojo.schema import MIGRATIONS
from goryu_page.dojo.settings import KEY as TRAINING
from goryu_page.dojo.strength import KEY as STRENGTH

APPLICATION = 1196380761
"""`PRAGMA application_id` of the database, which the first migration sets."""


@dataclass(slots=True)
class Merged:
    """What a merge added."""

    games: int = 0
    problems: int = 0
    attempts: int = 0


def check_backup(path: Path) -> None:
    """Raises InputError unless the file is a whole database of the dojo; does not change it."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            is_known = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION
            is_whole = is_known and connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version <= len(MIGRATIONS):
                is_whole = is_whole and _columns(connection) == _columns_of_version(version)
        except FAULTS:
            is_known = is_whole = False
    if not is_known:
        raise InputError(tr("expected a backup of your games (a file dojo.sqlite3)"))
    if not is_whole:
        raise InputError(tr("the backup is damaged"))


def _columns(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Returns the columns of all tables, each as (table, column)."""
    return set(
        connection.execute(
            "SELECT t.name, c.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c"
            " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        )
    )


def _columns_of_version(version: int) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statements in MIGRATIONS[:version]:
            connection.executescript(statements)
        return _columns(connection)


def merge(database: Database, path: Path) -> Merged:
    """Adds what a backup has and the database lacks. After an error another merge adds the rest.

    path: a file of its own, which is migrated if an older Goryu wrote it.

    A game, a problem or an attempt that both have stays once. Of two reviews the one with more playouts
    stays, of two cards that of the later attempt. A problem that one of them has checked is checked, one that
    the user has removed from one of them is removed, and the moves of a repertoire are joined. Of the
    settings only those of the training and the user's strength come, where the database has none.

    Raises:
        InputError: the file is no backup, is damaged or comes from a newer Goryu.
    """
    check_backup(path)
    backup = Database(path)
    try:
        check_rows(backup)
        return _Merge(backup, database).run()
    except (KeyError, ValueError) as error:  # A row names another one that is not there.
        if isinstance(error, InputError):
            raise
        raise InputError(tr("the backup is damaged")) from error
    finally:
        backup.close()


_DECIDED = {
    ProblemState.CANDIDATE: 0,
    ProblemState.UNSOUND: 1,
    ProblemState.SOUND: 1,
    ProblemState.REMOVED: 2,
}
"""Of two states of one problem the one with the higher number counts: a check, or the user's removal."""


class _Merge:
    def __init__(self, backup: Database, database: Database) -> None:
        self._backup = backup
        self._database = database
        self._games: dict[int, int] = {}
        self._problems: dict[int, int] = {}
        self._done = Merged()

    def run(self) -> Merged:
        # Each game is a transaction: other threads and processes need not wait for all of them.
        for row in self._backup.rows("SELECT * FROM games ORDER BY id"):
            self._add_game(dict(row))
        for row in self._backup.rows("SELECT * FROM reviews"):
            self._add_review(dict(row))
        with self._database.transaction():
            for row in self._backup.rows("SELECT * FROM problems ORDER BY id"):
                self._add_problem(dict(row))
            # The cards come first: they are compared by the attempts on both sides.
            for row in self._backup.rows("SELECT * FROM cards"):
                self._add_card(dict(row))
            for row in self._backup.rows("SELECT * FROM attempts ORDER BY id"):
                self._add_attempt(dict(row))
            for row in self._backup.rows("SELECT * FROM me"):
                self._database.insert("me", dict(row))
            for row in self._backup.rows("SELECT * FROM settings"):
                if row["key"] in (TRAINING, STRENGTH):
                    self._database.insert("settings", dict(row))
        return self._done

    def _add_game(self, row: dict[str, Any]) -> None:
        old, moves = row.pop("id"), row["moves"].split()
        row["digest"] = game_digest(row["start"], moves)
        same = "SELECT id FROM games WHERE digest = ?"
        if (new := self._find(same, row["digest"])) is None:
            positions = list(indexed_positions(row["start"], moves))
            with self._database.transaction() as connection:
                added = self._database.insert("games", {"id": next_number(self._database), **row})
                self._done.games += added is not None
                new = added or self._find(same, row["digest"])
                connection.executemany(
                    "INSERT OR IGNORE INTO positions (game, ply, key, move) VALUES (?, ?, ?, ?)",
                    ((new, *position) for position in positions),
                )
        assert new is not None
        self._games[old] = new

    def _add_review(self, row: dict[str, Any]) -> None:
        old = row["game"]
        new = row["game"] = self._games[old]
        known = self._find("SELECT playouts FROM reviews WHERE game = ?", new)
        if known is not None and known >= row["playouts"]:
            return
        row["is_collected"] = 0
        with self._database.transaction() as connection:
            for table in ("plies", "reviews"):
                connection.execute(f"DELETE FROM {table} WHERE game = ?", (new,))
            self._database.insert("reviews", row)
            for ply in self._backup.rows("SELECT * FROM plies WHERE game = ?", old):
                self._database.insert("plies", {**dict(ply), "game": new})
            summarise(connection, new)

    def _add_problem(self, row: dict[str, Any]) -> None:
        old, _ = row.pop("id"), row.pop("reason")
        row["game"] = self._games.get(row["game"])
        is_new = self._database.insert("problems", row) is not None
        same = "SELECT * FROM problems WHERE key = ? AND kind = ?"
        known = self._database.rows(same, row["key"], row["kind"])[0]
        self._problems[old] = known["id"]
        if is_new:
            self._done.problems += 1
        elif known["kind"] == ProblemKind.OPENING and known["state"] == row["state"]:
            content = json.loads(known["content"])
            ours = {answer["move"] for answer in content["answers"]}
            theirs = json.loads(row["content"])["answers"]
            content["answers"] += [answer for answer in theirs if answer["move"] not in ours]
            self._update(known["id"], {"content": json.dumps(content)})
        elif _DECIDED[row["state"]] > _DECIDED[known["state"]]:
            self._update(known["id"], {name: row[name] for name in ("state", "playouts", "content")})

    def _update(self, problem: int, changes: dict[str, Any]) -> None:
        names = ", ".join(f"{name} = ?" for name in changes)
        self._database.run(f"UPDATE problems SET {names} WHERE id = ?", *changes.values(), problem)

    def _add_attempt(self, row: dict[str, Any]) -> None:
        del row["id"]
        row["problem"] = self._problems[row["problem"]]
        same = "SELECT id FROM attempts WHERE problem = ? AND at = ? AND move = ?"
        if self._find(same, row["problem"], row["at"], row["move"]) is None:
            self._database.insert("attempts", row)
            self._done.attempts += 1

    def _add_card(self, row: dict[str, Any]) -> None:
        last = "SELECT MAX(at) FROM attempts WHERE problem = ?"
        theirs = self._backup.rows(last, row["problem"])[0][0] or ""
        row["problem"] = self._problems[row["problem"]]
        if theirs > (self._find(last, row["problem"]) or ""):
            self._database.run("DELETE FROM cards WHERE problem = ?", row["problem"])
        self._database.insert("cards", row)

    def _find(self, statement: str, *values: object) -> Any:
        rows = self._database.rows(statement, *values)
        return rows[0][0] if rows else None
