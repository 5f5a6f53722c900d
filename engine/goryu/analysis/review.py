"""Reviews a game: searches every position, judges every move, and reports each as soon as it is known.

The loss of a move compares the position after it with the position after the better move, both searched
with the same number of playouts. The search of the position before the move only proposes the better move:
its value of a move that it tried a few times would be a guess.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import wait
from dataclasses import asdict, dataclass, replace
from threading import RLock

from goryu.analysis.judgement import (
    GREAT_LEAD,
    GREAT_PRIOR,
    LEAST_LOSS,
    MISTAKES,
    MoveClass,
    class_of_loss,
    game_accuracy,
)
from goryu.analysis.position_analysis import MoveAnalysis, PositionAnalysis
from goryu.analysis.position_searcher import PositionSearcher
from goryu.analysis.searchers import WAIT_S, Searchers, runs
from goryu.analysis.store import AnalysisStore
from goryu.games.shogi import START_SFEN
from goryu.players.config import EngineConfig
from goryu.players.set_up.loading import LoadedEvaluator

SUSPICION = LEAST_LOSS[MoveClass.INACCURACY]
"""A move that seems to lose as much is compared with the better move by another search."""

LEAST_VISITS = 8
"""Playouts that the second best move needs before its value says that the best move is the only one."""


@dataclass(frozen=True, slots=True)
class PlyReview:
    """The judgement of one move. Values are for the player who moved, win rates in [0, 1].

    ply: 1 for the first move. turn: the player, 0 black or 1 white. move: in USI.
    win_rate: after the best move; played_win_rate: after the played one; loss: their difference, at least 0.
    best: the best move, None if the search found the played one to be the best and it allows no mate.
    better_line: the best move and the moves that should have followed.
    refutation: the opponent's best answer to the played move, and the moves after it.
    prior, visits: of the played move in the search before it.
    rank: 1 for the first choice of the search, 0 for a move that it did not consider.
    missed_mate: plies of the mate that the player could have forced and did not; else None.
    allows_mate: plies in which the opponent can mate after a move that need not have allowed it; else None.
    is_compared: was the better move searched like the played one?
    """

    ply: int
    turn: int
    move: str
    win_rate: float
    played_win_rate: float
    loss: float
    kind: MoveClass
    best: str | None
    better_line: tuple[str, ...]
    refutation: tuple[str, ...]
    prior: float
    visits: int
    rank: int
    missed_mate: int | None
    allows_mate: int | None
    is_compared: bool


@dataclass(frozen=True, slots=True)
class PlayerSummary:
    """The judgement of one player, over the moves known so far.

    accuracy: as in `game_accuracy`, in [0, 100]; None before all moves are known or without a move.
    agreement: share of the moves that are the search's first choice; mean_loss: of win rate; in [0, 1].
    counts: of moves by class.
    """

    moves: int
    accuracy: float | None
    agreement: float
    mean_loss: float
    counts: dict[MoveClass, int]


_Judged = tuple[tuple[PositionAnalysis, PositionAnalysis, PositionAnalysis | None], PlyReview]
"""The analyses before the move, after it and after the better move; and what follows from them."""


class GameReview:
    """The review of one game, which fills while the positions are searched; may be read from any thread.

    start: SFEN. moves: in USI. playouts: for each position.
    analyses: of the position before each move and after the last; None while it is not known.
    better: by the index of a move, the analysis of the position after the best move instead.
    """

    def __init__(self, start: str, moves: Sequence[str], playouts: int) -> None:
        self.start = start or START_SFEN
        self.moves = tuple(moves)
        self.playouts = playouts
        self.analyses: list[PositionAnalysis | None] = [None] * (len(self.moves) + 1)
        self.better: dict[int, PositionAnalysis] = {}
        self.first_turn = int(self.start.split()[1] == "w")
        self._judged: dict[int, _Judged] = {}

    def known(self) -> int:
        """Returns how many positions have been searched in full."""
        return sum(is_enough(analysis, self.playouts) for analysis in self.analyses)

    def turn(self, index: int) -> int:
        """Returns the side to move in position `index`: 0 black, 1 white."""
        return (self.first_turn + index) % 2

    def black_win_rate(self, index: int) -> float | None:
        """Returns black's win rate in position `index`, in [0, 1], or None while it is not known."""
        analysis = self.analyses[index]
        if analysis is None:
            return None
        return analysis.win_rate if self.turn(index) == 0 else 1 - analysis.win_rate

    def ply(self, index: int) -> PlyReview | None:
        """Returns the judgement of move `index` (0 for the first), or None while it is not known."""
        before, after = self.analyses[index], self.analyses[index + 1]
        if before is None or after is None or before.best is None:
            return None
        searched = (before, after, self.better.get(index))
        judged = self._judged.get(index)
        # Each summary needs every move, and only a few have been searched since the last one.
        if judged is None or any(old is not new for old, new in zip(judged[0], searched, strict=True)):
            judged = searched, _judge(index, self.turn(index), self.moves[index], *searched)
            self._judged[index] = judged
        return judged[1]

    def plies(self) -> Iterator[PlyReview]:
        """Yields the judgements that are known, in order."""
        for index in range(len(self.moves)):
            if (ply := self.ply(index)) is not None:
                yield ply

    def mistakes(self) -> list[PlyReview]:
        """Returns the moves called mistakes (`MISTAKES`), the worst first."""
        return sorted(
            (ply for ply in self.plies() if ply.kind in MISTAKES), key=lambda ply: (-ply.loss, ply.ply)
        )

    def summary(self, turn: int) -> PlayerSummary:
        """Returns the judgement of the player `turn`: 0 black, 1 white."""
        own = [ply for ply in self.plies() if ply.turn == turn]
        accuracy = None
        count = self._moves_to_end()
        losses = [ply.loss for i in range(count) if (ply := self.ply(i)) is not None]
        if len(losses) == count:
            rates = [rate for i in range(count + 1) if (rate := self.black_win_rate(i)) is not None]
            accuracy = game_accuracy(losses, rates, (turn - self.first_turn) % 2)
        return PlayerSummary(
            moves=len(own),
            accuracy=accuracy,
            agreement=sum(ply.rank == 1 for ply in own) / max(1, len(own)),
            mean_loss=sum(ply.loss for ply in own) / max(1, len(own)),
            counts={kind: sum(ply.kind is kind for ply in own) for kind in MoveClass},
        )

    def _moves_to_end(self) -> int:
        """Returns how many moves lead to the end; some records go on after a fourth repetition."""
        ends = (i for i, known in enumerate(self.analyses[:-1]) if known is not None and known.best is None)
        return next(ends, len(self.moves))

    def enter(self, index: int, analysis: PositionAnalysis) -> None:
        """Takes an analysis of position `index`; comparisons that it makes stale are forgotten."""
        old, self.analyses[index] = self.analyses[index], analysis
        if old is not None and _names(old.moves[:2]) != _names(analysis.moves[:2]):
            self.better.pop(index, None)  # It may have been searched for another move.
        for move in (index - 1, index):
            if move in self.better and not is_enough(self.better[move], self.playouts):
                del self.better[move]

    def is_judged(self, index: int) -> bool:
        """Is the judgement of move `index` final: all its positions searched in full?"""
        searched = self.analyses[index : index + 2]
        if not all(is_enough(analysis, self.playouts) for analysis in searched):
            return False
        return self.better_position(index) is None

    def take(self, other: "GameReview", index: int) -> None:
        """Takes the judgement of move `index` from a review of the same game with more playouts."""
        for position in (index, index + 1):
            if (analysis := other.analyses[position]) is not None:
                self.enter(position, analysis)
        self.better.pop(index, None)
        if index in other.better:
            self.better[index] = other.better[index]

    def better_position(self, index: int) -> tuple[str, ...] | None:
        """Returns the moves to the position to compare with the one after move `index`, or None."""
        ply = self.ply(index)
        if ply is None or ply.best is None or ply.is_compared or ply.loss < SUSPICION:
            return None  # There is nothing to compare.
        analysis = self.analyses[index]
        if analysis is None or analysis.mate is not None or analysis.ending:
            return None  # The best move is certain.
        return (*self.moves[:index], ply.best)


def _judge(
    index: int,
    turn: int,
    move: str,
    before: PositionAnalysis,
    after: PositionAnalysis,
    better: PositionAnalysis | None,
) -> PlyReview:
    mate, mate_after = before.mate, after.mate
    won, lost_after = mate is not None and mate > 0, mate_after is not None and mate_after > 0
    was_lost = mate is not None and mate < 0
    best, best_value = before.best, before.value
    assert best is not None
    played = before.find(move)
    played_value = -after.value
    is_best = best.move == move and before.ending != "declaration"
    if is_best and lost_after and not was_lost and len(before.moves) > 1:
        # The search before the move did not see the mate that it allows, so the second choice is better.
        is_best, best = False, before.moves[1]
        best_value = before.value if best.value is None else best.value
    better_line = best.pv
    if better is not None and not is_best:
        best_value = -better.value
        better_line = (best.move, *(better.best.pv if better.best else ()))
    loss = 0.0 if is_best else max(0.0, (best_value - played_value) / 2)
    return PlyReview(
        ply=index + 1,
        turn=turn,
        move=move,
        win_rate=(1 + (played_value if is_best else max(best_value, played_value))) / 2,
        played_win_rate=(1 + played_value) / 2,
        loss=loss,
        kind=_class(before, best, loss, is_best),
        best=None if is_best else best.move,
        better_line=() if is_best else better_line,
        refutation=after.best.pv if after.best else (),
        prior=played.prior if played else 0.0,
        visits=played.visits if played else 0,
        rank=before.moves.index(played) + 1 if played else 0,
        missed_mate=mate if won and (mate_after is None or mate_after > 0) else None,
        allows_mate=mate_after if lost_after and not was_lost and not is_best else None,
        is_compared=better is not None,
    )


def _class(before: PositionAnalysis, best: MoveAnalysis, loss: float, is_best: bool) -> MoveClass:
    if not is_best:
        return class_of_loss(loss, before.playouts)
    others = [
        move.value
        for move in before.moves[1:]
        if move.value is not None and (move.visits >= LEAST_VISITS or move.mate)
    ]
    is_only = bool(others) and best.value is not None and best.value - max(others) >= 2 * GREAT_LEAD
    return MoveClass.GREAT if is_only and best.prior <= GREAT_PRIOR else MoveClass.BEST


def _names(moves: Sequence[MoveAnalysis]) -> list[str]:
    return [move.move for move in moves]


OnChange = Callable[[GameReview, int], None]
"""Called when position `index` of a review has been searched, or the better move of move `index`."""


OnSearch = Callable[[tuple[str, ...], int], None]
"""Called with the moves to a position and the playouts that it has by now, also in the middle of a search."""


class Reviewer:
    """Reviews games, one at a time, with one network; the positions of a game are searched in parallel."""

    def __init__(
        self,
        config: EngineConfig,
        report: Callable[[str], None],
        store: Callable[[str], AnalysisStore] | None = None,
    ) -> None:
        """Loads the network.

        report: takes messages for the user in one line, such as the reason for another network.
        store: returns the database for an engine, given the text that identifies it; None to keep nothing.

        Raises:
            LoadingError: the network cannot be loaded, and the config does not allow another evaluator.
        """
        self._searchers = Searchers(config, report)
        self.loaded = self._searchers.loaded
        self.engine = engine_identity(self.loaded, config)
        self.store = store(self.engine) if store else AnalysisStore(None, self.engine, report)

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
        work = _Work(review, self.store, on_change, on_search, should_stop)
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
            review.analyses[index] = self.store.get(review.start, review.moves[:index])
        for index in range(len(review.moves)):
            if moves := review.better_position(index):
                better = self.store.get(review.start, moves)
                if better is not None and is_enough(better, review.playouts):
                    review.better[index] = better

    def close(self) -> None:
        """Closes the database."""
        self.store.close()


def engine_identity(loaded: LoadedEvaluator, config: EngineConfig) -> str:
    """Returns everything that decides an analysis but the position and the playouts, as one line."""
    network = getattr(loaded.evaluator, "sha256", None) or loaded.description
    search = replace(config.search, batch_size=0, capacity=0, capacity_bytes=0)
    return f"{network} T={config.evaluator.temperature} {asdict(search)} {config.mate} {config.rules}"


class _Work:
    """The work of one review, shared by its threads."""

    def __init__(
        self,
        review: GameReview,
        store: AnalysisStore,
        on_change: OnChange,
        on_search: OnSearch,
        should_stop: Callable[[], bool],
    ) -> None:
        self._review = review
        self._store = store
        self._on_change, self._on_search = on_change, on_search
        self._asked = should_stop
        self._is_stopped = False
        self._lock = RLock()
        self._runs: deque[range] = deque()
        self._comparisons: deque[int] = deque()
        self._failed = False

    def should_stop(self) -> bool:
        """Was the work stopped? It stays so, even if nobody wants that any more: some of it is not done."""
        self._is_stopped = self._is_stopped or self._asked()
        return self._is_stopped

    def load(self, positions: Collection[int]) -> None:
        """Takes what the store knows of these positions, and lists what is missing."""
        review = self._review
        missing = []
        for index in sorted(positions):
            if self.should_stop():
                return
            known = review.analyses[index]
            if not is_enough(known, review.playouts):
                kept = self._store.get(review.start, review.moves[:index])
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
        analysis = self._store.get(review.start, moves)
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
            self._store.put(review.start, moves, analysis)
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


def is_enough(analysis: PositionAnalysis | None, playouts: int) -> bool:
    """Would a search with so many playouts tell no more than this analysis?"""
    return analysis is not None and (analysis.is_final or analysis.playouts >= playouts)
