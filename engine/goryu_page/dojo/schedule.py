"""The list of each day: problems that are due and new ones, mixed, with an end.

The library fsrs decides when a problem is due again, in whole days. The first answer to a problem
that is new or due counts:

- wrong, or the solution was asked for: "again", and the problem comes back on the next day;
- right after a hint: "hard"; right: "good";
- right without a hint within EASY_S seconds for each move: "easy".

A day begins at midnight where the machine is. All times that are given must have a time zone.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from fsrs import Card, Rating, Scheduler

from goryu_page.dojo.database import Database
from goryu_page.dojo.problems import MIXED, Problems
from goryu_page.dojo.settings import TrainingSettings, training_settings, tsume_lengths

EASY_S = 10.0

NEW_SHARE = 3
"""One problem of so many is new, also on a day on which more are due than the list holds."""

MOST_S = 300.0
"""A longer time for an answer counts as this: the user was elsewhere."""

TYPICAL_S = 45.0
"""How long a problem takes, to say how many fit in the minutes, until five were answered."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The first answer to a problem that was shown.

    move: in USI; "" if the user asked for the solution. hints: how many. seconds: until the answer came,
    without its judgement. is_free: was it outside the list of the day? It may make the problem due, but is
    not done of the list.
    """

    problem: int
    at: datetime
    move: str
    is_right: bool
    hints: int
    seconds: float
    is_free: bool = False


@dataclass(frozen=True, slots=True)
class Day:
    """The list of a day.

    problems: still to answer, in order. done, right: of the list, answered and right. seconds: spent on it.
    due_tomorrow: problems that are due by the end of the next day.
    """

    problems: tuple[int, ...]
    done: int
    right: int
    seconds: float
    due_tomorrow: int

    @property
    def is_over(self) -> bool:
        """Is nothing left of the list?"""
        return not self.problems


def rating_of(attempt: Attempt, moves: int = 1) -> Rating:
    """Returns the rating of an answer. moves: that the user had to find."""
    if not attempt.is_right:
        return Rating.Again
    if attempt.hints:
        return Rating.Hard
    return Rating.Easy if attempt.seconds <= EASY_S * moves else Rating.Good


class Schedule:
    """The attempts and the cards of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._problems = Problems(database)
        # Without steps of minutes every card is due in whole days, and without fuzz the same ones for all.
        self._scheduler = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)

    def attempts(self, problem: int) -> list[Attempt]:
        """Returns the attempts at a problem, the last one first."""
        rows = self._database.rows(
            "SELECT * FROM attempts WHERE problem = ? ORDER BY at DESC, id DESC", problem
        )
        return [
            Attempt(
                problem,
                datetime.fromisoformat(row["at"]),
                row["move"],
                bool(row["is_right"]),
                row["hints"],
                row["seconds"],
                bool(row["is_free"]),
            )
            for row in rows
        ]

    def keep(self, attempt: Attempt) -> None:
        """Keeps an attempt; if the problem is new or due, it also says when the problem comes back.

        While the schedule is switched off, nothing becomes due. Raises InputError: the problem is gone, as
        after a change of the user's names.
        """
        at = _text(attempt.at)
        seconds = round(min(MOST_S, attempt.seconds), 1)
        row = (attempt.problem, at, attempt.move, attempt.is_right, attempt.hints, seconds, attempt.is_free)
        with self._database.transaction() as connection:
            problem = self._problems.get(attempt.problem)
            connection.execute(
                "INSERT INTO attempts (problem, at, move, is_right, hints, seconds, is_free)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            if not training_settings(self._database).is_scheduled:
                return
            kept = connection.execute(
                "SELECT card, due FROM cards WHERE problem = ?", (attempt.problem,)
            ).fetchone()
            if kept and kept["due"] >= _end_of_day(attempt.at):
                return
            card = Card.from_json(kept["card"]) if kept else Card(card_id=attempt.problem)
            length = problem.content.get("length", 1)
            rating = rating_of(attempt, (length + 1) // 2)
            card, _ = self._scheduler.review_card(card, rating, attempt.at.astimezone(UTC))
            connection.execute(
                "INSERT OR REPLACE INTO cards VALUES (?, ?, ?)",
                (attempt.problem, _text(card.due), card.to_json()),
            )

    def day(self, at: datetime) -> Day:
        """Returns the list of a day as it is at this time."""
        settings = training_settings(self._database)
        today = self._database.rows(
            "SELECT problem, is_right, seconds, MIN(id) FROM attempts"
            " WHERE at >= ? AND at < ? AND NOT is_free GROUP BY problem",
            _start_of_day(at),
            _end_of_day(at),
        )
        seconds = sum(row["seconds"] for row in today)
        room = self._room(settings, len(today), seconds)
        due = self._due(_end_of_day(at))
        taken = self._taken(at)
        seen = sum(taken.values())
        wanted = (len(today) + room) // NEW_SHARE - seen
        new = self._new(settings, min(room, max(room - len(due), wanted, 0)), taken)
        due = due[: room - len(new)]
        return Day(
            tuple(_in_turn([due, new], [len(today) - seen, seen])),
            len(today),
            sum(row["is_right"] for row in today),
            seconds,
            len(self._due(_end_of_day(at + timedelta(days=1)))),
        )

    def _room(self, settings: TrainingSettings, done: int, seconds: float) -> int:
        if settings.unit == "problems":
            return max(0, settings.amount - done)
        left_s = 60 * settings.amount - seconds
        each_s = seconds / done if done >= 5 else TYPICAL_S
        return max(1, round(left_s / max(1.0, each_s))) if left_s > 0 else 0

    def _due(self, end: str) -> list[int]:
        rows = self._database.rows(
            "SELECT problem FROM cards JOIN problems ON problems.id = problem"
            " WHERE due < ? AND state = 'sound' ORDER BY due, problem",
            end,
        )
        return [row["problem"] for row in rows]

    def _taken(self, at: datetime) -> dict[str, int]:
        """Returns how many problems of each kind the list of this day asked for the first time."""
        rows = self._database.rows(
            "SELECT kind, COUNT(*) AS count FROM problems"
            " JOIN (SELECT problem, MIN(at) AS first, is_free FROM attempts GROUP BY problem)"
            " ON problem = problems.id WHERE first >= ? AND first < ? AND NOT is_free GROUP BY kind",
            _start_of_day(at),
            _end_of_day(at),
        )
        return {row["kind"]: row["count"] for row in rows}

    def _new(self, settings: TrainingSettings, count: int, taken: dict[str, int]) -> list[int]:
        """Returns problems that have no card yet, of each kind in turn. taken: of each kind today, before."""
        by_kind, (shortest, longest) = [], tsume_lengths(self._database)
        places: dict[int, tuple[int | None, int]] = {}
        for kind in settings.kinds:
            rows = self._database.rows(
                "SELECT id, game, ply FROM problems WHERE state = 'sound' AND kind = ?"
                " AND (kind != 'tsume' OR json_extract(content, '$.length') BETWEEN ? AND ?)"
                " AND id NOT IN (SELECT problem FROM cards)"
                f" ORDER BY {MIXED} LIMIT ?",
                kind,
                shortest,
                longest,
                count,
            )
            by_kind.append([row["id"] for row in rows])
            places |= {row["id"]: (row["game"], row["ply"]) for row in rows}
        chosen = _in_turn(by_kind, [taken.get(kind, 0) for kind in settings.kinds])[:count]
        return _in_order_of_games(chosen, places)


def _in_turn(lists: list[list[int]], taken: list[int]) -> list[int]:
    """Returns one of each list, then the next of each, and so on. taken: of each list, before these."""
    ranked = [
        (before + at, number, one)
        for number, (some, before) in enumerate(zip(lists, taken, strict=True))
        for at, one in enumerate(some)
    ]
    return [one for _, _, one in sorted(ranked)]


def _in_order_of_games(problems: list[int], places: dict[int, tuple[int | None, int]]) -> list[int]:
    """Returns the problems, those of one game in its order; the others stay. places: (game, ply) of each."""
    by_game: dict[int, list[int]] = {}
    for one in sorted(problems, key=lambda one: places[one][1] or 0):
        if (game := places[one][0]) is not None:
            by_game.setdefault(game, []).append(one)
    return [one if (game := places[one][0]) is None else by_game[game].pop(0) for one in problems]


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


def _start_of_day(at: datetime) -> str:
    local = at.astimezone()
    return _text(datetime.combine(local.date(), time()).astimezone())


def _end_of_day(at: datetime) -> str:
    local = at.astimezone()
    return _text(datetime.combine(local.date() + timedelta(days=1), time()).astimezone())
