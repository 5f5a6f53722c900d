"""The thread that checks candidates."""

from pathlib import Path
from threading import Event

import pytest

from goryu.analysis.position_searcher import PositionSearcher
from goryu.base.errors import InputError
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.set_up.loading import load_evaluator
from goryu_page.dojo.checker import Checker
from goryu_page.dojo.database import Database
from goryu_page.dojo.problems import NewProblem, ProblemKind, Problems
from goryu_page.dojo.settings import change_training_settings

CONFIG = EngineConfig(evaluator=EvaluatorConfig(kind="material"))
WAIT_S = 60


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
    looked, is_free, all_done = Event(), Event(), Event()

    def free() -> bool:
        looked.set()
        return is_free.is_set()

    def on_change() -> None:
        if decided(database) == 2:
            all_done.set()

    checker = Checker(database, searcher, free, on_change)
    checker.wake()
    assert looked.wait(WAIT_S)
    assert decided(database) == 0
    is_free.set()
    assert all_done.wait(WAIT_S)
    checker.close()


def test_a_check_that_was_cut_off_is_done_the_next_time(database: Database) -> None:
    looked = Event()

    def never() -> bool:
        looked.set()
        return False

    first = Checker(database, searcher, never, lambda: None)
    first.wake()
    assert looked.wait(WAIT_S)
    first.close()
    assert decided(database) == 0
    done = Event()
    second = Checker(database, searcher, lambda: True, lambda: done.set() if decided(database) == 2 else None)
    second.wake()
    assert done.wait(WAIT_S)
    second.close()


def test_a_network_that_cannot_be_loaded_is_told(database: Database) -> None:
    told = Event()

    def missing() -> PositionSearcher:
        raise InputError("no network")

    checker = Checker(database, missing, lambda: True, told.set)
    checker.wake()
    assert told.wait(WAIT_S)
    assert checker.failure == "no network"
    checker.close()
