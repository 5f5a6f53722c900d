"""How the user has developed: accuracy and mistakes by month, problems solved by day."""

from typing import Any

from goryu.analysis.judgement import MISTAKES
from goryu_page.dojo.database import Database
from goryu_page.dojo.games import SIDE
from goryu_page.dojo.phases import Phase

_OWN = f"""
SELECT id, substr(date, 1, 7) AS month, {SIDE} AS side FROM games WHERE date != '' AND {SIDE} IS NOT NULL
"""
"""The user's own games, with the month and the side that the user played."""


def progress(database: Database, minutes: int) -> dict[str, Any]:
    """Returns what the charts show, of the user's own reviewed games with a date.

    minutes: from UTC to the user's time, by which the days of problems begin.

    months: oldest first, {"month": "2026-11", "games", "accuracy": mean, 0 to 100}, with "mistakes": by
    class, then by phase, how many in all games of the month. days: {"day", "attempts", "right"} of problems.
    """
    months = database.rows(
        "SELECT month, COUNT(*) AS games,"
        " AVG(CASE side WHEN 0 THEN black_accuracy ELSE white_accuracy END) AS accuracy"
        f" FROM ({_OWN}) AS own JOIN reviews ON reviews.game = own.id GROUP BY month ORDER BY month"
    )
    kinds = ", ".join(f"'{kind}'" for kind in MISTAKES)  # As the index `mistakes` has them.
    mistakes = database.rows(
        f"SELECT month, kind, phase, COUNT(*) AS count FROM ({_OWN}) AS own"
        " JOIN plies INDEXED BY mistakes ON plies.game = own.id AND plies.turn = own.side"
        f" WHERE kind IN ({kinds}) GROUP BY month, kind, phase"
    )
    counts: dict[str, dict[str, dict[str, int]]] = {
        row["month"]: {kind: dict.fromkeys(Phase, 0) for kind in MISTAKES} for row in months
    }
    for row in mistakes:
        counts[row["month"]][row["kind"]][row["phase"]] = row["count"]
    days = database.rows(
        "SELECT date(at, ?) AS day, COUNT(*) AS attempts, SUM(is_right) AS right FROM attempts"
        " GROUP BY day ORDER BY day",
        f"{minutes:+d} minutes",
    )
    return {
        "months": [{**dict(row), "mistakes": counts[row["month"]]} for row in months],
        "days": [dict(row) for row in days],
    }
