"""The player: answers search requests, one at a time.

It asks in order who knows the answer: the rules (a win by declaration), the book, and a search, which is that
of a level, of another algorithm, or the engine's own.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from random import Random
from time import monotonic
from typing import Any

from goryu.base.errors import named
from goryu.evaluators.network.providers import RUN_ERRORS
from goryu.games.shogi import move_to_usi
from goryu.implementation import Board, Puct
from goryu.players.agents.making import make_searcher, needs_evaluator
from goryu.players.agents.searcher import Searcher
from goryu.players.books.opening_book import BookPlayer, suits
from goryu.players.clock.time_manager import TimeManager
from goryu.players.config import EngineConfig
from goryu.players.go_mate import go_mate
from goryu.players.kept_graph import GraphSettings, KeptGraph, graph_settings
from goryu.players.levels.level_session import LevelSession, settings_at_level, task_at_level
from goryu.players.levels.levels import Level, evaluator_of, level_of_move
from goryu.players.ponder_session import PonderSession, before_prediction, ponders_on_all_replies, wait
from goryu.players.position import declaration
from goryu.players.puct_session import PuctSession
from goryu.players.request import Answer, OnProgress, Request, SearchControl
from goryu.players.search_session import InterruptedSearchError, SearchSession, Task
from goryu.players.set_up.evaluator_slot import EvaluatorSlot
from goryu.search.evaluator import Evaluation
from goryu.search.mates.mate import Mate
from goryu.search.result import SearchResult

_log = logging.getLogger("goryu")


class Player:
    """Plays shogi: searches within limits, and keeps its search graph between moves.

    Call all methods from one thread; a running search is controlled through its `SearchControl`.
    slot: holds the evaluator. last_algorithm: the name of the algorithm of the last search.
    """

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        slot: EvaluatorSlot | None = None,
        report: Callable[[str], None] = lambda message: None,
    ) -> None:
        """Creates a player.

        slot: with its evaluator, if `load` will not be called. report: as there, until it is called.
        """
        self.slot = slot or EvaluatorSlot()
        self.last_algorithm = "puct"
        self._last: Searcher | None = None  # The last search.
        self._clock = clock
        self._time = TimeManager(clock)
        self._graph = KeptGraph()
        self._books = BookPlayer()
        self._report = report
        self._rng = Random()
        self._seed = 0

    # What it plays with.

    def load(
        self,
        config: EngineConfig,
        report: Callable[[str], None],
        *,
        measures: bool = False,
        hurries: Callable[[], bool] = lambda: False,
    ) -> None:
        """Loads evaluator and book, or loads them again if their config or their files have changed.

        measures: may the best threads and batch size be measured now?
        hurries: polled meanwhile; True ends it with the usual settings until the next `load`.
        report: takes one-line ASCII messages: what was loaded, and the reason for every fallback.
        A missing or broken model is not an error: a weaker evaluator replaces it, or the player resigns
        if the config forbids that. Without a usable book the player searches.
        """
        self._report = report
        uses_measured = not config.seed  # A seed is for exact repetition.
        evaluator = evaluator_of(config)
        if not self.slot.is_current(evaluator, uses_measured=uses_measured):
            self._drop_searches()
        hurried = hurries if measures else None
        self.slot.load(evaluator, report, uses_measured=uses_measured, hurries=hurried)
        if (book := self.load_book(config, report)) and suits(config, self.slot.network_path):
            report(f"book={book}")
        loaded = self.slot.loaded
        if loaded is not None and loaded.uses_gpu and not config.search.capacity_bytes:
            report(f"USI_Hash 0: using {config.hash_bytes(uses_gpu=True) >> 20} MB, a quarter of the memory")

    def load_book(self, config: EngineConfig, report: Callable[[str], None]) -> str:
        """Loads the book alone, for a player whose evaluator is loaded already.

        Returns the paths of the files if they were opened now, else "".
        report: takes the reason if it cannot be used.
        """
        return self._books.load(config.book_file, report)

    def new_game(self) -> None:
        """Forgets everything that was searched."""
        self._books.new_game()
        self._graph.clear()
        self._last = self._graph.puct
        self.last_algorithm = "puct"

    def _drop_searches(self) -> None:
        """Frees what holds the evaluator: a new network needs the memory of the old one."""
        self._graph.drop()
        self._last = None

    # The answer.

    def search(self, request: Request, control: SearchControl, on_progress: OnProgress) -> Answer:
        """Searches until the limits or `control` end it; there must be an evaluator.

        An infinite search, or one while pondering, may return early if nothing is left to search; the
        caller then holds back the answer.

        If a search fails and there is time, it begins anew, once, with an empty graph, and the one that got
        further answers. If the network has failed, it is loaded again before: a lost GPU breaks its session,
        and the CPU may work.
        """
        self._set_seed(request.config.seed)
        task = Task(request, control, on_progress, self._time, self._rng)
        try:
            answer = self._answer(task)
            for message in self.slot.loaded.new_failures() if self.slot.loaded else ():
                self._report(f"Error! {message}; the search goes on without it")
            return answer
        except InterruptedSearchError as error:
            if error.left_ms < (self.slot.reload_ms() if error.is_lost else 1):
                return error.answer
            found, problem, is_lost = replace(error.answer, info_string=""), str(error), error.is_lost
        except Exception as error:
            _log.exception("the search failed")
            found, problem, is_lost = None, f"Error! {named(error)}", isinstance(error, RUN_ERRORS)
        remedy = "loading the evaluator again" if is_lost else "searching again with an empty graph"
        self._report(f"{problem}; {remedy}")
        try:
            answer = self._answer_again(task, is_lost=is_lost)
        except Exception:
            if found is None:
                raise
            _log.exception("the search failed again")
            return found
        return found if found is not None and _playouts(found) > _playouts(answer) else answer

    def _answer_again(self, task: Task, *, is_lost: bool) -> Answer:
        """Returns the answer of another search; is_lost: loads the evaluator again before it."""
        self._drop_searches()
        if is_lost and self.slot.loaded is not None:
            self.slot.loaded.lost.set()
            self.slot.reload(self._report)
        try:
            return self._answer(task)
        except InterruptedSearchError as error:
            return error.answer

    def _answer(self, task: Task) -> Answer:
        request = task.request
        if self.slot.loaded is None and needs_evaluator(request.config):
            return Answer(None, info_string=f"Error! no evaluator: {self.slot.problem}")
        if not request.board.legal_moves():
            return Answer(None)
        level = level_of_move(request.config, request.limits)
        if request.limits.ponder and (level or ponders_on_all_replies(request)):
            answer = wait(task) if level else self._ponder_on_all_replies(task)
            if answer is not None:
                return answer
            task = task.after_hit()
        known = declaration(request.board)
        if known is None and not level:
            known = self._books.answer(task.request, self.slot.network_path, self._rng)
        if known is not None and not task.request.limits.is_open:
            return known
        return self._session(replace(task, known=known), level).run()

    def _session(self, task: Task, level: Level | None) -> SearchSession:
        """Returns the search that answers: a level's, another algorithm's, or the engine's own."""
        request = task.request
        if level is not None:
            return self._level_session(task, level)
        if request.config.algorithm.name != "puct":
            return SearchSession(self._other_searcher(request), task)
        return PuctSession(self._puct(request, self._settings(request)), task)

    def _level_session(self, task: Task, level: Level) -> LevelSession:
        if self._seed:  # With a seed, the move depends on the position alone.
            task = replace(task, rng=Random(f"{self._seed} {task.request.board.key}"))
        task = task_at_level(task, level)
        puct = self._puct(task.request, settings_at_level(self._settings(task.request)))
        return LevelSession(puct, task, level, self.slot.require().evaluator.evaluate)

    def _ponder_on_all_replies(self, task: Task) -> Answer | None:
        request, predicted = before_prediction(task.request)
        # A draw has the same value for us now, with the opponent to move, as after the hit.
        draw_value = -request.config.rules.draw_value(task.request.board.turn)
        settings = self._settings(request)
        settings = replace(settings, config=replace(settings.config, draw_value=draw_value))
        puct = self._puct(request, settings)
        return PonderSession(puct, replace(task, request=request), predicted).ponder()

    def _other_searcher(self, request: Request) -> Searcher:
        """Returns a new search by another algorithm than the engine's own."""
        config, turn = request.config, request.board.turn
        if self.slot.loaded is not None:
            self.slot.loaded.set_draw_value(config.rules.draw_value_of_black(turn))
        searcher = make_searcher(config, turn, self.slot.loaded, self._rng, self._time.left_ms)
        self._last, self.last_algorithm = searcher, config.algorithm.name
        return searcher

    def _settings(self, request: Request) -> GraphSettings:
        """Returns the settings of the engine's own search at full strength."""
        config, loaded = request.config, self.slot.require()
        return graph_settings(
            config, request.board.turn, loaded.batch_size, self.slot.threads, uses_gpu=loaded.uses_gpu
        )

    def _puct(self, request: Request, settings: GraphSettings) -> Puct:
        """Returns the engine's own search, with its old graph where that is valid."""
        loaded, draw_value = self.slot.require(), settings.config.draw_value
        loaded.set_draw_value(-draw_value if request.board.turn else draw_value)
        puct = self._graph.prepared(loaded.evaluator, settings, request)
        self._last, self.last_algorithm = puct, "puct"
        return puct

    def _set_seed(self, seed: int) -> None:
        if seed != self._seed:
            self._seed = seed
            self._rng = Random(seed) if seed else Random()

    # What else it knows.

    def solve_mate(self, request: Request, control: SearchControl, limit_ms: float | None) -> Mate:
        """Searches for a mate by the side to move, for at most `limit_ms`."""
        return go_mate(request, control, limit_ms, self._clock)

    def evaluate(self, board: Board) -> Evaluation:
        """Returns the evaluation of a position that is not over, without a search.

        Raises LoadingError if there is no evaluator.
        """
        return self.slot.require().evaluator.evaluate([board])[0]

    def result(self, lines: int) -> SearchResult | None:
        """Returns the result of the last search, or None before the first."""
        return self._last.result(lines) if self._last is not None else None

    def graph(self, depth: int | None, least_visits: int) -> dict[str, Any] | None:
        """Returns the search graph as `graph_dump.dump` does, or None if the last search had no graph."""
        puct = self._graph.puct
        if puct is None or self._last is not puct:
            return None
        return puct.dump(depth=depth, least_visits=least_visits, name=move_to_usi)


def _playouts(answer: Answer) -> int:
    return answer.result.stats.playouts if answer.result is not None else 0
