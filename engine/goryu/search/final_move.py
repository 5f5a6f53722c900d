"""The final move: which of the root's moves is played, and the lines that are shown.

The most visited move is the usual answer: a move collects visits only while it keeps its
value. The lower confidence bound (LCB) asks, among the moves with enough visits, for the
one that is surely good: value less `LCB_SIGMAS` standard errors. It notices a move that
overtook the favourite late. A repetition, which has no error to take off, is chosen only if
it is worth as much as the other candidate's value, not its bound: what is thought better is
not given up for a draw because it is uncertain. Proven wins come before everything, the
shortest first; proven losses last, the longest first.
Source of LCB: Leela Zero's and KataGo's move choice.
"""

from collections.abc import Set
from math import sqrt
from typing import cast

from goryu.games.state import Move, State
from goryu.search.mate import MateState, solve
from goryu.search.node_table import DRAW, LOSS, UNKNOWN, WIN, Node, NodeTable
from goryu.search.result import RootMove

__all__ = ["ranking"]

LCB_SIGMAS = 5.0
"""Standard errors that are taken off (KataGo's `lcbStdevs`)."""
LCB_SHARE = 0.2
"""A contender has at least this share of the greatest visit count."""
LCB_VISITS = 10
"""And at least so many visits: the spread of fewer says nothing."""


def ranking(
    table: NodeTable, root: Node, state: State, final_move: str, lines: int, masked: Set[int], mate_nodes: int
) -> list[RootMove]:
    """Returns the root's moves that are not masked, the best first.

    final_move: "visits" or "lcb". The first `lines` moves get their continuation, the others
    only themselves. `state` is the root's and is as it was afterwards.
    """
    indices = [i for i in range(len(root.moves)) if i not in masked]
    indices.sort(key=lambda i: _rank(table, root, i))
    if final_move == "lcb" and indices:
        favourite = _best_by_lcb(table, root, indices)
        indices.remove(favourite)
        indices.insert(0, favourite)
    moves = []
    for place, i in enumerate(indices):
        moves.append(
            RootMove(
                move=root.moves[i],
                prior=root.priors[i],
                visits=root.visits[i],
                value=_value(table, root, i),
                mate=_mate(table, root, i),
                pv=_continuation(root, i, state, mate_nodes) if place < lines else (root.moves[i],),
            )
        )
    return moves


def _rank(table: NodeTable, root: Node, i: int) -> tuple[int, float, float]:
    """Returns a sort key: wins by distance, then open moves by visits, then losses by distance."""
    child = root.children[i]
    if child is not None and table.is_won(root, i):
        return 0, child.distance, 0.0
    if child is not None and table.is_lost(root, i):
        return 2, -child.distance, 0.0
    return 1, -root.visits[i], i


def _best_by_lcb(table: NodeTable, root: Node, indices: list[int]) -> int:
    """Returns the contender of greatest lower confidence bound; the first index if none contends."""
    first = indices[0]
    enough = max(LCB_VISITS, LCB_SHARE * root.visits[first])
    contenders = [i for i in indices if root.visits[i] >= enough and not table.is_lost(root, i)]
    if _rank(table, root, first)[0] != 1 or not contenders:
        return first
    certain = [i for i in contenders if _is_certain(root.children[i])]
    others = [i for i in contenders if i not in certain]
    end = max(certain, key=lambda i: table.edge_value(root, i), default=-1)
    other = max(others, key=lambda i: table.edge_value(root, i) - _error(root, i), default=-1)
    if end < 0 or other < 0:
        return max(end, other)
    return end if table.edge_value(root, end) >= table.edge_value(root, other) else other


def _is_certain(child: Node | None) -> bool:
    """Does a move end the game? Without a child every playout ended with it, and alike: it repeats."""
    return child is None or child.proof == DRAW


def _error(root: Node, i: int) -> float:
    """Returns the standard errors to be taken off the value of move `i`."""
    child = root.children[i]
    assert child is not None
    return LCB_SIGMAS * sqrt(max(0.0, child.mean_square - child.value * child.value) / root.visits[i])


def _value(table: NodeTable, root: Node, i: int) -> float:
    """Returns the value of move `i`; an untried one is worth what the root is without a proof."""
    if root.visits[i]:
        return table.edge_value(root, i)
    if table.is_won(root, i):
        return 1.0
    return root.value if root.proof == UNKNOWN else root.raw_value


def _mate(table: NodeTable, root: Node, i: int) -> int | None:
    """Returns the signed plies to the proven end after move `i`, or None."""
    child = root.children[i]
    if child is None:
        return None
    if table.is_won(root, i):
        return child.distance + 1
    return -(child.distance + 1) if table.is_lost(root, i) else None


def _continuation(root: Node, i: int, state: State, mate_nodes: int) -> tuple[Move, ...]:
    """Returns move `i` and the most visited moves after it; a mate that is known is shown to its end.

    A node that a mate search settled keeps only the first move: the search is repeated for the rest.
    """
    child = root.children[i]
    mate: tuple[Move, ...] = ()
    if child is not None and child.proof == LOSS and not child.is_complete and child.distance:
        mate = solve(cast(MateState, state), mate_nodes).moves
        return mate if mate[:1] == (root.moves[i],) else (root.moves[i],)  # It may find another mate.
    moves, node = [root.moves[i]], child
    state.push(root.moves[i])
    while node is not None and node.moves and state.repetition() is None:
        if not node.is_complete:
            mate = solve(cast(MateState, state), mate_nodes).moves
            break
        i = _most_visited(node)
        if i < 0:
            break
        state.push(node.moves[i])
        moves.append(node.moves[i])
        node = node.children[i]
    for _ in moves:
        state.pop()
    return (*moves, *mate)


def _most_visited(node: Node) -> int:
    """Returns the index to follow, or -1: the most visited, or a proven node's best move."""
    tried = [i for i in range(node.tried) if node.visits[i]]
    if node.proof == UNKNOWN:
        return max(tried, key=lambda i: (node.visits[i], -i), default=-1)
    wanted = {WIN: LOSS, LOSS: WIN, DRAW: DRAW}[node.proof]
    settled = [
        (child.distance, -i)
        for i in tried
        if (child := node.children[i]) is not None and child.proof == wanted
    ]
    choose = min if node.proof == WIN else max
    return -choose(settled)[1] if settled else -1
