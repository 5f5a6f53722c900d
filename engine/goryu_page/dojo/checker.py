"""The thread that checks candidates in the background, one after the other, until none is left."""

import logging
from collections.abc import Callable
from threading import Event, Lock, Thread

from goryu.analysis.position_searcher import PositionSearcher
from goryu.base.errors import GoryuError
from goryu_page.dojo.checking import Verdict, check
from goryu_page.dojo.database import Database, DatabaseError
from goryu_page.dojo.problems import Problem, Problems
from goryu_page.dojo.settings import training_settings

_log = logging.getLogger("goryu_page.dojo")

LOOK_S = 0.5
"""Between two looks whether the machine is free."""


class Checker:
    """Works while there are candidates, the settings allow it and nothing else needs the machine.

    What was decided is kept; a check that was cut off begins anew. Any thread may use it.
    """

    def __init__(
        self,
        database: Database,
        searcher: Callable[[], PositionSearcher],
        is_free: Callable[[], bool],
        on_change: Callable[[], None],
    ) -> None:
        """searcher: returns the one to use, for the checker's thread only; it may load a network.

        is_free: may the machine be used now? Called often. on_change: called after each decision.
        """
        self._database = database
        self._problems = Problems(database)
        self._make_searcher = searcher
        self._searcher: PositionSearcher | None = None
        self._retried = -1  # The last problem that was begun again because the network was lost.
        self._is_free = is_free
        self._on_change = on_change
        self._lock = Lock()
        self._closed = Event()
        self._thread: Thread | None = None
        self._is_wanted = False
        self.failure = ""
        """Why the checks ended, for the user; "" if nothing failed."""

    @property
    def is_running(self) -> bool:
        """Is there a thread, at work or waiting for the machine?"""
        return self._thread is not None

    def wake(self) -> None:
        """Begins to work if there is anything to do."""
        with self._lock:
            self._is_wanted = True
            if self._thread is None and not self._closed.is_set():
                self.failure = ""
                self._thread = Thread(target=self._run, name="checker", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Ends the thread and waits for it."""
        self._closed.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while self._goes_on():
            try:
                while (problem := self._next()) is not None:
                    self._check(problem)
            except GoryuError as error:
                self.failure = error.translated()
            except Exception as error:
                # Else `is_running` would stay true without a thread, and nothing would be checked any more.
                _log.exception("the problems cannot be checked")
                self.failure = str(error) or type(error).__name__
        self._on_change()

    def _goes_on(self) -> bool:
        """Has `wake` been called since the thread last looked for work? If not, the thread ends."""
        with self._lock:
            is_wanted, self._is_wanted = self._is_wanted and not self._closed.is_set(), False
            if not is_wanted:
                self._thread = None
            return is_wanted

    def _next(self) -> Problem | None:
        if self._closed.is_set() or not training_settings(self._database).is_checking:
            return None
        return self._problems.next_candidate()

    def _check(self, problem: Problem) -> None:
        settings = training_settings(self._database)
        if self._waits():
            return
        if self._searcher is None:
            self._searcher = self._make_searcher()
        try:
            verdict = check(self._searcher, problem, settings, self._waits)
        except DatabaseError:
            raise
        except Exception:
            # One candidate must not keep the others from being checked.
            _log.exception("problem %s cannot be checked", problem.id)
            if self._searcher.loaded.lost.is_set():
                self._searcher = None
                if problem.id != self._retried:
                    self._retried = problem.id
                    return
            verdict = Verdict("failed", problem.content)
        if verdict is not None:
            content = verdict.content | {"reason": verdict.reason}
            self._problems.decide(problem.id, verdict.state, settings.playouts, content)
            self._on_change()

    def _waits(self) -> bool:
        """Waits until the machine is free; returns whether the checker must end."""
        while not self._is_free() and not self._closed.wait(LOOK_S):
            pass
        return self._closed.is_set()
