"""Chooses the move to play when the search ends, and its expected continuation.

Proven wins come first, the nearest before the others; proven losses come last, the farthest before the
others. Of the moves in between the most visited is played ("visits"), or the contender with the greatest
lower confidence bound ("lcb"): its value less `LCB_SIGMAS` standard errors. The bound notices a move that
overtook the favourite late. A move that ends the game has no error. It is chosen only if its value is at
least the value, not the bound, of the best other contender: a better move is not given up for a draw because
its value is uncertain.
Source of LCB: Leela Zero's and KataGo's move choice.
"""

from collections.abc import Sequence, Set
from math import sqrt

from goryu.games.state import Move, State
from goryu.search.forgetting import proof_line
from goryu.search.node import DRAW, LOSS, UNKNOWN, WIN, Node
from goryu.search.node_table import NodeTable
from goryu.search.result import RootMove

__all__ = ["continuation", "ranking", "root_moves"]

LCB_SIGMAS = 5.0
"""Standard errors that are taken off (KataGo's `lcbStdevs`)."""
LCB_SHARE = 0.2
"""A contender has at least this share of the greatest visit count."""
LCB_VISITS = 10
"""A contender also has at least this number of visits: the spread of fewer means nothing."""

WON, OPEN, LOST = range(3)


def ranking(table: NodeTable, root: Node, final_move: str, masked: Set[int]) -> list[int]:
    """Returns the indices of the root's moves that are not masked, the best first.

    final_move: "visits" or "lcb".
    """
    indices = [i for i in range(len(root.moves)) if i not in masked]
    indices.sort(key=lambda i: _rank(table, root, i))
    if final_move == "lcb" and indices and _rank(table, root, indices[0])[0] == OPEN:
        favourite = _best_by_lcb(table, root, indices)
        indices.remove(favourite)
        indices.insert(0, favourite)
    return indices


def _rank(table: NodeTable, root: Node, i: int) -> tuple[int, int, int]:
    """Returns a sort key: wins by distance, then open moves by visits, then losses by distance."""
    child = root.children[i]
    if child is not None and table.is_won(root, i):
        return WON, child.distance, i
    if child is not None and table.is_lost(root, i):
        return LOST, -child.distance, i
    return OPEN, -root.visits[i], i


def _best_by_lcb(table: NodeTable, root: Node, indices: list[int]) -> int:
    """Returns the contender with the greatest lower confidence bound; the first index if none contends."""
    enough = max(LCB_VISITS, LCB_SHARE * root.visits[indices[0]])
    contenders = [i for i in indices if root.visits[i] >= enough and not table.is_lost(root, i)]

    def value(i: int) -> float:
        return table.edge_value(root, i)

    def bound(i: int) -> float:
        child = root.children[i]
        assert child is not None
        variance = max(0.0, child.mean_square - child.value * child.value)
        return value(i) - LCB_SIGMAS * sqrt(variance / root.visits[i])

    ending = [i for i in contenders if _ends_game(root.children[i])]
    going_on = [i for i in contenders if i not in ending]
    finalists = [max(group, key=key) for group, key in ((ending, value), (going_on, bound)) if group]
    return max(finalists, key=value, default=indices[0])  # The first of equals: on a tie the game ends.


def _ends_game(child: Node | None) -> bool:
    """Does a visited move end the game? Without a child, every playout through it ended by repetition."""
    return child is None or child.proof == DRAW


def root_moves(
    table: NodeTable, root: Node, indices: Sequence[int], state: State, lines: int
) -> list[RootMove]:
    """Returns the `RootMove` of each index; the first `lines` of them get their full continuation."""
    return [
        RootMove(
            move=root.moves[i],
            prior=root.priors[i],
            visits=root.visits[i],
            value=_value(table, root, i),
            mate=_mate(table, root, i),
            pv=continuation(table, root, i, state) if count < lines else (root.moves[i],),
        )
        for count, i in enumerate(indices)
    ]


def _value(table: NodeTable, root: Node, i: int) -> float:
    """Returns the value of move `i`; an untried one has the value that the root has without a proof."""
    if root.visits[i]:
        return table.edge_value(root, i)
    if table.is_won(root, i):
        return 1.0
    return root.value if root.proof == UNKNOWN else root.raw_value


def _mate(table: NodeTable, root: Node, i: int) -> int | None:
    """Returns the signed plies to the proven end after move `i`, or None."""
    child, proof = root.children[i], table.child_proof(root, i)
    if child is None or proof not in (WIN, LOSS):
        return None
    return child.distance + 1 if proof == LOSS else -(child.distance + 1)


def continuation(table: NodeTable, root: Node, i: int, state: State) -> tuple[Move, ...]:
    """Returns move `i` and the expected moves after it: the most visited, or a proof to its end.

    `state` is the root's; it is left as it was.
    """
    moves, node = [root.moves[i]], root.children[i]
    state.push(root.moves[i])
    while node is not None and node.proof == UNKNOWN and state.repetition() is None:
        visited = [i for i in range(node.tried) if node.visits[i]]
        if not visited:
            break
        i = max(visited, key=node.visits.__getitem__)
        state.push(node.moves[i])
        moves.append(node.moves[i])
        node = node.children[i]
    for _ in moves:
        state.pop()
    if node is not None and node.proof != UNKNOWN:
        moves += proof_line(table, node)
    return tuple(moves)
