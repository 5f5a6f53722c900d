"""The player: loads an evaluator and a book, and answers search requests, one at a time."""

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

from goryu.games.shogi import STANDARD_RULES, EnteringKingRule, move_to_usi
from goryu.games.state import Move
from goryu.implementation import IMPLEMENTATION, WHY, Board, Puct, make_puct, solve
from goryu.players.agents.interface import Searcher
from goryu.players.agents.making import make_searcher, needs_evaluator
from goryu.players.books.opening_book import BookPlayer
from goryu.players.clock.limits import Limits
from goryu.players.clock.time_manager import TimeManager
from goryu.players.config import EngineConfig, MateConfig
from goryu.players.levels.level_moves import choose_level_move
from goryu.players.levels.levels import Level, at_level, level_of, limits_at_level
from goryu.players.puct_session import PuctSession, is_root
from goryu.players.reply_mates import SHORTENING_NODES
from goryu.players.request import Answer, OnProgress, Request, SearchControl
from goryu.players.search_session import ALL_MOVES, SearchSession
from goryu.players.set_up import measuring
from goryu.players.set_up.devices import are_alike, has_several_devices, searching_threads
from goryu.players.set_up.loading import LoadedEvaluator, LoadingError, load_evaluator
from goryu.players.set_up.measuring import Settings
from goryu.players.set_up.threads import THREADS_PER_CORE, cores, search_threads, usable_threads
from goryu.search.evaluator import Evaluation
from goryu.search.graph.proof import MateSolver
from goryu.search.mates.mate import Mate
from goryu.search.result import RootMove, SearchResult

_log = logging.getLogger("goryu")

MEMORY_FACTOR = {"python": 30, "native": 1.3}
"""Memory of the search over what its table counts (`node_table.py`): the most that the native table holds;
an estimate for the Python one, 5.3 kB for a position of 180 bytes in the middle game."""

MOST_LEAF_MATE_NODES = {"python": 1, "native": 10_000}
MOST_MATE_NODES_PER_VISIT = {"python": 0, "native": 100}
"""Budgets of the mate search in the graph: in Python 40 nodes take up to 10 times as long as the network."""

BYTES_PER_MATE_ENTRY = {"python": 300, "native": 80}
"""Memory of an entry in the table of the mate search: 73 bytes in C++ while the table grows, then 49."""

MOST_MATE_ENTRIES = 1 << 21
"""Freeing entries of a larger table would take so long that `go mate` would answer late."""

UNLIMITED = 1 << 62
"""More positions than a mate search can expand."""

LEVEL_BATCH = 1
"""Positions per call of the evaluator in the search of a level, so that it is the same with every backend."""

MATE_MARGIN_MS = 10.0
"""How long before the end of its time a mate search stops, to answer in time."""


class Player:
    """Plays shogi: searches within limits, and keeps its search graph between moves.

    Call all methods from one thread; a running search is controlled through its `SearchControl`.
    """

    def __init__(self, clock: Callable[[], float] = monotonic, loaded: LoadedEvaluator | None = None) -> None:
        """Creates a player. loaded: its evaluator, if `load` will not be called."""
        self._clock = clock
        self._time = TimeManager(clock)
        self._loaded = loaded
        self._puct: Puct | None = None
        self._other: Searcher | None = None  # The last search, if it was by another algorithm.
        self._other_name = ""
        self._threads = 0  # Of the search.
        self._measured: Settings | None = None  # For the evaluator, if the config leaves the choice to us.
        self._problem = "none was loaded"
        self._report: Callable[[str], None] = lambda message: None
        self._books = BookPlayer()
        self._rules = STANDARD_RULES  # Those of the last search.
        self._moves: list[Move] = []  # Those that led to its root.
        self._root_moves: frozenset[Move] = frozenset()  # The only ones that it considered; empty for all.
        self._rng = Random()
        self._seed = 0

    def load(
        self,
        config: EngineConfig,
        report: Callable[[str], None],
        *,
        measures: bool = False,
        hurries: Callable[[], bool] = lambda: False,
    ) -> None:
        """Loads evaluator and book, or loads them again if their config or their files have changed.

        measures: there is time to measure the best threads and batch size, if that was not done before.
        hurries: asked while measuring; once it is true, the usual settings are used until the next `load`.
        report: takes one-line ASCII messages: what was loaded, and the reason for every fallback.
        A missing or broken model is not an error: a weaker evaluator replaces it, or the player resigns
        if the config forbids that. Without a usable book the player searches.
        """
        self._report = report
        if (book := self.load_book(config, report)) is not None:
            report(f"book={book}")
        was_measured = self._measured is not None and bool(config.seed)  # A seed is for exact repetition.
        if self._loaded is None or was_measured or not self._loaded.is_current(config.evaluator):
            self._puct = self._measured = None
            self._problem = "it could not be loaded"
            self._loaded = None  # Frees the memory of the old network before the new one needs it.
            try:
                self._loaded = load_evaluator(config.evaluator, report)
            except LoadingError as error:
                self._problem = str(error)
                report(f"Error! {error}")
                return
        if self._measured is None:
            self._measured = self._best_settings(config, report, hurries if measures else None)
            if self._measured is not None:
                self._puct = None
        wanted = searching_threads(config.evaluator)
        if usable_threads(wanted) < wanted:
            most = f"{THREADS_PER_CORE} for each of {cores()} cores"
            report(f"Threads {wanted}: using {most}, to answer in time")
        searchers = self._wanted_threads(config) if IMPLEMENTATION == "native" else 1
        report(f"{self._loaded.description} searchers={searchers} implementation={IMPLEMENTATION} ({WHY})")
        if self._loaded.uses_gpu and not config.search.capacity_bytes:
            report(f"USI_Hash 0: using {config.hash_bytes(uses_gpu=True) >> 20} MB, a quarter of the memory")

    def load_book(self, config: EngineConfig, report: Callable[[str], None]) -> Path | None:
        """Loads the book alone, for a player whose evaluator is loaded already.

        Returns the file if it was opened now. report: takes the reason if it cannot be used.
        """
        return self._books.load(config.book_file, report)

    def _best_settings(
        self, config: EngineConfig, report: Callable[[str], None], hurries: Callable[[], bool] | None
    ) -> Settings | None:
        """Returns measured settings for the evaluator, or None; may load it again for another batch size.

        hurries: as in `load`; None if there is no time to measure.
        """
        wanted, loaded = config.evaluator, self._loaded
        assert loaded is not None
        if wanted.threads or wanted.kind != "network" or config.seed or not measuring.is_on():
            return None
        if has_several_devices(wanted) and not (loaded.uses_gpu and are_alike(wanted)):
            return None
        settings = measuring.remembered(loaded)
        if settings is None and hurries is not None:
            settings = measuring.measure_and_remember(loaded, report, hurries)
        if settings is None:
            return None
        batch_size = wanted.batch_size or settings.batch_size
        if loaded.uses_gpu and Settings(settings.threads, batch_size) != measuring.usual_settings(loaded):
            # With room for these batches, and a stream for each thread.
            try:
                sized = load_evaluator(
                    replace(wanted, batch_size=batch_size, threads=settings.threads), report
                )
            except LoadingError as error:
                report(f"Error! {error}; using the usual threads and batch size")
                return None
            if not sized.uses_gpu:
                report(
                    f"no room for batches of {batch_size} on the GPU; using the usual threads and batch size"
                )
                return None
            loaded = replace(sized, config=wanted)
        description = re.sub(r"\bbatch=\d+", f"batch={batch_size}", loaded.description)
        self._loaded = replace(loaded, batch_size=batch_size, description=description)
        return settings

    def _wanted_threads(self, config: EngineConfig) -> int:
        """Returns the threads of the search."""
        measured = self._measured.threads if self._measured is not None else 0
        if has_several_devices(config.evaluator):
            return usable_threads(searching_threads(config.evaluator, measured))
        return search_threads(config.evaluator.threads or measured)

    def new_game(self) -> None:
        """Forgets everything that was searched."""
        self._books.new_game()
        self._other = None
        if self._puct is not None:
            self._puct.clear()

    def search(self, request: Request, control: SearchControl, on_progress: OnProgress) -> Answer:
        """Searches until the limits or `control` end it; there must be an evaluator.

        An infinite search, or one while pondering, may return early if nothing is left to search; the
        caller then holds back the answer.

        If the search fails before it finds anything, the evaluator is loaded again, once: a lost GPU
        breaks its session, and another backend may work.
        """
        try:
            answer = self._search(request, control, on_progress)
            for message in self._loaded.new_failures() if self._loaded else ():
                self._report(f"Error! {message}; the search goes on without it")
            return answer
        except Exception as error:
            _log.exception("the search failed")
            problem = f"{type(error).__name__}: {error}"
        self._report(f"Error! {problem}; loading the evaluator again")
        self._loaded = None
        self.load(request.config, self._report)
        return self._search(request, control, on_progress)

    def _search(self, request: Request, control: SearchControl, on_progress: OnProgress) -> Answer:
        self._set_seed(request.config.seed)
        if self._loaded is None and needs_evaluator(request.config):
            return Answer(None, info_string=f"Error! no evaluator: {self._problem}")
        if not request.board.legal_moves():
            return Answer(None)
        if request.config.algorithm.name != "puct":
            return self._search_otherwise(request, control, on_progress)
        level = level_of(request.config)
        if not (level.is_full_strength or request.limits.infinite or request.limits.root_moves):
            return self._search_at_level(level, request, control, on_progress)
        if request.limits.ponder and request.config.ponders_on_all_replies and request.board.move_stack:
            answer = self._ponder_on_all_replies(request, control, on_progress)
            if answer is not None:
                return answer
            assert control.hit is not None
            limits, hit_at_s = control.hit
            request = replace(request, limits=limits, started_s=hit_at_s)
        known = self._known_answer(request)
        if known is not None and not request.limits.is_open:
            return known
        puct = self._searcher(request.config, request.board, request.limits.root_moves)
        session = PuctSession(puct, request, control, on_progress, self._time, self._rng, known=known)
        return session.run()

    def _search_otherwise(self, request: Request, control: SearchControl, on_progress: OnProgress) -> Answer:
        """Searches by another algorithm than the engine's own, from nothing."""
        known = self._known_answer(request)
        if known is not None and not request.limits.is_open:
            return known
        config, turn = request.config, request.board.turn
        if self._loaded is not None:
            self._loaded.set_draw_value(config.rules.draw_value_of_black(turn))
        searcher = make_searcher(config, turn, self._loaded, self._rng, self._time.left_ms)
        self._other, self._other_name = searcher, config.algorithm.name
        return SearchSession(
            searcher, request, control, on_progress, self._time, self._rng, known=known
        ).run()

    def _search_at_level(
        self, level: Level, request: Request, control: SearchControl, on_progress: OnProgress
    ) -> Answer:
        """Plays a move at a level below full strength; while pondering it only waits."""
        assert self._loaded is not None
        board, evaluator = request.board, self._loaded.evaluator
        if request.limits.ponder:
            control.wait()
            if control.hit is None:
                return Answer(board.legal_moves()[0])
            limits, hit_at_s = control.hit
            request = replace(request, limits=limits, started_s=hit_at_s)
        if board.declaration() and board.rules.entering_king is not EnteringKingRule.TryRule:
            return Answer(None, declares=True)
        # With a seed, the move depends on the position alone.
        rng = Random(f"{self._seed} {board.key}") if self._seed else self._rng
        temperature = request.config.evaluator.temperature

        def choose(result: SearchResult) -> RootMove:
            return choose_level_move(board, result, level, temperature, evaluator.evaluate, rng)

        config = at_level(request.config, level)
        request = replace(request, config=config, limits=limits_at_level(request.limits, level))
        puct = self._searcher(config, board, is_level=True)
        return PuctSession(
            puct, request, control, on_progress, self._time, rng, choose=choose, mate_plies=level.mate_plies
        ).run()

    def _set_seed(self, seed: int) -> None:
        if seed != self._seed:
            self._seed = seed
            self._rng = Random(seed) if seed else Random()

    def _known_answer(self, request: Request) -> Answer | None:
        """Returns a win by declaration or the book's move, if no search is needed."""
        board, limits = request.board, request.limits
        # Under the try rule the winning king move is played instead.
        if board.declaration() and board.rules.entering_king is not EnteringKingRule.TryRule:
            return Answer(None, declares=True)
        if limits.infinite or limits.root_moves or not _may_use_book(request):
            return None
        return self._books.answer(request, self._rng)

    def solve_mate(self, request: Request, control: SearchControl, limit_ms: float | None) -> Mate:
        """Searches for a mate by the side to move, for at most `limit_ms`."""
        deadline_s = inf if limit_ms is None else request.started_s + (limit_ms - MATE_MARGIN_MS) / 1000
        return solve(
            request.board,
            UNLIMITED,
            lambda: control.is_stopped or self._clock() >= deadline_s,
            SHORTENING_NODES,
            _mate_entries(request.config.hash_bytes(uses_gpu=False)),
        )

    def evaluate(self, board: Board) -> Evaluation:
        """Returns the evaluation of a position that is not over, without a search.

        Raises LoadingError if there is no evaluator.
        """
        if self._loaded is None:
            raise LoadingError(f"no evaluator: {self._problem}")
        return self._loaded.evaluator.evaluate([board])[0]

    def result(self, lines: int) -> SearchResult | None:
        """Returns the result of the last search, or None before the first."""
        searcher = self._other or self._puct
        return searcher.result(lines) if searcher is not None else None

    @property
    def last_algorithm(self) -> str:
        """The name of the algorithm of the last search."""
        return self._other_name if self._other is not None else "puct"

    def graph(self, depth: int | None, least_visits: int) -> dict[str, Any] | None:
        """Returns the search graph as `graph_dump.dump` does, or None if the last search had no graph."""
        if self._puct is None or self._other is not None:
            return None
        return self._puct.dump(depth=depth, least_visits=least_visits, name=move_to_usi)

    def _searcher(
        self,
        config: EngineConfig,
        board: Board,
        root_moves: Sequence[Move] = (),
        draw_value: float | None = None,
        is_level: bool = False,
    ) -> Puct:
        """Returns the search, with its old graph if evaluator, constants, rules and past are the same.

        draw_value: the value of a draw to the side to move, if it is not the config's.
        is_level: is it the search of a level? It is the same on every machine: one thread, small batches.
        """
        assert self._loaded is not None
        batch_size = LEVEL_BATCH if is_level else self._loaded.batch_size
        threads = 1 if is_level else self._wanted_threads(config)
        uses_gpu = self._loaded.uses_gpu
        wanted = config.puct_config(board.turn, batch_size, MEMORY_FACTOR[IMPLEMENTATION], uses_gpu=uses_gpu)
        if draw_value is not None:
            wanted = replace(wanted, draw_value=draw_value)
        solver = graph_solver(config.mate)
        if (
            self._puct is None
            or replace(self._puct.config, draw_value=wanted.draw_value) != wanted
            or self._puct.solver != solver
            or self._threads != threads
        ):
            self._threads = threads
            self._puct = make_puct(self._loaded.evaluator, wanted, solver, threads)
        elif not (config.reuses_subtree and self._can_reuse_graph(board, frozenset(root_moves))):
            self._puct.clear()
        self._other = None
        self._rules, self._moves = board.rules, list(board.move_stack)
        self._root_moves = frozenset(root_moves)
        self._puct.config = wanted
        self._loaded.set_draw_value(-wanted.draw_value if board.turn else wanted.draw_value)
        return self._puct

    def _can_reuse_graph(self, board: Board, root_moves: frozenset[Move]) -> bool:
        """Are the results of the last search valid for this root?"""
        is_same_game = board.rules == self._rules and self._has_same_past(board)
        return is_same_game and self._has_considered(board, root_moves)

    def _has_same_past(self, board: Board) -> bool:
        """Is this a new root, or the last one after the same moves?

        The graph contains results of repetitions with the past, which a search drops only with its root.
        """
        assert self._puct is not None
        return not is_root(self._puct, board) or board.move_stack == self._moves

    def _has_considered(self, board: Board, root_moves: frozenset[Move]) -> bool:
        """Did the last search of this root, if any, consider all the moves that the next one considers?

        A move that was left out has no visits, and would lose against the others for that reason alone.
        """
        assert self._puct is not None
        if not self._root_moves or not is_root(self._puct, board):
            return True
        return bool(root_moves) and root_moves <= self._root_moves

    def _ponder_on_all_replies(
        self, request: Request, control: SearchControl, on_progress: OnProgress
    ) -> Answer | None:
        """Stochastic pondering: searches the position before the predicted move, for the opponent.

        Returns None after `ponderhit`: the caller then starts the real search, on the graph found here.
        After `stop` it returns a legal move of the predicted position, which the GUI discards.
        """
        board = request.board.copy()
        predicted = board.pop()
        # A draw has the same value for us now, with the opponent to move, as after the hit.
        draw_value = -request.config.rules.draw_value(request.board.turn)
        puct = self._searcher(request.config, board, draw_value=draw_value)
        opponent = replace(request, board=board, limits=Limits(infinite=True))
        session = PuctSession(puct, opponent, control, on_progress, self._time, self._rng, ends_at_hit=True)
        session.search()
        control.wait()
        if control.hit is not None:  # Even if a `stop` came right after it.
            return None
        result = puct.result(ALL_MOVES)
        for move in result.moves:
            if move.move == predicted and len(move.pv) > 1:
                return _after_predicted(move, result, session.elapsed_ms())
        return Answer(request.board.legal_moves()[0])


def graph_solver(config: MateConfig) -> MateSolver:
    """Returns the mate search at the positions of the graph, within what the implementation can afford."""
    return MateSolver(
        min(config.leaf_nodes, MOST_LEAF_MATE_NODES[IMPLEMENTATION]),
        min(config.nodes_per_visit, MOST_MATE_NODES_PER_VISIT[IMPLEMENTATION]),
    )


def graph_search(loaded: LoadedEvaluator, config: EngineConfig, threads: int = 1) -> Puct:
    """Returns a search with the network and the numbers of the config, for other uses than to play.

    A draw has the value that it has for Black. threads: of the native search.
    """
    puct_config = config.puct_config(0, loaded.batch_size, MEMORY_FACTOR[IMPLEMENTATION])
    return make_puct(loaded.evaluator, puct_config, graph_solver(config.mate), threads)


def _may_use_book(request: Request) -> bool:
    """May this search be answered from the book?

    The user's book answers all of them. Goryu's own one is for games of its own network and search: another
    network may know better, another algorithm would not be seen, and who limits the positions of a search
    wants to see a search or a weaker player.
    """
    config, limits = request.config, request.limits
    if not config.book_file.is_own:
        return True
    is_own_engine = config.evaluator.kind == "network" and not config.evaluator.model
    counts = (limits.nodes, limits.depth, config.nodes or None, config.depth or None)
    return is_own_engine and config.algorithm.name == "puct" and all(count is None for count in counts)


def _after_predicted(predicted: RootMove, result: SearchResult, elapsed_ms: float) -> Answer:
    """Returns the answer to the predicted move, from a search of the position before it."""
    mate = _one_ply_later(predicted.mate)
    own = RootMove(predicted.pv[1], 1.0, predicted.visits, -predicted.value, mate, predicted.pv[1:])
    return Answer(own.move, result=replace(result, moves=(own,), value=own.value), elapsed_ms=elapsed_ms)


def _mate_entries(memory_bytes: int) -> int:
    """Returns the capacity of a mate search's table: a power of two, which the native table fills best."""
    entries = min(memory_bytes // BYTES_PER_MATE_ENTRY[IMPLEMENTATION], MOST_MATE_ENTRIES)
    return 1 << max(entries.bit_length() - 1, 0)


def _one_ply_later(mate: int | None) -> int | None:
    """Returns a mate distance after one more ply, seen from the other side."""
    return None if mate is None or abs(mate) == 1 else (1 - mate if mate > 0 else -1 - mate)
