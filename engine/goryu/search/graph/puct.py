"""PUCT on a graph: `puct_tree.py` with merged positions, in batches, with proofs.

Playouts select moves (`selection.py`) from the root down to new positions, until a batch of them waits for
the evaluator (`batch.py`). Then each becomes a node, and every node on its path recomputes its value from its
children (`node_table.py`). A playout that waits is in flight: it counts as a visit but adds nothing to any
value, so the next one takes another path. (A virtual loss would count it as lost, too.) Some playouts are
free: they need no evaluation, because they end at a proven position (`proof.py`), where the path repeats a
position, or at a child that other paths have visited more often than this edge, which then takes over the
child's value.

Weakness: a move is rated by its prior until it is tried; a good move that the policy rejects is overlooked.
Sources: those of `puct_tree.py`; KataGo's docs/GraphSearch.md; playouts in flight: Liu et al., "Watch the
Unobserved", ICLR 2020; virtual loss: Chaslot et al., "Parallel Monte-Carlo Tree Search", 2008.
"""

from collections.abc import Callable, Container, Sequence, Set
from math import inf
from typing import Any

from goryu.games.state import Move, State
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.graph import final_move, graph_dump
from goryu.search.graph.batch import Batch, Descent, Path
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.forgetting import make_room, prune
from goryu.search.graph.found_mate import add_mate
from goryu.search.graph.node import UNKNOWN, WIN, Node, new_node
from goryu.search.graph.node_table import NodeTable, recompute
from goryu.search.graph.progress import Progress
from goryu.search.graph.proof import SECOND_LOOKS, Solver, no_solver, prove
from goryu.search.graph.selection import select
from goryu.search.result import SearchResult, SearchStats

__all__ = ["Puct"]


class Puct:
    """The search. It keeps its graph between moves; `clear` forgets it.

    The caller must `clear` it if the rules change, if other moves led to the same root (repetitions belong to
    the path), or if the last search left out root moves that are allowed now.
    """

    def __init__(
        self, evaluator: Evaluator, config: PuctConfig | None = None, solver: Solver = no_solver
    ) -> None:
        """Raises ValueError if the config has no room for a position in a batch or for a node."""
        self.evaluator = evaluator
        self.config = config or PuctConfig()
        if self.config.batch_size < 1:
            raise ValueError(f"expected a batch size of at least 1, received {self.config.batch_size}")
        self.solver = solver
        self.table = NodeTable(self.config.capacity, self.config.capacity_bytes)
        self.root: Node | None = None
        self._state: State | None = None
        self._draw_value_first = 0.0  # The value of a draw for the player with turn 0.
        self._masked: Set[int] = set()  # Indices of root moves that must not be played.
        self._progress = Progress()

    def clear(self) -> None:
        """Forgets everything that was searched."""
        self.table.clear()
        self.root = self._state = None

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

        The search calls `should_stop` before each batch; a proven root alone does not end it. `state` must
        have a legal move and is left as it was. At the root only `root_moves` are played, if given.
        """
        self._state = state.copy()
        progress = self._progress = Progress(
            inf if max_playouts is None else max_playouts, inf if max_evaluations is None else max_evaluations
        )
        root = self.root = self._set_root(self._state)
        playing = state.copy()  # A game or a solver that raises may leave it anywhere.
        allowed = root.moves if root_moves is None else root_moves
        self._masked = {i for i, move in enumerate(root.moves) if move not in allowed}
        while not progress.is_exhausted and progress.has_room(0):
            if should_stop(self.stats()):
                break
            try:
                if leaves := self._gather(root, playing):
                    evaluations = self.evaluator.evaluate([state for state, _ in leaves])
                    for (leaf, path), evaluation in zip(leaves, evaluations, strict=True):
                        self._expand(leaf, path, evaluation)
            except BaseException:
                self._cancel_all()
                raise
        return self.result()

    def _gather(self, root: Node, state: State) -> list[tuple[State, Path]]:
        """Walks down, over and over, and returns a batch of new positions with the paths to them."""
        if self.table.memory.is_full:
            make_room(self.table, root)
        batch = Batch(self.config.batch_size, root.total_visits)
        while not batch.is_full and self._progress.has_room(len(batch.leaves)):
            path: Path = []
            descent = self._descend(root, state, path, batch.leaves)
            if descent is Descent.STUCK:
                self._progress.is_exhausted = not batch.leaves
                break
            batch.note(descent, state, path)
            for _ in path:
                state.pop()
        batch.cancel_collisions()
        return list(batch.leaves.values())

    def _descend(self, root: Node, state: State, path: Path, waiting: Container[int]) -> Descent:
        """Runs a playout as far as it can get without an evaluation, and completes it if it needs none."""
        if (descent := self._walk(root, state, path, waiting)) is Descent.FREE:
            self._back_up(path)
        return descent

    def _walk(self, root: Node, state: State, path: Path, waiting: Container[int]) -> Descent:
        """Plays the selected moves on `state`, and notes them in `path`, until the playout ends."""
        node = root
        while (i := self._select(node)) >= 0:
            self._enter(node, i, path)
            state.push(node.moves[i])
            if (end := state.repetition()) is not None:
                self._repeat(node, i, end.value or self._draw_value(state))
                return Descent.FREE
            child = node.children[i] or self.table.find(state.key)  # Here paths merge.
            child = child or self._prove(state, waiting)
            if child is None:
                return Descent.COLLISION if state.key in waiting else Descent.NEW
            node.children[i] = child
            is_ahead = child.total_visits > node.child_visits(i)  # Other paths have visited it more often.
            if child.proof != UNKNOWN or is_ahead or self._second_look(child, state, waiting):
                return Descent.FREE
            node = child
        recompute(node)  # Its last open move was proven, perhaps by way of another parent.
        return Descent.FREE if path else Descent.STUCK

    def _select(self, node: Node) -> int:
        """Returns the index of the move that a playout takes, or -1 if none is open.

        At the root, moves whose value is certain are closed: nothing is left to learn from them. If the best
        move were open then, nearly every playout would take it and evaluate nothing. `final_move.py` knows
        its value.
        """
        if node is not self.root:
            return select(node, self.config.formula)
        closed = {i for i in range(node.tried) if node.proofs[i] or i in node.repetitions}
        return select(node, self.config.root_formula, closed | self._masked)

    def _enter(self, node: Node, i: int, path: Path) -> None:
        """Counts a playout through move `i` as in flight, and notes it."""
        node.pending[i] += 1
        node.in_flight += 1
        self.table.try_moves(node, i + 1)
        path.append((node, i))

    def _repeat(self, node: Node, i: int, value: float) -> None:
        """Notes a repetition behind move `i`; value: for the side to move there."""
        if node is self.root:  # Only the game's own path counts here: forget what others found.
            node.children[i], node.visits[i] = None, 0
        self.table.add_repetition(node, i, -value)

    def _prove(self, state: State, waiting: Container[int]) -> Node | None:
        """Returns the node of a new position if its value is certain, else None."""
        node = None if state.key in waiting else prove(state, self.solver, self._draw_value(state))
        return self.table.add(node) if node is not None else None

    def _second_look(self, node: Node, state: State, waiting: Container[int]) -> bool:
        """Asks the solver again if it is time to; returns whether that has proven `node`."""
        visits = node.total_visits + node.in_flight
        line = self.solver(state, visits) if visits in SECOND_LOOKS else ()
        return bool(line) and add_mate(self.table, state, line, waiting)

    def _draw_value(self, state: State) -> float:
        """Returns the value of a draw for the side to move in `state`."""
        return self._draw_value_first if state.turn == 0 else -self._draw_value_first

    def _expand(self, state: State, path: Path, evaluation: Evaluation) -> None:
        """Turns an evaluated leaf into a node and backs its value up."""
        parent, i = path[-1]
        parent.children[i] = self.table.add(new_node(state, evaluation))
        self._back_up(path)
        self._progress.evaluations += 1

    def _back_up(self, path: Path) -> None:
        """Completes a playout: counts it on its path, from the leaf up."""
        for node, i in reversed(path):
            node.pending[i] -= 1
            node.in_flight -= 1
            node.visits[i] += 1
            recompute(node)
        self._progress.add(len(path))

    def _cancel_all(self) -> None:
        """Takes back all playouts in flight, after an error."""
        for node in self.table:
            node.pending, node.in_flight = [0] * len(node.moves), 0

    def _set_root(self, state: State) -> Node:
        """Makes `state` the root: keeps what it can reach, deletes the rest."""
        draw_value = self.config.draw_value if state.turn == 0 else -self.config.draw_value
        if draw_value != self._draw_value_first:
            self.table.clear()
            self._draw_value_first = draw_value
        known = self.table.find(state.key)
        if known is not None and known.is_complete:
            if known is not self.root:
                prune(self.table, known)
                self.root = known
            return known
        self.table.clear()
        self.root = None  # The evaluator may raise an error.
        root = self.table.add(new_node(state, self.evaluator.evaluate([state])[0]))
        if known is not None and known.proof == WIN and known.moves:  # They are the line that proves it.
            add_mate(self.table, state, known.moves)
        return root

    def add_mate(self, state: State, line: Sequence[Move]) -> bool:
        """Adds a mate that was found elsewhere to the graph; returns whether it could be added.

        line: mating moves of the side to move in `state`, to the end. `state` is left as it was. Call this
        between two batches, from `should_stop`, or while no search runs.
        """
        return add_mate(self.table, state, line)

    def stats(self) -> SearchStats:
        """Returns the counters of the current search."""
        stats = self._progress.stats(self.table, self.root)
        if self.root is None:
            return stats
        best, lead = final_move.contest(self.root, self.config.final_move, self._masked)
        return stats._replace(best_index=best, lead=lead)

    def result(self, lines: int = 1) -> SearchResult:
        """Returns the answer so far; the first `lines` moves have their full continuation."""
        if self.root is None or self._state is None:
            return SearchResult((), 0.0, self.stats())
        order = final_move.ranking(self.root, self.config.final_move, self._masked)
        moves = final_move.root_moves(self.root, order, self._state, lines)
        return SearchResult(tuple(moves), final_move.root_value(self.root, moves), self.stats())

    def dump(self, **options: Any) -> dict[str, Any] | None:
        """Returns the graph as `graph_dump.dump` does with these options, or None before the first search."""
        return None if self.root is None else graph_dump.dump(self.root, **options)
