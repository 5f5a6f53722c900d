"""Background work by steps: in a thread, and without one."""

from collections.abc import Callable
from threading import Event

import pytest

from goryu.base.errors import InputError
from goryu_page.dojo.timing import Timing
from goryu_page.dojo.worker import Worker

WAIT_S = 60


class Doing(Worker):
    """Does what it is given. steps: how many there were. problem: the last one."""

    def __init__(self, do: Callable[["Doing"], float | None], look_s: float = 3600.0) -> None:
        super().__init__("doing", Timing(look_s=look_s))
        self._do = do
        self.steps, self.problem = 0, ""
        self.is_done = Event()

    def _work(self) -> float | None:
        self.steps += 1
        return self._do(self)

    def _failed(self, problem: str) -> float | None:
        self.problem = problem
        return 7.0


def run(worker: Doing) -> None:
    worker.start()
    assert worker.is_done.wait(WAIT_S)
    worker.close()


def test_steps_follow_at_once_while_there_is_work() -> None:
    def do(worker: Doing) -> float | None:
        if worker.steps < 3:
            return 0.0
        worker.is_done.set()
        return None

    run(worker := Doing(do))
    assert worker.steps == 3


def test_a_call_of_wake_during_a_step_counts() -> None:
    def do(worker: Doing) -> float | None:
        if worker.steps == 1:
            worker.wake()
        else:
            worker.is_done.set()
        return None

    run(Doing(do))


def test_closing_ends_a_step_that_rests_and_a_worker_that_waits() -> None:
    def rest(worker: Doing) -> float | None:
        worker.is_done.set()
        assert worker._rest_until(lambda: False)
        return 0.0

    def wait(worker: Doing) -> float | None:
        worker.is_done.set()
        return None

    for do in (rest, wait):
        run(worker := Doing(do))
        assert worker.steps == 1
        assert not worker._thread.is_alive()


def test_a_step_rests_until_the_machine_is_free() -> None:
    looks = iter([False, False, True])
    worker = Doing(lambda worker: float(worker._rest_until(lambda: next(looks))), look_s=0.0)
    assert worker.step() == 0.0
    assert next(looks, None) is None


@pytest.mark.parametrize("error", [InputError("no network"), OSError(28, "no network"), KeyError("x")])
def test_an_error_is_told_and_a_defect_is_logged(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_worker: Doing) -> float | None:
        raise error

    worker = Doing(fail)
    assert worker.step() == 7.0
    assert worker.problem == ("'x'" if isinstance(error, KeyError) else "no network")
    assert bool(caplog.records) is isinstance(error, KeyError)
