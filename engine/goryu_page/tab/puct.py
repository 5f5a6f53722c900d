"""The PUCT search of the tab: as `search/graph/puct.py`, and the module searches.

Between two slices of a search Python lets its other threads run, by `time.sleep(0)`.
"""

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from math import inf
from typing import Any, cast
from weakref import finalize

from goryu.evaluators.network.model_files import ModelError
from goryu.games.shogi import Board, move_to_usi
from goryu.games.state import Move, State
from goryu.search.evaluator import Evaluator
from goryu.search.graph import final_move, graph_dump
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.proof import MateSolver, Solver, no_solver
from goryu.search.graph.puct import Puct as PythonPuct
from goryu.search.result import SearchResult, SearchStats
from goryu_page.tab.engine import Engine
from goryu_page.tab.network import Network

TURN_S = 0.05
"""How long a search keeps others waiting, in seconds."""

MOST_BYTES = 192 << 20
"""Memory of a graph: a tab has less than a program."""

STATS, NODE, EDGE = 11, 12, 6
"""Numbers of `goryu_stats`, of `goryu_node`, and of a move in `goryu_edges`."""


def new_puct(
    evaluator: Evaluator,
    config: PuctConfig | None = None,
    solver: Solver = no_solver,
    threads: int = 1,
) -> "Puct | PythonPuct":
    """Returns the module's search for a network of the module, for other evaluators Python's own.

    threads: more than one changes nothing.
    """
    kind = Puct if isinstance(evaluator, Network) else PythonPuct
    return kind(evaluator, config, solver)  # type: ignore[arg-type]


class Puct:
    """The search. It keeps its graph between moves; `clear` forgets it."""

    def __init__(
        self, evaluator: Network, config: PuctConfig | None = None, solver: Solver = no_solver
    ) -> None:
        """solver: a MateSolver or `no_solver`."""
        self.evaluator = evaluator
        self.config = config or PuctConfig()
        self.solver = solver
        self._engine: Engine | None = None
        self._release: Callable[[], object] = lambda: None
        self._state: Board | None = None
        self._masked: set[int] = set()

    def clear(self) -> None:
        """Forgets everything that was searched."""
        self._engine = self._state = None
        self._release()

    def search(
        self,
        state: State,
        should_stop: Callable[[SearchStats], bool],
        *,
        max_playouts: int | None = None,
        max_evaluations: int | None = None,
        root_moves: Sequence[Move] | None = None,
    ) -> SearchResult:
        """Searches until `should_stop` returns True, a limit is reached or no move is worth a playout.

        The search calls `should_stop` before each slice; a proven root alone does not end it. `state` must
        have a legal move and is left as it was. At the root only `root_moves` are played, if given.
        """
        engine = self._engine or self._take()
        self._state = cast(Board, state).copy()
        self._masked = set()
        engine.set_options(_options(self.config, self.solver))
        engine.set_position(self._state)
        engine.must("begin", *(inf if most is None else most for most in (max_playouts, max_evaluations)))
        if root_moves is not None:
            moves = Node(engine, int(engine.run("root"))).moves
            self._masked = {i for i, move in enumerate(moves) if move not in root_moves}
            for i in self._masked:
                engine.run("close", i)
        turn_end = time.monotonic() + TURN_S
        goes_on = not self._is_over(engine)
        while goes_on and not should_stop(self.stats()):
            goes_on = engine.run("go", 0) != 0
            if not goes_on and not self._is_over(engine):
                raise ModelError(engine.text("error"))
            if time.monotonic() >= turn_end:
                time.sleep(0)
                turn_end = time.monotonic() + TURN_S
        return self.result()

    def add_mate(self, state: State, line: Sequence[Move]) -> bool:
        """Adds a mate that was found elsewhere to the graph; returns whether it could be added.

        line: mating moves of the side to move in `state`, to the end. Call this between two slices, from
        `should_stop`, or while no search runs.
        """
        if self._engine is None:
            return False
        self._engine.set_position(cast(Board, state))
        added = self._engine.run("add_mate", " ".join(map(move_to_usi, line)))
        if added < 0:
            raise ValueError(self._engine.text("error"))
        return added == 1

    def stats(self) -> SearchStats:
        """Returns the counters of the current search."""
        if self._engine is None:
            return SearchStats(0, 0, 0, 0, 0, self.config.capacity, False, False)
        playouts, evaluations, depths, deepest, nodes, hashfull, is_proven, is_exhausted, _, best, lead = (
            self._engine.numbers("stats", STATS)
        )
        return SearchStats(
            playouts=int(playouts),
            evaluations=int(evaluations),
            depth=int(depths / max(1.0, playouts) + 0.5),
            max_depth=int(deepest),
            nodes=int(nodes),
            capacity=self.config.capacity,
            is_proven=is_proven != 0,
            is_exhausted=is_exhausted != 0,
            hashfull=int(hashfull),
            best_index=int(best),
            lead=None if lead < 0 else int(lead),
        )

    def result(self, lines: int = 1) -> SearchResult:
        """Returns the answer so far; the first `lines` moves have their full continuation."""
        root: Any = self.root
        if root is None or self._state is None:
            return SearchResult((), 0.0, self.stats())
        order = final_move.ranking(root, self.config.final_move, self._masked)
        moves = final_move.root_moves(root, order, self._state, lines)
        return SearchResult(tuple(moves), final_move.root_value(root, moves), self.stats())

    def dump(self, **options: Any) -> dict[str, Any] | None:
        """Returns the graph as `graph_dump.dump` does with these options, or None before the first search."""
        root: Any = self.root
        return None if root is None else graph_dump.dump(root, **options)

    @property
    def root(self) -> "Node | None":
        """The root's node, or None."""
        return None if self._engine is None else node_of(self._engine, self._engine.run("root"))

    @property
    def table(self) -> "NodeTable":
        """The nodes."""
        return NodeTable(self._engine)

    def _take(self) -> Engine:
        engine = self._engine = self.evaluator.take()
        self._release = finalize(self, self.evaluator.give_back, engine)
        return engine

    @staticmethod
    def _is_over(engine: Engine) -> bool:
        return engine.numbers("stats", STATS)[8] != 0


class NodeTable:
    """The nodes of a graph, by their keys."""

    def __init__(self, engine: Engine | None) -> None:
        self._engine = engine

    def find(self, key: int) -> "Node | None":
        """Returns the node of this position, if it is known."""
        if self._engine is None:
            return None
        return node_of(self._engine, self._engine.run("find", key >> 32, key & 0xFFFFFFFF))


def _number(at: int, kind: type) -> Any:
    """Returns a property of a node: one of the numbers that the module tells of it."""
    return property(lambda node: kind(node._numbers[at]))


class Node:
    """A view of a node as it is when it is first looked at; with what `search/graph/node.py` says of one."""

    def __init__(self, engine: Engine, number: int) -> None:
        self._engine, self._number = engine, number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and (other._engine, other._number) == (self._engine, self._number)

    def __hash__(self) -> int:
        return hash(self._number)

    @cached_property
    def _numbers(self) -> Sequence[float]:
        return self._engine.numbers("node", NODE, self._number)

    @cached_property
    def _edges(self) -> list[Sequence[float]]:
        """Of every legal move."""
        count = int(self._numbers[10])
        numbers = self._engine.numbers("edges", EDGE * count, self._number)
        return [numbers[EDGE * i : EDGE * (i + 1)] for i in range(count)]

    @property
    def key(self) -> int:
        return int(self._numbers[0]) << 32 | int(self._numbers[1])

    ply = _number(2, int)
    value = _number(3, float)
    raw_value = _number(4, float)
    variance = _number(5, float)
    proof = _number(6, int)
    distance = _number(7, int)
    total_visits = _number(8, int)
    is_complete = _number(9, bool)
    tried = _number(11, int)

    @cached_property
    def moves(self) -> list[Move]:
        return [Move(int(edge[0])) for edge in self._edges]

    @cached_property
    def priors(self) -> list[float]:
        return [edge[1] for edge in self._edges]

    @cached_property
    def visits(self) -> list[int]:
        return [int(edge[2]) for edge in self._edges]

    @cached_property
    def children(self) -> "list[Node | None]":
        return [node_of(self._engine, edge[3]) for edge in self._edges]

    def edge_value(self, i: int) -> float:
        """Returns Q(a) of a visited move, for the side to move here."""
        return self._edges[i][4]

    @cached_property
    def repetitions(self) -> set[int]:
        """The moves that have repeated a position."""
        return {i for i, edge in enumerate(self._edges) if edge[5]}


def node_of(engine: Engine, number: float) -> Node | None:
    """Returns the node with a number; None for -1."""
    return None if number < 0 else Node(engine, int(number))


def _options(config: PuctConfig, solver: Solver) -> dict[str, float]:
    """Returns the options of the module."""
    if not isinstance(solver, MateSolver) and solver is not no_solver:
        raise TypeError(f"expected a MateSolver or no_solver, received {solver!r}")
    options = {
        "batch_size": config.batch_size,
        "capacity": config.capacity,
        "capacity_bytes": min(config.capacity_bytes, MOST_BYTES),
        "mate_nodes": solver.nodes if isinstance(solver, MateSolver) else 0,
        "mate_nodes_per_visit": solver.nodes_per_visit if isinstance(solver, MateSolver) else 0,
        "lcb": config.final_move == "lcb",
        "draw_value": config.draw_value,
    }
    for prefix, formula in (("", config.formula), ("root_", config.root_formula)):
        for name in ("c_init", "c_base", "c_factor", "fpu_reduction"):
            options[prefix + name] = getattr(formula, name)
    return options
