"""One search by the engine's own algorithm.

The player looks for a mate at the root before the search, and for the opponent's mate after the move that it
would play.
"""

from collections.abc import Sequence
from dataclasses import replace

from goryu.games.state import Move
from goryu.implementation import Puct
from goryu.players.kept_graph import is_root
from goryu.players.position import legal_reply
from goryu.players.reply_mates import ReplyMates
from goryu.players.request import Answer
from goryu.players.root_mate import mate_at_root
from goryu.players.search_end import PLAYOUTS_PER_NODE
from goryu.players.search_session import SearchSession, Task
from goryu.search.mates.mate import Mate
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
    """One search of the graph."""

    def __init__(self, puct: Puct, task: Task) -> None:
        super().__init__(puct, task)
        self._puct = puct
        self._longest_mate = LONGEST_MATE  # At the root.
        self._mating_line: tuple[Move, ...] = ()  # A mate at the root that is not the answer by itself.
        self._is_mate_added = False  # To the graph.
        self._reply_mates = ReplyMates(puct, task.request.board, self._config.mate.reply_nodes)
        self._examined_move = -1  # The index of the one to be played when they were looked for.
        self._inherited_visits = 0

    def run(self) -> Answer:
        """Searches, and returns the answer."""
        mate = self._mate_at_root()
        if mate is not None and self._may_answer_at_once():
            return self._mating_answer(mate)
        if mate is not None:
            self._mating_line = mate.moves
        return super().run()

    def search(self) -> None:
        """Searches until the limits or the control end it; `result` returns what was found."""
        node = self._puct.table.find(self._request.board.key)
        self._inherited_visits = node.total_visits if node is not None else 0
        super().search()
        if self._may_refute():  # If its nodes have ended it, nobody was asked.
            self._reply_mates.refute(self._must_answer)

    def _run(self, nodes: int | None, root_moves: Sequence[Move] | None) -> None:
        playouts = evaluations = nodes
        if nodes is not None and self._traits.counts_playouts:
            evaluations = None
        elif nodes is not None:
            playouts = PLAYOUTS_PER_NODE * nodes
        self._puct.search(
            self._request.board,
            self._should_stop,
            max_playouts=playouts,
            max_evaluations=evaluations,
            root_moves=root_moves,
        )

    def result(self, lines: int) -> SearchResult:
        """Returns what the search has found, the first `lines` moves with their continuations."""
        result = self._puct.result(lines)
        moves = tuple(
            replace(move, pv=self._mating_line) if self._mating_line[:1] == (move.move,) else move
            for move in result.moves
        )
        return replace(result, moves=moves)

    def _has_found_something(self) -> bool:
        # An earlier search of the position does not count.
        return is_root(self._puct, self._request.board) and self._puct.stats().evaluations > 0

    def _wait_until_allowed(self) -> None:
        stats = self._puct.stats()
        if not stats.is_exhausted:
            self._wait_least_time(stats)

    def _should_stop(self, stats: SearchStats) -> bool:
        if stats.playouts and self._mating_line and not self._is_mate_added:
            # A later batch tries again if the position after the mate's first move is being evaluated.
            self._is_mate_added = self._puct.add_mate(self._request.board, self._mating_line)
        if self._inherited_visits + stats.playouts >= MOST_VISITS:
            return True
        stops = super()._should_stop(stats)
        if self._must_examine(stats, stops):
            self._examined_move = stats.best_move
            if self._reply_mates.refute(self._must_answer):
                stops = stops and not self._goes_on()
            self._time.begin()  # The mate search was no batch.
        return stops

    # Mates after the move to be played.

    def _must_examine(self, stats: SearchStats, stops: bool) -> bool:
        """Is it time to look behind the best move: at the end, or shortly before it?"""
        if stats.playouts == 0 or not self._may_refute():
            return False
        return stops or (self._time.is_nearly_over and stats.best_move != self._examined_move)

    def _may_refute(self) -> bool:
        """Is there a move to be played, and time to look behind it?"""
        is_free = self._task.known is None and not self._end.has_one_move
        is_wanted = is_free and self._config.mate.reply_nodes > 0
        return is_wanted and not self._end.limits.is_open and not self._must_answer()

    def _must_answer(self) -> bool:
        # A batch of another thread may have to end first.
        return self._control.is_stopped or self._time.hard_left_ms() <= self._time.latency_ms

    def _goes_on(self) -> bool:
        """After a refutation: may a search go on that would have ended?"""
        self._time.begin()
        stats = self._puct.stats()
        if self._end.is_reached(stats) or self._must_answer():
            return False
        return not super()._should_stop(stats) or self._time.extend()

    # A mate at the root.

    def _mate_at_root(self) -> Mate | None:
        """Returns a mate, or the winning move of the try rule, if a short search finds one."""
        limits = self._request.limits
        end_ms = OPEN_MATE_MS if limits.is_open else ROOT_MATE_SHARE * self._time.soft_ms

        def should_stop() -> bool:
            is_late = self._control.is_stopped or self.elapsed_ms() >= end_ms
            return is_late or (limits.ponder and self._control.hit is not None)  # Our own clock runs now.

        return mate_at_root(
            self._request.board,
            self._root_mate_nodes(),
            should_stop,
            root_moves=limits.root_moves,
            longest=self._longest_mate,
        )

    def _root_mate_nodes(self) -> int:
        """Returns the budget of the search for a mate at the root."""
        nodes, limit = self._config.mate.root_nodes, self._request.limits.nodes
        return min(nodes, limit) if limit else nodes

    def _may_answer_at_once(self) -> bool:
        """May a mate at the root be the answer? Analyses, several lines and declarations need the search."""
        limits, known = self._request.limits, self._task.known
        is_declared = known is not None and known.declares
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
