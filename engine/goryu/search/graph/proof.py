"""Proofs: positions whose value is certain.

The game is over, or a forced win of the side to move is known: a solver finds it, at a new position or at one
that many playouts visit, or `add_mate` adds it.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from goryu.games.state import Move, Outcome, State
from goryu.search.graph.node import DRAW, LOSS, UNKNOWN, WIN, Node
from goryu.search.graph.node_table import NodeTable
from goryu.search.mates.df_pn import MateState
from goryu.search.mates.mate import solve

__all__ = ["MateSolver", "Solver", "add_mate", "no_solver", "outcome_value", "prove"]

Solver = Callable[[State, int], Sequence[Move]]
"""Returns the moves of a forced win of the side to move, to the end of the game; empty if it finds none.

The number is how often playouts have come to the position; 0 if it is new.
"""


def no_solver(state: State, visits: int = 0) -> Sequence[Move]:
    """Returns no moves: the search proves only finished games."""
    return ()


@dataclass(frozen=True, slots=True)
class MateSolver:
    """Finds mates by df-pn (`mate.py`); only in games with checks.

    nodes: the most positions that it examines for a new position; 0 for none.
    nodes_per_visit: the same for one that playouts visit often, for each of its visits.
    """

    nodes: int
    nodes_per_visit: int = 0

    def __call__(self, state: State, visits: int = 0) -> Sequence[Move]:
        nodes = self.nodes_per_visit * visits if visits else self.nodes
        return solve(state, nodes).moves if nodes and isinstance(state, MateState) else ()


def prove(state: State, solver: Solver, draw_value_first: float) -> Node | None:
    """Returns a proven node if `state` is over or its side to move can force a win, else None.

    draw_value_first: the value of a draw for the player with turn 0.
    """
    if (outcome := state.outcome()) is not None:
        proof = DRAW if outcome.value == 0.0 else WIN if outcome.value > 0.0 else LOSS
        # Only a win by declaration leaves legal moves. The declaration takes a ply.
        distance = int(proof == WIN and bool(state.legal_moves()))
        return _proven(state, proof, distance, outcome_value(outcome, state, draw_value_first))
    if line := solver(state, 0):
        return _proven(state, WIN, len(line), +1.0, line)
    return None


def outcome_value(outcome: Outcome, state: State, draw_value_first: float) -> float:
    """Returns the value of an outcome for the side to move in `state`."""
    if outcome.value != 0.0:
        return outcome.value
    return draw_value_first if state.turn == 0 else -draw_value_first


def add_mate(
    table: NodeTable, state: State, line: Sequence[Move], waiting: Container[int] = frozenset()
) -> bool:
    """Adds a mate that was found elsewhere to the graph; returns whether it could be added.

    line: mating moves of the side to move in `state`, to the end. `state` is left as it was.
    waiting: keys of the positions in the batch, which are left alone: their evaluation will add the node.

    Raises ValueError if there are no moves.
    """
    if not line:
        raise ValueError("expected the moves of a mate, received none")
    node = table.find(state.key)
    if node is None or node.proof != UNKNOWN or line[0] not in node.moves:
        return False
    i = node.moves.index(line[0])
    if (node.key, i) in table.repetitions:
        return False
    state.push(line[0])
    child = table.find(state.key)
    if child is None and state.key not in waiting:
        child = table.add(_proven(state, LOSS, len(line) - 1, -1.0, line[1:]))
    state.pop()
    if child is None:
        return False
    if child.proof == UNKNOWN:
        child.set_proof(LOSS, len(line) - 1, -1.0)
        if not child.in_flight:  # Else a playout needs its moves.
            table.forget_moves(child, line[1:])
    node.children[i] = child
    table.try_moves(node, i + 1)
    node.set_proof(WIN, len(line), +1.0)
    return True


def _proven(state: State, proof: int, distance: int, value: float, line: Sequence[Move] = ()) -> Node:
    node = Node(state.key, state.ply, [], [], value)
    node.set_proof(proof, distance, value)
    node.keep_line(line)
    return node
