"""The dojo of one server: its database and what works with it, shared by all tabs of the page."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from threading import Lock, RLock
from typing import Any, TypeVar

from goryu.analysis.position_searcher import PositionSearcher
from goryu.analysis.review import GameReview
from goryu.analysis.reviewer import Reviewer
from goryu.analysis.store import AnalysisStore, open_default_store
from goryu.base.errors import InputError, explained
from goryu.base.language import tr
from goryu.implementation import IMPLEMENTATION
from goryu.players.config import EngineConfig
from goryu.players.set_up.loading import LoadedEvaluator, SharedEvaluators
from goryu.players.set_up.threads import search_threads
from goryu.usi.start_config import start_config
from goryu_page.dojo import answering, move_judge
from goryu_page.dojo.activity import Activity
from goryu_page.dojo.backup import Merged, merge
from goryu_page.dojo.checker import Checker
from goryu_page.dojo.collecting import PORTION, Collector, collect
from goryu_page.dojo.database import Database, DatabaseError, default_path
from goryu_page.dojo.games import Collection, Games, PlayedGame
from goryu_page.dojo.move_judge import MoveJudge
from goryu_page.dojo.network_choice import KEY, loaded_or_refused, network_named
from goryu_page.dojo.problems import Problems
from goryu_page.dojo.repertoire import Repertoire
from goryu_page.dojo.reviewing import Reviewing
from goryu_page.dojo.schedule import Schedule
from goryu_page.dojo.timing import TIMING, Timing
from goryu_page.dojo.watching import Watching
from goryu_page.dojo.worker import Worker

_log = logging.getLogger("goryu_page.dojo")

CHECK_BYTES = 256 << 20
"""Memory of the search that checks problems, at most."""

W = TypeVar("W", bound=Worker)

Listener = Callable[..., None]
"""Called as listener(KIND, **CONTENT), from any thread; it must be quick."""


@dataclass(frozen=True, slots=True)
class JudgePlayouts:
    """The playouts of judgements for which a person waits. move: of a game. answer: to a problem."""

    move: int = move_judge.PLAYOUTS
    answer: int = answering.PLAYOUTS


class Dojo:
    """What all tabs share: the database, the networks, the work in the background. Any thread may use it.

    config: of the engine that reviews. levels_config: of the levels below full strength, which a choice of
        the network on the page leaves as they were measured. timing, playouts: of all that a tab does.
    networks: those of all searches, each in memory once.
    activity: what people do on the page; the background review rests meanwhile.
    warning: the last one of the store of analyses, for tabs that were not there; "" if there was none.
    """

    def __init__(
        self,
        path: Path | None,
        config: EngineConfig,
        timing: Timing = TIMING,
        playouts: JudgePlayouts = JudgePlayouts(),
    ) -> None:
        """path: of the database; None for its usual place."""
        self._path = path
        self.config = self.levels_config = config
        self.timing, self.playouts = timing, playouts
        self._lock = RLock()
        self._opened: Database | None = None
        self.networks = SharedEvaluators(lambda text: _log.warning("%s", text))
        self._judge: MoveJudge | None = None
        self._store: AnalysisStore | None = None
        self.warning = ""
        self._listeners: set[Listener] = set()
        self._listening = Lock()
        self.activity = Activity(timing)
        self._workers: dict[type[Worker], Any] = {}
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
        return self._begun(
            Reviewing,
            self.database,
            self.reviewer,
            self.activity,
            self.tell,
            self._on_reviewed,
            self.timing,
            lambda: self.checker.is_urgent,
        )

    def _begun(self, kind: type[W], *arguments: Any) -> W:
        """Returns the worker of a kind, which is made and begins at the first use."""
        with self._lock:
            if kind not in self._workers:
                self._workers[kind] = kind(*arguments)
                self._workers[kind].start()
            worker: W = self._workers[kind]
            return worker

    @property
    def folders(self) -> Sequence[Path]:
        """The folders whose games are imported as they change."""
        return [folder for watching in self._watching for folder in watching.folders]

    def start(self, folders: Sequence[Path] = (), records: Sequence[Path] = ()) -> None:
        """Opens the database, goes on with reviews and checks, and watches the folders.

        folders: of the user's games. records: of games to look at only.

        Raises DatabaseError; who only plays needs no database.
        """
        self.reviewing  # noqa: B018 - begins
        self.checker.wake()
        watched: tuple[tuple[Sequence[Path], Collection], ...] = ((folders, "mine"), (records, "records"))
        for paths, collection in watched:
            if paths:
                watching = Watching(
                    self.database, paths, self.games_changed, self._on_problem, collection, self.timing
                )
                watching.start()
                self._watching.append(watching)

    def merge(self, path: Path) -> Merged:
        """Adds what a copy of a database has, as `backup.merge` does, and tells all tabs."""
        with self.activity.going_on():
            merged = merge(self.database, path)
            self.collect()
            self.tell("train.changed")
            self.games_changed()
        return merged

    def games_changed(self) -> None:
        """Tells all tabs, and reviews what is new."""
        self.tell("games.changed")
        self.reviewing.wake()

    def keep_played(self, played: PlayedGame) -> tuple[int, bool]:
        """Keeps a game that was played here as `Games.keep` does, and reviews it before all others."""
        kept = self.games.keep(played)
        self.tell("games.changed")
        self.reviewing.begin_newest()
        return kept

    def _on_problem(self, text: str) -> None:
        self.tell("games.problem", text=text)

    # The network.

    def check_network(self) -> None:
        """Loads the network that the user has named; raises InputError if it cannot be used."""
        loaded_or_refused(self.networks, self.config)

    def restore_network(self) -> None:
        """Takes the network that was chosen on the page; if it is not here any more, the strongest plays."""
        if name := self.database.setting(KEY, ""):
            try:
                self.config = start_config(network_named(name, self.config), _log.warning)
            except InputError as error:
                _log.warning("%s; %s", error, tr("the strongest one here plays"))

    def use_network(self, name: str) -> None:
        """Takes another network for all searches from now on, and after the next start.

        name: of `found_networks`; "" for the strongest one here. Raises InputError; then nothing changes.
        """
        config = start_config(network_named(name, self.config), _log.warning)
        loaded_or_refused(self.networks, config)
        self.database.set_setting(KEY, name)
        before, self.config = self.config, config
        if config.evaluator != before.evaluator:
            self.networks.forget(before.evaluator)

    # With the network of full strength, which is loaded at the first use. Each raises LoadingError if that
    # fails, and tries again at the next use.

    def network(self) -> LoadedEvaluator:
        """Returns the network."""
        return self.networks.get(self.config.evaluator)

    def reviewer(self) -> Reviewer:
        """Returns a reviewer of one game at a time."""
        return Reviewer(self.network(), self.config, self._analyses())

    @property
    def judge(self) -> MoveJudge:
        """Judges moves."""
        loaded, store = self.network(), self._analyses()
        with self._lock:
            if self._judge is None or self._judge.loaded is not loaded:
                self._judge = MoveJudge(loaded, self.config, store)
            return self._judge

    def _analyses(self) -> AnalysisStore:
        with self._lock:
            if self._store is None:
                self._store = open_default_store(self._warn)
            return self._store

    def _warn(self, text: str) -> None:
        _log.warning("%s", text)
        self.warning = text
        self.tell("review.message", text=text)

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
        """Checks the candidates in the background, from the first use on."""
        on_change = partial(self.tell, "train.changed")
        return self._begun(Checker, self.database, self._searcher, self._is_idle, on_change, self.timing)

    def collect(self, before_others: int | None = None) -> None:
        """Makes candidates of some new reviews, and has them checked; the others follow in the background.

        before_others: the game that comes first.
        """
        collect(self.database, PORTION, before_others)
        self.checker.wake()
        self._begun(Collector, self.database, self._on_collected, self.timing).wake()

    def _on_reviewed(self, game: int, _review: GameReview) -> None:
        self.collect(game)
        self.tell("train.changed")

    def _on_collected(self) -> None:
        self.checker.wake()
        self.tell("train.changed")

    def _searcher(self) -> PositionSearcher:
        """Returns a searcher for the checks, with as many threads as the network has."""
        loaded = self.network()
        memory = min(CHECK_BYTES, self.config.hash_bytes(uses_gpu=loaded.uses_gpu))
        search = replace(self.config.search, capacity_bytes=memory)
        threads = search_threads(self.config.evaluator.threads) if IMPLEMENTATION == "native" else 1
        return PositionSearcher(loaded, replace(self.config, search=search), threads)

    def _is_idle(self) -> bool:
        """Does neither a person nor the review need the machine?"""
        reviewing = self._workers.get(Reviewing)
        reviews = reviewing is not None and reviewing.state()["status"] in ("running", "resting")
        return not reviews and not self.activity.is_going_on

    def subscribe(self, listener: Listener) -> None:
        """Tells the listener of changes from now on."""
        with self._listening:
            self._listeners.add(listener)

    def unsubscribe(self, listener: Listener) -> None:
        """Tells the listener of no more changes."""
        with self._listening:
            self._listeners.discard(listener)

    def tell(self, kind: str, **content: Any) -> None:
        """Tells all tabs of a change, such as "games.changed"; only the newest of a kind may arrive."""
        with self._listening:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener(kind, **content)

    def close(self) -> None:
        """Ends the background work, and closes what is open."""
        for worker in (*self._watching, *self._workers.values()):
            worker.close()
        with self._lock:
            for file in (self._store, self._opened):
                if file is not None:
                    file.close()
