"""The dojo of one server: its database and what works with it, shared by all tabs of the page."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any

from goryu.analysis.move_judge import MoveJudge
from goryu.analysis.position_searcher import PositionSearcher
from goryu.analysis.store import open_default_store
from goryu.base.errors import explained
from goryu.dojo.activity import Activity
from goryu.dojo.checker import Checker
from goryu.dojo.database import Database, DatabaseError, default_path
from goryu.dojo.games import Collection, Games
from goryu.dojo.problems import Problems
from goryu.dojo.repertoire import Repertoire
from goryu.dojo.reviewing import Reviewing
from goryu.dojo.schedule import Schedule
from goryu.dojo.watching import Watching
from goryu.players.config import EngineConfig

_log = logging.getLogger("goryu.dojo")

CHECK_BYTES = 256 << 20
"""Memory of the search that checks problems, at most."""

Listener = Callable[..., None]
"""Called as listener(KIND, **CONTENT), from any thread; it must be quick."""


class Dojo:
    """Opens its database at the first use: who only plays needs none. Any thread may use it.

    config: of the engine that reviews.
    activity: what people do on the page; the background review rests meanwhile.
    """

    def __init__(self, path: Path | None, config: EngineConfig) -> None:
        """path: of the database; None for its usual place."""
        self._path = path
        self.config = config
        self._lock = RLock()
        self._opened: Database | None = None
        self._judge_lock = RLock()  # Loading a network takes long.
        self._judge: MoveJudge | None = None
        self._listeners: set[Listener] = set()
        self.activity = Activity()
        self._reviewing: Reviewing | None = None
        self._checker: Checker | None = None
        self._watching: list[Watching] = []

    @property
    def database(self) -> Database:
        """The database; raises DatabaseError if it cannot be used, and tries again at the next use."""
        with self._lock:
            if self._opened is None:
                try:
                    path = self._path or default_path()
                except OSError as error:
                    raise DatabaseError(explained(error)) from error
                self._opened = Database(path)
            return self._opened

    @cached_property
    def games(self) -> Games:
        """The user's games."""
        return Games(self.database)

    @property
    def reviewing(self) -> Reviewing:
        """The background review, which begins at the first use."""
        with self._lock:
            if self._reviewing is None:
                self._reviewing = Reviewing(self.database, self.config, self.activity, self.tell)
                self._reviewing.on_reviewed(lambda _game, _review: self.collect())
                self._reviewing.start()
            return self._reviewing

    @property
    def folders(self) -> Sequence[Path]:
        """The folders whose games are imported as they change."""
        return [folder for watching in self._watching for folder in watching.folders]

    def start(self, folders: Sequence[Path] = (), records: Sequence[Path] = ()) -> None:
        """Goes on with reviews and checks if there is a database, and watches the folders.

        folders: of the user's games. records: of games to look at only.

        Raises DatabaseError.
        """
        watched: tuple[tuple[Sequence[Path], Collection], ...] = ((folders, "mine"), (records, "records"))
        for paths, collection in watched:
            if paths:
                watching = Watching(self.database, paths, self._on_import, self._on_problem, collection)
                self._watching.append(watching)
                self._watching[-1].start()
        try:
            is_known = (self._path or default_path()).exists()
        except OSError:
            return
        if is_known:
            self.reviewing  # noqa: B018 - begins
            self.checker.wake()

    def _on_import(self) -> None:
        self.tell("games.changed")
        self.reviewing.wake()

    def _on_problem(self, text: str) -> None:
        self.tell("games.problem", text=text)

    @property
    def judge(self) -> MoveJudge:
        """Judges moves with the network of full strength, which is loaded at the first use.

        Raises LoadingError if it cannot be loaded, and tries again at the next use.
        """
        with self._judge_lock:
            if self._judge is None:
                self._judge = MoveJudge(
                    self.config, _log.warning, lambda engine: open_default_store(engine, _log.warning)
                )
            return self._judge

    @cached_property
    def problems(self) -> Problems:
        """The problems made from the user's games, and others."""
        return Problems(self.database)

    @cached_property
    def repertoire(self) -> Repertoire:
        """The opening moves that the user wants to know."""
        return Repertoire(self.database)

    @cached_property
    def schedule(self) -> Schedule:
        """When each problem is due."""
        return Schedule(self.database)

    @property
    def checker(self) -> Checker:
        """Checks the candidates in the background, once it was woken."""
        with self._lock:
            if self._checker is None:
                self._checker = Checker(self.database, self._searcher, self._is_idle, self._on_check)
            return self._checker

    def collect(self) -> None:
        """Makes candidates of new reviews, and has them checked."""
        self.problems.collect()
        self.checker.wake()
        self.tell("train.changed")

    def _searcher(self) -> PositionSearcher:
        """Returns a searcher for the checks: it shares the network of the judge, and has one thread."""
        loaded = self.judge.loaded
        memory = min(CHECK_BYTES, self.config.hash_bytes(uses_gpu=loaded.uses_gpu))
        search = replace(self.config.search, capacity_bytes=memory)
        return PositionSearcher(loaded, replace(self.config, search=search))

    def _is_idle(self) -> bool:
        """Does neither a person nor the review need the machine?"""
        reviews = self._reviewing is not None and self._reviewing.state()["status"] in ("running", "resting")
        return not reviews and not self.activity.is_going_on

    def _on_check(self) -> None:
        self.tell("train.changed")

    def subscribe(self, listener: Listener) -> None:
        """Tells the listener of changes from now on."""
        with self._lock:
            self._listeners.add(listener)

    def unsubscribe(self, listener: Listener) -> None:
        """Tells the listener of no more changes."""
        with self._lock:
            self._listeners.discard(listener)

    def tell(self, kind: str, **content: Any) -> None:
        """Tells all tabs of a change, such as "games.changed"; only the newest of a kind may arrive."""
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener(kind, **content)

    def close(self) -> None:
        """Ends the background work, and closes what is open."""
        for worker in (*self._watching, self._reviewing, self._checker):
            if worker is not None:
                worker.close()
        with self._judge_lock:
            if self._judge is not None:
                self._judge.close()
        with self._lock:
            if self._opened is not None:
                self._opened.close()
