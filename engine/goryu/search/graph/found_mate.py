"""A mate that was found elsewhere, such as by a longer mate search beside this one, enters the graph."""

from collections.abc import Container, Sequence

from goryu.games.state import Move, State
from goryu.search.graph.node import LOSS, UNKNOWN, WIN
from goryu.search.graph.node_table import NodeTable
from goryu.search.graph.proof import proven_node

__all__ = ["add_mate"]


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
    if i in node.repetitions:
        return False
    state.push(line[0])
    child = table.find(state.key)
    if child is None and state.key not in waiting:
        child = table.add(proven_node(state, LOSS, len(line) - 1, -1.0, line[1:]))
    state.pop()
    if child is None:
        return False
    if child.proof == UNKNOWN:
        child.set_proof(LOSS, len(line) - 1, -1.0)
        if not child.in_flight:  # Else a playout needs its moves; the continuation is shorter than the mate.
            table.forget_moves(child, line[1:])
    node.children[i] = child
    table.try_moves(node, i + 1)
    node.set_proof(WIN, len(line), +1.0)
    return True
