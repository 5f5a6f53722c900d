"""Proofs: positions whose value is certain.

The game is over, or a forced win of the side to move is known: a solver finds it, at a new position or at one
that many playouts visit, or `found_mate.py` adds it. From there proofs spread to the parents.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from goryu.games.state import Move, State
from goryu.search.graph.node import DRAW, LOSS, UNKNOWN, WIN, Node
from goryu.search.mates.df_pn import MateState
from goryu.search.mates.mate import solve

__all__ = [
    "SECOND_LOOKS", "MateSolver", "Solver", "child_proof", "is_certain", "no_solver", "proof_line", "prove",
    "prove_by_children", "proven_node", "proving_move",
]  # fmt: skip

SECOND_LOOKS = (32, 64, 128, 256, 512)
"""The search asks the solver again when that many playouts have come to a position; it may then spend more. A
mate that it has overlooked at a new position misleads one playout, and here it misleads all of them. Playouts
that are cancelled count, too, so that a number may be met twice, or skipped."""

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


def prove(state: State, solver: Solver, draw_value: float) -> Node | None:
    """Returns a proven node if `state` is over or its side to move can force a win, else None.

    draw_value: the value of a draw for the side to move.
    """
    if (outcome := state.outcome()) is not None:
        proof = DRAW if outcome.value == 0.0 else WIN if outcome.value > 0.0 else LOSS
        # Of the wins only those of an entering king (入玉宣言, try) leave legal moves. They take a ply.
        distance = int(proof == WIN and bool(state.legal_moves()))
        return proven_node(state, proof, distance, outcome.value or draw_value)
    if line := solver(state, 0):
        return proven_node(state, WIN, len(line), +1.0, line)
    return None


def proven_node(state: State, proof: int, distance: int, value: float, line: Sequence[Move] = ()) -> Node:
    """Returns a new node of `state`; line: the moves that prove it, if it is not the end of the game."""
    node = Node(state.key, state.ply, [], [], value)
    node.set_proof(proof, distance, value)
    node.keep_line(line)
    return node


def child_proof(node: Node, i: int) -> int:
    """Returns what is proven of the child behind move `i`.

    Behind an edge with repetitions nothing is: on another path its playouts might have gone on.
    """
    child = node.children[i]
    return UNKNOWN if child is None or i in node.repetitions else child.proof


def is_certain(node: Node, i: int) -> bool:
    """Is the value of move `i` of a root certain: is it proven, or does it repeat a position?

    Other nodes are reached by several paths, and a move may repeat a position of one and not of another.
    """
    return child_proof(node, i) != UNKNOWN or i in node.repetitions


def prove_by_children(node: Node) -> None:
    """Proves `node` as won if a move is proven to win, as drawn or lost if all its moves are proven.

    In shogi "all" are those of `legal_moves`: in check every legal move, else all but the moves that only
    fail to promote. So a loss is wrong only where such a quiet move would have saved the game, by making a
    later pawn drop illegal (打ち歩詰め).
    """
    child = node.children[i] if (i := proving_move(node)) >= 0 else None
    if child is None:
        return
    if child.proof == LOSS:
        if node.proof != WIN or child.distance + 1 < node.distance:
            node.set_proof(WIN, child.distance + 1, +1.0)
    elif node.proof == UNKNOWN and all(child_proof(node, i) for i in range(len(node.moves))):
        node.set_proof(LOSS if child.proof == WIN else DRAW, child.distance + 1, -child.value)


def proving_move(node: Node) -> int:
    """Returns the first of the best proven moves: nearest win, farthest draw, farthest loss; else -1."""

    def preference(i: int) -> tuple[int, int]:
        child = node.children[i]
        assert child is not None
        sign = -1 if child.proof == LOSS else +1
        return (WIN, DRAW, LOSS).index(child.proof), sign * child.distance

    return max(filter(lambda i: child_proof(node, i), range(node.tried)), key=preference, default=-1)


def proof_line(node: Node) -> list[Move]:
    """Returns the moves from a proven node to the end: the nearest win, or the longest defence."""
    line: list[Move] = []
    while node.is_complete and (i := proving_move(node)) >= 0:
        line.append(node.moves[i])
        child = node.children[i]
        assert child is not None
        node = child
    return line if node.is_complete else line + node.moves
