"""The user's games: read from files, kept once, listed and filtered."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from msgspec import Meta

from goryu.analysis.description import board_after
from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.kifu.reading import parse_records
from goryu.kifu.record import GameRecord, RecordError
from goryu.kifu.writing import to_kif
from goryu_page.dojo.database import Database, now
from goryu_page.dojo.openings import opening_of
from goryu_page.dojo.strength import count_result

Collection = Literal["mine", "records"]

LAST_DELETED = "games.deleted"
"""The setting that has a number as high as that of any game that was deleted."""

MOST_PLIES = 2000
"""A longer game, or line of moves, is refused: a search cannot use it."""

Moves = Annotated[list[str], Meta(max_length=MOST_PLIES)]
"""In USI."""

SIDE = """CASE
WHEN black IN (SELECT name FROM me) AND white NOT IN (SELECT name FROM me) THEN 0
WHEN white IN (SELECT name FROM me) AND black NOT IN (SELECT name FROM me) THEN 1 END"""
"""The side that the user played in a row of the table `games`, in SQL; NULL if it is none or both."""


@dataclass(frozen=True, slots=True)
class Game:
    """A game of the database; `names` are those of black and white. See the table `games`."""

    id: int
    start: str
    moves: tuple[str, ...]
    names: tuple[str, str]
    date: str
    winner: int | None
    ending: str
    opening: str
    file: str
    record: str


@dataclass(frozen=True, slots=True)
class KeptGame:
    """A game that was played on this page and kept. moves: with which it begins."""

    number: int
    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game that was played on this page.

    me: the name of the user in it, "" for two people. replaced: the game in place of which it is kept.
    opponent: the rating of the level that was the opponent, and score: the user's, see `Strength.after`; None
    if the result says nothing of the user's strength.
    """

    record: GameRecord
    me: str
    replaced: KeptGame | None = None
    opponent: float | None = None
    score: float | None = None


@dataclass(slots=True)
class Imported:
    """What an import did. faults: the games that could not be read, as messages with file and line."""

    added: list[int] = field(default_factory=list)
    duplicates: int = 0
    faults: list[str] = field(default_factory=list)


def next_number(database: Database) -> int:
    """Returns the number of the next game: pages remember numbers, so none is used again."""
    (row,) = database.rows("SELECT MAX(id) FROM games")
    return max(int(row[0] or 0), int(database.setting(LAST_DELETED, 0))) + 1


def position_key(sfen: str) -> bytes:
    """Returns the key of a position: board, side to move and pieces in hand, without the number of the move.

    sfen: as `Board.sfen` writes it, so that equal positions have equal texts.
    """
    return hashlib.blake2b(" ".join(sfen.split()[:3]).encode(), digest_size=8).digest()


def game_digest(start: str, moves: Sequence[str]) -> bytes:
    """Returns what two equal games share: start and moves."""
    return hashlib.blake2b(" ".join((*start.split()[:3], *moves)).encode(), digest_size=16).digest()


class Games:
    """The games of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_file(
        self, data: bytes | str, name: str, collection: Collection = "mine", folder: str = ""
    ) -> Imported:
        """Adds the games of one file; damaged games are listed as faults, in the database too.

        collection: "records" for games to look at only. A game that is known stays where it is.
        folder: the watched one in which the file lies under this name.
        Each game is a transaction. Raises DatabaseError, such as for a full disk; the games before it stay.
        """
        imported = Imported()
        self._database.run("DELETE FROM faults WHERE folder = ? AND file = ?", folder, name)
        for game in _readable(data, name):
            if isinstance(game, RecordError):
                imported.faults.append(game.translated())
                self.add_fault(name, game.line, game.problem, folder)
            elif (added := self.add(game, name, collection)) is None:
                imported.duplicates += 1
            else:
                imported.added.append(added)
        return imported

    def add_fault(self, file: str, line: int | None, problem: str, folder: str = "") -> None:
        """Lists a game that could not be read. line: from 1, or None. folder: as for `add_file`."""
        row = {"folder": folder, "file": file, "line": line, "problem": problem, "seen": now()}
        self._database.insert("faults", row)

    def faults(self, most: int = 500) -> list[dict[str, Any]]:
        """Returns the games that could not be read, the newest first, as {"file", "line", "problem"}."""
        rows = self._database.rows("SELECT file, line, problem FROM faults ORDER BY id DESC LIMIT ?", most)
        return [dict(row) for row in rows]

    def forget_faults(self) -> None:
        """Empties the list of games that could not be read."""
        self._database.run("DELETE FROM faults")

    def add(self, record: GameRecord, file: str = "", collection: Collection = "mine") -> int | None:
        """Adds a game; returns its number, or None if the same moves are known."""
        row = {
            "collection": collection,
            "digest": game_digest(record.start, record.moves),
            "start": record.start,
            "moves": " ".join(record.moves),
            "black": record.names[0],
            "white": record.names[1],
            "date": record.date,
            "winner": record.winner,
            "ending": record.ending.value,
            "opening": opening_of(record.start, record.moves),
            "file": file,
            "record": to_kif(record),
            "imported": now(),
        }
        positions = list(indexed_positions(record.start, record.moves))
        with self._database.transaction() as connection:
            added = self._database.insert("games", {"id": next_number(self._database), **row})
            if added is not None:
                connection.executemany(
                    "INSERT INTO positions (game, ply, key, move) VALUES (?, ?, ?, ?)",
                    ((added, *position) for position in positions),
                )
            return added

    def keep(self, played: PlayedGame) -> tuple[int, bool]:
        """Keeps a game that was played here; its name of the user is one of theirs.

        Returns its number, and whether it is new. A game that is known stays as it is, and its result does
        not count again.
        """
        with self._database.transaction():
            if played.replaced is not None and self._is_here(played.replaced):
                self.delete(played.replaced.number)
            added = self.add(played.record)
            if added is None:
                digest = game_digest(played.record.start, played.record.moves)
                return int(self._database.rows("SELECT id FROM games WHERE digest = ?", digest)[0][0]), False
            if played.me:
                self._database.run("INSERT OR IGNORE INTO me VALUES (?)", played.me)
            if played.opponent is not None and played.score is not None:
                count_result(self._database, played.opponent, played.score)
            return added, True

    def _is_here(self, kept: KeptGame) -> bool:
        """Is it a game of this database, and not another one with its number?"""
        rows = self._database.rows("SELECT moves FROM games WHERE id = ? AND file = ''", kept.number)
        return bool(rows) and tuple(rows[0]["moves"].split()[: len(kept.moves)]) == kept.moves

    def has(self, identity: int) -> bool:
        """Is there a game of this number?"""
        return bool(self._database.rows("SELECT 1 FROM games WHERE id = ?", identity))

    def get(self, identity: int) -> Game:
        """Returns a game; raises InputError if there is none of this number."""
        rows = self._database.rows("SELECT * FROM games WHERE id = ?", identity)
        if not rows:
            raise InputError(tr("There is no game {number}.", number=identity))
        row = dict(rows[0])
        same = ("id", "start", "date", "winner", "ending", "opening", "file", "record")
        fields = {name: row[name] for name in same}
        return Game(**fields, moves=tuple(row["moves"].split()), names=(row["black"], row["white"]))

    def side_of(self, identity: int) -> int | None:
        """Returns the side that the user played in a game, as `SIDE` does."""
        side = self._database.rows(f"SELECT {SIDE} FROM games WHERE id = ?", identity)[0][0]
        return None if side is None else int(side)

    def delete(self, identity: int) -> None:
        """Deletes a game with its review; its problems stay."""
        with self._database.transaction():
            last = next_number(self._database) - 1
            self._database.run("DELETE FROM games WHERE id = ?", identity)
            self._database.set_setting(LAST_DELETED, last)

    # Whose games.

    def me(self) -> list[str]:
        """Returns the names under which the user plays."""
        return [row["name"] for row in self._database.rows("SELECT name FROM me ORDER BY name")]

    def set_me(self, names: Sequence[str]) -> None:
        """Replaces the names under which the user plays."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM me")
            connection.executemany("INSERT OR IGNORE INTO me VALUES (?)", ((name,) for name in names if name))

    def names(self) -> list[dict[str, Any]]:
        """Returns the players of the user's games with the number of their games, the most frequent first."""
        found = self._database.rows(
            "SELECT name, COUNT(*) AS games FROM"
            " (SELECT black AS name FROM games WHERE collection = 'mine'"
            " UNION ALL SELECT white FROM games WHERE collection = 'mine')"
            " WHERE name != '' GROUP BY name ORDER BY games DESC, name LIMIT 500"
        )
        return [dict(row) for row in found]


def _readable(data: bytes | str, name: str) -> Iterator[GameRecord | RecordError]:
    for game in parse_records(data, name):
        if isinstance(game, GameRecord) and len(game.moves) > MOST_PLIES:
            yield RecordError(tr("expected at most {count} moves", count=MOST_PLIES), name)
        elif isinstance(game, GameRecord) and not game.moves:
            yield RecordError(tr("the game has no move"), name)
        else:
            yield game


def indexed_positions(start: str, moves: Sequence[str]) -> Iterator[tuple[int, bytes, str]]:
    """Yields the number, the key and the move of each position, as the table `positions` has them."""
    board = board_after(start, ())
    for ply, move in enumerate(moves, start=1):
        yield ply, position_key(board.sfen()), move
        board.push_usi(move)
    yield len(moves) + 1, position_key(board.sfen()), ""
