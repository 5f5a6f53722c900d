"""One search by the engine's own algorithm: with a search for a mate at the root, and with mate threads."""

from collections.abc import Callable, Sequence
from random import Random

from goryu.games.state import Move
from goryu.implementation import Board, Puct, mate_in_one, solve
from goryu.players.position import legal_reply
from goryu.players.pv_mates import SHORTENING_NODES, PvMates
from goryu.players.request import Answer, OnProgress, Request, SearchControl
from goryu.players.search_session import PLAYOUTS_PER_NODE, SearchSession
from goryu.players.threads import usable_threads
from goryu.players.time_manager import TimeManager
from goryu.search.mate import Mate, MateVerdict
from goryu.search.result import RootMove, SearchResult, SearchStats

MOST_VISITS = 1 << 31
"""The native graph counts visits in 32 bits; an analysis of a solved position gets there in an hour."""

ROOT_MATE_SHARE = 0.05
"""How much of the time for a move the search for a mate at the root may take."""

OPEN_MATE_MS = 300.0
"""Its time in an analysis, and while pondering: the GUI gets no info line before its end."""

LONGEST_MATE = 1 << 30
"""More plies than any mate has."""


class PuctSession(SearchSession):
    """One search of the graph; the other arguments are those of `SearchSession`.

    mate_plies: the longest mate at the root that is played without a search.
    """

    def __init__(
        self,
        puct: Puct,
        request: Request,
        control: SearchControl,
        on_progress: OnProgress,
        time_manager: TimeManager,
        rng: Random,
        *,
        known: Answer | None = None,
        ends_at_hit: bool = False,
        choose: Callable[[SearchResult], RootMove] | None = None,
        mate_plies: int = LONGEST_MATE,
    ) -> None:
        super().__init__(
            puct,
            request,
            control,
            on_progress,
            time_manager,
            rng,
            known=known,
            ends_at_hit=ends_at_hit,
            choose=choose,
        )
        self._puct = puct
        self._mate_plies = mate_plies
        mate_threads = usable_threads(self._config.mate.pv_threads)
        self._mates = PvMates(puct, request.board, mate_threads, self._config.mate.pv_nodes)
        self._inherited_visits = 0

    def run(self) -> Answer:
        """Searches, and returns the answer."""
        mate = self._mate_at_root()
        if mate is not None and self._ends_with(mate):
            return self._mating_answer(mate)
        if mate is not None:
            self._mates.add(self._request.board, mate.moves)
        return super().run()

    def search(self) -> None:
        """Searches until the limits or the control end it; `result` returns what was found."""
        node = self._puct.table.find(self._request.board.key)
        self._inherited_visits = node.total_visits if node is not None else 0
        with self._mates:
            super().search()

    def _run(self, nodes: int | None, root_moves: Sequence[Move] | None) -> None:
        self._puct.search(
            self._request.board,
            self._should_stop,
            max_playouts=None if nodes is None else PLAYOUTS_PER_NODE * nodes,
            max_evaluations=nodes,
            root_moves=root_moves,
        )

    def result(self, lines: int) -> SearchResult:
        """Returns what the search has found, the first `lines` moves with their continuations."""
        return self._mates.completed(self._puct.result(lines))

    def _has_found_something(self) -> bool:
        # An earlier search of the position does not count.
        return is_root(self._puct, self._request.board) and self._puct.stats().evaluations > 0

    def _wait_until_allowed(self) -> None:
        pass  # The search ends itself only with a proof, or with nothing left to search.

    def _should_stop(self, stats: SearchStats) -> bool:
        if stats.playouts:
            self._mates.update(self.elapsed_ms())
        return super()._should_stop(stats) or self._inherited_visits + stats.playouts >= MOST_VISITS

    # A mate at the root.

    def _mate_at_root(self) -> Mate | None:
        """Returns a mate, or the winning move of the try rule, if a short search finds one."""
        board, limits = self._request.board, self._request.limits
        nodes = min(self._config.mate.root_nodes, limits.nodes or self._config.mate.root_nodes)
        if nodes == 0:
            return None
        move = board.try_move()
        if move is None:
            move = mate_in_one(board)
        if move is not None:
            mate = Mate(MateVerdict.MATE, (move,), 1)
        else:
            end_ms = OPEN_MATE_MS if limits.is_open else ROOT_MATE_SHARE * self._time.soft_ms
            mate = solve(
                board,
                nodes,
                lambda: self._control.is_stopped or self.elapsed_ms() >= end_ms,
                SHORTENING_NODES,
            )
        if mate.verdict is not MateVerdict.MATE or len(mate.moves) > self._mate_plies:
            return None
        return mate if not limits.root_moves or mate.moves[0] in limits.root_moves else None

    def _ends_with(self, mate: Mate) -> bool:
        """Is the mate the whole answer? Analyses, several lines and declarations need the search."""
        limits = self._request.limits
        is_declared = self._known is not None and self._known.declares
        return not (limits.infinite or limits.root_moves or self._config.output.lines > 1 or is_declared)

    def _mating_answer(self, mate: Mate) -> Answer:
        """Returns the first move of a mate as the answer, without a search."""
        depth = len(mate.moves)
        best = RootMove(mate.moves[0], 1.0, mate.nodes, 1.0, depth, mate.moves)
        stats = self._puct.stats()._replace(
            playouts=mate.nodes, evaluations=mate.nodes, depth=depth, max_depth=depth, is_proven=True
        )
        result = SearchResult((best,), best.value, stats)
        return Answer(best.move, legal_reply(self._request.board, best), result, self.elapsed_ms())


def is_root(puct: Puct, board: Board) -> bool:
    """Is this the position that was searched last?"""
    root = puct.root
    return root is not None and (root.key, root.ply) == (board.key, board.ply)
