"""One search by the engine's own algorithm.

The player looks for a mate at the root before the search, and for the opponent's mate after the move that it
would play.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from goryu.games.state import Move
from goryu.implementation import Board, Puct, mate_in_one, solve
from goryu.players.clock.time_manager import TimeManager
from goryu.players.position import legal_reply
from goryu.players.reply_mates import SHORTENING_NODES, ReplyMates
from goryu.players.request import Answer, OnProgress, Request, SearchControl
from goryu.players.search_session import PLAYOUTS_PER_NODE, SearchSession
from goryu.search.mates.mate import Mate, MateVerdict
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
        self._mating_line: tuple[Move, ...] = ()  # A mate at the root that is not the answer by itself.
        self._is_mate_added = False  # To the graph.
        self._reply_mates = ReplyMates(puct, request.board, self._config.mate.reply_nodes)
        self._examined_move = -1  # The index of the most visited one when they were looked for.
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
        self._puct.search(
            self._request.board,
            self._should_stop,
            max_playouts=None if nodes is None else PLAYOUTS_PER_NODE * nodes,
            max_evaluations=nodes,
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
        is_wanted = self._config.mate.reply_nodes > 0 and self._known is None and not self._has_one_move
        return is_wanted and not self._limits.is_open and not self._must_answer()

    def _must_answer(self) -> bool:
        # A batch of another thread may have to end first.
        return self._control.is_stopped or self._time.hard_left_ms() <= self._time.latency_ms

    def _goes_on(self) -> bool:
        """After a refutation: may a search go on that would have ended?"""
        self._time.begin()
        stats = self._puct.stats()
        if self._has_reached_limit(stats) or self._must_answer():
            return False
        return not super()._should_stop(stats) or self._time.extend()

    # A mate at the root.

    def _mate_at_root(self) -> Mate | None:
        """Returns a mate, or the winning move of the try rule, if a short search finds one."""
        board, limits = self._request.board, self._request.limits
        nodes = self._config.mate.root_nodes
        if limits.nodes and self._mate_plies == LONGEST_MATE:  # The nodes of a level limit its search only.
            nodes = min(nodes, limits.nodes)
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
                lambda: (
                    self._control.is_stopped
                    or self.elapsed_ms() >= end_ms
                    or (limits.ponder and self._control.hit is not None)  # Our own clock runs now.
                ),
                SHORTENING_NODES,
            )
        if mate.verdict is not MateVerdict.MATE or len(mate.moves) > self._mate_plies:
            return None
        return mate if not limits.root_moves or mate.moves[0] in limits.root_moves else None

    def _may_answer_at_once(self) -> bool:
        """May a mate at the root be the answer? Analyses, several lines and declarations need the search."""
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
