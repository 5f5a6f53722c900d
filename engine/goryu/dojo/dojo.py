"""The dojo of one server: its database and what works with it, shared by all tabs of the page."""

import logging
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any

from goryu.analysis.move_judge import MoveJudge
from goryu.analysis.store import open_default_store
from goryu.base.errors import explained
from goryu.dojo.database import Database, DatabaseError, default_path
from goryu.dojo.games import Games
from goryu.players.config import EngineConfig

_log = logging.getLogger("goryu.dojo")

Listener = Callable[..., None]
"""Called as listener(KIND, **CONTENT), from any thread; it must be quick."""


class Dojo:
    """Opens its database at the first use: who only plays needs none. Any thread may use it.

    config: of the engine that reviews.
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
        """Closes what is open."""
        with self._judge_lock:
            if self._judge is not None:
                self._judge.close()
        with self._lock:
            if self._opened is not None:
                self._opened.close()
