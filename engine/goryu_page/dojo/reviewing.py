"""Reviews the user's games in the background, the newest first, in a thread of its own.

The thread rests while the user has paused it, while a tab of the page searches or imports (`Activity`), and
while another process reviews the games of the same database: a lock on a file beside the database lets one do
so, and the system frees it when that process ends. Each position is kept in the store of analyses as soon
as it is searched, and a review is written when it is whole, so a killed process loses the positions that it
searches at that moment.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from threading import Lock, current_thread
from typing import IO, Any

from goryu.analysis.review import GameReview
from goryu.analysis.reviewer import Reviewer
from goryu.base.errors import GoryuError
from goryu.base.files import try_lock
from goryu.players.set_up.loading import LoadingError
from goryu_page.dojo.activity import Activity
from goryu_page.dojo.database import Database
from goryu_page.dojo.games import Games
from goryu_page.dojo.reviews import Reviews, Work
from goryu_page.dojo.timing import TIMING, Timing
from goryu_page.dojo.worker import Worker

_log = logging.getLogger("goryu_page.dojo")

FORGET = 2000
"""Positions after which the measured speed forgets half of the past."""

OnReviewed = Callable[[int, GameReview], None]
"""Called as callback(GAME, REVIEW) in the thread of the review when a review has been written."""


class Reviewing(Worker):
    """The background review of one process. All methods may be called from any thread."""

    def __init__(
        self,
        database: Database,
        reviewer: Callable[[], Reviewer],
        activity: Activity,
        tell: Callable[..., None],
        on_reviewed: OnReviewed = lambda game, review: None,
        timing: Timing = TIMING,
        must_wait: Callable[[], bool] = lambda: False,
    ) -> None:
        """reviewer: returns the one to use; it may load a network. tell: as `Dojo.tell`.

        must_wait: is something else more urgent than the next game?
        """
        super().__init__("goryu-reviewing", timing)
        self._database = database
        self._games = Games(database)
        self.reviews = Reviews(database)
        self._activity = activity
        self._tell = tell
        self._on_reviewed = on_reviewed
        self._must_wait = must_wait
        self._make_reviewer = reviewer
        self._reviewer: Reviewer | None = None
        self._lock_file: IO[bytes] | None = None
        self._skipped: set[int] = set()
        self._retried = -1  # The last game that was begun again because the network was lost.
        self._is_idle = False  # Was nothing left at the last look, and has nobody called `wake` since?
        self._is_paused = False
        self._leaves = False  # Is the game that is being reviewed to be left for the newest one?
        self._looked_s = 0.0
        self._version = -1
        self._speed = Speed(timing.clock)
        self._state_lock = Lock()
        self._state: dict[str, Any] = {"status": "starting", "games": 0, "left": 0, "problem": ""}

    def close(self) -> None:
        """Ends the thread; the current review goes on at the next start."""
        super().close()
        if self._lock_file is not None:
            self._lock_file.close()

    def wake(self) -> None:
        """Looks for work now: games or settings have changed."""
        self._is_idle = False
        super().wake()

    def begin_newest(self) -> None:
        """Goes to the newest game, which has just been played; the one that is left goes on later."""
        self._leaves = True
        self.wake()

    def pause(self, is_paused: bool) -> None:
        """Pauses the review, or goes on; also after a fault."""
        self.reviews.is_paused = self._is_paused = is_paused
        self._skipped.clear()
        self.wake()

    def state(self) -> dict[str, Any]:
        """Returns what the thread does, as it is told to the page in "games.reviewing".

        status: "starting", "idle" (nothing is left), "paused", "resting" (a tab works), "waiting" (problems
        of reviewed games are checked first), "elsewhere" (another process reviews), "failed" or "running".
        games: in the database; left: to review; problem: the last fault, or "". With
        "running" also names, position and positions (of the game), and seconds (until all is done; None if
        unknown).
        """
        with self._state_lock:
            return dict(self._state)

    # The thread.

    def _work(self) -> float:
        if self._is_idle and not self._has_changed():
            return self._timing.look_s
        self._is_idle = True  # Before the look, so that a call of `wake` during it counts.
        status = self._review_next()
        if status == "running":
            self._is_idle = False
            return 0.0
        if status != "idle":
            self._is_idle = False
        self._say(status)
        return self._timing.look_s

    def _failed(self, problem: str) -> None:
        self._say("failed", problem=problem)  # Until the user goes on.

    def _review_next(self) -> str:
        """Reviews one game; returns "running", or why it did not."""
        self._look()
        self._leaves = False
        work = self.reviews.work(self._skipped)
        if not work.left:
            return "idle"
        if self._is_paused:
            return "paused"
        if not self._may_review():
            return "elsewhere"
        if self._activity.is_going_on:
            return "resting"
        if self._must_wait():
            return "waiting"
        game = self.reviews.next_game(self._skipped)
        if game is not None:
            try:
                self._review(game, work)
            except Exception as error:
                if game != self._retried and self._has_lost_network():
                    self._retried = game
                elif isinstance(error, GoryuError | OSError):
                    raise
                else:
                    self._skipped.add(game)
                _log.exception("game %s cannot be reviewed", game)
        return "running"

    def _has_lost_network(self) -> bool:
        return self._reviewer is not None and self._reviewer.loaded.lost.is_set()

    def _look(self) -> None:
        """Reads what other processes may have changed."""
        self._looked_s = self._timing.clock()
        self._is_paused = self.reviews.is_paused
        self._has_changed()

    def _has_changed(self) -> bool:
        """Has another process written? Tells the page if so."""
        before, self._version = self._version, self._database.rows("PRAGMA data_version")[0][0]
        if before in (self._version, -1):
            return False
        self._tell("games.changed")
        return True

    def _may_review(self) -> bool:
        """Does this process hold the lock of the review? Takes it if it is free."""
        if self._lock_file is not None:
            return True
        file = Path(f"{self._database.path}-reviewing").open("ab")  # noqa: SIM115 - is held until the end
        if not try_lock(file):
            file.close()
            return False
        self._lock_file = file
        return True

    def _review(self, identity: int, work: Work) -> None:
        game = self._games.get(identity)
        reviewer = self._load()
        review = GameReview(game.start, game.moves, self.reviews.playouts)
        others = work.positions - len(review.analyses)
        thread = current_thread()
        self._speed.begin()

        def say() -> None:
            known = review.known()
            left = others + len(review.analyses) - known
            self._say(
                "running",
                work,
                names=game.names,
                position=known,
                positions=len(review.analyses),
                seconds=self._speed.seconds(left),
            )

        def on_change(_review: GameReview, _index: int) -> None:
            if current_thread() is not thread:  # Else the store knew the position.
                self._speed.count(review.known())
            say()

        say()
        is_whole = reviewer.review(review, on_change, self._should_stop)
        self._speed.end()
        if is_whole and self.reviews.keep(identity, review, reviewer.loaded.name):
            self._tell("games.changed")
            try:
                self._on_reviewed(identity, review)
            except Exception:
                _log.exception("after the review of game %s", identity)

    def _should_stop(self) -> bool:
        if self._timing.clock() - self._looked_s > self._timing.look_s:
            self._look()
        return self.is_closed or self._is_paused or self._leaves or self._activity.is_going_on

    def _load(self) -> Reviewer:
        """Returns the reviewer. What is kept must come from the network that the user wants."""
        if self._reviewer is None or self._has_lost_network():
            reviewer = self._make_reviewer()
            if reviewer.loaded.problem:
                raise LoadingError(reviewer.loaded.problem)
            self._reviewer = reviewer
        return self._reviewer

    def _say(self, status: str, work: Work | None = None, **content: Any) -> None:
        try:
            work = work or self.reviews.work(self._skipped)
        except GoryuError:  # The state must not hide the problem that it tells of.
            work = Work(0, 0, 0)
        state = {"status": status, "games": work.games, "left": work.left, "problem": "", **content}
        with self._state_lock:
            if state == self._state:
                return
            self._state = state
        self._tell("games.reviewing", **state)


class Speed:
    """Measures how long a position takes, over all games since the start."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._spent_s, self._positions = 0.0, 0.0
        self._begun_s: float | None = None
        self._first, self._known = 0, 0

    def begin(self) -> None:
        """Begins a game; what the store knows of it does not count."""
        self._begun_s = None

    def count(self, known: int) -> None:
        """Takes how many positions of the game are known after a search."""
        if self._begun_s is None:
            self._begun_s, self._first = self._clock(), known
        self._known = known

    def end(self) -> None:
        """Ends the game."""
        if self._begun_s is not None:
            self._spent_s += self._clock() - self._begun_s
            self._positions += self._known - self._first
            self._begun_s = None
        if self._positions > FORGET:
            self._spent_s, self._positions = self._spent_s / 2, self._positions / 2

    def seconds(self, positions: int) -> float | None:
        """Returns how long so many positions will take; None before anything was measured."""
        spent_s, done = self._spent_s, self._positions
        if self._begun_s is not None:
            spent_s, done = spent_s + self._clock() - self._begun_s, done + self._known - self._first
        return positions * spent_s / done if done else None
