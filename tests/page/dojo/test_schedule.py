"""The list of each day. The clock is the test's: a day after the other, at noon where the machine is."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fsrs import Rating

from goryu.base.errors import InputError
from goryu.kifu.reading import parse_record
from goryu_page.dojo.database import Database
from goryu_page.dojo.games import Games
from goryu_page.dojo.problems import NewProblem, ProblemKind, Problems, ProblemState
from goryu_page.dojo.schedule import Attempt, Schedule, rating_of
from goryu_page.dojo.settings import change_training_settings, training_settings
from goryu_page.dojo.strength import Strength, set_grade

NOON = datetime(2026, 11, 26, 12).astimezone()
DAY = timedelta(days=1)


@pytest.fixture
def database(database: Database) -> Database:
    problems = [
        NewProblem(
            kind, f"{file}k7/9/9/9/9/9/9/9/4K4 b {hand} 1", (), {"answers": []}, state=ProblemState.SOUND
        )
        for kind, hand in ((ProblemKind.MISTAKE, "G"), (ProblemKind.ONLY, "S"))
        for file in range(1, 4)
    ]
    assert Problems(database).add(problems) == 6
    change_training_settings(database, {"amount": 4})
    return database


def answer(
    schedule: Schedule, problem: int, at: datetime, *, is_right: bool = True, seconds: float = 30
) -> None:
    schedule.keep(Attempt(problem, at, "7g7f", is_right, 0, seconds))


def test_a_day_ends_and_the_next_one_asks_what_was_wrong_and_what_is_new(database: Database) -> None:
    schedule = Schedule(database)
    day = schedule.day(NOON)
    assert day.problems == (1, 4, 2, 5)  # The kinds in turn.
    for problem in day.problems:
        answer(schedule, problem, NOON, is_right=problem != 4)
    over = schedule.day(NOON)
    assert over.is_over
    assert (over.done, over.right, over.seconds) == (4, 3, 120)

    # Right answers come back after days: fsrs begins with 2.3065 days for "good".
    assert over.due_tomorrow == 1
    tomorrow = schedule.day(NOON + DAY)
    assert tomorrow.problems == (4, 3, 6)
    assert tomorrow.done == 0
    answer(schedule, 4, NOON + DAY)
    assert 4 not in schedule.day(NOON + DAY).problems
    assert set(schedule.day(NOON + 2 * DAY).problems) >= {1, 2, 5}


def test_kinds_and_new_problems_keep_their_turn_from_answer_to_answer(database: Database) -> None:
    schedule = Schedule(database)
    asked = []
    for _ in range(4):
        asked.append(schedule.day(NOON).problems[0])
        answer(schedule, asked[-1], NOON, is_right=False)
    assert asked == [1, 4, 2, 5]
    change_training_settings(database, {"amount": 3})
    asked = []
    while not (day := schedule.day(NOON + DAY)).is_over:
        asked.append(day.problems[0])
        answer(schedule, asked[-1], NOON + DAY)
    assert asked == [1, 3, 2]  # Four are due, and one of three is new.


def test_only_the_first_answer_of_a_day_decides(database: Database) -> None:
    schedule = Schedule(database)
    answer(schedule, 1, NOON, is_right=False)
    answer(schedule, 1, NOON + timedelta(minutes=5))
    assert schedule.day(NOON + DAY).problems[0] == 1
    assert [attempt.is_right for attempt in schedule.attempts(1)] == [True, False]
    assert schedule.day(NOON).right == 0


def test_problems_of_a_game_come_in_its_order_and_the_newest_game_first(tmp_path: Path) -> None:
    database = Database(tmp_path / "dojo.sqlite3")
    games = [Games(database).add(parse_record(f"startpos moves 7g7f {reply}")) for reply in ("3c3d", "8c8d")]
    with database.transaction() as connection:
        connection.execute("UPDATE games SET date = '2026-11-01' WHERE id = ?", (games[0],))
    made = [
        NewProblem(kind, f"4k4/9/9/9/9/9/9/9/4K4 b {ply}P 1", (), {}, "", game, ply, ProblemState.SOUND)
        for kind, game, ply in (
            (ProblemKind.MISTAKE, games[1], 4),
            (ProblemKind.MISTAKE, games[0], 9),
            (ProblemKind.MISTAKE, games[0], 5),
            (ProblemKind.ONLY, games[0], 7),
            (ProblemKind.ONLY, games[0], 3),
        )
    ]
    Problems(database).add(made)
    asked = [Problems(database).get(one).ply for one in Schedule(database).day(NOON).problems]
    assert asked == [3, 5, 7, 9, 4]


def test_free_training_uses_nothing_of_the_list_up_but_makes_a_problem_due(database: Database) -> None:
    schedule = Schedule(database)
    assert schedule.day(NOON).problems == (1, 4, 2, 5)
    for problem in (1, 4):
        schedule.keep(Attempt(problem, NOON, "7g7f", False, 0, 30, is_free=True))
    day = schedule.day(NOON)
    assert (day.problems, day.done, day.seconds) == ((2, 5, 3, 6), 0, 0)
    assert set(schedule.day(NOON + DAY).problems) >= {1, 4}


def test_new_mates_are_as_long_as_the_strength_says_and_of_each_length_in_turn(tmp_path: Path) -> None:
    database = Database(tmp_path / "dojo.sqlite3")
    mates = [
        NewProblem(ProblemKind.TSUME, f"4k4/9/4P4/9/9/9/9/9/9 b G{number}P 1", (), {"length": length},
                   state=ProblemState.SOUND)
        for number, length in enumerate((1, 1, 3, 3, 5, 5, 7, 9, 13), start=2)
    ]  # fmt: skip
    Problems(database).add(mates)

    def asked() -> list[int]:
        found = map(Problems(database).get, Schedule(database).day(NOON).problems)
        return [problem.content["length"] for problem in found]

    assert asked() == [1, 3, 5, 1, 3, 5]  # Nothing is known of the user.
    set_grade(database, "1k")
    assert asked() == [3, 5, 7, 3, 5]
    change_training_settings(database, {"shortest_tsume": 7})
    assert asked() == [7]
    change_training_settings(database, {"longest_tsume": 13})
    assert asked() == [7, 9, 13]
    with pytest.raises(InputError, match="beginner"):
        set_grade(database, "9d")


def test_results_move_the_strength_the_first_ones_more() -> None:
    first, later = Strength(1550), Strength(1550, 20)
    assert first.after(1550, 1).rating - 1550 > later.after(1550, 1).rating - 1550 > 0
    assert later.after(1550, 0.5).rating == 1550
    assert (first.grade, first.level) == ("5k", 5)
    for _ in range(30):
        first = first.after(1550, 0)
    assert (first.grade, first.level) == ("10k", 4)


def test_minutes_end_a_day_too(database: Database) -> None:
    change_training_settings(database, {"unit": "minutes", "amount": 2})
    schedule = Schedule(database)
    assert len(schedule.day(NOON).problems) == 3  # Of 45 seconds each.
    answer(schedule, 1, NOON, seconds=100)
    assert len(schedule.day(NOON).problems) == 1
    answer(schedule, 4, NOON, seconds=20)
    assert schedule.day(NOON).is_over
    assert not schedule.day(NOON + DAY).is_over


def test_without_a_schedule_nothing_becomes_due(database: Database) -> None:
    change_training_settings(database, {"is_scheduled": False})
    schedule = Schedule(database)
    answer(schedule, 1, NOON, is_right=False)
    assert database.rows("SELECT * FROM cards") == []
    change_training_settings(database, {"is_scheduled": True, "kinds": ["mistake"]})
    assert schedule.day(NOON + DAY).problems == (1, 2, 3)


def test_a_day_is_that_of_the_users_clock(database: Database) -> None:
    schedule = Schedule(database)
    late, early = NOON.replace(hour=23, minute=59), (NOON + DAY).replace(hour=0, minute=1)
    answer(schedule, 1, late.astimezone(UTC))
    assert schedule.day(late).done == 1
    assert schedule.day(early).done == 0


def test_ratings_follow_from_the_answer() -> None:
    def rating(is_right: bool, hints: int, seconds: float, moves: int = 1) -> Rating:
        return rating_of(Attempt(1, NOON, "", is_right, hints, seconds), moves)

    assert rating(False, 0, 1) is Rating.Again
    assert rating(True, 1, 1) is Rating.Hard
    assert rating(True, 0, 30) is Rating.Good
    assert rating(True, 0, 5) is Rating.Easy
    assert rating(True, 0, 30, moves=3) is Rating.Easy


@pytest.mark.parametrize(
    "changes", [{"amount": 0}, {"amount": True}, {"unit": "hours"}, {"kinds": ["x"]}, {"nothing": 1}]
)
def test_settings_that_make_no_sense_change_nothing(database: Database, changes: dict[str, object]) -> None:
    before = training_settings(database)
    with pytest.raises(InputError):
        change_training_settings(database, {"threshold": 0.2, **changes})
    assert training_settings(database) == before


def test_an_answer_to_a_problem_that_is_gone_is_refused(database: Database) -> None:
    with pytest.raises(InputError, match="There is no problem 99"):
        answer(Schedule(database), 99, NOON)
