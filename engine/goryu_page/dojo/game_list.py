"""The list of the user's games: filtered, sorted and cut into pages by the database."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from goryu_page.dojo.database import Database
from goryu_page.dojo.games import SIDE, Collection
from goryu_page.dojo.openings import opening_names
from goryu_page.dojo.reviews import PLIES

DRAWS = ("repetition", "impasse", "draw", "maximum ply")
"""The endings, of those without a winner, that are draws."""

BEHIND = 0.1
"""Who wins after a win rate of less than this has turned the game."""

CLOSE, LAST_PLIES, LONG_GAME = 0.4, 10, 60
"""A game of so many moves is close if the loser had this win rate within so many plies of the end."""

_FROM = "FROM games LEFT JOIN reviews ON reviews.game = games.id"

_OWN = f"CASE {SIDE} WHEN 1 THEN white_{{0}} ELSE black_{{0}} END"

Side = Literal["", "me", "black", "white"]
Result = Literal["", "won", "lost", "drawn"]
Reviewed = Literal["", "yes", "no"]
Sort = Literal["date", "black", "white", "result", "opening", "accuracy", "mistakes"]

SORTS: Mapping[Sort, str] = {
    "date": "date",
    "black": "black",
    "white": "white",
    "result": f"CASE WHEN winner IS NULL THEN 1 WHEN winner = {SIDE} THEN 2 ELSE 0 END",
    "opening": "opening",
    "accuracy": _OWN.format("accuracy"),
    "mistakes": _OWN.format("mistakes"),
}
"""What the list can be sorted by. Accuracy and mistakes are the user's, else black's."""


class Filter(Struct):
    """Which games are listed, or count in the explorer; "" leaves a field open.

    text: words, all of which are in a name, the opening (in either language) or the file.
    side: that of the user; "me": either. result: seen from the user.
    opening: a code. since, until: dates such as 2026-11-26, both included.
    """

    collection: Collection | Literal[""] = ""
    text: str = ""
    side: Side = ""
    result: Result = ""
    opening: str = ""
    since: str = ""
    until: str = ""
    reviewed: Reviewed = ""


def list_games(
    database: Database, wanted: Filter, sort: Sort, *, is_descending: bool, first: int, count: int
) -> dict[str, Any]:
    """Returns {"total": how many games fit, "games": those of one page}.

    first: of the page, from 0. A game has `id`, `date`, `black`, `white`, `winner`,
    `isDraw`, `side` (the user's, or None), `opening` (a code), `file`, `moves` (how many), `reviewed`, and of
    reviewed games `accuracy` and `mistakes` of both sides, and `tags` (see `_tags`).
    """
    condition, values = condition_of(database, wanted)
    total = database.rows(f"SELECT COUNT(*) {_FROM} WHERE {condition}", *values)[0][0]
    direction = "DESC" if is_descending else "ASC"
    # Games without a value come last, whatever the direction.
    order = f"{SORTS[sort]} {direction} NULLS LAST, date DESC, id DESC"
    rows = database.rows(
        f"SELECT id, date, black, white, winner, ending, {SIDE} AS side, opening, file, playouts,"
        f" {PLIES} AS plies,"
        f" black_accuracy, white_accuracy, black_mistakes, white_mistakes {_FROM}"
        f" WHERE {condition} ORDER BY {order} LIMIT ? OFFSET ?",
        *values,
        count,
        first,
    )
    plies: dict[int, list[Any]] = {row["id"]: [] for row in rows}
    for ply in database.rows(
        "SELECT game, ply, turn, json_extract(judgement, '$.played_win_rate') AS rate,"
        " json_extract(judgement, '$.missed_mate') AS missed FROM plies"
        " WHERE game IN (SELECT value FROM json_each(?))",
        json.dumps(list(plies)),
    ):
        plies[ply["game"]].append(ply)
    return {"total": total, "games": [_shown(row) | {"tags": _tags(row, plies[row["id"]])} for row in rows]}


def _tags(game: Any, plies: Sequence[Any]) -> list[str]:
    """Returns what was special: "turned", a "missed" mate (the user's, if the side is known), "close"."""
    tags = []
    winner = game["winner"]
    if winner is not None:
        rates = {ply["ply"]: ply["rate"] if ply["turn"] == winner else 1 - ply["rate"] for ply in plies}
        late = (rate for ply, rate in rates.items() if ply > game["plies"] - LAST_PLIES)
        if any(rate < BEHIND for rate in rates.values()):
            tags.append("turned")
        if game["plies"] >= LONG_GAME and any(1 - rate >= CLOSE for rate in late):
            tags.append("close")
    if any(ply["missed"] and game["side"] in (None, ply["turn"]) for ply in plies):
        tags.append("missed")
    return tags


def _shown(row: Any) -> dict[str, Any]:
    names = ("id", "date", "black", "white", "winner", "side", "opening", "file")
    return {name: row[name] for name in names} | {
        "moves": row["plies"],
        "isDraw": row["winner"] is None and row["ending"] in DRAWS,
        "reviewed": row["playouts"],
        "accuracy": [row["black_accuracy"], row["white_accuracy"]],
        "mistakes": [row["black_mistakes"], row["white_mistakes"]],
    }


def condition_of(database: Database, wanted: Filter) -> tuple[str, list[object]]:
    """Returns a condition on the tables `games` and, for `reviewed`, `reviews`; and its values."""
    parts, values = ["1"], list[object]()

    def add(part: str, *more: object) -> None:
        parts.append(part)
        values.extend(more)

    words = wanted.text[:200].split()[:8]
    known = openings(database) if words else []
    for word in words:
        pattern = "%" + word.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_") + "%"
        like = " OR ".join(rf"{column} LIKE ? ESCAPE '\'" for column in ("black", "white", "file"))
        fitting = [one["code"] for one in known if _fits(word, one)]
        marks = ", ".join("?" * len(fitting))
        add(f"({like} OR opening IN ({marks}))", pattern, pattern, pattern, *fitting)
    if wanted.side:
        add({"me": f"{SIDE} IS NOT NULL", "black": f"{SIDE} = 0", "white": f"{SIDE} = 1"}[wanted.side])
    if wanted.result == "drawn":
        add(f"winner IS NULL AND ending IN ({', '.join('?' * len(DRAWS))})", *DRAWS)
    elif wanted.result:
        add(f"winner = {'' if wanted.result == 'won' else '1 - '}{SIDE}")
    for column, comparison, value in (
        ("collection", "=", wanted.collection),
        ("opening", "=", wanted.opening),
        ("date", ">=", wanted.since),
        ("date", "<=", wanted.until),
    ):
        if value:
            add(f"{column} {comparison} ?", value)
    if wanted.until:
        add("date != ''")
    if wanted.reviewed:
        add(f"reviews.game IS {'NOT ' if wanted.reviewed == 'yes' else ''}NULL")
    return " AND ".join(f"({part})" for part in parts), values


def _fits(word: str, opening: Mapping[str, Any]) -> bool:
    return word.lower() in opening["en"] or word in opening["ja"]


def openings(database: Database) -> list[dict[str, Any]]:
    """Returns the openings of all games as {"code", "ja", "en"}, the most frequent first."""
    rows = database.rows(
        "SELECT opening AS code FROM games WHERE opening != ''"
        " GROUP BY opening ORDER BY COUNT(*) DESC, opening"
    )
    return [{**dict(row), **opening_names(row["code"])} for row in rows]
