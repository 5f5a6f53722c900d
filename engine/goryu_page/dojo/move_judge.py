"""Judges single moves while a person plays: what a move loses, what was better, and what refutes it.

The judgement is that of a review (`GameReview`): the positions after the move and after the better one are
searched with the same number of playouts.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from threading import Lock

from goryu.analysis.description import board_after
from goryu.analysis.judgement import LEAST_LOSS, MoveClass, certain_loss
from goryu.analysis.position_analysis import PositionAnalysis
from goryu.analysis.position_searcher import PositionSearcher
from goryu.analysis.review import GameReview, PlyReview, is_enough
from goryu.analysis.searchers import WAIT_S
from goryu.analysis.store import AnalysisStore, engine_identity
from goryu.games.shogi import START_SFEN
from goryu.implementation import IMPLEMENTATION
from goryu.players.config import EngineConfig
from goryu.players.set_up.loading import LoadedEvaluator
from goryu.players.set_up.threads import search_threads

PLAYOUTS = 300
"""For each position, by default."""

CAPACITY_BYTES = 128 << 20
"""Memory of the search, at most."""

MOST_KEPT = 100
"""Analyses that are kept in memory; the database, if there is one, keeps all."""


class MoveJudge:
    """Judges moves with the network of full strength. Any thread may use it; it does one search at a time."""

    def __init__(
        self, loaded: LoadedEvaluator, config: EngineConfig, store: AnalysisStore | None = None
    ) -> None:
        """store: where analyses are kept; it stays open. None to keep none but the last."""
        self.loaded = loaded
        self._store = store or AnalysisStore()
        self._engine = engine_identity(loaded, config)
        threads = search_threads(config.evaluator.threads) if IMPLEMENTATION == "native" else 1
        memory = min(CAPACITY_BYTES, config.hash_bytes(uses_gpu=loaded.uses_gpu))
        config = replace(config, search=replace(config.search, capacity_bytes=memory))
        self._searcher = PositionSearcher(loaded, config, threads)
        self._lock = Lock()
        self._kept: dict[tuple[str, tuple[str, ...]], PositionAnalysis] = {}

    def judge(
        self,
        start: str,
        moves: Sequence[str],
        move: str,
        playouts: int = PLAYOUTS,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> PlyReview | None:
        """Returns the judgement of `move`, played after `moves`; None if `should_stop` ended the search.

        None, too, if the game was over before the move. Values are for the player who moved.

        start: SFEN, "" for the usual start. moves, move: in USI. playouts: for each of up to three positions.
        should_stop: called between two batches.

        Raises:
            SfenError, MoveError, IllegalMoveError: the start or a move breaks the rules.
        """
        review = GameReview(start, (*moves, move), playouts)
        board_after(review.start, review.moves)  # Checks them.
        index = len(moves)
        for at in (index, index + 1):
            analysis = self._analysis(review.start, review.moves[:at], playouts, should_stop)
            if analysis is None or (at == index and analysis.best is None):
                return None
            review.analyses[at] = analysis
        if (better := review.better_position(index)) is not None:
            compared = self._analysis(review.start, better, playouts, should_stop)
            if compared is None:
                return None
            review.better[index] = compared
        return review.ply(index)

    def prepare(
        self,
        start: str,
        moves: Sequence[str],
        playouts: int = PLAYOUTS,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> PositionAnalysis | None:
        """Searches the position before a move that is still to come, so that its judgement is quick.

        Returns the analysis of the position, or None if `should_stop` ended the search. Parameters and errors
        as of `judge`.
        """
        start = start or START_SFEN
        board_after(start, moves)  # Checks them.
        return self._analysis(start, tuple(moves), playouts, should_stop)

    def _analysis(
        self, start: str, moves: tuple[str, ...], playouts: int, should_stop: Callable[[], bool]
    ) -> PositionAnalysis | None:
        while not self._lock.acquire(timeout=WAIT_S):
            if should_stop():
                return None
        try:
            known = self._kept.get((start, moves))
            if not is_enough(known, playouts):
                known = self._store.get(self._engine, start, moves)
            if not is_enough(known, playouts):
                known = self._searcher.search(start, moves, playouts, should_stop)
                if should_stop():
                    return None
                self._store.put(self._engine, start, moves, known)
            assert known is not None
            self._keep(start, moves, known)
            return known
        finally:
            self._lock.release()

    def _keep(self, start: str, moves: tuple[str, ...], analysis: PositionAnalysis) -> None:
        if len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[start, moves] = analysis


def loses(judged: PlyReview, threshold: float, playouts: int) -> bool:
    """Is a move certain to lose at least `threshold` of win rate?

    threshold: in [0, 1]. playouts: of the searches that judged the move; few of them leave a margin of error.
    """
    return judged.best is not None and certain_loss(judged.loss, playouts) >= threshold


class Verdict(StrEnum):
    """What a guess of a move of a game is worth."""

    RIGHT = "right"  # The move of the game.
    AS_GOOD = "as good"  # It loses less than AS_GOOD_LOSS.
    WORSE = "worse"


AS_GOOD_LOSS = LEAST_LOSS[MoveClass.INACCURACY]

POINTS = {Verdict.RIGHT: 3, Verdict.AS_GOOD: 2, Verdict.WORSE: 0}


def verdict_of(judged: PlyReview, played: str, playouts: int) -> Verdict:
    """Returns the verdict on a guess.

    judged: the guess. played: the move of the game, in USI. playouts: of the searches that judged the guess.
    """
    if judged.move == played:
        return Verdict.RIGHT
    return Verdict.WORSE if loses(judged, AS_GOOD_LOSS, playouts) else Verdict.AS_GOOD
