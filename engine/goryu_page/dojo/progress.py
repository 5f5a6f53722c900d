"""How the user has developed: accuracy and mistakes by month, problems solved by day."""

import json
from collections import Counter
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
        " AVG(CASE side WHEN 0 THEN black_accuracy ELSE white_accuracy END) AS accuracy,"
        " '[' || GROUP_CONCAT(CASE side WHEN 0 THEN black_phases ELSE white_phases END) || ']' AS phases"
        f" FROM ({_OWN}) AS own JOIN reviews ON reviews.game = own.id GROUP BY month ORDER BY month"
    )
    days = database.rows(
        "SELECT date(at, ?) AS day, COUNT(*) AS attempts, SUM(is_right) AS right FROM attempts"
        " GROUP BY day ORDER BY day",
        f"{minutes:+d} minutes",
    )
    return {
        "months": [
            {name: row[name] for name in ("month", "games", "accuracy")}
            | {"mistakes": _sum(json.loads(row["phases"]))}
            for row in months
        ],
        "days": [dict(row) for row in days],
    }


def _sum(games: list[dict[str, int]]) -> dict[str, dict[str, int]]:
    """Returns how many mistakes there were by class, then by phase. games: as `reviews` has them."""
    counts = Counter[str]()
    for phases in games:
        counts.update(phases)
    return {kind: {phase: counts[f"{kind} {phase}"] for phase in Phase} for kind in MISTAKES}
