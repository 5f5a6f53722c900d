"""The search graph of a player, and for which roots it may be kept."""

from dataclasses import dataclass, replace

from goryu.games.shogi import STANDARD_RULES
from goryu.games.state import Move
from goryu.implementation import IMPLEMENTATION, Board, Puct, make_puct
from goryu.players.config import EngineConfig
from goryu.players.request import Request
from goryu.players.set_up.loading import LoadedEvaluator
from goryu.search.evaluator import Evaluator
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.proof import MateSolver, Solver

MEMORY_FACTOR = {"python": 30, "native": 1.3}
"""How many bytes the search uses for each byte that its table counts: an upper bound for the native table, an
estimate for the Python one, 5.3 kB for a position of 180 bytes in the middle game."""

MOST_LEAF_MATE_NODES = {"python": 1, "native": 10_000}
MOST_MATE_NODES_PER_VISIT = {"python": 0, "native": 100}
"""Budgets of the mate search in the graph: in Python 40 nodes take up to 10 times as long as the network."""


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """With what a graph is searched: all but the value of a draw must be the same to keep it.

    threads: of the native search.
    """

    config: PuctConfig
    solver: Solver
    threads: int


def graph_settings(
    config: EngineConfig, turn: int, batch_size: int, threads: int, *, uses_gpu: bool = False
) -> GraphSettings:
    """Returns the settings for a root with `turn` to move. batch_size, uses_gpu: of the evaluator."""
    puct_config = config.puct_config(turn, batch_size, MEMORY_FACTOR[IMPLEMENTATION], uses_gpu=uses_gpu)
    solver = MateSolver(
        min(config.mate.leaf_nodes, MOST_LEAF_MATE_NODES[IMPLEMENTATION]),
        min(config.mate.nodes_per_visit, MOST_MATE_NODES_PER_VISIT[IMPLEMENTATION]),
    )
    return GraphSettings(puct_config, solver, threads)


def settings_at_level(settings: GraphSettings) -> GraphSettings:
    """Returns the settings of a level: its search, in one thread, is the same on every machine."""
    return replace(settings, config=replace(settings.config, batch_size=1), threads=1)


def new_puct(loaded: LoadedEvaluator, config: EngineConfig, threads: int = 1) -> Puct:
    """Returns a search with the network and the numbers of the config, for other uses than to play.

    A draw has the value that it has for Black. threads: of the native search.
    """
    return _new_search(loaded.evaluator, graph_settings(config, 0, loaded.batch_size, threads))


def is_root(puct: Puct, board: Board) -> bool:
    """Is this the position that was searched last?"""
    root = puct.root
    return root is not None and (root.key, root.ply) == (board.key, board.ply)


class KeptGraph:
    """The graph of the last search, which the next one keeps where its results are valid for the new root.

    puct: the last search; None before the first, and after `drop`.
    """

    def __init__(self) -> None:
        self.puct: Puct | None = None
        self._threads = 0
        self._rules = STANDARD_RULES  # Those of the last search.
        self._moves: list[Move] = []  # Those that led to its root.
        self._root_moves: frozenset[Move] = frozenset()  # The only ones that it considered; empty for all.

    def drop(self) -> None:
        """Frees the search, and what it holds of the evaluator."""
        self.puct = None

    def clear(self) -> None:
        """Forgets everything that was searched."""
        if self.puct is not None:
            self.puct.clear()

    def prepared(self, evaluator: Evaluator, settings: GraphSettings, request: Request) -> Puct:
        """Returns the search for the root of a request, with the old graph if that is valid there."""
        board, root_moves, puct = request.board, frozenset(request.limits.root_moves), self.puct
        if puct is None or not self._is_searched_with(puct, evaluator, settings):
            self.puct = puct = _new_search(evaluator, settings)
            self._threads = settings.threads
        elif not (request.config.reuses_subtree and self._is_valid(puct, board, root_moves)):
            puct.clear()
        puct.config = settings.config
        self._rules, self._moves, self._root_moves = board.rules, list(board.move_stack), root_moves
        return puct

    def _is_searched_with(self, puct: Puct, evaluator: Evaluator, settings: GraphSettings) -> bool:
        """Would a new search be the same as this one, apart from the value of a draw?"""
        config = replace(puct.config, draw_value=settings.config.draw_value)
        return puct.evaluator is evaluator and settings == GraphSettings(config, puct.solver, self._threads)

    def _is_valid(self, puct: Puct, board: Board, root_moves: frozenset[Move]) -> bool:
        """Are the results of the last search valid for this root?

        Repetitions in the graph refer to earlier moves. They are dropped when the root changes, so the same
        root after other moves must not reuse them.
        """
        if board.rules != self._rules:
            return False
        if not is_root(puct, board):
            return True
        return board.move_stack == self._moves and self._has_considered(root_moves)

    def _has_considered(self, root_moves: frozenset[Move]) -> bool:
        """Did the last search of the root consider all the moves that the next one considers?

        A move that was left out has no visits, and would lose against the others for that reason alone.
        """
        return not self._root_moves or (bool(root_moves) and root_moves <= self._root_moves)


def _new_search(evaluator: Evaluator, settings: GraphSettings) -> Puct:
    return make_puct(evaluator, settings.config, settings.solver, settings.threads)
