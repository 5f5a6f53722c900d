"""PUCT: Monte Carlo search of a graph of positions, led by a policy and a value (AlphaZero).

One playout walks from the root by the PUCT formula (`selection.py`) until it meets a
position that is new; the evaluator judges it, and every node on the way back recomputes its
value from its children (`node_table.py`). No game is played out any more: the name is left
from the random games of `uct.py`. `batch_size` new positions are gathered before each
evaluation. A playout that awaits its evaluation, one in flight, counts as a visit and in no
value (others count it as a loss, the virtual loss), which keeps the gathered paths apart.

Some playouts end without an evaluation and are completed at once: at a proven or terminal
node, where the path repeats a position, and where a child that another path has explored
is ahead of its edge ("catching up": one visit brings in all that the child has learnt).

Weakness: a new move is judged by its prior until it has been tried, so a move that the
policy hates stays unseen for long. The mate search at the leaves repairs the worst of it.
Sources: Rosin, "Multi-armed Bandits with Episode Context", 2011; Silver et al., "A General
Reinforcement Learning Algorithm that Masters Chess, Shogi and Go", 2018; KataGo's notes
on graph search; playouts in flight: Liu et al., "SearchSession the Unobserved: A Simple Approach to
Parallelizing Monte Carlo Tree Search", ICLR 2020 (the virtual loss: Chaslot, Winands, van den
Herik, "Parallel Monte-Carlo Tree Search", 2008).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, cast

from goryu.games.state import Move, Outcome, State
from goryu.search import final_move, graph_dump
from goryu.search.config import PuctConfig
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.mate import MateState, MateVerdict, solve
from goryu.search.node_table import DRAW, LOSS, UNKNOWN, WIN, Node, NodeTable, single
from goryu.search.result import SearchResult, SearchStats
from goryu.search.selection import select

__all__ = ["Puct", "PuctConfig"]

FREE_PLAYOUTS = 2.4
"""Playouts completed without an evaluation, at most, per position of a batch (lc0's setting)."""

IN_FLIGHT_SHARE = 16
"""At most 1/16 of the root's visits may be in flight: more, and early choices are made blindly."""

COLLISION_SHARE = 8
"""A collision is a playout that meets a position which waits in the batch already. A batch goes on after one
of them for every so many positions that it has room for.

Such a playout is dropped when the batch is full; until then it repels the others as if it were one of them
(dlshogi's way). Small batches end at the first collision: a better playout is worth more than a full batch.
"""


Path = list[tuple[Node, int]]
"""The (node, move index) pairs from the root down to a leaf."""


class _Descent(Enum):
    """How a walk down ended."""

    NEW = auto()  # At a position that waits to be evaluated.
    DONE = auto()  # Without need of an evaluation; it is backed up.
    COLLISION = auto()  # At a position that waits already; it will be taken back.
    STUCK = auto()  # At the root: no move is worth a playout.


@dataclass(slots=True)
class _Leaf:
    """A new position that waits for its evaluation."""

    state: State
    path: Path


@dataclass(slots=True)
class _Progress:
    """The counters of one search."""

    max_playouts: int
    playouts: int = 0
    evaluations: int = 0
    depth_sum: int = 0
    max_depth: int = 0
    is_exhausted: bool = False
    masked: set[int] = field(default_factory=set)  # Indices of root moves that must not be played.


class Puct:
    """The search. It keeps its graph between moves; `clear` forgets it."""

    def __init__(self, evaluator: Evaluator, config: PuctConfig | None = None) -> None:
        self.evaluator = evaluator
        self.config = config or PuctConfig()
        self.table = NodeTable(self.config.capacity, self.config.merge, self.config.capacity_bytes)
        self.root: Node | None = None
        self._state: State | None = None
        self._has_checks = False
        self._draw_value_first = 0.0  # A draw's worth to the player with turn 0.
        self._progress = _Progress(0)

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
        root_moves: Sequence[Move] | None = None,
    ) -> SearchResult:
        """Searches until `should_stop` says so, `max_playouts` are done or no move is worth one.

        `should_stop` is asked before each batch; it decides whether a proven root ends the
        search. `state` must have a legal move and is left as it was. Only `root_moves` are
        played at the root, if given.
        """
        self._state = state.copy()
        self._has_checks = isinstance(state, MateState)
        progress = self._progress = _Progress(max_playouts if max_playouts is not None else 1 << 62)
        root = self.root = self._set_root(self._state)
        playing = state.copy()  # An error may leave it anywhere, and the result is asked for all the same.
        if root_moves is not None:
            progress.masked = {i for i, move in enumerate(root.moves) if move not in root_moves}
        while not progress.is_exhausted and progress.playouts < progress.max_playouts:
            if should_stop(self.stats()):
                break
            leaves = self._gather(root, playing)
            for leaf, evaluation in zip(leaves, self._evaluate(leaves), strict=True):
                self._expand(leaf, evaluation)
        return self.result()

    def stats(self) -> SearchStats:
        """Returns how the search stands."""
        progress, root = self._progress, self.root
        best = second = 0
        for i in range(root.tried if root else 0):
            assert root is not None
            visits = 0 if self.table.is_lost(root, i) else root.visits[i]
            if visits > best:
                best, second = visits, best
            elif visits > second:
                second = visits
        return SearchStats(
            playouts=progress.playouts,
            evaluations=progress.evaluations,
            best_visits=best,
            second_visits=second,
            depth=(2 * progress.depth_sum + progress.playouts) // (2 * progress.playouts or 1),
            max_depth=progress.max_depth,
            nodes=len(self.table),
            capacity=self.table.capacity,
            is_proven=root is not None and root.proof != UNKNOWN,
            is_exhausted=progress.is_exhausted,
            hashfull=self.table.hashfull,
        )

    def result(self, lines: int = 1) -> SearchResult:
        """Returns the answer so far, the first `lines` moves with their full continuations."""
        if self.root is None or self._state is None:
            return SearchResult((), 0.0, self.stats())
        config, masked = self.config, self._progress.masked
        moves = final_move.ranking(
            self.table, self.root, self._state, config.final_move, lines, masked, config.mate_nodes
        )
        return SearchResult(tuple(moves), self.root.value, self.stats())

    def dump(
        self, *, depth: int | None = None, least_visits: int = 1, name: Callable[[Move], str] = str
    ) -> dict[str, Any] | None:
        """Returns the graph as `graph_dump.dump` does, or None before the first search."""
        if self.root is None:
            return None
        return graph_dump.dump(self.table, self.root, depth=depth, least_visits=least_visits, name=name)

    def add_mate(self, state: State, move: Move, length: int) -> bool:
        """Enters a mate that was found elsewhere; returns whether it could be entered.

        The side to move in `state`, which is left as it was, mates in `length` plies, beginning with `move`.
        To be called between two batches, by `should_stop`, or while no search runs.
        """
        node = self.table.find(state.key, state.ply)
        if node is None or node.proof != UNKNOWN or self.table.is_full:
            return False
        return self._enter_mate(node, move, length, state)

    def _set_root(self, state: State) -> Node:
        """Makes `state` the root: keeps what it can reach, deletes the rest."""
        draw_value = self.config.draw_value if state.turn == 0 else -self.config.draw_value
        if draw_value != self._draw_value_first:
            self.table.clear()
            self._draw_value_first = draw_value
        known = self.table.find(state.key, state.ply)
        if known is not None and known.is_complete:
            if known is not self.root:
                self.table.prune(known)
            return known
        self.table.clear()
        self.root = None
        evaluation = self.evaluator.evaluate([state])[0]
        root = Node(state.key, state.ply, state.legal_moves(), evaluation.policy, evaluation.value)
        if known is not None and known.proof == WIN and known.moves:
            self._enter_mate(root, known.moves[0], known.distance, state)
        return self.table.add(root)

    def _enter_mate(self, node: Node, move: Move, length: int, state: State) -> bool:
        """Settles `node`, that of `state`, and where its mating move leads to; returns whether it could."""
        i = node.moves.index(move) if move in node.moves else -1
        if i < 0 or (node.key, i) in self.table.repetitions:
            return False
        state.push(move)
        child = self.table.find(state.key, state.ply)
        if child is None:
            child = self.table.add(Node(state.key, state.ply, [], [], -1.0))
        state.pop()
        if child.proof == UNKNOWN:
            child.settle(LOSS, length - 1, -1.0)
            child.is_complete = False
        node.children[i] = child
        self.table.try_moves(node, i + 1)
        node.settle(WIN, length, +1.0)
        return True

    def _gather(self, root: Node, state: State) -> list[_Leaf]:
        """Walks down until a batch of new positions waits for its evaluation.

        An error leaves nothing in flight, but `state` wherever it was.
        """
        progress = self._progress
        leaves: dict[int, _Leaf] = {}  # By key.
        limit = min(self.config.batch_size, max(1, root.total_visits // IN_FLIGHT_SHARE))
        free = 0
        collided: list[Path] = []
        while len(leaves) < limit and free < FREE_PLAYOUTS * limit:
            if progress.playouts + len(leaves) >= progress.max_playouts:
                break
            if self.table.is_exhausted:
                progress.is_exhausted = not leaves
                break
            path: Path = []
            try:
                descent = self._descend(root, state, path, leaves)
                if descent is _Descent.NEW:
                    leaves[state.key] = _Leaf(state.copy(), path)
            except BaseException:
                for unfinished in (path, *collided, *(leaf.path for leaf in leaves.values())):
                    self._cancel(unfinished)
                raise
            for _ in path:
                state.pop()
            if descent is _Descent.DONE:
                free += 1
            elif descent is _Descent.COLLISION:
                collided.append(path)
                if len(collided) > limit // COLLISION_SHARE:
                    break
            elif descent is _Descent.STUCK:
                progress.is_exhausted = not leaves
                break
        for path in collided:
            self._cancel(path)
        return list(leaves.values())

    def _descend(self, root: Node, state: State, path: Path, leaves: dict[int, _Leaf]) -> _Descent:
        """Plays the selected moves on `state`, noting them in `path`, until the playout ends."""
        node = root
        while True:
            is_root = node is root
            i = select(
                self.table, node, self.config, is_root, self._progress.masked if is_root else frozenset()
            )
            if i < 0:  # The last open move was settled, perhaps by way of another parent.
                self.table.recompute(node)
                if not path:
                    return _Descent.STUCK
                self._back_up(path)
                return _Descent.DONE
            node.pending[i] += 1
            node.in_flight += 1
            self.table.try_moves(node, i + 1)
            path.append((node, i))
            state.push(node.moves[i])
            if (end := state.repetition()) is not None:
                self._back_up(path, path_value=self._outcome_value(end, state))
                return _Descent.DONE
            child = node.children[i]
            if child is None:
                child = self.table.find(state.key, state.ply)
                if child is None and state.key in leaves:
                    return _Descent.COLLISION
                if child is None and (settled := self._settle(state)) is not None:
                    if self.table.is_full:
                        self._back_up(path, path_value=settled.value)
                        return _Descent.DONE
                    child = self.table.add(settled)
                if child is None:
                    return _Descent.NEW
                node.children[i] = child
            if child.proof != UNKNOWN or child.total_visits > self.table.child_visits(node, i):
                self._back_up(path)
                return _Descent.DONE
            node = child

    def _settle(self, state: State) -> Node | None:
        """Returns a proven node if `state` is over or its side to move has a mate, else None."""
        if (outcome := state.outcome()) is not None:
            value = self._outcome_value(outcome, state)
            node = Node(state.key, state.ply, [], [], value)
            is_declared = outcome.value > 0.0 and bool(state.legal_moves())  # Declaring takes a ply.
            proof = DRAW if outcome.value == 0.0 else WIN if outcome.value > 0.0 else LOSS
            node.settle(proof, int(is_declared), value)
        elif self._has_checks and self.config.mate_nodes:
            mate = solve(cast(MateState, state), self.config.mate_nodes)
            if mate.verdict is not MateVerdict.MATE:
                return None
            node = Node(state.key, state.ply, mate.moves[:1], [1.0], +1.0)
            node.settle(WIN, len(mate.moves), +1.0)
        else:
            return None
        node.is_complete = False
        return node

    def _outcome_value(self, outcome: Outcome, state: State) -> float:
        """Returns an outcome's value for the side to move, draws at their set worth."""
        if outcome.value != 0.0:
            return outcome.value
        return self._draw_value_first if state.turn == 0 else -self._draw_value_first

    def _evaluate(self, leaves: list[_Leaf]) -> list[Evaluation]:
        """Returns the leaves' evaluations; a failing evaluator leaves nothing in flight."""
        try:
            return self.evaluator.evaluate([leaf.state for leaf in leaves]) if leaves else []
        except BaseException:
            for leaf in leaves:
                self._cancel(leaf.path)
            raise

    def _expand(self, leaf: _Leaf, evaluation: Evaluation) -> None:
        """Turns an evaluated leaf into a node and backs its value up."""
        if self.table.is_full:
            self._back_up(leaf.path, path_value=single(evaluation.value))
        else:
            state, (parent, i) = leaf.state, leaf.path[-1]
            node = Node(state.key, state.ply, state.legal_moves(), evaluation.policy, evaluation.value)
            parent.children[i] = self.table.add(node)
            self._back_up(leaf.path)
        self._progress.evaluations += 1

    def _back_up(self, path: Path, path_value: float | None = None) -> None:
        """Counts a playout on its path, from the leaf up.

        path_value: the result for the side to move at the leaf, where only the path decides it
        or no node could be stored.
        """
        if path_value is not None:
            self.table.add_repetition(*path[-1], -path_value)
        for node, i in reversed(path):
            node.pending[i] -= 1
            node.in_flight -= 1
            node.visits[i] += 1
            self.table.recompute(node)
        progress = self._progress
        progress.playouts += 1
        progress.depth_sum += len(path)
        progress.max_depth = max(progress.max_depth, len(path))

    def _cancel(self, path: Path) -> None:
        """Takes a playout back that will not be completed."""
        for node, i in path:
            node.pending[i] -= 1
            node.in_flight -= 1
