"""The search graph as plain data for JSON, to be drawn or compared.

Equal positions are one entry, however many moves lead there. `child` is the index of an entry in the list.

    {"format": "goryu graph 1", "root": 0, "nodes": [
        {"key": "5a0c...", "ply": 0, "visits": 401, "value": 0.12, "evaluation": 0.08,
         "proof": "unknown", "distance": 0, "untried": 12, "moves": [
            {"move": "7g7f", "prior": 0.31, "visits": 220, "value": 0.14, "child": 1}, ...]}, ...]}

Values are in [-1, +1] for the side to move at the entry. `visits` of an entry counts its own evaluation, or
the visits that it has forgotten (`forgetting.py`), and those of its moves. Moves without a visit are left
out; `untried` counts them. `distance` is in plies to the proven end. `child` is null where the position is
not in the dump or not in the table.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from goryu.games.state import Move
from goryu.search.graph.node import Node

__all__ = ["FORMAT", "dump"]

FORMAT = "goryu graph 1"

_PROOFS = ("unknown", "win", "loss", "draw")


def dump(
    root: Node,
    *,
    depth: int | None = None,
    least_visits: int = 1,
    name: Callable[[Move], str] = str,
) -> dict[str, Any]:
    """Returns the graph below `root`, nearest positions first.

    depth: the most plies below the root. least_visits: positions behind moves with fewer visits are left out.
    name: formats a move.
    """
    indices = {root: 0}
    waiting = deque([root])
    while waiting:
        node = waiting.popleft()
        for i in range(node.tried if depth is None or node.ply - root.ply < depth else 0):
            child = node.children[i]
            if child is not None and child not in indices and node.visits[i] >= max(1, least_visits):
                indices[child] = len(indices)
                waiting.append(child)
    return {"format": FORMAT, "root": 0, "nodes": [_entry(node, indices, name) for node in indices]}


def _entry(node: Node, indices: dict[Node, int], name: Callable[[Move], str]) -> dict[str, Any]:
    moves = [
        {
            "move": name(node.moves[i]),
            "prior": node.priors[i],
            "visits": node.visits[i],
            "value": node.edge_value(i),
            "child": None if (child := node.children[i]) is None else indices.get(child),
        }
        for i in range(node.tried)
        if node.visits[i]
    ]
    return {
        "key": f"{node.key:016x}",
        "ply": node.ply,
        "visits": node.total_visits,
        "value": node.value,
        "evaluation": node.raw_value,
        "proof": _PROOFS[node.proof],
        "distance": node.distance,
        "untried": len(node.moves) - len(moves) if node.is_complete else 0,  # Else they are a mating line.
        "moves": moves,
    }
