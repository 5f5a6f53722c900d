"""A player: a search, an evaluator and a clock put together, for one game at a time."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from random import Random
from time import monotonic
from typing import Any

from goryu.games.shogi import STANDARD_RULES, EnteringKingRule, move_to_usi
from goryu.games.state import Move
from goryu.implementation import IMPLEMENTATION, WHY, Board, Puct, mate_in_one, solve
from goryu.players.books.opening_book import BookPlayer
from goryu.players.config import EngineConfig
from goryu.players.limits import Limits
from goryu.players.loading import LoadedEvaluator, LoadingError, load_evaluator
from goryu.players.position import legal_reply
from goryu.players.random_openings import choose_move
from goryu.players.request import Answer, OnProgress, Request, SearchControl
from goryu.players.search_session import SearchSession
from goryu.players.time_manager import TimeManager
from goryu.search.evaluator import Evaluation
from goryu.search.mate import Mate, MateVerdict
from goryu.search.result import RootMove, SearchResult

_log = logging.getLogger("goryu")

MEMORY_FACTOR = {"python": 30, "native": 1}
"""Memory of the search graph over what the table counts (`table_memory.py`): exact for the native one, and an
estimate for the Python one, 5.3 kB for a position of 180 bytes in the middle game."""

MOST_LEAF_MATE_NODES = {"python": 1, "native": 10_000}
"""Budget of the mate search at a leaf: in Python 40 nodes take up to 10 times as long as the network."""

BYTES_PER_MATE_NODE = 300
"""Memory of a position in the table of the mate search."""

MATE_MARGIN_MS = 10.0
"""How long before the end of its time a mate search gives up, to answer in time."""

ROOT_MATE_SHARE = 0.05
"""How much of the time for a move the search for a mate at the root may take."""

ALL_MOVES = 600
"""More lines of play than any shogi position has."""


class Player:
    """Plays shogi: loads an evaluator, searches within limits, keeps its search graph between moves.

    All methods but `SearchControl`'s are called from one thread.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._time = TimeManager(clock)
        self._loaded: LoadedEvaluator | None = None
        self._puct: Puct | None = None
        self._problem = "none was loaded"
        self._say: Callable[[str], None] = lambda message: None
        self._books = BookPlayer()
        self._rules = STANDARD_RULES  # Those of the last search.
        self._moves: list[Move] = []  # Those that led to its root.
        self._chosen: frozenset[Move] = frozenset()  # The only ones it considered there; empty for all.
        self._rng = Random()
        self._seed = 0

    def load(self, config: EngineConfig, say: Callable[[str], None]) -> None:
        """Loads evaluator and book, or loads them anew if their settings or their files have changed.

        say: takes one-line ASCII messages: what was loaded, and the reason for every fallback.
        A model that is missing or broken is no error here: a weaker evaluator takes its place, or
        where the settings forbid that, the player resigns. A broken book is done without.
        """
        self._say = say
        self._books.load(config.book_file, say)
        settings = config.evaluator
        if self._loaded is None or not self._loaded.is_current(settings):
            self._puct = None
            self._problem = "it could not be loaded"
            self._loaded = None  # Frees the memory of the old network before the new one needs it.
            try:
                self._loaded = load_evaluator(settings, say)
            except LoadingError as error:
                self._problem = str(error)
                say(f"Error! {error}")
                return
        searchers = config.evaluator.threads if IMPLEMENTATION == "native" else 1
        say(f"{self._loaded.description} searchers={searchers} implementation={IMPLEMENTATION} ({WHY})")

    def new_game(self) -> None:
        """Forgets everything that was searched."""
        self._books.new_game()
        if self._puct is not None:
            self._puct.clear()

    def search(self, request: Request, control: SearchControl, report: OnProgress) -> Answer:
        """Searches until the limits or `control` end it; `load` must have been called.

        In an infinite search and while pondering it may return early, when nothing is left to
        search: holding the answer back until it is asked for is the protocol's business.

        If that fails before anything is found, the evaluator is loaded anew, once: a GPU that is lost
        takes its session with it, and another backend may be left.
        """
        try:
            return self._search(request, control, report)
        except Exception as error:
            _log.exception("the search failed")
            problem = f"{type(error).__name__}: {error}"
        self._say(f"Error! {problem}; loading the evaluator anew")
        self._loaded = None
        self.load(request.config, self._say)
        return self._search(request, control, report)

    def _search(self, request: Request, control: SearchControl, report: OnProgress) -> Answer:
        board, config = request.board, request.config
        if config.seed != self._seed:
            self._seed = config.seed
            self._rng = Random(config.seed) if config.seed else Random()
        if self._loaded is None:
            return Answer(None, info_string=f"Error! no evaluator: {self._problem}")
        if not board.legal_moves():
            return Answer(None)
        if request.limits.ponder and config.ponders_on_all_replies and board.move_stack:
            answer = self._ponder_on_all_replies(request, control, report)
            if answer is not None:
                return answer
            assert control.hit is not None
            limits, hit_at_s = control.hit
            request = replace(request, limits=limits, started_s=hit_at_s)
        # Under the try rule the winning king move is played.
        declares = board.declaration() and board.rules.entering_king is not EnteringKingRule.TryRule
        if declares and not request.limits.is_open:
            return Answer(None, declares=True)
        limits = request.limits
        book_move = None if limits.infinite or limits.root_moves else self._books.answer(request, self._rng)
        if book_move is not None and not limits.ponder:
            return book_move
        puct = self._searcher(config, board, limits.root_moves)
        watch = SearchSession(puct, request, control, report, self._time, self._rng)
        watch.ends_at_hit = book_move is not None
        watch.is_forced = declares or len(board.legal_moves()) == 1
        if (mate := self._mate_at_root(watch, control)) is not None:
            if not (limits.infinite or limits.root_moves or config.output.lines > 1):
                return _mating_answer(mate, watch)
            watch.add_mate(mate)
        problem = _run(watch)
        if puct.stats().is_exhausted and puct.table.is_exhausted:
            self._say(
                f"the search has ended: its memory is full (USI_Hash {config.search.capacity_bytes >> 20})"
            )
        if book_move is not None:
            control.wait()
            if not control.is_stopped:
                return book_move
        if declares:
            return Answer(None, declares=True)
        answer = self._answer(watch, may_resign=not request.limits.is_open or control.hit is not None)
        return replace(answer, info_string=problem)

    def solve_mate(self, request: Request, control: SearchControl, limit_ms: float | None) -> Mate:
        """Searches a mate for the side to move, for at most `limit_ms`."""
        deadline_s = inf if limit_ms is None else request.started_s + (limit_ms - MATE_MARGIN_MS) / 1000
        nodes = request.config.search.capacity_bytes // BYTES_PER_MATE_NODE
        return solve(request.board, nodes, lambda: control.is_stopped or self._clock() >= deadline_s)

    def evaluate(self, board: Board) -> Evaluation:
        """Returns what the evaluator alone says about a position that is not over.

        Raises LoadingError if there is none.
        """
        if self._loaded is None:
            raise LoadingError(f"no evaluator: {self._problem}")
        return self._loaded.evaluator.evaluate([board])[0]

    def result(self, lines: int) -> SearchResult | None:
        """Returns what is known about the last position searched, or None."""
        return self._puct.result(lines) if self._puct is not None else None

    def graph(self, depth: int | None, least_visits: int) -> dict[str, Any] | None:
        """Returns the search graph as `graph_dump.dump` does, or None before the first search."""
        if self._puct is None:
            return None
        return self._puct.dump(depth=depth, least_visits=least_visits, name=move_to_usi)

    def _searcher(self, config: EngineConfig, board: Board, root_moves: Sequence[Move] = ()) -> Puct:
        """Returns the search, with its graph if evaluator, constants, rules and past are the same."""
        assert self._loaded is not None
        chosen = frozenset(root_moves)
        wanted = config.puct_config(board.turn, self._loaded.batch_size, MEMORY_FACTOR[IMPLEMENTATION])
        wanted = replace(wanted, mate_nodes=min(wanted.mate_nodes, MOST_LEAF_MATE_NODES[IMPLEMENTATION]))
        if self._puct is None or replace(self._puct.config, draw_value=wanted.draw_value) != wanted:
            self._puct = Puct(self._loaded.evaluator, wanted)
        elif not (
            config.reuses_subtree
            and board.rules == self._rules
            and self._has_same_past(board)
            and self._has_considered(board, chosen)
        ):
            self._puct.clear()
        self._rules, self._moves, self._chosen = board.rules, list(board.move_stack), chosen
        self._puct.config = wanted
        self._loaded.set_draw_value(-wanted.draw_value if board.turn else wanted.draw_value)
        return self._puct

    def _has_same_past(self, board: Board) -> bool:
        """Did the moves of the last search lead to this position, or is it another one?

        The graph holds repetitions of the past; the search forgets them only with its root.
        """
        assert self._puct is not None
        return not _is_root(self._puct, board) or board.move_stack == self._moves

    def _has_considered(self, board: Board, chosen: frozenset[Move]) -> bool:
        """Did the last search consider all the moves of this position that the next one is to consider?

        One that was left out has no visits for that alone, and would lose to the others unseen.
        """
        assert self._puct is not None
        if not self._chosen or not _is_root(self._puct, board):
            return True
        return bool(chosen) and chosen <= self._chosen

    def _mate_at_root(self, watch: SearchSession, control: SearchControl) -> Mate | None:
        """Returns a mate (or the try) that begins with a move to be considered, if there is one to be found
        before the search proper begins.
        """
        request, config = watch.request, watch.request.config
        board, limits = request.board, request.limits
        nodes = min(config.mate.root_nodes, limits.nodes or config.mate.root_nodes)
        if nodes == 0:
            return None
        deadline_s = request.started_s + ROOT_MATE_SHARE * self._time.soft_ms / 1000
        move = board.try_move()
        if move is None:
            move = mate_in_one(board)
        if move is not None:
            mate = Mate(MateVerdict.MATE, (move,), 1)
        else:
            mate = solve(board, nodes, lambda: control.is_stopped or self._clock() >= deadline_s)
        if mate.verdict is not MateVerdict.MATE:
            return None
        return mate if not limits.root_moves or mate.moves[0] in limits.root_moves else None

    def _answer(self, watch: SearchSession, may_resign: bool) -> Answer:
        request, config = watch.request, watch.request.config
        board = request.board
        plays_randomly = board.ply < max(config.random_opening.plies, config.random_moves.plies)
        result = watch.result(ALL_MOVES if plays_randomly else config.output.lines)
        is_hopeless = config.resign_value > -1.0 and result.moves[0].value < config.resign_value
        if plays_randomly:
            chosen = choose_move(result, config.random_opening, config.random_moves, board.ply, self._rng)
            result = replace(result, moves=_with_first(result.moves, chosen))
        best = result.moves[0]
        elapsed_ms = watch.elapsed_ms()
        if may_resign and is_hopeless:
            return Answer(None, result=result, elapsed_ms=elapsed_ms)
        return Answer(best.move, legal_reply(board, best), result, elapsed_ms)

    def _ponder_on_all_replies(
        self, request: Request, control: SearchControl, report: OnProgress
    ) -> Answer | None:
        """Stochastic pondering: searches the position before the predicted move, for the opponent.

        Returns None after `ponderhit`: the real search is still to be made, on the graph found here.
        After `stop` the answer is a legal move of the predicted position; the GUI throws it away.
        """
        board = request.board.copy()
        predicted = board.pop()
        puct = self._searcher(request.config, board)
        # A draw must be worth the same to us now, at the opponent's root, as at our own after the hit.
        puct.config = replace(puct.config, draw_value=-request.config.rules.draw_value(request.board.turn))
        opponent = replace(request, board=board, limits=Limits(infinite=True))
        watch = SearchSession(puct, opponent, control, report, self._time, self._rng)
        watch.ends_at_hit = True
        watch.search()
        control.wait()
        if not control.is_stopped:
            return None
        result = puct.result(ALL_MOVES)
        for move in result.moves:
            if move.move == predicted and len(move.pv) > 1:
                mate = _one_ply_later(move.mate)
                own = RootMove(move.pv[1], 1.0, move.visits, -move.value, mate, move.pv[1:])
                seen = replace(result, moves=(own,), value=own.value)
                return Answer(own.move, result=seen, elapsed_ms=watch.elapsed_ms())
        return Answer(request.board.legal_moves()[0])


def _mating_answer(mate: Mate, watch: SearchSession) -> Answer:
    """Returns the first move of a mate, without a search."""
    depth = len(mate.moves)
    best = RootMove(mate.moves[0], 1.0, mate.nodes, 1.0, depth, mate.moves)
    stats = watch.puct.stats()._replace(playouts=mate.nodes, depth=depth, max_depth=depth, is_proven=True)
    result = SearchResult((best,), best.value, stats)
    return Answer(best.move, legal_reply(watch.request.board, best), result, watch.elapsed_ms())


def _run(watch: SearchSession) -> str:
    """Searches; returns what broke the search off once it had found something, or ""."""
    try:
        watch.search()
    except Exception as error:
        if not _is_root(watch.puct, watch.request.board) or watch.puct.stats().evaluations == 0:
            raise  # What an earlier search has found is not worth going on without an evaluator.
        _log.exception("the search was broken off")
        return f"Error! {type(error).__name__}: {error}"
    return ""


def _is_root(puct: Puct, board: Board) -> bool:
    """Is this the position that was searched last?"""
    root = puct.root
    return root is not None and (root.key, root.ply) == (board.key, board.ply)


def _with_first(moves: Sequence[RootMove], first: RootMove) -> tuple[RootMove, ...]:
    return (first, *(move for move in moves if move is not first))


def _one_ply_later(mate: int | None) -> int | None:
    """Returns a mate distance after one more ply, seen from the other side."""
    return None if mate is None or abs(mate) == 1 else (1 - mate if mate > 0 else -1 - mate)
