"""Chooses the move to play when the search ends, and its expected continuation.

Proven wins come first, the nearest before the others; proven losses come last, the farthest before the
others. Of the moves in between the most visited is played ("visits"), or the contender with the greatest
lower confidence bound ("lcb"): its value less `LCB_SIGMAS` standard errors. The bound notices a move that
overtook the favourite late. A move that ends the game in a draw or by repetition has a certain value, and one
visit is enough to know it. It is ranked before the first move whose value is no greater. This comparison does
not use the bound, or the search would give up a better move for a draw because its value is uncertain.

Between two batches the same choice tells the clock how far it is from another one (`contest`).
Source of LCB: Leela Zero's and KataGo's move choice.
"""

from collections.abc import Sequence, Set
from math import ceil, inf, sqrt

from goryu.games.state import Move, State
from goryu.search.graph.node import LOSS, UNKNOWN, WIN, Node
from goryu.search.graph.proof import child_proof, is_certain, proof_line
from goryu.search.result import RootMove

__all__ = ["contest", "continuation", "ranking", "root_moves", "root_value"]

LCB_SIGMAS = 5.0
"""Standard errors that are taken off (KataGo's `lcbStdevs`)."""
LCB_SHARE = 0.2
"""A contender has at least this share of the greatest visit count."""
LCB_VISITS = 10
"""A contender also has at least this number of visits: the spread of fewer means nothing."""

WINS, OPEN, CERTAIN, LOSES = range(4)
"""The groups of moves, for the side to move at the root: a move wins if its child is a LOSS."""


def ranking(root: Node, final_move: str, masked: Set[int]) -> list[int]:
    """Returns the indices of the root's moves that are not masked, the best first.

    final_move: "visits" or "lcb". masked: indices of moves that must not be played.
    """
    groups: tuple[list[int], ...] = [], [], [], []
    for group, _, i in sorted(_rank(root, i) for i in range(len(root.moves)) if i not in masked):
        groups[group].append(i)
    won, moves, certain, lost = groups
    if moves and not won:
        favourite = _favourite(root, moves, final_move)
        moves = [favourite, *(i for i in moves if i != favourite)]
    between: list[int] = []
    for move in moves:
        while certain and _value(root, certain[0]) >= _value(root, move):
            between.append(certain.pop(0))
        between.append(move)
    return won + between + certain + lost


def _rank(root: Node, i: int) -> tuple[int, float, int]:
    """Returns a sort key: first the group, then distance, visits or value."""
    child, proof = root.children[i], child_proof(root, i)
    if child is not None and proof == LOSS:
        return WINS, child.distance, i
    if child is not None and proof == WIN:
        return LOSES, -child.distance, i
    if is_certain(root, i):
        return CERTAIN, -_value(root, i), i
    return OPEN, -root.visits[i], i


def _favourite(root: Node, moves: list[int], final_move: str) -> int:
    """Returns the contender with the greatest lower confidence bound; the first move if none contends.

    moves: by falling visits, without those of a certain value. final_move: by "visits" none contends.
    """
    enough = _enough_visits(root.visits[moves[0]]) if final_move == "lcb" else inf
    contenders = (i for i in moves if root.visits[i] >= enough)
    return max(contenders, key=lambda i: _bound(root, i), default=moves[0])


def _enough_visits(most: int) -> float:
    return max(LCB_VISITS, LCB_SHARE * most)


def _bound(root: Node, i: int) -> float:
    child = root.children[i]
    assert child is not None
    return root.edge_value(i) - LCB_SIGMAS * sqrt(child.variance / root.visits[i])


def contest(root: Node, final_move: str, masked: Set[int]) -> tuple[int, int | None]:
    """Returns the index of the move that would be played now, and the playouts that another needs instead.

    Moves of a certain value are left out. The other move gets all these playouts. It is played when it has
    the most visits, or, by "lcb", as soon as it is a contender and has the greatest bound, by its present
    value and variance. If the bound prefers another move than the visits, the contest is open: 0 playouts.

    Returns (-1, None) if no move has visits.
    """
    moves = [i for i in range(root.tried) if root.visits[i] and i not in masked and not is_certain(root, i)]
    if not moves:
        return -1, None
    moves.sort(key=lambda i: -root.visits[i])
    most = root.visits[moves[0]]
    best = _favourite(root, moves, final_move)
    bound, needed = _bound(root, best), float(most)
    for i in moves:
        if i == best:
            continue
        needed = min(needed, most - root.visits[i])
        child, above = root.children[i], root.edge_value(i) - bound
        assert child is not None
        if final_move == "lcb" and above > 0.0:
            sigmas = LCB_SIGMAS * sqrt(child.variance) / above
            enough = max(_enough_visits(most), sigmas * sigmas)
            needed = min(needed, max(0.0, enough - root.visits[i]))
    return best, ceil(needed)


def root_value(root: Node, moves: Sequence[RootMove]) -> float:
    """Returns the value of the root: its average, or that of a best move of a certain value.

    A move that is certain from its first visit on has hardly any weight in the average.
    """
    return moves[0].value if moves and moves[0].is_certain else root.value


def root_moves(root: Node, indices: Sequence[int], state: State, lines: int) -> list[RootMove]:
    """Returns the `RootMove` of each index; the first `lines` of them get their full continuation."""
    return [
        RootMove(
            move=root.moves[i],
            prior=root.priors[i],
            visits=root.visits[i],
            value=_value(root, i),
            mate=_mate(root, i),
            pv=continuation(root, i, state) if count < lines else (root.moves[i],),
            is_certain=is_certain(root, i),
        )
        for count, i in enumerate(indices)
    ]


def _value(root: Node, i: int) -> float:
    """Returns the value of move `i`; an untried one has the value that the root has without a proof."""
    if root.visits[i] or is_certain(root, i):
        return root.edge_value(i)
    return root.value if root.proof == UNKNOWN else root.raw_value


def _mate(root: Node, i: int) -> int | None:
    """Returns the signed plies to the proven end after move `i`, or None."""
    child, proof = root.children[i], child_proof(root, i)
    if child is None or proof not in (WIN, LOSS):
        return None
    return child.distance + 1 if proof == LOSS else -(child.distance + 1)


def continuation(root: Node, i: int, state: State) -> tuple[Move, ...]:
    """Returns move `i` and the expected moves after it: the most visited, or a proof to its end.

    `state` is the root's; it is left as it was.
    """
    line, node = [root.moves[i]], root.children[i]
    state.push(root.moves[i])
    while node is not None and node.proof == UNKNOWN and state.repetition() is None:
        reply = max(range(node.tried), key=node.visits.__getitem__, default=-1)
        if reply < 0 or not node.visits[reply]:
            break
        state.push(node.moves[reply])
        line.append(node.moves[reply])
        node = node.children[reply]
    for _ in line:
        state.pop()
    if node is not None and node.proof != UNKNOWN:
        line += proof_line(node)
    return tuple(line)
