"""The player: answers search requests, one at a time.

It asks in order who knows the answer: the rules (a win by declaration), the book, a search for a mate, and
the engine's own search. A level does not ask the book. Another algorithm looks for no mate, and Goryu's own
book is not for it; a book that the user names is.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from time import perf_counter
from typing import Any

from goryu.base.language import tr
from goryu.games.shogi import move_to_usi
from goryu.implementation import Board, Puct
from goryu.players.agents.making import make_searcher, needs_evaluator
from goryu.players.agents.searcher import Searcher
from goryu.players.books.opening_book import BookPlayer, suits
from goryu.players.clock.time_manager import TimeManager
from goryu.players.config import EngineConfig
from goryu.players.go_mate import go_mate
from goryu.players.graph_search import GraphSearch
from goryu.players.kept_graph import GraphSettings, KeptGraph, graph_settings, settings_at_level
from goryu.players.levels.level_moves import choose_level_move
from goryu.players.levels.levels import Level, at_level, evaluator_of, level_of_move, limits_at_level
from goryu.players.pondering import before_prediction, ponder, ponders_on_all_replies, wait
from goryu.players.position import declaration
from goryu.players.recovery import with_second_try
from goryu.players.reply_mates import ReplyMates
from goryu.players.request import Answer, OnProgress, Request, SearchControl
from goryu.players.root_mate import answer_by_mate
from goryu.players.session import Session, Task
from goryu.players.set_up.evaluator_slot import EvaluatorSlot
from goryu.search.evaluator import Evaluation
from goryu.search.mates.mate import Mate
from goryu.search.result import RootMove, SearchResult


class Player:
    """Plays shogi: searches within limits, and keeps its search graph between moves.

    Call all methods from one thread; a running search is controlled through its `SearchControl`.
    slot: holds the evaluator. last_algorithm: the name of the algorithm of the last search.
    """

    def __init__(
        self,
        clock: Callable[[], float] = perf_counter,
        slot: EvaluatorSlot | None = None,
        report: Callable[[str], None] = lambda message: None,
    ) -> None:
        """Creates a player.

        slot: with its evaluator, if `load` will not be called. report: as in `load`, and until then.
        """
        self.slot = slot or EvaluatorSlot()
        self.last_algorithm = "puct"
        self._last: Puct | Searcher | None = None  # The last search.
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
        hurries: polled while it measures; True ends that, with the usual settings until the next `load`.
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
            size = config.hash_bytes(uses_gpu=True) >> 20
            report(tr("USI_Hash 0: using {size} MB, a quarter of the memory", size=size))

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

        A search that fails begins anew, once (`with_second_try`).
        """
        self._set_seed(request.config.seed)
        task = Task(request, control, on_progress, self._time, self._rng)
        answer = with_second_try(
            lambda: self._answer(task), self._start_again, self.slot.reload_ms, self._report
        )
        for message in self.slot.loaded.new_failures() if self.slot.loaded else ():
            self._report(tr("Error! {error}; the search goes on without it", error=message))
        return answer

    def _start_again(self, is_lost: bool) -> None:
        """Drops the graph; is_lost: loads the evaluator again, too."""
        self._drop_searches()
        if is_lost and self.slot.loaded is not None:
            self.slot.loaded.lost.set()
            self.slot.reload(self._report)

    def _answer(self, task: Task) -> Answer:
        """Asks in turn who knows the answer: the rules, the book, a search for a mate, and a search."""
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
        known = declaration(task.request.board)
        if known is None and not level:
            known = self._books.answer(task.request, self.slot.network_path, self._rng)
        if known is not None and not task.request.limits.is_open:
            return known
        task = replace(task, known=known)  # An analysis shows a score all the same.
        if level:
            return self._answer_of_level(task, level)
        if request.config.algorithm.name != "puct":
            return Session(self._other_searcher(task.request), task).run()
        limits, mates = task.request.limits, request.config.mate
        nodes = min(mates.root_nodes, limits.nodes) if limits.nodes else mates.root_nodes
        search = self._graph_search(task.request, self._settings(task.request))
        session = Session(search, task, reply_mates=self._reply_mates(search, task.request))
        return answer_by_mate(session, search, nodes) or session.run()

    def _answer_of_level(self, task: Task, level: Level) -> Answer:
        """Returns the answer of a level below full strength: its search, and its choice among the moves."""
        if self._seed:  # With a seed, the move depends on the position alone.
            task = replace(task, rng=Random(f"{self._seed} {task.request.board.key}"))
        config, limits = at_level(task.request.config, level), limits_at_level(task.request.limits, level)
        request = replace(task.request, config=config, limits=limits)
        task, rng, evaluate = replace(task, request=request), task.rng, self.slot.require().evaluator.evaluate
        search = self._graph_search(request, settings_at_level(self._settings(request)))

        def choose(result: SearchResult) -> RootMove:
            temperature = config.evaluator.temperature
            return choose_level_move(request.board, result, level, temperature, evaluate, rng)

        session = Session(search, task, choose=choose, reply_mates=self._reply_mates(search, request))
        # The nodes of a level limit its search only.
        return answer_by_mate(session, search, config.mate.root_nodes, level.mate_plies) or session.run()

    def _ponder_on_all_replies(self, task: Task) -> Answer | None:
        request, predicted = before_prediction(task.request)
        # At the root, the position before the predicted move, the opponent is to move: the sign changes.
        draw_value = -request.config.rules.draw_value(task.request.board.turn)
        settings = self._settings(request)
        settings = replace(settings, config=replace(settings.config, draw_value=draw_value))
        task = replace(task, request=request)
        session = Session(self._graph_search(request, settings), task, ends_at_hit=True)
        return ponder(session, task, predicted)

    def _other_searcher(self, request: Request) -> Searcher:
        """Returns a new search by another algorithm than the engine's own."""
        config, turn = request.config, request.board.turn
        if self.slot.loaded is not None:
            self.slot.loaded.set_draw_value(config.rules.draw_value_of_black(turn))
        searcher = make_searcher(config, turn, self.slot.loaded, self._rng, self._time.left_ms, self._last)
        self._last, self.last_algorithm = searcher, config.algorithm.name
        return searcher

    def _settings(self, request: Request) -> GraphSettings:
        """Returns the settings of the engine's own search at full strength."""
        config, loaded = request.config, self.slot.require()
        return graph_settings(
            config, request.board.turn, loaded.batch_size, self.slot.threads, uses_gpu=loaded.uses_gpu
        )

    def _graph_search(self, request: Request, settings: GraphSettings) -> GraphSearch:
        """Returns the engine's own search, with its old graph where that is valid."""
        loaded, draw_value = self.slot.require(), settings.config.draw_value
        loaded.set_draw_value(-draw_value if request.board.turn else draw_value)
        puct = self._graph.prepared(loaded.evaluator, settings, request)
        self._last, self.last_algorithm = puct, "puct"
        return GraphSearch(puct)

    def _reply_mates(self, search: GraphSearch, request: Request) -> ReplyMates | None:
        nodes = request.config.mate.reply_nodes
        return ReplyMates(search.puct, request.board, nodes) if nodes > 0 else None

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
