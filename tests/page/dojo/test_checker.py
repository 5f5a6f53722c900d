"""The checks of candidates, step by step."""

from pathlib import Path

import pytest

from goryu.analysis.position_searcher import PositionSearcher
from goryu.base.errors import InputError
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.set_up.loading import load_evaluator
from goryu_page.dojo.checker import AWAITED, Checker
from goryu_page.dojo.checking import Verdict
from goryu_page.dojo.database import Database
from goryu_page.dojo.problems import NewProblem, Problem, ProblemKind, Problems
from goryu_page.dojo.settings import change_training_settings
from goryu_page.dojo.timing import TIMING, Timing

CONFIG = EngineConfig(evaluator=EvaluatorConfig(kind="material"))


@pytest.fixture
def database(tmp_path: Path) -> Database:
    database = Database(tmp_path / "dojo.sqlite3")
    change_training_settings(database, {"playouts": 100})
    candidates = [
        NewProblem(ProblemKind.MISTAKE, "4k4/9/4P4/9/9/9/9/r8/4K4 b G 1", (), {}, "5c5b+"),
        NewProblem(ProblemKind.TSUME, "4k4/9/4P4/9/9/9/9/r8/4K4 b G 1", (), {}),
    ]
    assert Problems(database).add(candidates) == 2
    return database


def searcher() -> PositionSearcher:
    return PositionSearcher(load_evaluator(CONFIG.evaluator, print), CONFIG)


def decided(database: Database) -> int:
    return sum(states["sound"] for states in Problems(database).counts().values())


def test_candidates_are_checked_when_the_machine_is_free(database: Database) -> None:
    is_free, changes = False, list[int]()
    checker = Checker(database, searcher, lambda: is_free, lambda: changes.append(decided(database)))
    assert checker.step() == TIMING.look_s
    assert (decided(database), checker.is_running, checker.is_urgent) == (0, True, True)
    is_free = True
    assert [checker.step() for _ in range(3)] == [0.0, 0.0, None]
    assert (changes, checker.is_running, checker.is_urgent) == ([1, 2, 2], False, False)


def test_the_rest_is_told_when_a_check_of_each_kind_that_waits_was_measured(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0

    def slow(_: object, problem: Problem, *__: object) -> Verdict:
        nonlocal now_s
        now_s += 1.0 if problem.kind is ProblemKind.TSUME else 60.0
        return Verdict("", {})

    monkeypatch.setattr("goryu_page.dojo.checker.check", slow)
    timing = Timing(clock=lambda: now_s)
    checker = Checker(database, searcher, lambda: True, lambda: None, timing)
    told = [checker.seconds(0, 0), checker.seconds(1, 1)]
    for _ in range(2):
        checker.step()
        told += [checker.seconds(10, 0), checker.seconds(10, 5)]
    assert told == [0.0, None, 10.0, None, 10.0, 310.0]


def test_a_review_waits_for_the_first_checks_only(database: Database) -> None:
    sfens = [f"4k4/9/9/9/9/9/9/{file}K{8 - file}/9 b - 1" for file in range(1, 1 + AWAITED)]
    Problems(database).add([NewProblem(ProblemKind.MISTAKE, sfen, (), {}) for sfen in sfens])
    checker = Checker(database, searcher, lambda: True, lambda: None)
    waits = list[bool]()
    for steps in (0, AWAITED, 0):
        for _ in range(steps):
            checker.step()
        if not steps:
            checker.wake()  # A game has been reviewed.
        waits.append(checker.is_urgent)
    assert waits == [True, False, True]
    assert Problems(database).next_candidate() is not None


def test_a_check_goes_on_when_the_machine_is_free_again(database: Database) -> None:
    looks = iter([True, False, False])
    checker = Checker(database, searcher, lambda: next(looks, True), lambda: None, Timing(look_s=0.0))
    assert checker.step() == 0.0
    assert (next(looks, None), decided(database)) == (None, 1)


def test_a_check_that_was_cut_off_is_done_the_next_time(database: Database) -> None:
    looks = iter([True])

    def free() -> bool:
        if next(looks, False):
            return True
        first.close()
        return False

    first = Checker(database, searcher, free, lambda: None)
    first.step()
    assert decided(database) == 0
    second = Checker(database, searcher, lambda: True, lambda: None)
    assert [second.step() for _ in range(3)] == [0.0, 0.0, None]
    assert decided(database) == 2


def test_a_network_that_cannot_be_loaded_is_told_and_tried_again_when_woken(database: Database) -> None:
    told, failures = list[bool](), iter([InputError("no network")])

    def sometimes_missing() -> PositionSearcher:
        for failure in failures:
            raise failure
        return searcher()

    checker = Checker(database, sometimes_missing, lambda: True, lambda: told.append(checker.is_running))
    checker.wake()
    assert checker.step() is None
    assert (checker.failure, told) == ("no network", [False])
    checker.wake()
    assert checker.failure == ""
    assert checker.step() == 0.0
    assert decided(database) == 1
