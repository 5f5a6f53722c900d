"""Checks candidates in the background, one after the other, until none is left."""

import logging
from collections.abc import Callable

from goryu.analysis.position_searcher import PositionSearcher
from goryu_page.dojo.checking import Verdict, check
from goryu_page.dojo.database import Database, DatabaseError
from goryu_page.dojo.problems import Problem, ProblemKind, Problems
from goryu_page.dojo.settings import training_settings
from goryu_page.dojo.timing import TIMING, Timing
from goryu_page.dojo.worker import Worker

_log = logging.getLogger("goryu_page.dojo")

AWAITED = 3
"""The next review waits for so many checks at most: the most promising ones come first."""


class Checker(Worker):
    """Works while there are candidates, the settings allow it and nothing else needs the machine.

    What was decided is kept; a check that was cut off begins anew. Any thread may use it. Two processes may
    check the same candidate; the first decision counts.
    """

    def __init__(
        self,
        database: Database,
        searcher: Callable[[], PositionSearcher],
        is_free: Callable[[], bool],
        on_change: Callable[[], None],
        timing: Timing = TIMING,
    ) -> None:
        """searcher: returns the one to use, for the checker's thread only; it may load a network.

        is_free: may the machine be used now? Called often. on_change: called after each decision.
        """
        super().__init__("goryu-checker", timing)
        self._database = database
        self._problems = Problems(database)
        self._make_searcher = searcher
        self._searcher: PositionSearcher | None = None
        self._retried = -1  # The last problem that was begun again because the network was lost.
        self._is_free = is_free
        # By "is it a mate problem?": their checks are far shorter.
        self._spent_s, self._checked = {True: 0.0, False: 0.0}, {True: 0, False: 0}
        self._rested_s = 0.0  # Of the check that runs.
        self._awaited = AWAITED  # Checks for which the next review still waits.
        self._on_change = on_change
        self.is_running = False
        """Is there something to check, or perhaps: has `wake` been called?"""
        self.failure = ""
        """Why the checks ended, for the user; "" if nothing failed."""

    def wake(self) -> None:
        """Begins to work if there is anything to do: a game has been reviewed, or settings have changed."""
        self._awaited = AWAITED
        self.is_running, self.failure = True, ""
        super().wake()

    @property
    def is_urgent(self) -> bool:
        """Is there a promising candidate, but no new problem of the user's games? Then a review waits."""
        is_awaited = self._awaited > 0 and self.is_running
        return is_awaited and self._next() is not None and not self._problems.has_new()

    def seconds(self, mates: int, others: int) -> float | None:
        """Returns how long the checks of so many candidates will take; None before such were measured.

        mates: mate problems.
        """
        seconds = 0.0
        for is_mate, count in ((True, mates), (False, others)):
            if count and not self._checked[is_mate]:
                return None
            if count:
                seconds += count * self._spent_s[is_mate] / self._checked[is_mate]
        return seconds

    def _work(self) -> float | None:
        problem = self._next()
        if problem is None:
            self._rest()
            return None
        self.is_running, self.failure = True, ""  # Also if `wake` came during the step before.
        if not self._is_free():
            return self._timing.look_s
        began_s, self._rested_s = self._timing.clock(), 0.0
        self._check(problem)
        self._awaited -= 1
        is_mate = problem.kind is ProblemKind.TSUME
        self._spent_s[is_mate] += self._timing.clock() - began_s - self._rested_s
        self._checked[is_mate] += 1
        return 0.0

    def _failed(self, problem: str) -> None:
        self.failure = problem
        self._rest()

    def _rest(self) -> None:
        """Tells, once, that the checks have ended."""
        if self.is_running:
            self.is_running = False
            self._on_change()

    def _next(self) -> Problem | None:
        if self.is_closed or not training_settings(self._database).is_checking:
            return None
        return self._problems.next_candidate()

    def _check(self, problem: Problem) -> None:
        settings = training_settings(self._database)
        if self._searcher is None or self._searcher.loaded.lost.is_set():
            self._searcher = self._make_searcher()
        try:
            verdict = check(self._searcher, problem, settings, self._must_end)
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

    def _must_end(self) -> bool:
        """Rests while the machine is not free, so that the search goes on where it was."""
        began_s = self._timing.clock()
        must_end = self._rest_until(self._is_free)
        self._rested_s += self._timing.clock() - began_s
        return must_end
