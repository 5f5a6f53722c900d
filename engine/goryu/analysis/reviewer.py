"""Reviews games: searches every position, judges every move, and reports each as soon as it is known."""

from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import wait
from threading import RLock

from goryu.analysis.position_analysis import PositionAnalysis
from goryu.analysis.position_searcher import PositionSearcher, kept_stop
from goryu.analysis.review import GameReview, is_enough
from goryu.analysis.searchers import WAIT_S, Searchers, runs
from goryu.analysis.store import AnalysisStore, engine_identity
from goryu.players.config import EngineConfig
from goryu.players.set_up.loading import LoadedEvaluator

OnChange = Callable[[GameReview, int], None]
"""Called when position `index` of a review has been searched, or the better move of move `index`."""

OnSearch = Callable[[tuple[str, ...], int], None]
"""Called with the moves to a position and the playouts that it has by now, also in the middle of a search."""


class Reviewer:
    """Reviews games, one at a time, with one network; the positions of a game are searched in parallel."""

    def __init__(
        self, loaded: LoadedEvaluator, config: EngineConfig, store: AnalysisStore | None = None
    ) -> None:
        """store: where analyses are kept; it stays open. None to keep nothing."""
        self.loaded = loaded
        self._searchers = Searchers(loaded, config)
        self._store = store or AnalysisStore()
        self._engine = engine_identity(loaded, config)

    def review(
        self,
        review: GameReview,
        on_change: OnChange = lambda review, index: None,
        should_stop: Callable[[], bool] = lambda: False,
        moves: Collection[int] | None = None,
        on_search: OnSearch = lambda moves, playouts: None,
    ) -> bool:
        """Fills the review; returns False if `should_stop` ended it early.

        on_change: called for each analysis. on_search: called between the batches of a search, and for each
            analysis. Both are called from several threads, one at a time, and must be quick.
        moves: the indices of the moves to judge; None for all.
        """
        work = _Work(review, self._store, self._engine, on_change, on_search, should_stop)
        work.load(range(len(review.moves) + 1) if moves is None else {i + j for i in moves for j in (0, 1)})
        futures = [self._searchers.submit(work.run) for _ in range(self._searchers.count)]
        while wait(futures, WAIT_S).not_done:
            pass
        for future in futures:
            future.result()
        return not work.should_stop()

    def recall(self, review: GameReview) -> None:
        """Fills the review with what the database knows, without a search."""
        for index in range(len(review.moves) + 1):
            review.analyses[index] = self._store.get(self._engine, review.start, review.moves[:index])
        for index in range(len(review.moves)):
            if moves := review.better_position(index):
                better = self._store.get(self._engine, review.start, moves)
                if better is not None and is_enough(better, review.playouts):
                    review.better[index] = better


class _Work:
    """The work of one review, shared by its threads."""

    def __init__(
        self,
        review: GameReview,
        store: AnalysisStore,
        engine: str,
        on_change: OnChange,
        on_search: OnSearch,
        should_stop: Callable[[], bool],
    ) -> None:
        self._review = review
        self._store, self._engine = store, engine
        self._on_change, self._on_search = on_change, on_search
        self.should_stop = kept_stop(should_stop)
        self._lock = RLock()
        self._runs: deque[range] = deque()
        self._comparisons: deque[int] = deque()
        self._failed = False

    def load(self, positions: Collection[int]) -> None:
        """Takes what the store knows of these positions, and lists what is missing."""
        review = self._review
        missing = []
        for index in sorted(positions):
            if self.should_stop():
                return
            known = review.analyses[index]
            if not is_enough(known, review.playouts):
                kept = self._store.get(self._engine, review.start, review.moves[:index])
                known = kept if kept is not None else known
            if known is not None:
                self._enter(index, known)
            if not is_enough(known, review.playouts):
                missing.append(index)
        self._runs.extend(runs(missing))

    def run(self, searcher: PositionSearcher) -> None:
        """Works until nothing is left to do."""
        try:
            while not self.should_stop() and not self._failed:
                if (positions := self._next_run()) is not None:
                    for index in positions:
                        self._search(searcher, index)
                elif (compared := self._next_comparison()) is not None:
                    self._compare(searcher, compared)
                else:
                    return
        except BaseException:
            self._failed = True  # The other threads would only delay the message.
            raise

    def _next_run(self) -> range | None:
        with self._lock:
            return self._runs.popleft() if self._runs else None

    def _next_comparison(self) -> int | None:
        with self._lock:
            return self._comparisons.popleft() if self._comparisons else None

    def _search(self, searcher: PositionSearcher, index: int) -> None:
        if self.should_stop():
            return
        analysis = self._searched(searcher, self._review.moves[:index])
        if not self.should_stop():
            self._enter(index, analysis)

    def _compare(self, searcher: PositionSearcher, index: int) -> None:
        """Searches the position after the better move, if move `index` is suspect."""
        review = self._review
        moves = review.better_position(index)
        if moves is None or self.should_stop():
            return
        analysis = self._store.get(self._engine, review.start, moves)
        if not is_enough(analysis, review.playouts):
            analysis = self._searched(searcher, moves)
            if self.should_stop():
                return
        assert analysis is not None
        with self._lock:
            review.better[index] = analysis
            self._on_search(moves, review.playouts)
            self._on_change(review, index)

    def _searched(self, searcher: PositionSearcher, moves: tuple[str, ...]) -> PositionAnalysis:
        """Searches a position, and keeps the analysis unless the search was stopped."""

        def should_stop() -> bool:
            with self._lock:
                self._on_search(moves, searcher.playouts)
            return self.should_stop()

        review = self._review
        with self._lock:
            self._on_search(moves, 0)  # The search for a mate comes first.
        analysis = searcher.search(review.start, moves, review.playouts, should_stop)
        if not self.should_stop():
            self._store.put(self._engine, review.start, moves, analysis)
        return analysis

    def _enter(self, index: int, analysis: PositionAnalysis) -> None:
        with self._lock:
            self._review.enter(index, analysis)
            if is_enough(analysis, self._review.playouts):
                self._on_search(self._review.moves[:index], self._review.playouts)
            # The last one of the two positions of a move to be known leads to the comparison.
            self._comparisons.extend(move for move in (index - 1, index) if self._is_ready(move))
            self._on_change(self._review, index)

    def _is_ready(self, move: int) -> bool:
        """Are both positions of a move searched in full?"""
        review = self._review
        return 0 <= move < len(review.moves) and all(
            is_enough(review.analyses[index], review.playouts) for index in (move, move + 1)
        )
