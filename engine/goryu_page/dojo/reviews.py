"""The reviews of the user's games in the database: which game is next, and what a finished review leaves."""

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from sqlite3 import Connection

from goryu.analysis.judgement import MISTAKES
from goryu.analysis.position_analysis import PositionAnalysis
from goryu.analysis.review import LEAST_VISITS, GameReview, PlyReview
from goryu_page.dojo.database import Database, now
from goryu_page.dojo.phases import phases
from goryu_page.fields import converted

PLAYOUTS = 400
"""For each position, unless the user chooses another number."""

PLIES = "length(moves) - length(replace(moves, ' ', '')) + 1"
"""The number of moves of a row of the table `games`, in SQL."""

_TO_DO = """
FROM games LEFT JOIN reviews ON reviews.game = games.id
WHERE games.collection = 'mine' AND (reviews.game IS NULL OR reviews.reviewed < ?)
AND games.id NOT IN (SELECT value FROM json_each(?))
"""


PLAYOUTS_KEY, IS_PAUSED, AGAIN_SINCE = "review.playouts", "review.is_paused", "review.again_since"
"""The keys of the settings."""


@dataclass(frozen=True, slots=True)
class Work:
    """games: the user's games; left: those to review; positions: of all games to review."""

    games: int
    left: int
    positions: int


class Reviews:
    """The reviews of a database, and the settings of the background review."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # The settings; all servers that use the database share them.

    @property
    def playouts(self) -> int:
        """Playouts for each position of the next reviews."""
        return int(self._database.setting(PLAYOUTS_KEY, PLAYOUTS))

    @playouts.setter
    def playouts(self, number: int) -> None:
        self._database.set_setting(PLAYOUTS_KEY, number)

    @property
    def is_paused(self) -> bool:
        """Has the user paused the background review?"""
        return bool(self._database.setting(IS_PAUSED, False))

    @is_paused.setter
    def is_paused(self, value: bool) -> None:
        self._database.set_setting(IS_PAUSED, value)

    def ask_again(self) -> None:
        """Has all games reviewed again; each keeps its old review until the new one is whole."""
        self._database.set_setting(AGAIN_SINCE, now())

    # The work.

    def work(self, skipped: Collection[int] = ()) -> Work:
        """Returns how much there is to review. skipped: games that are left out."""
        values = self._database.setting(AGAIN_SINCE, ""), json.dumps(list(skipped))
        row = self._database.rows(f"SELECT COUNT(*), COALESCE(SUM({PLIES} + 1), 0) {_TO_DO}", *values)[0]
        games = self._database.rows("SELECT COUNT(*) FROM games WHERE collection = 'mine'")[0][0]
        return Work(games, row[0], row[1])

    def next_game(self, skipped: Collection[int] = ()) -> int | None:
        """Returns the game to review next, the newest first, or None; those without a review come first."""
        values = self._database.setting(AGAIN_SINCE, ""), json.dumps(list(skipped))
        order = "ORDER BY reviews.game IS NOT NULL, games.date DESC, games.id DESC LIMIT 1"
        rows = self._database.rows(f"SELECT games.id {_TO_DO} {order}", *values)
        return rows[0][0] if rows else None

    def judgement(self, game: int, ply: int) -> PlyReview | None:
        """Returns the judgement of a move of a reviewed game; None if there is none."""
        rows = self._database.rows("SELECT judgement FROM plies WHERE game = ? AND ply = ?", game, ply)
        return converted(json.loads(rows[0]["judgement"]), PlyReview) if rows else None

    def playouts_of(self, game: int) -> int:
        """Returns the playouts of the review of a game, 0 without one."""
        rows = self._database.rows("SELECT playouts FROM reviews WHERE game = ?", game)
        return int(rows[0][0]) if rows else 0

    def keep(self, game: int, review: GameReview, engine: str) -> bool:
        """Writes a finished review in place of an older one; returns False if the game was deleted."""
        summaries = [review.summary(turn) for turn in (0, 1)]
        accuracies = [summary.accuracy for summary in summaries]
        mistakes = [sum(summary.counts[kind] for kind in MISTAKES) for summary in summaries]
        row = {
            "game": game,
            "playouts": review.playouts,
            "engine": engine,
            "black_accuracy": accuracies[0],
            "white_accuracy": accuracies[1],
            "black_mistakes": mistakes[0],
            "white_mistakes": mistakes[1],
            "reviewed": now(),
        }
        phase = [each.value for each in phases(review.start, review.moves)]
        plies = [
            (game, ply.ply, ply.turn, ply.kind, ply.loss, phase[ply.ply - 1], json.dumps(judgement))
            for ply in review.plies()
            if (before := review.analyses[ply.ply - 1]) is not None
            and (judgement := asdict(ply) | {"lead": round(lead(before), 4)})
        ]
        with self._database.transaction() as connection:
            if not connection.execute("SELECT 1 FROM games WHERE id = ?", (game,)).fetchone():
                return False
            for table in ("plies", "reviews"):
                connection.execute(f"DELETE FROM {table} WHERE game = ?", (game,))
            self._database.insert("reviews", row)
            connection.executemany("INSERT INTO plies VALUES (?, ?, ?, ?, ?, ?, ?)", plies)
            summarise(connection, game)
        return True


def summarise(connection: Connection, game: int) -> None:
    """Writes what views ask of all games at once; call it in each transaction that changes the plies."""
    rate = "SELECT json_extract(judgement, '$.played_win_rate') FROM plies"
    rate += " WHERE plies.game = positions.game AND plies.ply = positions.ply"
    connection.execute(f"UPDATE positions SET rate = ({rate}) WHERE game = ?", (game,))
    kinds = ", ".join(f"'{kind}'" for kind in MISTAKES)
    phases = "SELECT kind || ' ' || phase AS name, COUNT(*) AS n FROM plies"
    phases += f" WHERE game = reviews.game AND turn = {{}} AND kind IN ({kinds}) GROUP BY name"
    phases = f"(SELECT json_group_object(name, n) FROM ({phases}))"
    changes = f"black_phases = {phases.format(0)}, white_phases = {phases.format(1)}"
    connection.execute(f"UPDATE reviews SET {changes} WHERE game = ?", (game,))


def lead(analysis: PositionAnalysis) -> float:
    """Returns by how much win rate the best move leads the others: 1.0 if none of them was worth a look."""
    others = [
        move.value
        for move in analysis.moves[1:]
        if move.value is not None and (move.visits >= LEAST_VISITS or move.mate)
    ]
    return (analysis.value - max(others)) / 2 if others else 1.0
