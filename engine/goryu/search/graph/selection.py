"""The PUCT formula: which move a playout takes at a node.

    score(a) = Q(a) + c(N) * P(a) * sqrt(N) / (1 + N(a))
    c(N) = c_init + c_factor * ln((N + c_base + 1) / c_base)

N is the visit count of the node and N(a) that of the move; both include playouts in flight, which still wait
for their evaluation. Q(a) is the value of the completed playouts, as of the last one through this node
(`node_table.py`): a child that another parent shares may have learnt more since. A move without a completed
playout is assumed to have a lower value than the node, the lower the more prior mass has been tried (first
play urgency):

    Q(unvisited) = max(-1, Q - fpu_reduction * sqrt(sum of P over the tried moves))

AlphaZero's c_init = 1.25 and c_factor = 1 are for values in [0, 1]. In [-1, +1] differences of Q are twice
as large, so the factors are 2.5 and 2.
Sources: Rosin, 2011; Silver et al., 2018 (c grows with N); Gelly and Wang, 2006 (first play urgency); lc0
(its reduction by the prior mass).
"""

from collections.abc import Set
from math import inf, log, sqrt

from goryu.search.graph.config import Formula
from goryu.search.graph.node import WIN, Node

__all__ = ["exploration", "select", "untried_value"]


def select(node: Node, formula: Formula, closed: Set[int] = frozenset()) -> int:
    """Returns the index of the move with the greatest score, the first of equals; -1 if no move is open.

    closed: indices of moves that must not be selected. Moves proven to lose are closed, too.
    """
    untried = untried_value(node, formula)
    explore = exploration(node.total_visits + node.in_flight, formula)
    best, best_score = -1, -inf
    for i in range(len(node.moves)):
        if i in closed or node.proofs[i] == WIN:
            continue
        q = node.values[i] if node.visits[i] else untried
        score = q + explore * node.priors[i] / (1 + node.visits[i] + node.pending[i])
        if score > best_score:
            best, best_score = i, score
        if i >= node.tried:
            break  # Moves are sorted by prior, so no later untried move has a greater score.
    return best


def untried_value(node: Node, formula: Formula) -> float:
    """Returns the value that is assumed of a move without a completed playout."""
    return max(-1.0, node.value - formula.fpu_reduction * sqrt(node.tried_prior))


def exploration(visits: int, formula: Formula) -> float:
    """Returns c(N) * sqrt(N)."""
    c = formula.c_init + formula.c_factor * log((visits + formula.c_base + 1.0) / formula.c_base)
    return c * sqrt(visits)
